"""Every random stream is named by seed, role and place alone, never by numbers that were computed.

A name that a sum decides is another name on the next machine, and then everything is drawn anew.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from claimbook.pages import chapter_path, code_of, read_chapter, toc_chapters

ROOT = Path(__file__).resolve().parents[2]
NAMES = ROOT / "iclutils" / "randomness.py"  # makes a stream of its name
MODULES = sorted(set((ROOT / "iclutils").rglob("*.py")) - {NAMES})
OPENS = {"stream", "manual_seed", "default_rng"}
# by these a measured number becomes a name
ROUNDS = {"int", "round", "floor", "ceil", "trunc", "item", "tolist", "hash", "tobytes", "float"}
DRAWN = "randint"  # a whole number from a stream that has a name


def called(node: ast.Call) -> str:
    """Read the last part of the name of what is called."""
    return ast.unparse(node.func).rpartition(".")[2]


def computed(node: ast.AST, bound: dict[str, list[ast.AST]], seen: frozenset[str]) -> bool:
    """Whether a value hangs on a number that was rounded, as far as a function's names tell."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and called(part) in ROUNDS and DRAWN not in ast.unparse(part):
            return True
        if isinstance(part, ast.Name) and part.id in bound and part.id not in seen:
            known = seen | {part.id}
            if any(computed(value, bound, known) for value in bound[part.id]):
                return True
    return False


def bindings(scope: ast.AST) -> dict[str, list[ast.AST]]:
    """Collect what is assigned to each single name in a function, but for what loops go through."""
    found: dict[str, list[ast.AST]] = {}
    for node in ast.walk(scope):
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in [*targets, *([node.target] if isinstance(node, ast.NamedExpr) else [])]:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(node.value)
    return found


def named_by_values(source: str) -> Iterator[str]:
    """Find the streams of a source whose names were computed."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {node for function in functions for node in ast.walk(function)}
    for scope in (tree, *functions):
        bound = bindings(scope)
        for node in ast.walk(scope):
            if scope is tree and node in inside:
                continue
            if isinstance(node, ast.Call) and called(node) in OPENS:
                for argument in (*node.args, *(word.value for word in node.keywords)):
                    if computed(argument, bound, frozenset()):
                        yield ast.unparse(node)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_names_a_stream_by_values(path):
    assert not list(named_by_values(path.read_text(encoding="utf8")))


@pytest.mark.parametrize("chapter", toc_chapters())
def test_no_chapter_names_a_stream_by_values(chapter):
    code = code_of(read_chapter(chapter_path(chapter)))
    assert not list(named_by_values("\n".join(code)))


@pytest.mark.parametrize(
    ("source", "red"),
    [
        ("stream(seed, 'tasks', trial, t // BLOCK)", False),
        ("for i in range(3): stream(seed, 'tasks', i)", False),
        ("def f(z):\n    name = int((1e7 * z).round().sum())\n    stream(0, 'x', name)", True),
        ("torch.Generator().manual_seed(int(z.sum()))", True),
        ("stream(0, 'x', hash(z))", True),
        ("a = float(z.mean())\nb = 2 * a\nstream(0, 'x', int(b))", True),
        ("np.random.default_rng(int(torch.randint(2**62, (), generator=generator)))", False),
    ],
)
def test_what_is_looked_for(source, red):
    assert bool(list(named_by_values(source))) is red
