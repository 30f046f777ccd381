"""The knobs of a chapter: which values each may have, and one other value to try it with.

A knob is whole, real or a switch as its default in ``settings`` is. ``low`` and ``high`` are the
ends of what is allowed, both allowed themselves; a real one has ``above`` instead of ``low`` where
the end is left out. ``below`` names another knob, under which a whole one has to stay. ``turned``
is the value that ``make knobs`` tries. The knob ``seed`` lists the rows, or some of their values,
that are ``recorded``: they are exact, or come from recorded sweeps, which have their own seeds.
"""

import math
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from iclutils.ground import arguments


class Knob(TypedDict):
    """What a knob may be, beside its default."""

    turned: Any
    low: NotRequired[float]
    above: NotRequired[float]
    high: NotRequired[float]
    below: NotRequired[str]
    recorded: NotRequired[list[str]]


def check(
    knobs: Mapping[str, Knob], defaults: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Refuse ``settings`` of which one is not allowed; ``defaults`` say of what kind each is.

    Raises ``TypeError`` where a value is of another kind and ``ValueError`` where it is out of
    range; the message begins with the knob's name.

    >>> check({"n": {"low": 2, "turned": 9}}, {"n": 5}, {"n": 1})
    Traceback (most recent call last):
    ValueError: n must be at least 2; got 1
    """
    for name, value in settings.items():
        knob = knobs[name]
        if isinstance(defaults[name], bool):
            if not isinstance(value, bool):
                raise TypeError(f"{name} must be True or False; got {value!r}")
        elif isinstance(defaults[name], int):
            _whole(name, value, knob, settings)
        else:
            _real(name, value, knob)


def _whole(name: str, value: Any, knob: Knob, settings: Mapping[str, Any]) -> None:
    low = int(knob["low"])
    arguments.whole(name, value, low, int(knob["high"]) if "high" in knob else None)
    below = knob.get("below")
    if below is not None and value >= settings[below]:
        raise ValueError(f"{name} must be below {below} = {settings[below]}; got {value}")


def _real(name: str, value: Any, knob: Knob) -> None:
    open_low = "above" in knob
    low = knob["above"] if open_low else knob["low"]
    arguments.in_range(name, value, low, knob.get("high", math.inf), open_low=open_low)
