"""The rules of the house, read from the files: floors, sizes, no hidden state, chapters with the same bones."""

import ast
import re
import sys
from pathlib import Path

import pytest

import iclutils

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import bookcache  # noqa: E402

MODULES = sorted(path.stem for path in (ROOT / "iclutils").glob("*.py") if path.stem != "__init__")
BELOW = {"book": {"book", "learning", "models", "data", "ground", "theory"}, "learning": {"learning", "models", "data", "ground"},
         "models": {"models", "data", "ground"}, "data": {"data", "ground"}, "ground": {"ground"},
         "theory": {"theory", "data", "ground"}}


def floors():
    """{module: floor}, as the package's own docstring draws the house."""
    text = re.sub(r"\s*\([^)]*\)", "", iclutils.__doc__ or "")
    text = re.sub(r",\s*\n\s+", ", ", text)
    found = {}
    for floor in BELOW:
        match = re.search(rf"^    {floor}\s+([a-z_0-9, ]+)$", text, re.MULTILINE)
        assert match, f"the docstring of iclutils has no floor '{floor}'"
        found.update({name.strip(): floor for name in match[1].split(",")})
    return found


def imported(path):
    """The modules of the package that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "iclutils":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("iclutils."):
            yield (node.module or "").split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("iclutils."))


@pytest.mark.parametrize("module", MODULES)
def test_a_module_stands_on_a_floor_and_imports_downwards(module):
    house = floors()
    assert module in house, f"{module} stands on no floor: add it to the docstring of iclutils/__init__.py"
    for name in imported(ROOT / "iclutils" / f"{module}.py"):
        assert house[name] in BELOW[house[module]], f"{module} ({house[module]}) imports {name} ({house[name]})"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_fits_in_a_readers_head(module):
    lines = (ROOT / "iclutils" / f"{module}.py").read_text(encoding="utf8").count("\n")
    assert lines <= 320, f"{module} has {lines} lines; a module is one concept, about 300 lines at most"


SOURCES = [*(ROOT / "iclutils").glob("*.py"), *(ROOT / bookcache.CHAPTERS).glob("*.md")]
HIDDEN_STATE = (r"torch\.manual_seed\(", r"np\.random\.seed\(", r"random\.seed\(", r"set_default_(?:dtype|device)\(",
                r"os\.environ\[?.*\bCI\b", r"getenv\(.CI.\)")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_nothing_reads_a_global_seed_a_global_dtype_or_asks_for_ci(path):
    text = path.read_text(encoding="utf8")
    for pattern in HIDDEN_STATE:
        found = re.search(pattern, text)
        assert not found, f"{path.name}: {found[0] if found else ''}"


@pytest.mark.parametrize("name", bookcache.toc_chapters())
def test_a_chapter_has_its_bones(name):
    text = bookcache.chapter_path(name).read_text(encoding="utf8")
    assert f"{{chapter-card}} {name}\n" in text, "the card that heads a chapter is missing"
    assert f"{{verdicts}} {name}\n" in text, "the list of the chapter's verdicts is missing"
    assert len(re.findall(r"^seed = 0$", text, re.MULTILINE)) == 1, "the knob cell needs one line 'seed = 0'"
    if re.match(r"\d+_", name):  # 05b is a section of chapter 5
        exercises = re.findall(r"^`{3,}\{exercise(?:-start)?\}", text, re.MULTILINE)
        assert len(exercises) >= 3, "a chapter has at least three exercises"
