"""Argument checks for the functions that chapters call.

Each error names the argument, its value and what is allowed.
"""

import math
from collections.abc import Iterable, Mapping
from typing import TypeVar

import torch
from jaxtyping import Shaped
from torch import Tensor

Value = TypeVar("Value")
LARGEST_NOISE = 1e100


def positive(name: str, value: float) -> float:
    """A finite real number above zero, returned as it came.

    Raises ``TypeError`` where ``value`` is no real number (a bool is none), ``ValueError`` where it
    is NaN, infinite, zero or below.

    >>> positive("L", 2.5)
    2.5
    >>> positive("L", 0)
    Traceback (most recent call last):
    ValueError: L must be finite and in (0, inf); got 0.0
    """
    return in_range(name, value, 0.0, math.inf, open_low=True)


def nonnegative(name: str, value: float) -> float:
    """A finite real number, zero or above, returned as it came.

    Raises ``TypeError`` where ``value`` is no real number, ``ValueError`` where it is NaN, infinite
    or below zero.
    """
    return in_range(name, value, 0.0, math.inf)


def noise(name: str, value: float) -> float:
    """A standard deviation, zero or above, whose square a number can hold: at most 1e100.

    Raises ``TypeError`` where ``value`` is no real number, ``ValueError`` where it is NaN or out of
    range.
    """
    return in_range(name, value, 0.0, LARGEST_NOISE)


def real(name: str, value: object) -> float:
    """A real number as a ``float``; one too large for it is infinite, and NaN is let through.

    Raises ``TypeError`` for anything else: text, a bool, a list, an array of several numbers.
    """
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be a real number; got {value!r}")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must be one real number; got {value!r}") from None


def in_range(
    name: str,
    value: float,
    low: float,
    high: float,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """A finite real number between ``low`` and ``high``, returned as it came.

    Both ends are allowed, except where ``open_low`` or ``open_high`` leaves one out. Raises
    ``TypeError`` where ``value`` is no real number, ``ValueError`` where it is NaN, infinite or
    outside.
    """
    number = real(name, value)
    too_low = number < low or (open_low and number == low)
    too_high = number > high or (open_high and number == high)
    if not math.isfinite(number) or too_low or too_high:
        open_low = open_low or low == -math.inf
        left = "(" if open_low else "["
        right = ")" if open_high or high == math.inf else "]"
        allowed = f"{left}{low:g}, {high:g}{right}"
        raise ValueError(f"{name} must be finite and in {allowed}; got {number!r}")
    return value


def whole(name: str, value: int, low: int = 1, high: int | None = None) -> int:
    """A whole number from ``low`` to ``high``, both allowed, as an ``int``.

    Raises ``TypeError`` where ``value`` is no whole number (neither 2.0 nor a bool is one),
    ``ValueError`` where it is outside.

    >>> whole("n", 9, 1, 5)
    Traceback (most recent call last):
    ValueError: n must be in 1..5; got 9
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a whole number; got {value!r}")
    number = int(value)
    if number < low or (high is not None and number > high):
        allowed = f"at least {low}" if high is None else f"in {low}..{high}"
        raise ValueError(f"{name} must be {allowed}; got {number}")
    return number


def sizes(name: str, given: Iterable[int]) -> tuple[int, ...]:
    """The sizes of some axes: whole numbers, zero or above.

    Raises ``TypeError`` where ``given`` is no sequence of whole numbers, ``ValueError`` where one
    of them is negative.

    >>> sizes("size", [4, 2])
    (4, 2)
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a tuple of whole numbers, such as (4, 2); got {given!r}")
    return tuple(whole(name, number, low=0) for number in given)


def one_of(name: str, value: Value, allowed: Iterable[Value]) -> Value:
    """One of the ``allowed`` values; ``KeyError`` with all of them where it is none."""
    choices = list(allowed)
    if value not in choices:
        raise KeyError(f"{name} must be one of {choices}; got {value!r}")
    return value


def holds(name: str, mapping: Mapping[str, object], wanted: Iterable[str]) -> None:
    """Check that a mapping has all the ``wanted`` keys; ``KeyError`` with those that it has not."""
    missing = [key for key in wanted if key not in mapping]
    if missing:
        raise KeyError(f"{name} must hold {missing}; got {list(mapping)}")


def finite(name: str, tensor: Shaped[Tensor, "..."]) -> Shaped[Tensor, "..."]:
    """A tensor without NaN and infinity, returned as it came.

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
    """A tensor whose entries are all finite and in [``low``, ``high``], returned as it came.

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
    """A tensor of whole numbers from ``low`` to ``high``, of any dtype, returned as it came.

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
    """The sizes of a tensor's axes by letter, ``shape("x", x, "... n d", d=5)["n"]``.

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
    found = dict(sizes)
    last = actual[len(actual) - len(letters) :]
    for letter, size in zip(letters, last, strict=False):
        expected = int(letter) if letter.isdigit() else found.setdefault(letter, size)
        wrong = wrong or expected != size
    if wrong:
        given = ", ".join(f"{letter} = {size}" for letter, size in sizes.items())
        rule = f" with {given}" if given else ""
        raise ValueError(f"{name} must have shape ({pattern}){rule}; got {actual}")
    return found


def orthonormal(name: str, columns: Shaped[Tensor, "*batch d k"]) -> Shaped[Tensor, "*batch d k"]:
    r"""A matrix, or a batch of them, whose columns are orthonormal to 1e-8.

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
