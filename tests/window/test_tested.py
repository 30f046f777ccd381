"""Errors of several kinds of units and classes on the same draws."""

import pytest
import torch

from iclutils.ground.randomness import stream
from iclutils.window import attention, subspaces, tested
from iclutils.window.covariates import Sphere
from iclutils.window.links import LowRankLink
from iclutils.window.prompts import draw

F64 = torch.float64


def test_errors_are_those_of_one_class_at_a_time() -> None:
    B = subspaces.random_subspaces(2, 4, 2, stream(0, "B"))
    classes = [LowRankLink(B, link) for link in ("affine", "cosine")]
    units = {
        unit: torch.randn(2, 2, 3, 4, 4, generator=stream(0, unit), dtype=F64)
        for unit in attention.UNITS
    }
    found = tested.errors(units, classes, Sphere(4), 5, 0.1, 7, stream(0, "tested"))
    for unit, row in ((unit, row) for unit in units for row in (0, 1)):
        prompt = draw(classes[row], Sphere(4), 5, 0.1, 1, (2, 7), stream(0, "tested"))
        alone = attention.mean_errors(units[unit][row], prompt, unit)
        assert torch.equal(found[unit][row], alone)


def test_units_with_different_trials_are_refused() -> None:
    eye = torch.eye(3, dtype=F64)
    units = {"softmax": eye.expand(1, 2, 1, 3, 3), "linear": eye.expand(1, 3, 1, 3, 3)}
    law = LowRankLink(eye[:, :1], "linear")
    with pytest.raises(ValueError, match="one number of trials"):
        tested.errors(units, [law], Sphere(3), 5, 0.1, 7, stream(0, "x"))
