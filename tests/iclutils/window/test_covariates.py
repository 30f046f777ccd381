"""Covariate distributions: lengths, directions, one matrix a trial."""

import pytest
import torch

from iclutils.randomness import normal, stream
from iclutils.window import covariates


def test_stretched_applies_each_trials_own_matrix() -> None:
    root = torch.randn(3, 4, 4, generator=stream(0, "root"), dtype=torch.float64)
    z = torch.randn(3, 7, 5, 4, generator=stream(0, "z"), dtype=torch.float64)
    x = covariates.Stretched(root).from_gaussian(z)
    for trial in range(3):
        one = z[trial, 2, 1] @ root[trial].T
        torch.testing.assert_close(x[trial, 2, 1], one / one.norm())


def test_a_stretch_of_its_own_for_every_task() -> None:
    """Tokens of one task share a stretch, and tasks do not."""
    law = covariates.StretchedAnew(4)
    x = covariates.sample(law, (3000, 8), stream(0, "z"))
    torch.testing.assert_close(x.norm(dim=-1), torch.ones(3000, 8, dtype=torch.float64))
    # products of tokens of one task: positive on average squared beyond the isotropic 1/d
    squares = (x[:, 0] * x[:, 1]).sum(-1).square().mean()
    assert squares > 0.3  # 0.25 where every token is uniform; 5 standard errors are 0.03
    second = torch.einsum("tmi,tmj->ij", x, x) / (3000 * 8)
    # uniform over tasks; 0.02 is 5 standard errors of 3000 tasks
    torch.testing.assert_close(second, torch.eye(4, dtype=torch.float64) / 4, atol=0.02, rtol=0)


def test_stretches_are_named_by_their_stream_alone() -> None:
    """Whatever the tokens are, a stream gives the same stretches, and another one others."""
    law = covariates.StretchedAnew(4)
    z = torch.randn(5, 8, 4, generator=stream(0, "z"), dtype=torch.float64)
    maps = [covariates.of_tasks(law, (5,), stream(0, "stretches", i)) for i in (0, 0, 1)]
    first, again, other = (one.from_gaussian(z) for one in maps)
    assert torch.equal(first, again)
    assert float((first - other).abs().min(0).values.max()) > 0.1
    near = maps[0].from_gaussian(z * (1 + 1e-13))
    torch.testing.assert_close(near, first, atol=1e-12, rtol=0)


def test_two_subspaces_have_the_right_lengths() -> None:
    gaussian = torch.randn(2, 6, 6, generator=stream(0, "frame"), dtype=torch.float64)
    frame = torch.linalg.qr(gaussian)[0]
    law = covariates.TwoSubspaces(frame[..., :2], frame[..., 2:], c_u=1.5, c_v=-0.5)
    z = torch.randn(2, 3, 8, 6, generator=stream(0, "z"), dtype=torch.float64)
    in_frame = law.from_gaussian(z) @ frame[:, None]
    ones = torch.ones(2, 3, 8, dtype=torch.float64)
    torch.testing.assert_close(in_frame[..., :2].norm(dim=-1), 1.5 * ones)
    torch.testing.assert_close(in_frame[..., 2:].norm(dim=-1), 0.5 * ones)


def test_an_ellipsoid_is_a_linear_image_of_the_sphere() -> None:
    root = torch.tensor([[1.0, 0.5, 0.0], [0.0, 2.0, 0.3], [0.0, 0.0, 3.0]], dtype=torch.float64)
    z = torch.randn(4, 6, 3, generator=stream(0, "oval"), dtype=torch.float64)
    x = covariates.Ellipsoid(root).from_gaussian(z)
    back = x @ torch.linalg.inv(root).mT  # each point is R times one of the sphere
    torch.testing.assert_close(back, covariates.Sphere(3).from_gaussian(z))


def test_a_sample_is_the_map_of_gaussian_draws() -> None:
    law = covariates.Sphere(3)
    x = covariates.sample(law, (2, 5), stream(0, "points"))
    z = torch.randn(2, 5, 3, generator=stream(0, "points"), dtype=torch.float64)
    assert torch.equal(x, law.from_gaussian(z))


EYE = torch.eye(3, dtype=torch.float64)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: covariates.Sphere(2.5), TypeError, ["d", "2.5"]),
        (lambda: covariates.Sphere(1), ValueError, ["d", "1"]),
        (
            lambda: covariates.Sphere(3).from_gaussian(torch.zeros(2, 4)),
            ValueError,
            ["z", "(2, 4)", "d = 3"],
        ),
        (lambda: covariates.Stretched(EYE[:2]), ValueError, ["root", "(2, 3)"]),
        (lambda: covariates.Ellipsoid(EYE / 0), ValueError, ["root", "finite"]),
        (lambda: covariates.TwoSubspaces(EYE[:, :1], EYE[:, :2]), ValueError, ["orthonormal"]),
        (lambda: covariates.TwoSubspaces(EYE[:, :1], EYE[:, 2:]), ValueError, ["B_perp", "r = 2"]),
    ],
)
def test_bad_input_is_refused(call, error, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


def test_no_coordinates_have_no_length_to_divide_by() -> None:
    assert covariates.normalised(torch.empty(2, 5, 0)).shape == (2, 5, 0)


def test_by_trial_is_one_product_for_each_trial() -> None:
    draws = stream(0, "by trial")
    x = torch.randn(2, 3, 5, 4, generator=draws, dtype=torch.float64)
    matrix = torch.randn(2, 4, 3, generator=draws, dtype=torch.float64)
    found = covariates.by_trial(x, matrix)
    # sums of four products, in double precision
    torch.testing.assert_close(found[1, 2], x[1, 2] @ matrix[1])
    torch.testing.assert_close(covariates.by_trial(x, matrix[0])[1], x[1] @ matrix[0])


def test_each_task_has_a_stretch_of_its_own_whatever_the_leading_axes():
    law, size = covariates.StretchedAnew(3), (4, 5, 200)
    x = covariates.sample(law, size, stream(0, "test", "anew"))
    draws = stream(0, "test", "anew")
    z = normal(*size, 3, generator=draws)
    torch.testing.assert_close(x, covariates.of_tasks(law, (4, 5), draws).from_gaussian(z))
    # two tasks of one trial differ in their second moments, by far more than 200 tokens' chance
    first, second = (x[0, task].mT @ x[0, task] / 200 for task in (0, 1))
    assert float((first - second).abs().max()) > 0.2
