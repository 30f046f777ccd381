"""All small faults that operators can make of the package, of pages' cells and of conditions.

What is drawn of 150 is 75 of the package's science and 75 of what makes a book of it: most of them
of its modules, some of the pages' cells, each of which takes a run of the page, and some of the
conditions in the ledger. Within each area every fault is equally likely.

A comparison or a condition is turned round, an operator swapped, a number doubled or raised by one
(a default is one, too), a truth value or a test negated, a return emptied, a call on a line of its
own dropped. Words are left alone: what they say is read, or compared with what was printed.
"""

import ast
import copy
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

PACKAGE, MACHINERY, PAGES, CONDITIONS = "package", "machinery", "pages", "conditions"
SHARES = {PACKAGE: 75, MACHINERY: 55, PAGES: 10, CONDITIONS: 10}
SLOW = (  # pages that compute for more than a hundred seconds are not judged
    "04_low_rank",
    "04_low_rank_specialist",
    "05_double_descent_specialist",
    "05b_trained_transformers",
    "05b_trained_transformers_specialist",
)
CLAIMS = "book/claims.yml"
CELL = re.compile(
    r"^```\{code-cell\}[^\n]*\n(?:---\n.*?^---\n|(?::[^\n]*\n)*)(?P<code>.*?)^```$", re.M | re.S
)
OTHERS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
NUMBER = re.compile(rb"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
TURNED = {b">": b"<", b"<": b">"}


class Mutant(NamedTuple):
    """One fault, on these lines of a file: some bytes become others."""

    file: str
    start: int
    end: int
    new: str
    first: int
    last: int

    def planted(self, text: bytes) -> bytes:
        """The file with the fault."""
        return text[: self.start] + self.new.encode() + text[self.end :]

    def said(self, text: bytes) -> str:
        """Where it is, and what becomes of the line."""
        begin = text.rfind(b"\n", 0, self.start) + 1
        until = text.find(b"\n", self.end) % (len(text) + 1)
        after = text[begin : self.start] + self.new.encode() + text[self.end : until]
        old, new = (b" ".join(line.split()).decode() for line in (text[begin:until], after))
        return f"{self.file}:{self.first}: {old}  →  {new}"


def of_code(file: str, code: bytes, before: bytes = b"") -> Iterator[Mutant]:
    """The mutants of a piece of Python that stands behind ``before`` in its file."""
    starts = [0, *(match.end() for match in re.finditer(rb"\n", code))]
    above = before.count(b"\n")
    for node, new in faults(ast.parse(code)):
        start, end = (
            len(before) + starts[line - 1] + column
            for line, column in (
                (node.lineno, node.col_offset),
                (node.end_lineno, node.end_col_offset),
            )
        )
        text = ast.unparse(new) if isinstance(node, ast.stmt) else f"({ast.unparse(new)})"
        yield Mutant(file, start, end, text, node.lineno + above, node.end_lineno + above)


def faults(node: ast.AST) -> Iterator[tuple[Any, ast.AST]]:
    """The nodes of a tree, with what each may become."""
    yield from ((node, new) for new in variants(node))
    yield from ((test, ast.UnaryOp(ast.Not(), test)) for test in asked(node))
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            code = isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr)
            if code and name not in ("annotation", "returns"):
                yield from faults(child)


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """What one node may become."""
    if isinstance(node, ast.Compare):
        for i, sign in enumerate(node.ops):
            for other in OTHERS[type(sign)]:
                yield changed(node, ops=[*node.ops[:i], other(), *node.ops[i + 1 :]])
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        yield from (changed(node, op=other()) for other in OTHERS.get(type(node.op), ()))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield ast.Constant(other_value(node.value))
    elif isinstance(node, ast.Return) and node.value and ast.unparse(node.value) != "None":
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()


def changed(node: ast.AST, **fields: Any) -> ast.AST:
    """A node with other fields."""
    found = copy.copy(node)
    for name, value in fields.items():
        setattr(found, name, value)
    return found


def other_value(value: bool | int | float) -> bool | int | float:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else 2 * value or 1.0


def asked(node: ast.AST) -> list[ast.expr]:
    """The tests of a branch, loop or filter that no other operator turns round."""
    found: list[ast.expr] = []
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        found = [node.test]
    elif isinstance(node, ast.comprehension):
        found = node.ifs
    turned = ast.Compare | ast.UnaryOp | ast.Constant
    return [test for test in found if not isinstance(test, turned)]


def of_modules(root: Path, area: str) -> Iterator[Mutant]:
    """The mutants of the science's modules, or of the machinery's."""
    book = root / "iclutils" / "book"
    for path in sorted((root / "iclutils").rglob("*.py")):
        if (book in path.parents) == (area == MACHINERY):
            yield from of_code(path.relative_to(root).as_posix(), path.read_bytes())


def of_pages(root: Path) -> Iterator[Mutant]:
    """The mutants of the cells of the pages."""
    for path in sorted((root / "book" / "chapters").glob("*.md")):
        text = path.read_text(encoding="utf8")
        for cell in CELL.finditer(text) if path.stem not in SLOW else ():
            before = text[: cell.start("code")].encode()
            yield from of_code(path.relative_to(root).as_posix(), cell["code"].encode(), before)


def of_conditions(root: Path) -> Iterator[Mutant]:
    """The mutants of the conditions that parts and controls are held to."""
    text = (root / CLAIMS).read_text(encoding="utf8")
    for node in conditions(yaml.compose(text, yaml.CSafeLoader)):
        start = len(text[: node.start_mark.index].encode())
        words = text[node.start_mark.index : node.end_mark.index].encode()
        found = [(match, TURNED[match[0]].decode()) for match in re.finditer(rb"[<>]", words)]
        found += [(match, f"{2 * float(match[0]) or 1.0:g}") for match in NUMBER.finditer(words)]
        line = node.start_mark.line + 1
        for match, new in found:
            yield Mutant(CLAIMS, start + match.start(), start + match.end(), new, line, line)


def conditions(node: yaml.Node, *, found: bool = False) -> Iterator[yaml.ScalarNode]:
    """The scalars below ``parts`` and ``condition``."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from conditions(value, found=found or key.value in ("parts", "condition"))
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from conditions(value, found=found)
    elif found and isinstance(node, yaml.ScalarNode):
        yield node


@cache
def population(root: Path, area: str) -> tuple[Mutant, ...]:
    """All mutants of an area."""
    if area == PAGES:
        return tuple(of_pages(root))
    if area == CONDITIONS:
        return tuple(of_conditions(root))
    return tuple(of_modules(root, area))


def draw(root: Path, area: str, seed: int, count: int) -> list[Mutant]:
    """The area's share of ``count`` mutants, in the order of the draw."""
    share = round(count * SHARES[area] / sum(SHARES.values()))
    return random.Random(f"{seed} {area}").sample(population(root, area), share)
