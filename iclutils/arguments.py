"""Argument checks for numbers, sizes and names: all that needs no tensor.

Each error names the argument, its value and what is allowed. The checks of tensors are in
:mod:`iclutils.validation`, which offers these too.
"""

import math
from collections.abc import Iterable, Mapping
from typing import TypeVar

Value = TypeVar("Value")
LARGEST_NOISE = 1e100


def positive(name: str, value: float) -> float:
    """Check that a number is finite, real and above zero, and return it as it came.

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
    """Check that a number is finite, real and not negative, and return it as it came.

    Raises ``TypeError`` where ``value`` is no real number, ``ValueError`` where it is NaN, infinite
    or below zero.
    """
    return in_range(name, value, 0.0, math.inf)


def noise(name: str, value: float) -> float:
    """Check a standard deviation: zero or above, its square at most 1e100, so that it is a number.

    Raises ``TypeError`` where ``value`` is no real number, ``ValueError`` where it is NaN or out of
    range.
    """
    return in_range(name, value, 0.0, LARGEST_NOISE)


def real(name: str, value: object) -> float:
    """Return a real number as a ``float``: infinite if it is too large for one; NaN is let through.

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
    """Check that a finite real number is between ``low`` and ``high``, and return it as it came.

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
    """Check a whole number from ``low`` to ``high``, both allowed, and return it as an ``int``.

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


def flag(name: str, value: bool) -> bool:
    """Check that a value is True or False, and return it; ``TypeError`` for anything else.

    Text would count as true, ``"no"`` too.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False; got {value!r}")
    return value


def sizes(name: str, values: Iterable[int]) -> tuple[int, ...]:
    """Check the sizes of some axes: whole numbers, zero or above.

    Raises ``TypeError`` where ``values`` is no sequence of whole numbers, ``ValueError`` where one
    of them is negative.

    >>> sizes("size", [4, 2])
    (4, 2)
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a tuple of whole numbers, such as (4, 2); got {values!r}")
    return tuple(whole(name, number, low=0) for number in values)


def one_of(name: str, value: Value, allowed: Iterable[Value]) -> Value:
    """One of the ``allowed`` values; ``KeyError`` with all of them where it is none."""
    choices = list(allowed)
    if value not in choices:
        raise KeyError(f"{name} must be one of {choices}; got {value!r}")
    return value


def holds(name: str, mapping: Mapping[str, object], keys: Iterable[str]) -> None:
    """Check that a mapping has all of these ``keys``; ``KeyError`` with those that it has not."""
    missing = [key for key in keys if key not in mapping]
    if missing:
        raise KeyError(f"{name} must hold {missing}; got {list(mapping)}")
