"""All small faults that operators can make of the package, of pages' cells and of conditions.

What is drawn of 150 is 75 of the package's science and 75 of what makes a book of it: most of them
of its modules, some of the pages' cells, each of which takes a run of the page, and some of the
conditions in the ledger. Within each area every fault is equally likely.

A comparison or a condition is turned round, an operator swapped, a number doubled or raised by one
(a default is one, too), a truth value or a test negated, a return emptied, a call on a line of its
own dropped. Words are left alone: what they say is read, or compared with what was printed.
"""

import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

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
COMPARED = {
    ast.Lt: ("<", "<=", ">="),
    ast.LtE: ("<=", "<", ">"),
    ast.Gt: (">", ">=", "<="),
    ast.GtE: (">=", ">", "<"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
SWAPPED = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.MatMult: ("@", "*"),
    ast.BitOr: ("|", "&"),
    ast.BitAnd: ("&", "|"),
}
JOINED = {ast.And: ("and", "or"), ast.Or: ("or", "and")}
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
NUMBER = re.compile(rb"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
TURNED = {b">": b"<", b"<": b">"}
Span = tuple[int, int] | None


class Mutant(NamedTuple):
    """One fault: these bytes of a file become others.

    Whatever executes a line from ``first`` to ``last`` may see it.
    """

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
        old = b" ".join(text[begin:until].split()).decode()
        after = text[begin : self.start] + self.new.encode() + text[self.end : until]
        new = b" ".join(after.split()).decode()
        line = text[:begin].count(b"\n") + 1
        return f"{self.file}:{line}: {old}  →  {new}"


class Code:
    """The mutants of a piece of Python, which begins at a byte and a line of its file."""

    def __init__(self, file: str, code: bytes, offset: int = 0, line: int = 0) -> None:
        self.file = file
        self.code = code
        self.offset = offset
        self.line = line
        self.starts = [0, *(match.end() for match in re.finditer(rb"\n", code))]

    def mutants(self) -> Iterator[Mutant]:
        """All of them."""
        tree = ast.parse(self.code)
        yield from self.walk(tree, None)

    def begin(self, node: ast.AST) -> int:
        """Its first byte in the code."""
        return self.starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        """The byte behind it."""
        return self.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> str:
        return self.code[self.begin(node) : self.end(node)].decode()

    def made(self, span: Span, start: int, end: int, new: str) -> Mutant:
        first, last = (number + self.line for number in span or (1, len(self.starts)))
        return Mutant(self.file, start + self.offset, end + self.offset, new, first, last)

    def walk(self, node: ast.AST, span: Span) -> Iterator[Mutant]:
        """The mutants of a node and of what is in it."""
        yield from self.own(node, span)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    yield from self.walk(child, executed(node, name, child, span))

    def own(self, node: ast.AST, span: Span) -> Iterator[Mutant]:
        """The mutants of a node alone."""
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, right, sign in zip(operands, operands[1:], node.ops, strict=False):
                yield from self.between(left, right, COMPARED[type(sign)], span)
        elif isinstance(node, ast.BinOp) and type(node.op) in SWAPPED:
            yield from self.between(node.left, node.right, SWAPPED[type(node.op)], span)
        elif isinstance(node, ast.AugAssign) and type(node.op) in SWAPPED:
            yield from self.between(node.target, node.value, SWAPPED[type(node.op)], span)
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from self.between(left, right, JOINED[type(node.op)], span)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            sign = len("not") if isinstance(node.op, ast.Not) else len("-")
            yield self.made(span, self.begin(node), self.begin(node) + sign, "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
            yield self.made(span, self.begin(node), self.end(node), other(node.value))
        elif isinstance(node, ast.Return) and node.value is not None:
            if self.text(node.value) != "None":
                yield self.made(span, self.begin(node), self.end(node), "return None")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield self.made(span, self.begin(node), self.end(node), "pass")
        for test in asked(node):
            negated = f"(not ({self.text(test)}))"
            yield self.made(span, self.begin(test), self.end(test), negated)

    def between(
        self, left: ast.AST, right: ast.AST, signs: tuple[str, ...], span: Span
    ) -> Iterator[Mutant]:
        """Another operator between two operands."""
        start, end = self.end(left), self.begin(right)
        sign = re.escape(signs[0]).replace("\\ ", r"\s+").encode()
        found = re.search(sign, self.code[start:end])
        for new in signs[1:]:
            if found:
                yield self.made(span, start + found.start(), start + found.end(), new)


def asked(node: ast.AST) -> list[ast.expr]:
    """The tests of a branch, loop or filter that no other operator turns round."""
    found: list[ast.expr] = []
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        found = [node.test]
    elif isinstance(node, ast.comprehension):
        found = node.ifs
    turned = ast.Compare | ast.UnaryOp | ast.Constant
    return [test for test in found if not isinstance(test, turned)]


def executed(node: ast.AST, name: str, child: ast.AST, span: Span) -> Span:
    """The lines that count as a child's: those of its statement, of a function for its head.

    None is what an import executes: there all of the module counts.
    """
    if isinstance(node, FUNCTION) and name != "body":
        return node.body[0].lineno, node.end_lineno or 0
    if isinstance(child, ast.stmt) and (span or isinstance(node, FUNCTION)):
        return statement(child)
    return span


def statement(node: ast.AST) -> tuple[int, int]:
    """The lines of a statement, of a compound one its head."""
    first: int = node.lineno  # type: ignore[attr-defined]
    last: int = node.end_lineno or first  # type: ignore[attr-defined]
    body = getattr(node, "body", None)
    if isinstance(body, list) and body:
        last = max(first, body[0].lineno - 1)
    return first, last


def other(value: bool | int | float) -> str:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int):
        return str(value + 1)
    return str(2 * value or 1.0)


def of_modules(root: Path, area: str) -> Iterator[Mutant]:
    """The mutants of the science's modules, or of the machinery's."""
    book = root / "iclutils" / "book"
    for path in sorted((root / "iclutils").rglob("*.py")):
        if (book in path.parents) == (area == MACHINERY):
            yield from Code(path.relative_to(root).as_posix(), path.read_bytes()).mutants()


def of_pages(root: Path) -> Iterator[Mutant]:
    """The mutants of the cells of the pages."""
    for path in sorted((root / "book" / "chapters").glob("*.md")):
        text = path.read_text(encoding="utf8")
        for cell in CELL.finditer(text) if path.stem not in SLOW else ():
            before = text[: cell.start("code")]
            file = path.relative_to(root).as_posix()
            code = cell["code"].encode()
            yield from Code(file, code, len(before.encode()), before.count("\n")).mutants()


def of_conditions(root: Path) -> Iterator[Mutant]:
    """The mutants of the conditions that parts and controls are held to."""
    text = (root / CLAIMS).read_text(encoding="utf8")
    for node in conditions(yaml.compose(text, yaml.CSafeLoader)):
        start = len(text[: node.start_mark.index].encode())
        words = text[node.start_mark.index : node.end_mark.index].encode()
        line = node.start_mark.line + 1
        for match in re.finditer(rb"[<>]", words):
            new = TURNED[match[0]].decode()
            yield Mutant(CLAIMS, start + match.start(), start + match.end(), new, line, line)
        for match in NUMBER.finditer(words):
            new = f"{2 * float(match[0]) or 1.0:g}"
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


def population(root: Path, area: str) -> list[Mutant]:
    """All mutants of an area."""
    if area == PAGES:
        return list(of_pages(root))
    if area == CONDITIONS:
        return list(of_conditions(root))
    return list(of_modules(root, area))


def draw(root: Path, area: str, seed: int, count: int) -> list[Mutant]:
    """The area's share of ``count`` mutants, in the order of the draw."""
    share = round(count * SHARES[area] / sum(SHARES.values()))
    return random.Random(f"{seed} {area}").sample(population(root, area), share)
