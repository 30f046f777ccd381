"""Zonal functions against quadrature, and what is known by hand."""

import math

import pytest
import torch
import zonal

from iclutils.ground import sphere
from iclutils.ground.randomness import stream
from iclutils.ground.statistics import mean_se

DEGREES = torch.arange(10)


@pytest.mark.parametrize("d", [2, 3, 5, 8])
def test_gegenbauer_is_one_at_one_and_orthogonal(d: int) -> None:
    t, weight = zonal.quadrature(d)
    P = sphere.gegenbauer(t, d, DEGREES)
    gram = (P * weight.unsqueeze(-1)).mT @ P
    expected = torch.diag(1 / sphere.multiplicity(DEGREES, d))
    # 400 nodes integrate these polynomials to rounding; the recursion of 10 steps adds a few ulp
    torch.testing.assert_close(gram, expected, atol=1e-12, rtol=1e-10)
    at_one = sphere.gegenbauer(torch.ones(1, dtype=torch.float64), d, DEGREES)
    torch.testing.assert_close(at_one, torch.ones(1, 10, dtype=torch.float64))
    mixed = sphere.gegenbauer(t, d, torch.tensor([4, 1, 4]))
    torch.testing.assert_close(mixed, P[:, [4, 1, 4]])


def test_the_number_of_harmonics_is_known_in_two_and_three_dimensions() -> None:
    assert sphere.multiplicity(DEGREES, 2).tolist() == [1.0] + [2.0] * 9
    assert sphere.multiplicity(DEGREES, 3).tolist() == [2.0 * k + 1 for k in range(10)]


@pytest.mark.parametrize("d", [2, 3, 5, 8])
def test_the_characteristic_function_equals_quadrature(d: int) -> None:
    t, weight = zonal.quadrature(d)
    r = torch.tensor([0.0, 1e-6, 0.7, 3.0, 12.0], dtype=torch.float64)
    direct = (r.unsqueeze(-1) * t).cos() @ weight
    # the alternating series of ₀F₁ loses about e^12/12 ulp at r = 12
    torch.testing.assert_close(sphere.characteristic(r.square(), d), direct, atol=1e-11, rtol=0)


def test_the_characteristic_function_of_a_sign_is_the_cosine() -> None:
    r = torch.tensor([0.0, 0.5, 2.0], dtype=torch.float64)
    torch.testing.assert_close(sphere.characteristic(r.square(), 1), r.cos())


@pytest.mark.parametrize("d", [2, 3, 5, 8])
def test_tilted_averages_equal_quadrature(d: int) -> None:
    t, weight = zonal.quadrature(d)
    w = torch.tensor([0.0, 1e-5, 0.3, 4.0, 60.0], dtype=torch.float64)
    tilt = torch.exp(w.unsqueeze(-1) * (t - 1)) * weight
    log_mean = tilt.sum(-1).log() + w
    # at w = 60 the tilted law is narrow: its 400 nodes are good to about 1e-10 relatively
    torch.testing.assert_close(sphere.log_partition(w, d), log_mean, atol=1e-10, rtol=1e-9)
    direct = tilt @ sphere.gegenbauer(t, d, DEGREES) / tilt.sum(-1, keepdim=True)
    # small averages (high k, small w) are differences of order 1: absolute rounding counts there
    torch.testing.assert_close(sphere.tilted_average(w, d, DEGREES), direct, atol=1e-10, rtol=1e-8)


def test_cap_area_by_hand() -> None:
    """On the circle the cap is an arc of angle 2·arccos(1 − ε); on S² its area is linear in ε."""
    epsilon = torch.tensor([0.0, 0.1, 0.7, 1.0], dtype=torch.float64)
    torch.testing.assert_close(sphere.cap_area(epsilon, 2), (1 - epsilon).arccos() / math.pi)
    torch.testing.assert_close(sphere.cap_area(epsilon, 3), epsilon / 2)


def test_cap_area_is_the_share_of_random_points() -> None:
    z = torch.randn(100_000, 5, generator=stream(0, "cap"), dtype=torch.float64)
    t = z[:, 0] / z.norm(dim=-1)
    for epsilon in (0.1, 0.8):
        mean, se, _ = mean_se((t >= 1 - epsilon).double())
        # two comparisons at the default 4 standard errors: 1.3e-4 false alarms
        assert abs(float(mean) - float(sphere.cap_area(epsilon, 5))) < 4 * float(se)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sphere.log_partition(torch.tensor([-1.0]), 3), ["w", "-1"]),
        (lambda: sphere.tilted_average(torch.tensor([math.nan]), 3, DEGREES), ["w", "NaN"]),
        (lambda: sphere.gegenbauer(torch.ones(1), 1, DEGREES), ["d", "at least 2", "1"]),
        (lambda: sphere.gegenbauer(torch.ones(1), 3, torch.tensor([-1])), ["degrees", "-1"]),
        (lambda: sphere.cap_area(0.5, 1), ["d", "at least 2", "1"]),
    ],
)
def test_bad_input_is_refused(call, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="must be") as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value
