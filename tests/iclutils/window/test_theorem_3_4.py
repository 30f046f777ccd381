"""The table of bounds: its exact quantities, and its judgement of bounds known true or false."""

import math

import pytest
import torch

from claimbook.check.snapshot import Part, read_expected
from claimbook.ledger import load
from claimbook.ledger.comparison import SUPPORTED
from claimbook.ledger.conditions import condition_of
from iclutils import sphere
from iclutils.randomness import stream
from iclutils.stats import mean_se
from iclutils.window import covariates
from iclutils.window.function_classes import Affine
from iclutils.window.theory import population_loss, theorem_3_4

ONE = torch.ones(1, dtype=torch.float64)


@pytest.mark.parametrize("d", [2, 5])
def test_distance_sums_equal_monte_carlo(d: int) -> None:
    draws = stream(0, "distance", d)
    t = covariates.sample(covariates.Sphere(d), (200_000,), draws)[:, 0]
    squared = 2 - 2 * t
    for r in (0.5, 4.0):
        for p in (0, 1, 2):
            mean, se, _ = mean_se(squared ** (p / 2) * (-r * squared).exp())
            found = theorem_3_4.distance_sum(p, d, r * ONE)
            assert abs(float(found) - float(mean)) < 4 * float(se)


@pytest.mark.parametrize("d", [2, 5, 10])
def test_distance_sums_are_bessel_functions_for_even_powers(d: int) -> None:
    r = torch.logspace(-2, 4.3, 20, dtype=torch.float64)
    mass = (sphere.log_partition(2 * r, d) - 2 * r).exp()
    square = mass * 2 * (1 - sphere.tilted_average(2 * r, d, torch.tensor([1]))[:, 0])
    # 1 − I/I loses up to five of the sixteen digits at r = 10⁴
    torch.testing.assert_close(theorem_3_4.distance_sum(0, d, r), mass, rtol=1e-10, atol=0)
    torch.testing.assert_close(theorem_3_4.distance_sum(2, d, r), square, rtol=1e-9, atol=0)


def test_path_of_finite_contexts_lies_on_the_range_of_the_lemmas() -> None:
    wide = theorem_3_4.path(3, widest=True)
    torch.testing.assert_close(wide.w, (wide.n / wide.n.log()) ** (2 / 3))
    # at a small w its signal is the one of drawn contexts (delta method, next order (E Σγ²)²)
    n = int(wide.n[0])
    drawn = population_loss.sampled(3, n, stream(0, "path"), contexts=4000)
    value, se = drawn.at(Affine(3), 0.0, 2 * float(wide.w[0]))
    concentration = float(wide.noise[0]) * float(wide.n[0]) / n
    width = 4 * float(se) + 2 * concentration**2
    assert abs(float(value) - float(wide.affine[0])) < width


def test_windows_without_a_context_length_are_left_out() -> None:
    whole = theorem_3_4.path(2, widest=False)
    wide = theorem_3_4.path(2, widest=True)
    assert 0 < len(wide.w) < len(whole.w)
    assert bool((wide.w > math.e).all())
    assert bool(torch.isfinite(wide.affine).all())
    with pytest.raises(ValueError, match=r"w must be at least e\^\(2/d\) = 2\.71828"):
        theorem_3_4.context_length(whole.w, 2)


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_bound_that_is_met_exactly_holds_on_neither_side(side: str) -> None:
    right = 1.0 if side == "lower" else -1.0
    values = (right * 1e-9, 0.0, -right * 1e-9)
    bounds = [theorem_3_4.Bound("C.1", "strict", 3, side, value, 0.0) for value in values]
    assert [bound.holds for bound in bounds] == [True, False, False]


def test_judgement_bites() -> None:
    judged = theorem_3_4.free_constants(4) + theorem_3_4.explicit(4)
    by_lemma = {bound.lemma: bound for bound in judged}
    assert by_lemma["C.5"].holds
    assert by_lemma["C.9"].holds
    assert by_lemma["G.1 lower"].holds
    assert not by_lemma["D.1 lower"].holds
    assert not by_lemma["G.4, G.5 upper (p = 0)"].holds
    # classical: the noise grows as w^((d−1)/2)/n; the extrapolation is good to 1e-3
    assert by_lemma["D.1 lower"].value == pytest.approx(-0.5, abs=2e-3)


@pytest.mark.parametrize("d", [2, 5])
def test_every_bound_is_missed_or_met_by_as_much_as_the_reference_says(d: int) -> None:
    """The numbers that chapter 1 shows of each lemma: they are exact.

    The limit that the table has is that of the claim's condition.
    """
    rows = load().chapters["01_attention_window_specialist"].claims
    conditions = next(row.parts for row in rows if row.id == "ch1-lemmas")
    held = read_expected("01_attention_window_specialist").claims["ch1-lemmas"].parts
    for bound in theorem_3_4.explicit(d) + theorem_3_4.free_constants(d):
        name = f"{bound.lemma}, d = {d}"
        compared = condition_of(conditions, name)[1].compare(bound.value, {})
        assert bound.holds == (compared.outcome == SUPPORTED)
        assert bound.limit == compared.bound
        shown = Part.of(compared)
        assert held[name].distance(shown) <= 1, f"{bound.lemma}: {shown}"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: theorem_3_4.path(1, widest=False), ValueError, ["d", "at least 2", "1"]),
        (lambda: theorem_3_4.free_constants(0), ValueError, ["d", "0"]),
        (lambda: theorem_3_4.explicit(2.5), TypeError, ["d", "2.5"]),
        (lambda: theorem_3_4.distance_sum(-1, 3, ONE), ValueError, ["p", "-1"]),
        (lambda: theorem_3_4.distance_sum(0, 1, ONE), ValueError, ["d", "1"]),
        (
            lambda: theorem_3_4.distance_sum(0, 3, torch.tensor([1.0, -2.0])),
            ValueError,
            ["r", "-2"],
        ),
        (
            lambda: theorem_3_4.distance_sum(0, 3, torch.tensor([1.0, math.nan])),
            ValueError,
            ["r", "NaN"],
        ),
        (lambda: theorem_3_4.distance_sum(0, 3, torch.ones(2, 2)), ValueError, ["r", "(2, 2)"]),
    ],
)
def test_bad_arguments_are_named(call, error, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words)
