"""Conditions: what a row's parts and controls are held to, as ``book/claims.yml`` writes them.

    > 0        < log10(2)        = 2/3 ± 0.01        in [1/(d + 4) - 0.002, 2/(d + 4) + 0.002]

``parts`` of a row maps the names of its parts to conditions, and one condition may stand for many:
``{d}`` in a name stands for a number, which the condition may use, and ``*`` for anything. A row
with one part without a name has its condition alone.

An expression may hold numbers, ``+ - * / **``, the functions of :data:`FUNCTIONS`, the chapter's
settings, the numbers in the part's name, numbers that the page compares the estimate with
(:func:`compared_with`), and functions of the book's packages by their dotted name,
``window.theory.theorem_3_4.slack(n, d)``. These are imported when a condition is compared, so that
a page loads no module but its own. No number of the page takes the place of a setting or of a
number in a part's name. In a margin, the number after ``±``, it may only be the argument of a
function of the packages.
"""

import ast
import math
import pkgutil
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from claimbook.files import packages
from claimbook.ledger.comparison import Comparison, Estimate, equal, greater, less, within

FUNCTIONS: Mapping[str, Callable[..., float]] = {
    **{"abs": abs, "max": max, "min": min},
    **{one.__name__: one for one in (math.exp, math.log, math.log10, math.sqrt)},
}
FORMS = (  # of a condition: the signs, and how an estimate is compared with what stands between
    (r">(?P<bound>.+)", greater),
    (r"<(?P<bound>.+)", less),
    (r"=(?P<target>.+)±(?P<tol>.+)", equal),
    (r"in \[(?P<low>.+?),(?P<high>[^,]+)\]", within),
)
DOTTED = re.compile(r"[A-Za-z]\w*(?:\.[A-Za-z]\w*)+")  # the name of a function of the packages
READS = "'> bound', '< bound', '= target ± margin' or 'in [low, high]'"

Part = Estimate | float


class ComparedWith(NamedTuple):
    """An estimate, and the numbers of the page that its condition names."""

    estimate: Part
    numbers: Mapping[str, float]


def compared_with(estimate: Part, **numbers: float) -> ComparedWith:
    """Hand over an estimate with the computed numbers that its condition compares it with.

    >>> condition = Condition.parse("= theory ± 0.02")
    >>> condition.compare(compared_with(0.51, theory=0.5), {}).outcome
    'supported'
    """
    return ComparedWith(estimate, {name: float(number) for name, number in numbers.items()})


def evaluate(text: str, numbers: Mapping[str, Any]) -> float:
    """Evaluate an expression; ``KeyError`` for a name without a value."""
    functions = {_flat(name): function_of(name) for name in DOTTED.findall(text)}
    code = DOTTED.sub(lambda name: _flat(name[0]), text)
    try:
        return float(eval(code, {"__builtins__": {}}, {**FUNCTIONS, **functions, **numbers}))
    except NameError as error:
        raise KeyError(f"'{error.name}' has no value; known are {sorted(numbers)}") from None


def _flat(name: str) -> str:
    """Make one name of a dotted one, so that it is looked up as a whole."""
    return name.replace(".", "__")


def _names(node: ast.AST) -> set[str]:
    """Collect the names in an expression, but for those in a call of the packages."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return set()
    own = {node.id} if isinstance(node, ast.Name) else set()
    return own.union(*map(_names, ast.iter_child_nodes(node)))


def function_of(name: str) -> Callable[..., float]:
    """Import a function of the book's packages, which must define it, by its dotted name."""
    for package in packages():
        with suppress(ImportError, AttributeError):
            function: Callable[..., float] = pkgutil.resolve_name(f"{package}.{name}")
            if function.__module__.partition(".")[0] == package:
                return function
    raise ValueError(f"'{name}' is no function of {' or '.join(packages())}")


@dataclass(frozen=True)
class Condition:
    """What one part or control is held to.

    ``expressions`` are the arguments of its ``comparison``; ``numbers`` are those in the part's
    name, for which the name in the ledger has a place.
    """

    text: str
    comparison: Callable[..., Comparison]
    expressions: Mapping[str, str]
    numbers: Mapping[str, float]

    @classmethod
    def parse(cls, text: str, numbers: Mapping[str, float] | None = None) -> "Condition":
        """Read a condition; ``ValueError`` where it is none of the four forms.

        >>> Condition.parse("= 2/3 ± 0.01").compare(0.6661, {}).outcome
        'supported'
        """
        for form, comparison in FORMS:
            match = re.fullmatch(form, text.strip())
            if match:
                expressions = {name: piece.strip() for name, piece in match.groupdict().items()}
                for expression in expressions.values():
                    try:
                        ast.parse(expression, mode="eval")
                    except SyntaxError:
                        raise ValueError(f"'{expression}' is no expression") from None
                return cls(text.strip(), comparison, expressions, numbers or {})
        raise ValueError(f"a condition must read {READS}; got {text!r}")

    def compare(self, part: Part | ComparedWith, settings: Mapping[str, Any]) -> Comparison:
        """Compare an estimate with this condition, at a chapter's ``settings``.

        Raises ``ValueError`` for a number of the page that has the name of a setting, a function or
        a number in the part's name, that is a margin, or that the condition does not name, and for
        a margin that is not positive; ``KeyError`` for a name without a value.
        """
        estimate, own = part if isinstance(part, ComparedWith) else (part, {})
        fault = ""
        if taken := sorted(own.keys() & {*settings, *self.numbers, *FUNCTIONS}):
            fault = f"{taken} are the ledger's own"
        elif own.keys() & _names(ast.parse(self.expressions.get("tol", "0"))):
            fault = "a margin must be a number or a function of the packages"
        elif unused := [name for name in own if not re.search(rf"\b{name}\b", self.text)]:
            fault = f"it does not name {unused}"
        if fault:
            raise ValueError(f"the page compares '{self.text}' with {dict(own)}, but {fault}")
        known = {**settings, **self.numbers, **own}
        at = {name: evaluate(one, known) for name, one in self.expressions.items()}
        return self.comparison(estimate, **at)


def condition_of(conditions: Mapping[str, str], name: str) -> tuple[str, Condition]:
    """Choose the condition of the part with this name: its own, or the first pattern that fits.

    Returns the pattern, too. Raises ``KeyError`` where a part has no condition.

    >>> condition_of({"d = {d}": "> 1/d", "*": "> 0"}, "d = 5")[1].numbers
    {'d': 5.0}
    """
    for pattern in [name] if name in conditions else conditions:
        match = _as_pattern(pattern).fullmatch(name)
        if match:
            numbers = {}
            for key, words in match.groupdict().items():
                with suppress(ValueError):
                    numbers[key] = float(words)
            return pattern, Condition.parse(conditions[pattern], numbers)
    raise KeyError(f"no condition for the part '{name}'; the ledger has {list(conditions)}")


def _as_pattern(name: str) -> re.Pattern[str]:
    """Make a regular expression of a name in the ledger."""
    anything = re.escape(name).replace(r"\*", ".*")
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", anything))
