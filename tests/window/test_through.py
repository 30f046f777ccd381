"""Tasks seen through a matrix."""

import math

import pytest
import torch

from iclutils.ground.randomness import stream
from iclutils.window import covariates, functions
from iclutils.window.through import Through


def test_tasks_through_the_inverse_of_an_ellipsoid_are_the_spheres_again() -> None:
    root = torch.diag(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    z = torch.randn(4, 6, 3, generator=stream(0, "oval"), dtype=torch.float64)
    x = covariates.Ellipsoid(root).from_gaussian(z)
    function = functions.ReLU(3, 2.0)
    seen = Through(function, torch.linalg.inv(root))
    task = seen.sample((4,), stream(0, "tasks"))
    direct = function.evaluate(task, covariates.Sphere(3).from_gaussian(z))
    torch.testing.assert_close(seen.evaluate(task, x), direct)


def test_the_tasks_are_those_of_the_class_that_is_seen() -> None:
    function = functions.ReLU(3, 2.0)
    seen = Through(function, torch.eye(3, dtype=torch.float64))
    assert (seen.law, seen.name) == (function.law, function.name)
    task = seen.sample((5,), stream(0, "tasks"))
    assert torch.equal(task["w"], function.sample((5,), stream(0, "tasks"))["w"])


@pytest.mark.parametrize("root", [torch.eye(2), math.nan * torch.eye(3)])
def test_a_bad_root_is_refused(root: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="root must"):
        Through(functions.ReLU(3), root)
