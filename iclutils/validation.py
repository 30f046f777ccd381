"""Argument checks for the functions that chapters call: of tensors here, of numbers beside them.

Each error names the argument, its value and what is allowed.
"""

import math

import torch
from jaxtyping import Shaped
from torch import Tensor

from iclutils.arguments import (
    LARGEST_NOISE,
    flag,
    holds,
    in_range,
    noise,
    nonnegative,
    one_of,
    positive,
    real,
    sizes,
    whole,
)

__all__ = [
    "LARGEST_NOISE",
    "finite",
    "flag",
    "holds",
    "in_range",
    "noise",
    "nonnegative",
    "one_of",
    "orthonormal",
    "positive",
    "real",
    "shape",
    "sizes",
    "sums_to_one",
    "whole",
    "wholes",
    "within",
]


def finite(name: str, tensor: Shaped[Tensor, "..."]) -> Shaped[Tensor, "..."]:
    """Return a tensor without NaN and infinity, returned as it came.

    Raises ``TypeError`` for what is no tensor, ``ValueError`` with the number of bad entries.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor; got {type(tensor).__name__}")
    if tensor.numel() and tensor.is_floating_point():
        # no copy, unlike a mask of all entries; both are NaN where one entry is
        ends = torch.stack([tensor.amin(), tensor.amax()])
        if bool(torch.isfinite(ends).all()):
            return tensor
    bad = int((~torch.isfinite(tensor)).sum())
    if bad:
        total = tensor.numel()
        raise ValueError(f"{name} must be finite; {bad} of its {total} entries are NaN or infinite")
    return tensor


def within(
    name: str, tensor: Shaped[Tensor, "..."], low: float, high: float
) -> Shaped[Tensor, "..."]:
    """Return a tensor whose entries are all finite and in [``low``, ``high``], returned as it came.

    Raises ``TypeError`` for what is no tensor, ``ValueError`` with the first entry outside.
    """
    finite(name, tensor)
    if tensor.numel() and (float(tensor.amin()) < low or float(tensor.amax()) > high):
        outside = tensor[(tensor < low) | (tensor > high)]
        first = float(outside.flatten()[0])
        raise ValueError(f"{name} must be in [{low:g}, {high:g}]; one of its entries is {first:g}")
    return tensor


def wholes(
    name: str, tensor: Shaped[Tensor, "..."], low: int, high: int | None = None
) -> Shaped[Tensor, "..."]:
    """Return a tensor of whole numbers from ``low`` to ``high``, of any dtype, returned as it came.

    Raises ``TypeError`` for what is no tensor, ``ValueError`` with the first entry that is not
    whole or is outside.
    """
    finite(name, tensor)
    last = math.inf if high is None else high
    outside = tensor[(tensor < low) | (tensor > last) | (tensor != tensor.round())]
    if outside.numel():
        allowed = f"from {low} on" if high is None else f"in {low}..{high}"
        first = float(outside.flatten()[0])
        raise ValueError(f"{name} must be whole numbers {allowed}; one of its entries is {first:g}")
    return tensor


def shape(name: str, tensor: Shaped[Tensor, "..."], pattern: str, **sizes: int) -> dict[str, int]:
    """Return the sizes of a tensor's axes by letter, ``shape("x", x, "... n d", d=5)["n"]``.

    ``pattern`` has one letter or word per axis, ``...`` first for any leading axes, and whole
    numbers for fixed sizes. A letter that occurs twice, or is given in ``sizes``, must agree.
    Raises ``TypeError`` for what is no tensor, ``ValueError`` where the shape is another.

    >>> shape("x", torch.zeros(7, 2, 3), "... n d", d=3)["n"]
    2
    """
    if not isinstance(tensor, Tensor):
        kind = type(tensor).__name__
        raise TypeError(f"{name} must be a torch.Tensor of shape ({pattern}); got {kind}")
    letters = pattern.split()
    actual = tuple(tensor.shape)
    if letters[0] == "...":
        letters = letters[1:]
        wrong = len(actual) < len(letters)
    else:
        wrong = len(actual) != len(letters)
    values = dict(sizes)
    last = actual[len(actual) - len(letters) :]
    for letter, size in zip(letters, last, strict=False):
        expected = int(letter) if letter.isdigit() else values.setdefault(letter, size)
        wrong = wrong or expected != size
    if wrong:
        fixed = ", ".join(f"{letter} = {size}" for letter, size in sizes.items())
        rule = f" with {fixed}" if fixed else ""
        raise ValueError(f"{name} must have shape ({pattern}){rule}; got {actual}")
    return values


def orthonormal(name: str, columns: Shaped[Tensor, "*batch d k"]) -> Shaped[Tensor, "*batch d k"]:
    r"""Return a matrix, or a batch of them, whose columns are orthonormal to 1e-8.

    Raises ``ValueError`` where an entry is not finite, and with the largest entry of
    :math:`|B^\top B - I|` where they are not.
    """
    finite(name, columns)
    k = shape(name, columns, "... d k")["k"]
    gram = columns.mT @ columns
    error = float((gram - torch.eye(k, dtype=columns.dtype)).abs().max())
    if not error <= 1e-8:
        raise ValueError(f"{name} must have orthonormal columns; they miss by {error:.1e}")
    return columns


def sums_to_one(name: str, weights: Shaped[Tensor, "*batch n q"]) -> Shaped[Tensor, "*batch n q"]:
    """Return weights whose sums over n are 1, to the 1e-4 that single precision leaves.

    Raises ``ValueError`` with the first sum that is another.
    """
    sums = weights.detach().sum(-2)
    within(f"the sum of {name} over the tokens", sums, 1 - 1e-4, 1 + 1e-4)
    return weights
