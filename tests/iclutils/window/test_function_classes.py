"""Function classes: kernels by Monte Carlo and expansion, Lipschitz constants, common draws."""

import math

import pytest
import torch
import zonal
from scipy.stats import kstest

from iclutils import sphere
from iclutils.randomness import stream
from iclutils.stats import mean_se
from iclutils.window import covariates, function_classes
from iclutils.window.function_classes import Through

DEGREES = torch.arange(10)


def pair(t: float, d: int) -> torch.Tensor:
    """Two unit vectors at cosine t, ``(2, d)``."""
    x = torch.zeros(2, d, dtype=torch.float64)
    x[0, 0] = 1.0
    x[1, 0] = t
    x[1, 1] = math.sqrt(1 - t * t)
    return x


SEVERAL = [
    *(
        function_classes.by_name(name, d, L)
        for name in function_classes.CLASSES
        for d in (2, 5)
        for L in (0.3, 4.0)
    ),
    function_classes.Affine(3, 2.0, offset=False),
    function_classes.ReLU(3, 2.0, offset=False),
    function_classes.Hills(2.5),
    function_classes.Hills(3.0, "frequency"),
]


@pytest.mark.parametrize("function", SEVERAL, ids=str)
def test_covariance_is_the_mean_over_sampled_tasks(function: function_classes.Affine) -> None:
    """At 5 standard errors, 16 settings x 3 angles x 2 moments: 6e-5 false alarms."""
    d = function.d
    tasks = function.sample((40_000,), stream(1, "tasks", function.name, d))
    power = float(function.covariance(torch.ones((), dtype=torch.float64)))
    for t in (-0.7, 0.2, 0.95):
        f = function.evaluate(tasks, pair(t, d).expand(40_000, 2, d))
        covariance = float(function.covariance(torch.tensor(t, dtype=torch.float64)))
        moments = {
            "product": (f[:, 0] * f[:, 1], covariance),
            "half squared difference": ((f[:, 0] - f[:, 1]) ** 2 / 2, power - covariance),
        }
        for what, (statistic, exact) in moments.items():
            mean, se, _ = mean_se(statistic)
            # 1e-12 is for what all tasks share, where the sampled error is zero
            assert abs(float(mean) - exact) < 5 * float(se) + 1e-12, (t, what)


@pytest.mark.parametrize("d", [2, 3, 5, 10])
@pytest.mark.parametrize(
    "function", [function_classes.Affine, function_classes.ReLU, function_classes.Cosine]
)
def test_spectrum_is_the_gegenbauer_expansion_of_the_covariance(d: int, function: type) -> None:
    one = function(d, 2.3)
    t, weight = zonal.quadrature(d)
    inner = (one.covariance(t) * weight) @ sphere.gegenbauer(t, d, DEGREES)
    projected = sphere.multiplicity(DEGREES, d) * inner
    # rounding 1e-15 is multiplied by N_k, at most 5·10⁴ here
    torch.testing.assert_close(one.spectrum(DEGREES), projected, atol=1e-9, rtol=1e-8)
    total = float(one.spectrum(torch.arange(300)).sum())
    # the tail of the ReLU's c_k ~ k^-4 beyond 300 is below 1e-6
    assert total == pytest.approx(
        float(one.covariance(torch.ones((), dtype=torch.float64))), abs=2e-6
    )


@pytest.mark.parametrize("name", function_classes.CLASSES)
def test_lipschitz_constant_is_L(name: str) -> None:
    function = function_classes.by_name(name, 3, 2.5)
    generator = stream(0, "lipschitz", name)
    task = function.sample((2000,), generator)
    x = covariates.sample(covariates.Sphere(3), (2000, 2), generator)
    rise = function.evaluate(task, x).diff(dim=-1).abs().squeeze(-1)
    slope = float((rise / (x[:, 0] - x[:, 1]).norm(dim=-1)).max())
    assert slope <= 2.5 * (1 + 1e-9)  # quotients of close points lose up to 1e-9 to rounding
    assert slope > 2.5 * 0.8  # the steepest of 2000 pairs comes this close


def test_offset_off_removes_the_constant_part() -> None:
    t = torch.linspace(-1, 1, 9, dtype=torch.float64)
    for cls in (function_classes.Affine, function_classes.ReLU):
        difference = cls(4, 2.0).covariance(t) - cls(4, 2.0, offset=False).covariance(t)
        torch.testing.assert_close(difference, torch.full_like(t, 4 / 3))


def test_a_hill_is_as_high_as_it_says_and_has_its_top_at_its_place() -> None:
    """A sample of heavier tails could pass the test of the covariance, whose error they enter."""
    theta = torch.linspace(-3, 3, 61, dtype=torch.float64)
    circle = torch.stack([theta.cos(), theta.sin()], -1)
    task = {"b": torch.tensor([0.5, -2.0], dtype=torch.float64)}
    for hills, expected in (
        (function_classes.Hills(2.5), lambda b: 2.5 * (theta - b).cos()),
        (function_classes.Hills(3.0, "frequency"), lambda b: (3 * theta - b).cos()),
    ):
        f = hills.evaluate(task, circle)
        torch.testing.assert_close(f, torch.stack([expected(float(b)) for b in task["b"]]))


def test_hills_take_a_product_that_rounding_made_too_large() -> None:
    t = torch.tensor([-1.0, 1.0], dtype=torch.float64)
    hills = function_classes.Hills(3.0, "frequency")
    assert torch.equal(hills.covariance(t * (1 + 1e-15)), hills.covariance(t))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (function_classes.Affine(3, 1.0), function_classes.Affine(3, 5.0, offset=False)),
        (function_classes.ReLU(3, 1.0), function_classes.ReLU(3, 2.0)),
        (function_classes.Cosine(3, 1.0), function_classes.Cosine(3, 0.1)),
        (function_classes.Hills(1.0), function_classes.Hills(2.5, "frequency")),
        (function_classes.Distance(3, 1.0), function_classes.Distance(3, 2.0)),
    ],
)
def test_one_law_draws_the_same_tasks(one, other) -> None:  # type: ignore[no-untyped-def]
    assert one.law == other.law
    first = one.sample((5,), stream(0, "tasks"))
    second = other.sample((5,), stream(0, "tasks"))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[key], second[key]) for key in first)


def test_other_dimensions_and_classes_are_other_laws() -> None:
    some = [
        function_classes.Affine(3),
        function_classes.Affine(4),
        function_classes.ReLU(3),
        function_classes.Cosine(3),
        function_classes.Distance(3),
        function_classes.Distance(3, centres=5),
        function_classes.Hills(1.0),
    ]
    assert len({function.law for function in some}) == len(some)


def test_a_distance_is_that_to_the_closest_centre() -> None:
    function = function_classes.Distance(3, 2.0, centres=4)
    task = function.sample((6,), stream(0, "centres"))
    x = covariates.sample(covariates.Sphere(3), (6, 5), stream(0, "x"))
    plain = 2.0 * torch.cdist(x, task["c"]).amin(-1)
    # √(2 − 2t) loses half of the digits close to a centre
    torch.testing.assert_close(function.evaluate(task, x), plain, atol=1e-7, rtol=1e-7)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: function_classes.by_name("spline", 5), KeyError, ["name", "spline", "affine"]),
        (lambda: function_classes.Affine(5, -1.0), ValueError, ["L", "-1"]),
        (lambda: function_classes.Cosine(1), ValueError, ["d", "1"]),
        (lambda: function_classes.ReLU(5, float("nan")), ValueError, ["L", "nan"]),
        (lambda: function_classes.Hills(-1.0), ValueError, ["nu", "-1"]),
        (lambda: function_classes.Hills(1.0, "phase"), KeyError, ["reading", "phase"]),
        (
            lambda: function_classes.Hills(1.5, "frequency").covariance(torch.ones(1)),
            ValueError,
            ["nu", "whole", "1.5"],
        ),
        (lambda: function_classes.Distance(3, centres=0), ValueError, ["centres", "0"]),
        (lambda: function_classes.Distance(3, 0.0), ValueError, ["L", "0"]),
    ],
)
def test_bad_input_is_refused(call, error, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


def test_directions_are_unit_vectors_without_a_preference() -> None:
    w = function_classes.directions((20_000,), 3, stream(0, "directions"))
    torch.testing.assert_close(w.norm(dim=-1), torch.ones(20_000, dtype=torch.float64))
    for moment, expected in ((w, 0.0), (w.square(), 1 / 3)):
        mean, se, _ = mean_se(moment)
        for one, error in zip(mean.tolist(), se.tolist(), strict=True):
            assert abs(one - expected) < 4 * error  # 6 comparisons at 4 standard errors: 4e-4


def test_symmetric_uniform_numbers_have_variance_one_third() -> None:
    numbers = function_classes.symmetric_uniform((20_000,), stream(0, "uniform"))
    assert float(numbers.abs().max()) <= 1
    for moment, expected in ((numbers, 0.0), (numbers.square(), 1 / 3)):
        mean, se, _ = mean_se(moment)
        assert abs(float(mean) - expected) < 4 * float(se)  # 4 standard errors: 6e-5


def test_symmetric_uniform_numbers_are_uniform() -> None:
    numbers = function_classes.symmetric_uniform((200_000,), stream(0, "law"))
    # an interval that is shorter by a hundredth would be found out at 4.5 standard deviations
    assert kstest(numbers.numpy(), "uniform", (-1, 2)).pvalue > 1e-4


def test_along_is_the_inner_product_token_by_token() -> None:
    w = torch.randn(2, 3, 4, generator=stream(0, "w"), dtype=torch.float64)
    x = torch.randn(2, 3, 7, 4, generator=stream(0, "x"), dtype=torch.float64)
    torch.testing.assert_close(function_classes.along(w, x), torch.einsum("abd,abmd->abm", w, x))


def test_tasks_through_the_inverse_of_an_ellipsoid_are_the_spheres_again() -> None:
    root = torch.diag(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    z = torch.randn(4, 6, 3, generator=stream(0, "oval"), dtype=torch.float64)
    x = covariates.Ellipsoid(root).from_gaussian(z)
    function = function_classes.ReLU(3, 2.0)
    seen = Through(function, torch.linalg.inv(root))
    task = seen.sample((4,), stream(0, "tasks"))
    direct = function.evaluate(task, covariates.Sphere(3).from_gaussian(z))
    torch.testing.assert_close(seen.evaluate(task, x), direct)


def test_the_tasks_are_those_of_the_class_that_is_seen() -> None:
    function = function_classes.ReLU(3, 2.0)
    seen = Through(function, torch.eye(3, dtype=torch.float64))
    assert (seen.law, seen.name) == (function.law, function.name)
    task = seen.sample((5,), stream(0, "tasks"))
    assert torch.equal(task["w"], function.sample((5,), stream(0, "tasks"))["w"])


@pytest.mark.parametrize("root", [torch.eye(2), math.nan * torch.eye(3)])
def test_a_bad_root_is_refused(root: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="root must"):
        Through(function_classes.ReLU(3), root)
