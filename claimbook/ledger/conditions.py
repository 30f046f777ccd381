"""Conditions: what a row's parts and controls are held to, as ``book/claims.yml`` writes them.

    > 0        < log10(2)        = 2/3 ± 0.01        in [1/(d + 4) - 0.002, 2/(d + 4) + 0.002]

``parts`` of a row maps the names of its parts to conditions, and one condition may stand for many:
``{d}`` in a name stands for a number, which the condition may use, and ``*`` for anything. A row
with one part without a name has its condition alone.

An expression may hold numbers, ``+ - * / **``, the functions of :data:`FUNCTIONS`, the chapter's
settings, the numbers in the part's name, numbers that the page hands over beside the estimate
(:func:`beside`), and functions of the package by their dotted name,
``window.theory.bounds.slack(n, d)``. These are imported when a condition is compared, so that the
ledger itself knows no tower and a page loads none but its own. A margin, the number after ``±``,
may use what a page hands over only as the argument of such a function: a page cannot widen its own
tolerance.
"""

import ast
import math
import operator
import pkgutil
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from claimbook.files import packages
from claimbook.ledger.comparison import Comparison, Estimate, equal, greater, less, within

FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "abs": abs,
    "exp": math.exp,
    "log": math.log,
    "log10": math.log10,
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
}
_OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FORMS = (  # the signs of a condition, and what stands between them
    (">", re.compile(r">(?P<bound>.+)")),
    ("<", re.compile(r"<(?P<bound>.+)")),
    ("=", re.compile(r"=(?P<target>.+)±(?P<margin>.+)")),
    ("in", re.compile(r"in \[(?P<low>.+?),(?P<high>[^,]+)\]")),
)
_DOTTED = re.compile(r"\w+(\.\w+)+")
WANTED = "'> bound', '< bound', '= target ± margin' or 'in [low, high]'"

Found = Estimate | float


class Beside(NamedTuple):
    """An estimate, and the numbers beside it that its condition names."""

    found: Found
    numbers: Mapping[str, float]


def beside(found: Found, **numbers: float) -> Beside:
    """An estimate with the computed numbers that it is held against, for the row's condition.

    >>> parts = {"K = 8": "= theory ± 0.02"}
    >>> condition_of(parts, "K = 8").holds(beside(0.51, theory=0.5), {}).outcome
    'supported'
    """
    return Beside(found, {name: float(number) for name, number in numbers.items()})


def _expression(text: str) -> ast.expr:
    """The expression that a text is; refuses what the module's first lines do not list."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise ValueError(f"'{text.strip()}' is no expression") from None
    _names(tree)
    return tree


def _names(node: ast.expr) -> list[str]:
    """The names that an expression uses, those in the arguments of the package's functions apart.

    Refuses what an expression may not hold.
    """
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return []
        case ast.Name():
            return [node.id]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            return _names(node.operand)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return [*_names(node.left), *_names(node.right)]
        case ast.Call(keywords=[]):
            inside = [name for argument in node.args for name in _names(argument)]
            if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
                return inside
            if isinstance(node.func, ast.Attribute) and _DOTTED.fullmatch(ast.unparse(node.func)):
                return []
    raise ValueError(f"'{ast.unparse(node)}' may not stand in a condition")


def _value(node: ast.expr, numbers: Mapping[str, float]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            if node.id not in numbers:
                raise KeyError(f"'{node.id}' has no value; known are {sorted(numbers)}")
            return numbers[node.id]
        case ast.UnaryOp():
            operand = _value(node.operand, numbers)
            return -operand if isinstance(node.op, ast.USub) else operand
        case ast.BinOp():
            left = _value(node.left, numbers)
            return _OPERATORS[type(node.op)](left, _value(node.right, numbers))
        case ast.Call(func=ast.Name(id=name)):
            return FUNCTIONS[name](*[_value(argument, numbers) for argument in node.args])
        case ast.Call(func=ast.Attribute() as dotted):
            return _function(dotted)(*[_value(argument, numbers) for argument in node.args])
    raise ValueError(f"'{ast.unparse(node)}' may not stand in a condition")


def _function(node: ast.Attribute) -> Callable[..., float]:
    """Import the function with a dotted name from the packages that the book names."""
    name = ast.unparse(node)
    for package in packages():
        with suppress(ImportError, AttributeError):
            found = pkgutil.resolve_name(f"{package}.{name}")
            home = getattr(found, "__module__", None) or ""  # what it imports itself is not its own
            if callable(found) and home.partition(".")[0] == package:
                function: Callable[..., float] = found
                return function
    raise ValueError(f"'{name}' is no function of {' or '.join(packages())}")


@dataclass(frozen=True)
class Condition:
    """What one part or control is held to.

    ``numbers`` are those in the part's name, for which the condition's name has a place.
    """

    text: str
    test: str
    expressions: Mapping[str, ast.expr]
    numbers: Mapping[str, float]

    @classmethod
    def parse(cls, text: str, numbers: Mapping[str, float] | None = None) -> "Condition":
        """Read a condition.

        Raises ``ValueError`` where it is none of the four forms.

        >>> Condition.parse("= 2/3 ± 0.01").holds(0.6661, {}).outcome
        'supported'
        """
        for test, form in _FORMS:
            found = form.fullmatch(text.strip())
            if found:
                pieces = found.groupdict().items()
                read = {name: _expression(piece) for name, piece in pieces}
                return cls(text.strip(), test, read, numbers or {})
        raise ValueError(f"a condition must read {WANTED}; got {text!r}")

    def holds(self, part: Found | Beside, settings: Mapping[str, Any]) -> Comparison:
        """The comparison of an estimate with this condition at a chapter's ``settings``.

        Raises ``ValueError`` for a margin that a page hands over, a margin that is not positive and
        numbers that the condition does not name, ``KeyError`` for a name without a value.
        """
        handed: Mapping[str, float] = {}
        if isinstance(part, Beside):
            part, handed = part
        self._refuse(handed)
        known = {**settings, **self.numbers, **handed}
        at = {name: float(_value(tree, known)) for name, tree in self.expressions.items()}
        if self.test == ">":
            return greater(part, at["bound"])
        if self.test == "<":
            return less(part, at["bound"])
        if self.test == "=":
            return equal(part, at["target"], tol=at["margin"])
        return within(part, at["low"], at["high"])

    def _refuse(self, handed: Mapping[str, float]) -> None:
        """Refuse a margin made by the page, and numbers that stand for nothing."""
        margin = self.expressions.get("margin")
        if margin is not None and set(_names(margin)) & set(handed):
            wanted = "must be a number or a function of the package"
            raise ValueError(f"the margin of '{self.text}' {wanted}; the page handed over {handed}")
        unused = [name for name in handed if not re.search(rf"\b{name}\b", self.text)]
        if unused:
            raise ValueError(f"'{self.text}' does not name {unused}, which the page handed over")


def condition_of(parts: str | Mapping[str, str], name: str) -> Condition:
    """The condition of the part with this name: its own, or the first one that stands for many.

    Raises ``KeyError`` where a part has no condition.

    >>> condition_of({"d = {d}": "> 1/d", "*": "> 0"}, "d = 5").numbers
    {'d': 5.0}
    """
    pattern = pattern_of(parts, name)
    text = parts if isinstance(parts, str) else parts[pattern]
    found = _as_pattern(pattern).fullmatch(name)
    captured = found.groupdict() if found else {}
    numbers = {key: float(text) for key, text in captured.items() if _is_number(text)}
    return Condition.parse(text, numbers)


def pattern_of(parts: str | Mapping[str, str], name: str) -> str:
    """The name in the ledger under which a part's condition stands.

    Raises ``KeyError`` where there is none.
    """
    if isinstance(parts, str):
        parts = {"": parts}
    if name in parts:
        return name
    for pattern in parts:
        if _as_pattern(pattern).fullmatch(name):
            return pattern
    raise KeyError(f"no condition for the part '{name}'; the ledger has {list(parts)}")


def _as_pattern(name: str) -> re.Pattern[str]:
    """A name in the ledger as a regular expression of the parts that it stands for."""
    anything = re.escape(name).replace(r"\*", ".*")
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", anything))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def check_conditions(parts: str | Mapping[str, str] | None) -> None:
    """Refuse a field ``parts`` of a row that is missing, empty, or holds what is no condition.

    Raises ``ValueError``, which names the part.
    """
    if isinstance(parts, str):
        Condition.parse(parts)
        return
    if not parts:
        raise ValueError(f"must be a condition, or map parts to conditions; got {parts!r}")
    for name, text in parts.items():
        try:
            _as_pattern(name)
            Condition.parse(text)
        except (ValueError, re.error) as error:
            raise ValueError(f"of part '{name}': {error}") from None
