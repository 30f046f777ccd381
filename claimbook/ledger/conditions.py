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
from types import CodeType
from typing import Any, NamedTuple

from claimbook.files import packages
from claimbook.ledger.comparison import Comparison, Estimate, equal, greater, less, within

FUNCTIONS: Mapping[str, Callable[..., float]] = {
    **{"abs": abs, "max": max, "min": min},
    **{one.__name__: one for one in (math.exp, math.log, math.log10, math.sqrt)},
}
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
FORMS = (  # of a condition: the signs, and how an estimate is compared with what stands between
    (r">(?P<bound>.+)", greater),
    (r"<(?P<bound>.+)", less),
    (r"=(?P<target>.+)±(?P<tol>.+)", equal),
    (r"in \[(?P<low>.+?),(?P<high>[^,]+)\]", within),
)
WANTED = "'> bound', '< bound', '= target ± margin' or 'in [low, high]'"

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


# ------------------------------------------------------------------ expressions


class Expression(NamedTuple):
    """A compiled expression, the functions of the packages that it calls, and its other names.

    The names in a call of the packages are not among them.
    """

    code: CodeType
    calls: frozenset[str]
    names: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> "Expression":
        """Compile an expression; ``ValueError`` for what this module's first lines do not list."""
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except SyntaxError:
            raise ValueError(f"'{text.strip()}' is no expression") from None
        names = frozenset(_names(tree.body))
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        dotted = frozenset(ast.unparse(one) for one in calls if isinstance(one, ast.Attribute))
        return cls(compile(_OneName().visit(tree), "<condition>", "eval"), dotted, names)

    def value(self, numbers: Mapping[str, Any]) -> float:
        """Evaluate it; ``KeyError`` for a name without a value."""
        functions = {**FUNCTIONS, **{name: function_of(name) for name in self.calls}}
        try:
            return float(eval(self.code, {"__builtins__": {}}, {**functions, **numbers}))
        except NameError as error:
            known = sorted(numbers)
            raise KeyError(f"'{error.name}' has no value; known are {known}") from None


def _names(node: ast.expr) -> list[str]:
    """Collect the names in an expression; refuse what it may not hold."""
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return []
        case ast.Name():
            return [node.id]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            return _names(node.operand)
        case ast.BinOp() if isinstance(node.op, OPERATORS):
            return [*_names(node.left), *_names(node.right)]
        case ast.Call(keywords=[]):
            inside = [name for argument in node.args for name in _names(argument)]
            if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
                return inside
            if re.fullmatch(r"\w+(\.\w+)+", ast.unparse(node.func)):
                return []
    raise ValueError(f"'{ast.unparse(node)}' may not stand in a condition")


class _OneName(ast.NodeTransformer):
    """Makes one name of a function's dotted name, so that it is looked up as a whole."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.Name:
        return ast.copy_location(ast.Name(ast.unparse(node), ast.Load()), node)


def function_of(name: str) -> Callable[..., float]:
    """Import a function of the book's packages, which must define it, by its dotted name."""
    for package in packages():
        with suppress(ImportError, AttributeError):
            found = pkgutil.resolve_name(f"{package}.{name}")
            home = getattr(found, "__module__", None) or ""
            if callable(found) and home.partition(".")[0] == package:
                function: Callable[..., float] = found
                return function
    raise ValueError(f"'{name}' is no function of {' or '.join(packages())}")


# ------------------------------------------------------------------ conditions


@dataclass(frozen=True)
class Condition:
    """What one part or control is held to.

    ``numbers`` are those in the part's name, for which the name in the ledger has a place.
    """

    text: str
    comparison: Callable[..., Comparison]
    expressions: Mapping[str, Expression]
    numbers: Mapping[str, float]

    @classmethod
    def parse(cls, text: str, numbers: Mapping[str, float] | None = None) -> "Condition":
        """Read a condition; ``ValueError`` where it is none of the four forms.

        >>> Condition.parse("= 2/3 ± 0.01").compare(0.6661, {}).outcome
        'supported'
        """
        for form, comparison in FORMS:
            found = re.fullmatch(form, text.strip())
            if found:
                pieces = found.groupdict().items()
                read = {name: Expression.parse(piece) for name, piece in pieces}
                return cls(text.strip(), comparison, read, numbers or {})
        raise ValueError(f"a condition must read {WANTED}; got {text!r}")

    def compare(self, part: Part | ComparedWith, settings: Mapping[str, Any]) -> Comparison:
        """Compare an estimate with this condition, at a chapter's ``settings``.

        Raises ``ValueError`` for a number of the page that has the name of a setting, a function or
        a number in the part's name, that is a margin, or that the condition does not name, and for
        a margin that is not positive; ``KeyError`` for a name without a value.
        """
        estimate, given = part if isinstance(part, ComparedWith) else (part, {})
        self._refuse(given, settings)
        known = {**settings, **self.numbers, **given}
        at = {name: expression.value(known) for name, expression in self.expressions.items()}
        return self.comparison(estimate, **at)

    def _refuse(self, given: Mapping[str, float], settings: Mapping[str, Any]) -> None:
        """Refuse a number of the page that would replace one of the ledger, or stand for none."""
        said = f"the page compares '{self.text}' with {dict(given)}"
        taken = sorted(set(given) & {*settings, *self.numbers, *FUNCTIONS})
        if taken:
            raise ValueError(f"{said}, but {taken} are the ledger's own")
        margin = self.expressions.get("tol")
        if margin is not None and margin.names & set(given):
            raise ValueError(f"{said}, but a margin must be a number or a function of the packages")
        unused = [name for name in given if not re.search(rf"\b{name}\b", self.text)]
        if unused:
            raise ValueError(f"{said}, but it does not name {unused}")


def condition_of(parts: str | Mapping[str, str], name: str) -> tuple[str, Condition]:
    """Choose the condition of the part with this name: its own, or the first pattern that fits.

    Returns the pattern, too. Raises ``KeyError`` where a part has no condition.

    >>> condition_of({"d = {d}": "> 1/d", "*": "> 0"}, "d = 5")[1].numbers
    {'d': 5.0}
    """
    named = {"": parts} if isinstance(parts, str) else parts
    for pattern in [name] if name in named else named:
        found = _as_pattern(pattern).fullmatch(name)
        if found:
            numbers = {}
            for key, words in found.groupdict().items():
                with suppress(ValueError):
                    numbers[key] = float(words)
            return pattern, Condition.parse(named[pattern], numbers)
    raise KeyError(f"no condition for the part '{name}'; the ledger has {list(named)}")


def _as_pattern(name: str) -> re.Pattern[str]:
    """Make a regular expression of a name in the ledger."""
    anything = re.escape(name).replace(r"\*", ".*")
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", anything))


def check_conditions(parts: str | Mapping[str, str]) -> None:
    """Refuse ``parts`` of a row that are empty or hold what is no condition.

    Raises ``ValueError``, which names the part.
    """
    named = {"": parts} if isinstance(parts, str) else parts
    if not any(named.values()):
        raise ValueError(f"must be a condition, or map parts to conditions; got {parts!r}")
    for name, text in named.items():
        try:
            _as_pattern(name)
            Condition.parse(text)
        except (ValueError, re.error) as error:
            raise ValueError(f"of part '{name}': {error}") from None
