"""Prompts of features: exact moments, orthonormal frames, the same draws with and without noise."""

import pytest
import torch

from iclutils.randomness import stream
from iclutils.stages import prompts
from iclutils.stats import mean_se


def test_counts_have_multinomial_moments():
    p = prompts.probabilities(5, 0.4)
    N, B = 30, 40_000
    counts = prompts.draw_counts(p, N, (B,), stream(0, "counts"))
    assert torch.equal(counts.sum(-1), torch.full((B,), float(N), dtype=torch.float64))
    mean, se, _ = mean_se(counts)
    assert ((mean - N * p).abs() < 4.5 * se).all()  # five entries: 4.5 SE
    covariance = torch.cov(counts.T)
    exact = N * (torch.diag(p) - torch.outer(p, p))
    # a product of two centred counts has a standard deviation below 10: entries have 10/√B
    assert (covariance - exact).abs().max() < 5 * 10 * (1 / B) ** 0.5


def test_a_frame_is_orthonormal():
    frame = prompts.feature_frame(4, 9, stream(0, "frame"))
    eye = torch.eye(4, dtype=torch.float64)
    # sums of nine products of numbers below one, each rounded to 1e-16
    torch.testing.assert_close(frame @ frame.T, eye, rtol=0, atol=1e-14)


def test_labels_are_the_tasks_answers_on_tokens_of_the_frame():
    p, frame = prompts.probabilities(3, 0.5), prompts.feature_frame(3, 4, stream(1, "frame"))
    drawn = prompts.draw_prompts(p, frame, 6, 2, 5, stream(1, "prompts"))
    token = drawn.tokens @ frame.T
    assert torch.equal(token.round().sum(-1), torch.ones(2, 5, 6).double())
    # equal tokens of one prompt have equal labels
    same = (token.round() @ token.round().mT).bool()
    gaps = drawn.labels.unsqueeze(-1) - drawn.labels.unsqueeze(-2)
    assert not gaps[same].any()
    assert (gaps[~same] != 0).all()


def test_no_noise_draws_what_was_drawn_before_there_was_noise():
    p, frame = torch.full((4,), 0.25).double(), torch.eye(4).double()
    default, explicit, noisy = (
        prompts.draw_prompts(p, frame, 6, 2, 3, stream(3, "same"), **more)
        for more in ({}, {"sigma": 0.0}, {"sigma": 1.0})
    )
    for name in prompts.Prompts._fields:
        without = getattr(default, name)
        assert torch.equal(without, getattr(explicit, name))
        assert torch.equal(without, getattr(noisy, name)) == (name != "labels")


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: prompts.probabilities(1, 0.5), "K"),
        (lambda: prompts.probabilities(4, 1.0), "p1"),
        (lambda: prompts.feature_frame(4, 3, stream(0, "f")), "d"),
        (lambda: prompts.draw_counts(prompts.probabilities(4, 0.5), 0, (2,), stream(0, "f")), "N"),
        (
            lambda: prompts.draw_prompts(
                prompts.probabilities(2, 0.5),
                torch.eye(2).double(),
                3,
                1,
                1,
                stream(0, "f"),
                sigma=-1.0,
            ),
            "sigma",
        ),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=f"^{name} must"):
        call()
