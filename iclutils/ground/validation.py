"""Argument checks for the functions that chapters call: each error names argument, value and what is allowed."""

import math
from collections.abc import Iterable
from typing import Any

import torch


def positive(name: str, value: float) -> float:
    """Return ``value`` if it is a finite real number above zero; else raise ``TypeError`` or ``ValueError``."""
    return in_range(name, value, 0.0, math.inf, open_low=True)


def nonnegative(name: str, value: float) -> float:
    """Return ``value`` if it is a finite real number, zero or above; else raise ``TypeError`` or ``ValueError``."""
    return in_range(name, value, 0.0, math.inf)


def in_range(name: str, value: float, low: float, high: float, *, open_low: bool = False, open_high: bool = False) -> float:
    """Return ``value`` if it is finite and between ``low`` and ``high`` (ends included unless said otherwise)."""
    if isinstance(value, bool) or (not isinstance(value, (int, float)) and not hasattr(value, "__float__")):
        raise TypeError(f"{name} must be a real number; got {value!r}")
    number = float(value)
    allowed = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high or high == math.inf else ']'}"
    too_low = number < low or (open_low and number == low)
    too_high = number > high or (open_high and number == high)
    if not math.isfinite(number) or too_low or too_high:
        raise ValueError(f"{name} must be finite and in {allowed}; got {number!r}")
    return value


def whole(name: str, value: int, low: int = 1, high: int | None = None) -> int:
    """Return ``value`` as an ``int`` if it is a whole number in ``[low, high]``; else raise."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a whole number; got {value!r}")
    number = int(value)
    if number < low or (high is not None and number > high):
        allowed = f"at least {low}" if high is None else f"in {low}..{high}"
        raise ValueError(f"{name} must be {allowed}; got {number}")
    return number


def one_of(name: str, value: Any, allowed: Iterable[Any]) -> Any:
    """Return ``value`` if it is among ``allowed``; else raise ``KeyError`` with the whole list."""
    choices = list(allowed)
    if value not in choices:
        raise KeyError(f"{name} must be one of {choices}; got {value!r}")
    return value


def finite(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """Return ``tensor`` if it holds neither NaN nor infinity; else raise ``ValueError`` with how many it holds."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name} must be a torch.Tensor; got {type(tensor).__name__}")
    bad = int((~torch.isfinite(tensor)).sum())
    if bad:
        raise ValueError(f"{name} must be finite; {bad} of its {tensor.numel()} entries are NaN or infinite")
    return tensor


def shape(name: str, tensor: torch.Tensor, pattern: str, **sizes: int) -> dict[str, int]:
    """Check a tensor's shape against letters, ``shape("x", x, "... n d", d=5)``; return the sizes found.

    ``pattern`` has one letter or word per axis, ``...`` first for any leading axes, and whole
    numbers for fixed sizes. A letter that occurs twice, or is given in ``sizes``, must agree.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name} must be a torch.Tensor of shape ({pattern}); got {type(tensor).__name__}")
    letters = pattern.split()
    free = letters[0] == "..."
    letters = letters[1:] if free else letters
    actual = tuple(tensor.shape)
    found = dict(sizes)
    wrong = len(actual) < len(letters) if free else len(actual) != len(letters)
    for letter, size in zip(letters, actual[len(actual) - len(letters):], strict=False):
        expected = int(letter) if letter.isdigit() else found.setdefault(letter, size)
        wrong = wrong or expected != size
    if wrong:
        rule = ", ".join(f"{k} = {v}" for k, v in sizes.items())
        raise ValueError(f"{name} must have shape ({pattern}){' with ' + rule if rule else ''}; got {actual}")
    return found
