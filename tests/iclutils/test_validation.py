"""Argument checks: every error names the argument, its value and what is allowed."""

import ast
import math
from pathlib import Path

import pytest
import torch

from iclutils import validation


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: validation.positive("L", 0),
            ValueError,
            r"L must be finite and in \(0, inf\); got 0\.0",
        ),
        (lambda: validation.positive("L", math.nan), ValueError, "L must be finite"),
        (lambda: validation.positive("L", math.inf), ValueError, "L must be finite"),
        (lambda: validation.positive("L", "1"), TypeError, "L must be a real number; got '1'"),
        (lambda: validation.positive("L", True), TypeError, "L must be a real number; got True"),
        (
            lambda: validation.nonnegative("σ", -0.1),
            ValueError,
            r"σ must be finite and in \[0, inf\); got -0\.1",
        ),
        (
            lambda: validation.in_range("t", 1.0, -1, 1, open_high=True),
            ValueError,
            r"t must be finite and in \[-1, 1\)",
        ),
        (lambda: validation.whole("n", 2.0), TypeError, "n must be a whole number; got 2.0"),
        (lambda: validation.whole("n", True), TypeError, "n must be a whole number"),
        (lambda: validation.whole("n", 0), ValueError, "n must be at least 1; got 0"),
        (lambda: validation.whole("n", 9, 1, 5), ValueError, r"n must be in 1\.\.5; got 9"),
        (
            lambda: validation.one_of("kind", "x", {"a": 1, "b": 2}),
            KeyError,
            r"kind must be one of \['a', 'b'\]; got 'x'",
        ),
        (
            lambda: validation.finite("x", torch.tensor([1.0, math.nan, math.inf])),
            ValueError,
            "x must be finite; 2 of its 3",
        ),
        (lambda: validation.finite("x", [1.0]), TypeError, "x must be a torch.Tensor; got list"),
        (
            lambda: validation.shape("x", torch.zeros(2, 3), "n d", d=4),
            ValueError,
            r"x must have shape \(n d\) with d = 4; got",
        ),
        (
            lambda: validation.shape("x", torch.zeros(2, 3), "d d"),
            ValueError,
            r"x must have shape \(d d\)",
        ),
        (lambda: validation.shape("x", torch.zeros(3), "... n d"), ValueError, r"got \(3,\)"),
        (
            lambda: validation.shape("x", torch.zeros(2, 3, 4), "n d"),
            ValueError,
            r"got \(2, 3, 4\)",
        ),
        (
            lambda: validation.shape("x", 1.0, "n"),
            TypeError,
            r"x must be a torch.Tensor of shape \(n\); got float",
        ),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_allowed(call, error, message):
    with pytest.raises(error, match=message):
        call()


def identifiers(tree):
    """Go through the names of a module's arguments, values and attributes."""
    for node in ast.walk(tree):
        for field in ("arg", "id", "attr"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


def test_an_argument_is_called_in_its_checks_as_in_the_code():
    files = Path(validation.__file__).parent.rglob("*.py")
    trees = [ast.parse(path.read_text(encoding="utf8")) for path in files]
    known = {name for tree in trees for name in identifiers(tree)}
    for call in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("validation."):
            [name] = {one.value for one in call.args[:1] if isinstance(one, ast.Constant)} or [""]
            parts = name.split(".")  # of "prompt.x" both; other names are words for a reader
            is_word = len(name) == 1 or not all(map(str.isidentifier, parts))  # or an axis
            assert is_word or set(parts) <= known, name


def test_right_arguments_pass_through():
    assert validation.positive("L", 2) == 2
    assert validation.whole("n", 3) == 3
    assert validation.shape("x", torch.zeros(7, 2, 3), "... n d", d=3) == {"n": 2, "d": 3}
    assert validation.shape("x", torch.zeros(2, 5), "2 d") == {"d": 5}


def test_orthonormal_columns_pass_and_others_are_measured():
    basis = torch.eye(3, dtype=torch.float64)[:, :2]
    assert validation.orthonormal("B", basis) is basis
    with pytest.raises(
        ValueError, match=r"B must have orthonormal columns; they miss by 3\.0e\+00"
    ):
        validation.orthonormal("B", 2 * basis)
    with pytest.raises(ValueError, match="B must be finite"):
        validation.orthonormal("B", math.nan * basis)


RANGES = {
    "in_range": lambda value: validation.in_range("x", value, -1, 2),
    "within": lambda value: validation.within(
        "x", torch.tensor([0.0, value], dtype=torch.float64), -1, 2
    ),
}


@pytest.mark.parametrize("check", RANGES)
def test_a_range_holds_its_ends_and_nothing_beyond(check):
    for value in (-1.0, 0.5, 2.0):
        RANGES[check](value)
    for value in (-1 - 1e-9, 2 + 1e-9, math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="x must be"):
            RANGES[check](value)


LENGTHS = {  # a value that is off by some share, and how much is allowed
    "orthonormal": (
        lambda off: validation.orthonormal("B", torch.eye(4).double()[:, :2] * (1 + off) ** 0.5),
        1e-8,
    ),
    "sums to one": (
        lambda off: validation.sums_to_one("γ", torch.full((4, 1), (1 + off) / 4).double()),
        1e-4,
    ),
}


@pytest.mark.parametrize(("check", "allowed"), LENGTHS.values(), ids=LENGTHS)
def test_what_misses_by_more_than_rounding_is_refused(check, allowed):
    for off in (-0.9 * allowed, 0.0, 0.9 * allowed):
        check(off)
    for off in (-1.1 * allowed, 1.1 * allowed):
        with pytest.raises(ValueError, match="must"):
            check(off)
