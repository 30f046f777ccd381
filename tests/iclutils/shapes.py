"""Shapes in signatures, checked while the tests run by jaxtyping's import hook.

A call is checked when it has come back, arguments and result together, so that a function's own
error for a bad argument is what a test sees. beartype looks at the arrays alone.
"""

import inspect
from collections.abc import Callable
from typing import Any, get_args

from beartype import BeartypeConf, beartype
from jaxtyping import AbstractArray

TOWER = BeartypeConf(is_pep484_tower=True)  # a list of whole numbers is one of numbers


def names_an_array(hint: object) -> bool:
    """Whether an annotation is an array's, or a union or a container that holds one."""
    inner = any(names_an_array(part) for part in get_args(hint))
    return inner or (isinstance(hint, type) and issubclass(hint, AbstractArray))


def check(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the type checker that jaxtyping asks before each call, and after it for everything."""
    hints = inspect.get_annotations(function)
    if hints.get("return") is Any:  # before the call
        return function
    function.__annotations__ = {name: hint for name, hint in hints.items() if names_an_array(hint)}
    return beartype(function, conf=TOWER)
