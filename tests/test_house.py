"""The rules of the house, read from the files: towers, sizes, no hidden state, chapters' bones."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from iclutils.book.runs import cache

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "iclutils"
MODULES = sorted(path.relative_to(ROOT) for path in PACKAGE.rglob("*.py"))
TOWERS = ("window", "regression", "stages")
MAY_SEE = {
    "ground": {"ground"},
    "window": {"window", "ground"},
    "regression": {"regression", "ground"},
    "stages": {"stages", "ground"},
    "book": {"book", "ground"},
    "recorded": {"ground", "book", *TOWERS},
}
MODELS = {  # what trains or predicts; a prediction never shares code with what it predicts
    "window": {"attention", "pretraining"},
    "regression": {
        "reduced",
        "solver",
        "setting",
        "dmmse",
        "layers",
        "layer_training",
        "transformers",
        "transformer_training",
    },
    "stages": {"layer", "training"},
}
# what a chapter may import of the machinery: what the cache's key covers
KEYED = rf"iclutils\.book(?:\.(?:{'|'.join(cache.READ)})\b| import (?:{'|'.join(cache.READ)})\b)"


def imported(tree: ast.AST) -> Iterator[str]:
    """The dotted names of the package that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("iclutils"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("iclutils"))


def imports(path: Path) -> list[list[str]]:
    """Each import of the package as its parts, without the package's own name."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf8"))
    return [name.split(".")[1:] for name in imported(tree)]


def module_id(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_a_tower_sees_itself_and_the_ground(path):
    room = path.with_suffix("").parts[1]
    if room == "__init__":
        assert not imports(path), "import iclutils loads nothing"
        return
    for parts in imports(path):
        assert parts[0] in MAY_SEE[room], f"{path} ({room}) imports {'.'.join(parts)}"


@pytest.mark.parametrize(
    "path", [path for path in MODULES if "theory" in path.parts], ids=module_id
)
def test_a_theory_sees_no_model_of_its_tower(path):
    tower = path.parts[1]
    for parts in imports(path):
        assert parts[0] != tower or parts[1] not in MODELS[tower], (
            f"{path} imports {'.'.join(parts)}"
        )


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_a_module_fits_in_a_readers_head(path):
    lines = (ROOT / path).read_text(encoding="utf8").count("\n")
    assert lines <= 320, (
        f"{path} has {lines} lines; a module is one concept, about 300 lines at most"
    )


def test_the_towers_models_are_there():
    for tower, names in MODELS.items():
        assert names <= {path.stem for path in (PACKAGE / tower).glob("*.py")}


@pytest.mark.parametrize("name", cache.toc_chapters())
def test_a_chapter_imports_only_what_its_key_covers(name):
    for line in cache.chapter_path(name).read_text(encoding="utf8").splitlines():
        if re.match(r"\s*(?:from|import) iclutils\.book\b", line):
            assert re.search(KEYED, line), line


SOURCES = [*PACKAGE.rglob("*.py"), *(ROOT / cache.CHAPTERS).glob("*.md")]
HIDDEN_STATE = (
    r"torch\.manual_seed\(",
    r"np\.random\.seed\(",
    r"random\.seed\(",
    r"set_default_(?:dtype|device)\(",
    r"os\.environ\[?.*\bCI\b",
    r"getenv\(.CI.\)",
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_nothing_reads_a_global_seed_a_global_dtype_or_asks_for_ci(path):
    text = path.read_text(encoding="utf8")
    for pattern in HIDDEN_STATE:
        found = re.search(pattern, text)
        assert not found, f"{path.name}: {found[0] if found else ''}"


KEEPING = [path for path in MODULES if path.parts[1:2] == ("book",) and len(path.parts) > 3]


@pytest.mark.parametrize("path", KEEPING, ids=module_id)
def test_what_is_kept_is_written_whole_or_not_at_all(path):
    if path.name == "files.py":
        return  # it is where the writing is done
    tree = ast.parse((ROOT / path).read_text(encoding="utf8"))
    writes = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    assert not {"write_text", "write_bytes"} & set(writes), f"{path}: take write_atomically"


@pytest.mark.parametrize("name", cache.toc_chapters())
def test_a_chapter_has_its_bones(name):
    text = cache.chapter_path(name).read_text(encoding="utf8")
    if cache.is_second(name):
        for page in (cache.first_page(name), name):
            assert f"{{verdicts}} {page}\n" in text, f"no verdicts of {page}"
    else:
        assert f"{{chapter-card}} {name}\n" in text, "the card that heads a chapter is missing"
    assert len(re.findall(r"^seed = 0$", text, re.MULTILINE)) == 1, (
        "the knob cell needs one line 'seed = 0'"
    )
    if re.match(r"\d+_", name) and not cache.is_second(name):  # 05b is a section of chapter 5
        exercises = re.findall(r"^`{3,}\{exercise(?:-start)?\}", text, re.MULTILINE)
        assert len(exercises) >= 3, "a chapter has at least three exercises"
