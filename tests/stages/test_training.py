"""Reduced training against autograd, sampled training and exact moments."""

import math

import matplotlib.pyplot as plt
import pytest
import torch

from iclutils import figures, stagewise
from iclutils.randomness import stream
from iclutils.statistics import mean_se

F64 = torch.float64


def test_counts_have_multinomial_moments():
    p, N, B = stagewise.probabilities(5, 0.4), 30, 40_000
    counts = stagewise.draw_counts(p, N, (B,), stream(0, "counts"))
    assert torch.equal(counts.sum(-1), torch.full((B,), float(N), dtype=F64))
    mean, se = mean_se(counts)
    assert ((mean - N * p).abs() < 4.5 * se).all()  # five entries: 4.5 SE
    covariance = torch.cov(counts.T)
    exact = N * (torch.diag(p) - torch.outer(p, p))
    assert (covariance - exact).abs().max() < 5 * 10 * (1 / B) ** 0.5  # entries have sd below 10/√B


def test_column_gradient_is_autograd_of_the_loss():
    p = stagewise.probabilities(6, 0.5)
    counts = stagewise.draw_counts(p, 9, (3, 40), stream(0, "counts"))
    theta = torch.randn(3, 6, dtype=F64, generator=stream(0, "theta")).requires_grad_(True)
    targets = torch.tensor([0, 3, 5])
    logits = (theta.unsqueeze(1) + counts.log()).softmax(-1)
    residual = logits - torch.eye(6, dtype=F64)[targets].unsqueeze(1)
    loss = (p[targets] * 0.5 * residual.square().sum(-1).mean(-1)).sum()
    expected, = torch.autograd.grad(loss, theta)
    gradient, error = stagewise.column_gradient(theta.detach(), counts, targets, p)
    torch.testing.assert_close(gradient, expected, rtol=1e-12, atol=1e-15)
    torch.testing.assert_close(error, stagewise.prompt_errors(theta.detach(), counts, targets).mean(-1))


def test_tasks_integrate_to_the_reduced_loss():
    """The layer of the talk on explicit tokens and tasks against ½‖a − e_k‖² on the same prompts' counts."""
    K, d, N, runs, prompts = 4, 6, 8, 1, 40_000
    p, frame = stagewise.probabilities(K, 0.5), stagewise.feature_frame(K, d, stream(0, "frame"))
    theta = torch.randn(K, K, dtype=F64, generator=stream(0, "theta"))  # row m, column k
    W = (frame.T @ theta @ frame).unsqueeze(0)
    tokens, labels, query, answer = stagewise.draw_prompts(p, frame, N, runs, prompts, stream(0, "prompts"))
    squared = 0.5 * (stagewise.predict(W, tokens, labels, query) - answer).square()[0]
    counts = (tokens @ frame.T).round().sum(2)[0]
    k = (query @ frame.T).argmax(-1)[0]
    reduced = stagewise.prompt_errors(theta.T[k], counts.unsqueeze(1), k)[:, 0]
    mean, se = mean_se(squared - reduced)
    assert abs(float(mean)) < 4 * float(se)
    assert float(se) < 0.01 * float(squared.mean()) * 4


def test_gradient_in_the_full_space_is_the_column_gradient():
    """E over tasks of the autograd gradient in Q, turned into the feature frame, is column_gradient: columns do not couple."""
    K, d, N, prompts = 3, 4, 6, 60_000
    p, frame = stagewise.probabilities(K, 0.5), stagewise.feature_frame(K, d, stream(1, "frame"))
    theta = 0.5 * torch.randn(K, K, dtype=F64, generator=stream(1, "theta"))
    tokens, labels, query, answer = stagewise.draw_prompts(p, frame, N, 20, prompts // 20, stream(1, "prompts"))
    W = (frame.T @ theta @ frame).expand(20, d, d).clone().requires_grad_(True)
    loss = 0.5 * (stagewise.predict(W, tokens, labels, query) - answer).square().mean(1).sum()
    gradient, = torch.autograd.grad(loss, W)
    mean, se = mean_se(frame @ gradient @ frame.T)
    counts = stagewise.draw_counts(p, N, (20_000,), stream(1, "counts"))
    reduced = stagewise.column_gradient(theta.T.contiguous(), counts, torch.arange(K), p)[0].T
    assert ((mean - reduced).abs() < 5 * se + 1e-3).all()  # 20 runs (Student's t), and the counts' own 1e-3


def test_descent_forgets_nothing_but_sampling_noise():
    """Huge N: every replicate follows the same path, and the columns' sums stay zero."""
    p, targets = stagewise.probabilities(6, 0.5), torch.tensor([0, 2, 2])
    run = stagewise.train_reduced(p, 10**7, targets, eta=0.5, steps=100, prompts=4, generator=stream(0, "train"))
    assert float(run.t[-1]) == 50.0
    assert run.theta.sum(-1).abs().max() < 1e-12
    assert (run.theta[:, 1] - run.theta[:, 2]).abs().max() < 1e-2
    assert run.entry(targets)[-1, 1] > 0 > run.entry(targets, 0)[-1, 1]


def test_same_stream_same_path():
    p, targets = stagewise.probabilities(5, 0.5), torch.tensor([0, 1])
    one, two = (stagewise.train_reduced(p, 200, targets, eta=0.5, steps=200, prompts=8, generator=stream(3, "x"))
                for _ in "ab")
    assert torch.equal(one.theta, two.theta)
    t = stagewise.first_passage(one.t, -one.error, -0.1)
    assert 0 < float(t[0]) < float(t[1])


def test_first_passage_interpolates():
    t = torch.tensor([0.0, 2.0, 3.0], dtype=F64)
    values = torch.tensor([[0.0, 5.0, 0.0], [1.0, 6.0, 0.1], [3.0, 7.0, 0.2]], dtype=F64)
    found = stagewise.first_passage(t, values, 2.0)
    assert float(found[0]) == 2.5  # half way from 1 to 3
    assert float(found[1]) == 0.0  # above from the start
    assert math.isinf(found[2])


def test_readings_pick_their_entries():
    theta = torch.arange(9, dtype=F64).reshape(1, 3, 3)
    assert stagewise.readings(theta).tolist() == [[(4 + 8) / 2, (3 + 6) / 2, 0]]


def test_stretches_shade_and_name():
    figure, axes = plt.subplots()
    figures.stretches(axes, [0, 1, 3], ["I", "II"])
    assert [text.get_position()[0] for text in axes.texts] == [0.5, 2.0]
    assert len(axes.patches) == 2
    assert axes.get_xlim() == (0, 3)
    plt.close(figure)


def test_label_keys_are_ignored_at_zero_weight():
    p, frame = stagewise.probabilities(3, 0.5), stagewise.feature_frame(3, 3, stream(0, "frame"))
    tokens, labels, query, _ = stagewise.draw_prompts(p, frame, 5, 2, 7, stream(0, "prompts"))
    Q = torch.randn(2, 3, 3, dtype=F64, generator=stream(0, "Q"))
    full = torch.cat([Q, torch.zeros(2, 1, 3, dtype=F64)], 1)
    assert torch.equal(stagewise.predict(full, tokens, labels, query), stagewise.predict(Q, tokens, labels, query))


def test_frame_is_orthonormal():
    frame = stagewise.feature_frame(4, 9, stream(0, "frame"))
    torch.testing.assert_close(frame @ frame.T, torch.eye(4, dtype=F64), rtol=0, atol=1e-14)


@pytest.mark.parametrize(("call", "name"), [
    (lambda: stagewise.probabilities(1, 0.5), "K"), (lambda: stagewise.probabilities(4, 1.0), "p1"),
    (lambda: stagewise.feature_frame(4, 3, stream(0, "f")), "d"),
    (lambda: stagewise.draw_counts(stagewise.probabilities(4, 0.5), 0, (2,), stream(0, "f")), "N"),
    (lambda: stagewise.train_reduced(stagewise.probabilities(4, 0.5), 9, torch.tensor([1]), eta=-1.0, steps=1, prompts=1,
                                     generator=stream(0, "f")), "eta")])
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()
