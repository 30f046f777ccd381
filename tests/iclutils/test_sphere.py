"""Zonal functions against quadrature, and what is known by hand."""

import math

import pytest
import torch
import zonal

from iclutils import sphere
from iclutils.randomness import stream
from iclutils.stats import mean_se

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


@pytest.mark.parametrize("d", [2, 5, 50])
@pytest.mark.parametrize("frequency", [0.0, 0.1, 1.0, 10.0, 99.5, 300.0])
def test_the_series_of_a_wave_product_has_its_formula(d: int, frequency: float) -> None:
    t = torch.linspace(-1, 1, 2001, dtype=torch.float64)
    apart, along = (sphere.characteristic(frequency**2 * (2 + 2 * s * t), d) for s in (-1, 1))
    found = sphere.wave_product(t, d, frequency)
    # a series of some hundred terms adds that many ulp; so do the Bessel functions themselves
    torch.testing.assert_close(found, (apart + along) / 2, atol=1e-12, rtol=0)


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
        (lambda: sphere.wave_product(torch.full((1,), 1.1), 3, 1.0), ["t", "1.1"]),
        (lambda: sphere.wave_product(torch.full((1,), -1.1), 3, 1.0), ["t", "-1.1"]),
        (lambda: sphere.wave_product(torch.ones(1), 3, -1.0), ["frequency", "-1"]),
        (lambda: sphere.cap_area(0.5, 1), ["d", "at least 2", "1"]),
    ],
)
def test_bad_input_is_refused(call, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="must be") as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize("d", [140, 200, 1000])
@pytest.mark.parametrize("w", [2e-4, 0.3, 0.7, 20.0])
def test_where_bessel_functions_underflow(d, w):
    """Against the power series in w²; the first two orders are written out for small windows."""
    t = torch.tensor([w], dtype=torch.float64)
    first = sphere.tilted_average(t, d, torch.tensor([0, 1, 2]))[0]
    # E t e^{wt}/E e^{wt} = w/d · (1 − w²/(d(d+2)) + …); three further orders in w² are summed
    b = d / 2
    z = w * w / 4
    series = [z**j / math.factorial(j) / math.prod(b + i for i in range(j)) for j in range(60)]
    above = [z**j / math.factorial(j) / math.prod(b + 1 + i for i in range(j)) for j in range(60)]
    assert float(first[0]) == 1.0
    # rounding of sixty terms
    assert float(first[1]) == pytest.approx(w / d * sum(above) / sum(series), rel=1e-12)
    # the term that is left out, at w² = d/500; log1p keeps the digits of a small sum
    log_partition = float(sphere.log_partition(t, d))
    assert log_partition == pytest.approx(math.log1p(sum(series[1:])), rel=1e-9)
    assert 0 < float(first[2]) < float(first[1]) ** 2 * d
    log = float(sphere.log_partition(t, d))
    # 1e-9 is the first order that the series for small windows leaves out
    assert log == pytest.approx(math.log1p(sum(series[1:])), rel=1e-9)


@pytest.mark.parametrize("d", [2, 5])
def test_a_small_window_has_the_first_order_of_the_mean(d: int) -> None:
    w = torch.tensor([1e-6, 9e-5], dtype=torch.float64)
    # E t² = 1/d; the next order is w⁴/d², and 1e-7 leaves room for it
    torch.testing.assert_close(sphere.log_partition(w, d), w**2 / (2 * d), rtol=1e-7, atol=0)


def test_both_routes_agree_where_both_work():
    w = torch.linspace(30, 60, 5, dtype=torch.float64)
    degrees = torch.tensor([1, 2, 9])
    order = 150 / 2 - 1
    ratios = sphere._bessel_ratios(w, order, degrees)
    # rounding of the recursion and of the Bessel functions
    assert torch.allclose(ratios, sphere.tilted_average(w, 150, degrees), rtol=1e-10)


def test_a_cap_beyond_the_equator_is_the_rest_of_the_sphere():
    assert float(sphere.cap_area(1.6, 4)) == pytest.approx(1 - float(sphere.cap_area(0.4, 4)))
    assert float(sphere.cap_area(2.0, 4)) == 1.0
    with pytest.raises(ValueError, match=r"epsilon must be in \[0, 2\]"):
        sphere.cap_area(-0.2, 4)
