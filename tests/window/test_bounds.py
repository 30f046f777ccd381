"""The table of bounds: its exact quantities against Monte Carlo, and its judgement against bounds known to be true or false."""

import math

import pytest
import torch

from iclutils import bounds, covariates, population, sphere
from iclutils.functions import Affine
from iclutils.randomness import stream
from iclutils.statistics import equal, mean_se


@pytest.mark.parametrize("d", [2, 5])
def test_distance_sums_and_caps_equal_monte_carlo(d: int) -> None:
    t = covariates.sample(covariates.Sphere(d), (200_000,), stream(0, "distance", d))[:, 0]
    for r in (0.5, 4.0):
        for p in (0, 2):
            mean, se = mean_se((2 - 2 * t) ** (p / 2) * (-r * (2 - 2 * t)).exp())
            assert equal(float(bounds.distance_sum(p, d, torch.tensor([r]).double())), float(mean), se=float(se))
    for epsilon in (0.1, 0.8):
        mean, se = mean_se((t >= 1 - epsilon).double())
        assert equal(float(sphere.cap_area(torch.tensor(epsilon), d)), float(mean), se=float(se))


def test_path_of_finite_contexts_lies_on_the_range_of_the_lemmas() -> None:
    wide = bounds.path(3, widest=True)
    torch.testing.assert_close(wide.w, (wide.n / wide.n.log()) ** (2 / 3))
    # at a small w its signal is the one of drawn contexts (delta method, next order (E Σγ²)²)
    n = int(wide.n[0])
    drawn = population.sampled(3, n, stream(0, "path"), contexts=4000)
    value, se = drawn.at(Affine(3), 0.0, 2 * float(wide.w[0]))
    concentration = float(wide.noise[0]) * float(wide.n[0]) / n
    assert abs(float(value) - float(wide.affine[0])) < 4 * float(se) + 2 * concentration**2


def test_judgement_bites() -> None:
    by_lemma = {bound.lemma: bound.found for bound in bounds.free_constants(4) + bounds.explicit(4)}
    assert by_lemma["C.5"]
    assert by_lemma["C.9"]
    assert by_lemma["G.1 lower"]
    assert not by_lemma["D.1 lower"]
    assert not by_lemma["G.4, G.5 upper (p = 0)"]
    assert by_lemma["D.1 lower"].value == pytest.approx(-0.5, abs=2e-3)


def test_cap_bounds_by_hand_on_the_circle() -> None:
    epsilon = torch.tensor([0.5], dtype=torch.float64)
    share = math.acos(0.5) / math.pi
    assert float(sphere.cap_area(epsilon, 2)) == pytest.approx(share)
    assert (2 * 0.5 - 0.25) / math.sqrt(2 * math.pi * 2) < share < math.sqrt(0.75)


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: bounds.path(1, widest=False), ValueError, ["d", "at least 2", "1"]),
    (lambda: bounds.free_constants(0), ValueError, ["d", "0"]),
    (lambda: bounds.explicit(2.5), TypeError, ["d", "2.5"]),
    (lambda: bounds.distance_sum(1, 3, torch.ones(1).double()), KeyError, ["p", "1"]),
    (lambda: bounds.distance_sum(0, 1, torch.ones(1).double()), ValueError, ["d", "1"]),
    (lambda: bounds.distance_sum(0, 3, torch.tensor([1.0, -2.0])), ValueError, ["r", "-2"]),
    (lambda: bounds.distance_sum(0, 3, torch.tensor([1.0, math.nan])), ValueError, ["r", "NaN"]),
    (lambda: bounds.distance_sum(0, 3, torch.ones(2, 2)), ValueError, ["r", "(2, 2)"]),
])
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words)
