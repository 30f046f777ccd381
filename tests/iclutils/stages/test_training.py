"""Reduced and sampled training: what they must do at their limits, and what is read off them."""

import math

import numpy as np
import pytest
import torch

from iclutils.randomness import stream
from iclutils.stages import training
from iclutils.stages.prompts import feature_frame, probabilities
from iclutils.stages.theory import equal_features, finite_prompts


def test_descent_forgets_nothing_but_sampling_noise():
    """Huge N: every replicate follows the same path, and the columns' sums stay zero."""
    p, targets = probabilities(6, 0.5), torch.tensor([0, 2, 2])
    run = training.train_reduced(
        p, 10**7, targets, learning_rate=0.5, steps=100, prompts=4, generator=stream(0, "train")
    )
    assert float(run.t[-1]) == 50.0
    assert run.theta.sum(-1).abs().max() < 1e-12  # 100 steps, each rounded to 1e-16
    # a count's relative fluctuation is (N p)^(−1/2) = 1e-3, and entries are of order one
    assert (run.theta[:, 1] - run.theta[:, 2]).abs().max() < 1e-2
    assert run.entry(targets)[-1, 1] > 0 > run.entry(targets, 0)[-1, 1]


def test_same_stream_same_path():
    p, targets = probabilities(5, 0.5), torch.tensor([0, 1])
    one, two = (
        training.train_reduced(
            p, 200, targets, learning_rate=0.5, steps=200, prompts=8, generator=stream(3, "x")
        )
        for _ in range(2)
    )
    assert torch.equal(one.theta, two.theta)
    dominant, rare = training.first_passage(one.t, -one.error, -0.1).tolist()
    assert 0 < dominant < rare


def test_training_with_noise_follows_the_flow_with_noise():
    K, N, Lambda = 6, 3000, 30.0
    targets = torch.arange(K)
    run = training.train_reduced(
        torch.full((K,), 1 / K).double(),
        N,
        targets,
        learning_rate=0.5,
        steps=800,
        prompts=8,
        sigma=(N / Lambda) ** 0.5,
        generator=stream(0, "noisy flow"),
    )
    window = (run.entry(targets) * K - run.theta.sum(-1)) / (K - 1)
    flow = equal_features.closing(K, Lambda)
    expected = torch.from_numpy(np.interp(run.t.numpy(), flow.t, flow.w))
    # counts fluctuate by (K/N)^(1/2) = 4 %, averaged over prompts and steps; their square, K/N, is
    # a bias
    assert float((window.mean(1) - expected).abs().max()) < 0.02


def test_sampled_layers_are_independent_and_start_where_they_are_told():
    p, frame = probabilities(3, 0.5), feature_frame(3, 4, stream(4, "frame"))
    start = torch.stack([torch.zeros(4, 4).double(), frame.T @ frame])
    run = training.train_sampled(
        p,
        frame,
        8,
        learning_rate=0.5,
        steps=3,
        prompts=5,
        runs=2,
        W=start,
        generator=stream(4, "train"),
    )
    eye = torch.eye(3, dtype=torch.float64)
    # products of an orthonormal frame, rounded to 1e-16
    torch.testing.assert_close(run.theta[0, 1], eye, rtol=0, atol=1e-14)
    assert not run.theta[0, 0].any()
    assert (run.theta[-1, 0] != run.theta[-1, 1]).all()


def test_a_long_training_leaves_the_error_of_what_is_absent():
    p, targets = probabilities(3, 0.5), torch.tensor([1, 2])
    how = {"learning_rate": 2.0, "batch": 8, "prompts": 4000}
    streams = {"draws": stream(0, "training"), "fresh": stream(0, "fresh")}
    short, long = (
        training.trained_error(p, 8, targets, steps=steps, **how, **streams) for steps in (1, 300)
    )
    floor = finite_prompts.floor(3, 0.5, 8)
    assert floor < long.value < 1.5 * floor < 0.5 * short.value


def test_first_passage_interpolates():
    t = torch.tensor([0.0, 2.0, 3.0]).double()
    values = torch.tensor([[0.0, 5.0, 0.0], [1.0, 6.0, 0.1], [3.0, 7.0, 0.2]]).double()
    half_way, from_the_start, never = training.first_passage(t, values, 2.0).tolist()
    assert half_way == 2.5  # from 1 to 3
    assert from_the_start == 0.0
    assert math.isinf(never)


def test_rare_and_dominant_entries_pick_their_entries():
    theta = torch.arange(9).double().reshape(1, 3, 3)
    found = training.rare_and_dominant_entries(theta)
    assert found.tolist() == [[(4 + 8) / 2, (3 + 6) / 2, 0]]


def test_progress_is_printed_when_asked_for(capsys):
    p, frame = probabilities(3, 0.5), torch.eye(3).double()
    common = {"learning_rate": 0.5, "steps": 10, "prompts": 2, "verbose": True}
    training.train_reduced(p, 9, torch.tensor([1]), generator=stream(0, "a"), **common)
    training.train_sampled(p, frame, 9, runs=1, generator=stream(0, "b"), **common)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 22  # the start and ten tenths of each
    assert lines[0].startswith("t = 0.0: mean error 0.")
    assert lines[-1].startswith("t = 5.0: batch loss ")


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"steps": 0}, "steps"),
        ({"prompts": 0}, "prompts"),
        ({"points": 1}, "points"),
        ({"sigma": -0.1}, "sigma"),
    ],
)
def test_bad_arguments_are_named(more, name):
    p = probabilities(4, 0.5)
    common = {"learning_rate": 1.0, "steps": 1, "prompts": 1, "generator": stream(0, "f")} | more
    with pytest.raises(ValueError, match=f"^{name} must"):
        training.train_reduced(p, 9, torch.tensor([1]), **common)
    with pytest.raises(ValueError, match=f"^{name} must"):
        training.train_sampled(p, torch.eye(4).double(), 9, runs=1, **common)


def test_values_between_two_records_lie_on_the_line_between_them():
    t = torch.tensor([0.0, 1.0, 3.0])
    theta = torch.tensor([[[0.0, 0.0, 0.0]], [[2.0, 1.0, 0.0]], [[4.0, 0.0, 0.0]]])
    run = training.Trajectory(t, theta, torch.zeros(3, 1))
    values = torch.tensor([[0.0], [10.0], [30.0]])
    assert [float(run.at(time, values)) for time in (0.0, 0.5, 1.0, 2.0, 3.0)] == [0, 5, 10, 20, 30]
    window = run.window(torch.tensor([0]))
    assert window[:, 0].tolist() == [0.0, 1.5, 4.0]  # the target less the mean of the others
    with pytest.raises(ValueError, match="t must"):
        run.at(3.5, values)
    with pytest.raises(ValueError, match="a row a record, 3; got 2"):
        run.at(0.5, values[:2])


def test_fall_over_rise_and_rare_attention_are_what_they_say():
    K, targets = 4, torch.tensor([0, 1, 2, 3])
    theta = torch.randn(3, 4, K, dtype=torch.float64, generator=stream(0, "theta"))
    run = training.Trajectory(torch.arange(3.0), theta, torch.ones(3, 4))
    by_hand = [
        float((theta[1, k, 0] - theta[2, k, 0]) - (theta[2, k, k] - theta[1, k, k]))
        for k in (1, 2, 3)
    ]
    found = run.fall_over_rise(targets, 2, 1)
    assert found.value == pytest.approx(np.mean(by_hand))
    assert found.se == pytest.approx(np.std(by_hand, ddof=1) / 3**0.5)

    counts = torch.tensor([[3.0, 1, 1, 2], [1.0, 2, 2, 1]], dtype=torch.float64)
    own, lead = [], []
    for column, k in zip(theta[0, 1:], (1, 2, 3), strict=True):
        share = counts * column.exp()
        share /= share.sum(1, keepdim=True)
        own.append(float(share[:, k].mean()))
        lead.append(float((share[:, k] - share[:, 0]).mean()))
    assert training.rare_attention(theta[0], counts).value == pytest.approx(np.mean(own))
    less = training.rare_attention(theta[0], counts, less_dominant=True)
    assert less.value == pytest.approx(np.mean(lead))


def test_the_window_of_whole_layers_is_that_of_their_columns():
    theta = torch.randn(4, 2, 5, 5, generator=stream(0, "window"), dtype=torch.float64)
    whole = training.SampledTrajectory(torch.arange(4.0), theta, torch.zeros(2, 5, 5))
    columns = training.Trajectory(torch.arange(4.0), theta.flatten(1, 2), torch.zeros(4, 10))
    by_column = columns.window(torch.arange(5).repeat(2))
    torch.testing.assert_close(whole.window(), by_column.view(4, 2, 5).mean(-1))


def test_a_relative_fall_is_that_of_the_named_columns_between_the_nearest_records():
    p, targets = probabilities(5, 0.4), torch.arange(5)
    run = training.train_reduced(
        p, 60, targets, learning_rate=1.0, steps=60, prompts=8, generator=stream(0, "fall")
    )
    counts = training.draw_counts(p, 60, (300,), stream(0, "fall", "fresh"))
    some = torch.tensor([1, 3, 4])
    found = training.relative_fall(run, counts, some, 9.6, 51.2)
    of_columns = []
    for i in (run.nearest(9.6), run.nearest(51.2)):
        errors = [
            training.prompt_errors(run.theta[i, k : k + 1], counts, targets[k : k + 1])
            for k in some
        ]
        of_columns.append(float(torch.cat(errors).mean()))
    assert found.value == pytest.approx(1 - of_columns[1] / of_columns[0], rel=1e-12)
    assert 0 < found.se < found.value
