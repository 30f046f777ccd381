"""What short prompts cost, against prompts that are drawn."""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.stages.prompts import probabilities
from iclutils.stages.theory import finite_prompts


def one_hot(features, K):
    return torch.nn.functional.one_hot(features, K).double()


def test_saturated_error_and_value_gain_against_sampled_prompts():
    K, p1, N, B = 5, 0.5, 6, 200_000
    p = probabilities(K, p1)
    drawn = torch.multinomial(p, B * N, replacement=True, generator=stream(0, "saturated"))
    queries = torch.multinomial(p, B, replacement=True, generator=stream(0, "queries"))
    frequency = one_hot(drawn.reshape(B, N), K).mean(1)
    hit = one_hot(queries, K)
    present = (frequency * hit).sum(1, keepdim=True) > 0
    a = torch.where(present, hit, frequency)
    errors = 0.5 * (a - hit).square().sum(1)[queries == 2]
    se = float(errors.std() / len(errors) ** 0.5)
    assert float(errors.mean()) == pytest.approx(
        finite_prompts.saturated_error(K, p1, N), abs=4 * se
    )
    assert errors.mean() > math.exp(finite_prompts.log_floor(K, p1, N).low)
    m1, m2 = float((a * hit).sum(1).mean()), float(a.square().sum(1).mean())
    gain = 1 - (1 - m1**2 / m2) / (1 - 2 * m1 + m2)
    # m1, m2 have standard errors below 1/(2√B) = 1.1e-3; the gain moves by at most ten times that
    assert gain == pytest.approx(finite_prompts.value_gain(K, p1, N), abs=0.02)
    assert finite_prompts.value_gain(K, p1, N, value=0.5) > 0.2


def test_without_the_dominant_feature_the_rare_ones_share_a_prompt_evenly():
    # of four features 1/4 meets itself, and in a prompt of six every token meets itself
    spread = finite_prompts._spread(5, 0.5, 6, dominant=True)
    assert spread == pytest.approx(1 / 4 + (1 - 1 / 4) / 6)


@pytest.mark.parametrize(("K", "p1", "N"), [(5, 0.5, 6), (20, 0.5, 80)])
def test_the_loss_behind_the_value_gain_is_a_parabola_in_the_value(K, p1, N):
    """Its least value over the loss at ν is 1 minus the gain; and without an answer it is 1/2."""
    losses = [1 / (1 - finite_prompts.value_gain(K, p1, N, value=float(nu))) for nu in range(5)]
    for a, b, c, d in zip(losses, losses[1:], losses[2:], losses[3:], strict=False):
        assert a - 3 * b + 3 * c - d == pytest.approx(0, abs=1e-9 * losses[-1])


@pytest.mark.parametrize(("K", "N"), [(5, 3), (20, 400), (1000, 50)])
def test_the_floor_lies_between_its_bounds_and_the_upper_is_the_saturated_error(K, N):
    bounds = finite_prompts.log_floor(K, 0.5, N)
    assert bounds.low < bounds.high
    # the same formula, once as a product and once as a sum of logarithms
    assert math.exp(bounds.high) == pytest.approx(
        finite_prompts.saturated_error(K, 0.5, N), rel=1e-12
    )


@pytest.mark.parametrize("K", [3, 20, 1000])
def test_with_one_token_the_floor_is_known(K):
    """All of the attention is on the one token there is: the two bounds are the same number."""
    bounds = finite_prompts.log_floor(K, 0.5, 1)
    assert bounds.low == pytest.approx(bounds.high, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: finite_prompts.log_absence(0.1, 0), "N"),
        (lambda: finite_prompts.log_absence(1.0, 5), "p"),
        (lambda: finite_prompts.saturated_error(2, 0.5, 5), "K"),
        (lambda: finite_prompts.log_floor(5, 1.0, 5), "p1"),
        (lambda: finite_prompts.value_gain(5, 0.0, 5), "p1"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=f"^{name} must"):
        call()


def test_the_floor_is_that_of_its_logarithm():
    assert finite_prompts.floor(20, 0.5, 40) == math.exp(finite_prompts.log_floor(20, 0.5, 40).low)
    # half of the prompts without the feature, and what one other feature at least costs
    missing = (1 - 0.5 / 19) ** 40 / 2
    assert finite_prompts.floor(20, 0.5, 40) == pytest.approx(missing * (1 + 1 / 19))


def test_the_depth_grows_with_the_tokens_that_a_rare_feature_gets():
    """−log floor ≈ N p_k = K^a (1 − p₁)/K, and K^a for the dominant feature, exactly."""
    sizes = (2_000, 20_000, 200_000)
    found = finite_prompts.depth_exponent(sizes, 0.3, 2.5)
    assert found == pytest.approx(1.5, abs=1e-3)  # log 2 beside 2000^1.5, and 1/K
    exact = finite_prompts.depth_exponent((10, 30, 100), 0.3, 2, dominant=True)
    assert exact == pytest.approx(2, rel=1e-12)
