"""Covariates and function classes: kernels against Monte Carlo, batching against one at a time."""

import math

import pytest
import torch

from iclutils import covariates, functions, prompts
from iclutils.randomness import stream
from iclutils.statistics import equal, mean_se


def pair(t: float, d: int) -> torch.Tensor:
    """Two unit vectors at cosine t, ``(2, d)``."""
    x = torch.zeros(2, d, dtype=torch.float64)
    x[0, 0], x[1, 0], x[1, 1] = 1.0, t, math.sqrt(1 - t * t)
    return x


@pytest.mark.parametrize("name", functions.CLASSES)
@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("L", [0.3, 4.0])
def test_half_variogram_is_half_the_mean_squared_difference(name: str, d: int, L: float) -> None:
    function = functions.by_name(name, d, L)
    tasks = function.sample((40_000,), stream(1, "tasks", name, d))
    for t in (-0.7, 0.2, 0.95):
        f = function.evaluate(tasks, pair(t, d).expand(40_000, 2, d))
        for statistic, exact in (((f[:, 0] - f[:, 1]) ** 2 / 2, function.half_variogram(torch.tensor(t))),
                                 (f[:, 0] * f[:, 1], function.covariance(torch.tensor(t, dtype=torch.float64)))):
            mean, se = mean_se(statistic)
            # 12 settings x 3 angles x 2 moments at 5 standard errors: 4e-5 false alarms
            assert equal(float(mean), float(exact), se=float(se), tol=1e-12, z=5), (name, d, L, t)


@pytest.mark.parametrize("name", functions.CLASSES)
def test_lipschitz_constant_is_L(name: str) -> None:
    function = functions.by_name(name, 3, 2.5)
    generator = stream(0, "lipschitz", name)
    task = function.sample((2000,), generator)
    x = covariates.sample(covariates.Sphere(3), (2000, 2), generator)
    slope = function.evaluate(task, x).diff(dim=-1).abs().squeeze(-1) / (x[:, 0] - x[:, 1]).norm(dim=-1)
    assert float(slope.max()) <= 2.5 * (1 + 1e-9)
    assert float(slope.max()) > 2.5 * 0.8


def test_offset_off_removes_the_constant_part() -> None:
    for cls in (functions.Affine, functions.ReLU):
        with_offset, without = cls(4, 2.0), cls(4, 2.0, offset=False)
        t = torch.linspace(-1, 1, 9, dtype=torch.float64)
        torch.testing.assert_close(with_offset.covariance(t) - without.covariance(t), torch.full_like(t, 4 / 3))
        torch.testing.assert_close(with_offset.half_variogram(t), without.half_variogram(t))


def test_stretched_applies_each_trials_own_matrix() -> None:
    root = torch.randn(3, 4, 4, generator=stream(0, "root"), dtype=torch.float64)
    z = torch.randn(3, 7, 5, 4, generator=stream(0, "z"), dtype=torch.float64)
    x = covariates.Stretched(root).from_gaussian(z)
    for trial in range(3):
        one = z[trial, 2, 1] @ root[trial].T
        torch.testing.assert_close(x[trial, 2, 1], one / one.norm())


def test_two_subspaces_have_the_right_lengths() -> None:
    frame = torch.linalg.qr(torch.randn(2, 6, 6, generator=stream(0, "frame"), dtype=torch.float64))[0]
    law = covariates.TwoSubspaces(frame[..., :2], frame[..., 2:], c_u=1.5, c_v=-0.5)
    x = law.from_gaussian(torch.randn(2, 3, 8, 6, generator=stream(0, "z"), dtype=torch.float64))
    torch.testing.assert_close((x @ frame[:, None, :, :2]).norm(dim=-1), torch.full((2, 3, 8), 1.5, dtype=torch.float64))
    torch.testing.assert_close((x @ frame[:, None, :, 2:]).norm(dim=-1), torch.full((2, 3, 8), 0.5, dtype=torch.float64))


def test_prompt_holds_noise_of_the_right_size() -> None:
    prompt = prompts.draw(functions.Affine(5), covariates.Sphere(5), 50, 0.3, 2, (400,), stream(0, "prompts"))
    clean = prompts.draw(functions.Affine(5), covariates.Sphere(5), 50, 0.0, 2, (400,), stream(0, "prompts"))
    noise = prompt.y - clean.y
    mean, se = mean_se((noise**2).flatten())
    assert equal(float(mean), 0.09, se=float(se))
    torch.testing.assert_close(prompt.target, clean.target)


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: functions.by_name("spline", 5), KeyError, ["name", "spline", "affine"]),
    (lambda: functions.Affine(5, -1.0), ValueError, ["L", "-1"]),
    (lambda: functions.Cosine(1), ValueError, ["d", "1"]),
    (lambda: functions.ReLU(5, float("nan")), ValueError, ["L", "nan"]),
    (lambda: covariates.Sphere(2.5), TypeError, ["d", "2.5"]),
    (lambda: covariates.Sphere(3).from_gaussian(torch.zeros(2, 4)), ValueError, ["z", "(2, 4)", "d = 3"]),
    (lambda: prompts.draw(functions.Affine(5), covariates.Sphere(5), 0, 0.1, 1, (2,), stream(0, "x")), ValueError, ["n", "0"]),
    (lambda: prompts.draw(functions.Affine(5), covariates.Sphere(5), 4, -0.1, 1, (2,), stream(0, "x")), ValueError, ["sigma"]),
])
def test_bad_input_is_refused_with_name_value_and_rule(call, error, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


def test_ellipsoid_and_tasks_through_its_inverse_are_the_sphere_again() -> None:
    root = torch.diag(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    z = torch.randn(4, 6, 3, generator=stream(0, "oval"), dtype=torch.float64)
    x = covariates.Ellipsoid(root).from_gaussian(z)
    torch.testing.assert_close(x @ torch.linalg.inv(root), covariates.Sphere(3).from_gaussian(z))
    function = functions.ReLU(3, 2.0)
    seen = functions.Through(function, torch.linalg.inv(root))
    task = seen.sample((4,), stream(0, "tasks"))
    torch.testing.assert_close(seen.evaluate(task, x), function.evaluate(task, covariates.Sphere(3).from_gaussian(z)))
    with pytest.raises(ValueError, match="root"):
        functions.Through(function, torch.eye(2, dtype=torch.float64))
