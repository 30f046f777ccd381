"""The rules of the house, read from the files: towers, sizes, no hidden state, chapters' bones."""

import ast
import re
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from towers import LIBRARIES, PACKAGE, PRESS, ROOT, SHARED, TOWERS, data

from claimbook.pages import (
    CHAPTERS,
    chapter_path,
    code_cells,
    code_of,
    first_page,
    is_second,
    read_chapter,
    toc_chapters,
)

MODULES = sorted(
    path.relative_to(ROOT) for package in (PACKAGE, PRESS) for path in package.rglob("*.py")
)
SOURCES = [*(ROOT / path for path in MODULES), *(ROOT / CHAPTERS).glob("*.md")]
PACKAGES = (PACKAGE.name, PRESS.name)
TESTS = ROOT / "tests" / PACKAGE.name
LONGEST, SHORTEST = 450, 60  # lines of a module
MODULES_A_FOLDER = 14
SHORT = {"iclutils.products": "both towers of trained models need it, and nothing else is like it"}
TESTED_WITH = {"iclutils.arguments": "validation"}  # which offers all of it as its own
MAY_SEE = {
    "__init__": set(),  # import iclutils loads nothing
    **dict.fromkeys(SHARED, SHARED),
    **{tower: {tower, *SHARED} for tower in TOWERS},
}
# whole transformers are asked what the others are asked: of their towers the samplers, and the
# transformers of chapter 5c with their training
OF_OTHERS = {
    "window": {"covariates", "function_classes", "prompts"},
    "stages": {"prompts"},
    "regression": {"training_sets", "transformers", "transformer_training"},
}
MAY_SEE["transformer"] = MAY_SEE["transformer"] | set(OF_OTHERS)


def module_id(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)


def imported(tree: ast.AST) -> Iterator[str]:
    """Go through the dotted names that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_a_module_sees_its_tower_and_what_is_shared_and_a_theory_sees_no_model(path):
    """A prediction shares no code with what it predicts, and the science needs no machinery.

    A module that neither trains nor predicts is named in DATA of its tower's ``__init__``.
    """
    package, room = path.with_suffix("").parts[:2]
    seen = MAY_SEE.get(room) if package == PACKAGE.name else {PRESS.name, *SHARED}
    assert seen is not None, f"'{room}' is no room of the house; the towers are {TOWERS}"
    for name in imported(ast.parse((ROOT / path).read_text(encoding="utf8"))):
        library = name.partition(".")[0]
        if library not in PACKAGES:
            assert package == PRESS.name or library in LIBRARIES | sys.stdlib_module_names, name
            continue
        tower, *inside = name.removeprefix("iclutils.").split(".")
        assert tower in seen, f"{path} imports {name}; it may see {sorted(seen)}"
        if tower in OF_OTHERS and tower != room:
            allowed = OF_OTHERS[tower]
            assert inside[0] in allowed, f"{path} imports {name}; of {tower} it may see {allowed}"
        if tower == room and "theory" in path.parts:
            assert inside[0] in {"theory"} | data(tower), f"{path} imports {name}, a model"


# participles and fillers: a function's name is a verb, a value's a noun
NO_NAMES = {"found", "place", "told", "kept", "drawn", "said", "held", "wanted", "asked"}
NO_NAMES |= {"given", "made", "was", "now"}
RECORDED = {"asked"}  # a setting of a recorded sweep, and so it stays


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_a_name_says_what_it_names(path):
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf8"))):
        name = getattr(node, "id", getattr(node, "arg", getattr(node, "name", None))) or ""
        empty = {*name.lower().split("_")} & NO_NAMES
        assert not empty or name in RECORDED, f"{path}: {name}: say which; take the field's word"


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_a_module_fits_in_a_readers_head_and_is_worth_a_file_and_its_tests(path):
    lines = (ROOT / path).read_text(encoding="utf8").count("\n")
    assert lines <= LONGEST, f"{path} has {lines} lines; a module is one concept, {LONGEST} at most"
    if path.parts[0] == PACKAGE.name and path.stem != "__init__":
        short = lines < SHORTEST and module_id(path) not in SHORT
        assert not short, f"{path} has {lines} lines; merge it, or say in SHORT why it stands alone"
        room = [part for part in path.parts[1:-1] if part != "theory"]
        name = TESTED_WITH.get(module_id(path), path.stem)
        assert TESTS.joinpath(*room, f"test_{name}.py").exists(), "a test file for each module"


@pytest.mark.parametrize("folder", sorted({path.parent for path in MODULES}), ids=str)
def test_a_folder_is_read_at_one_glance(folder):
    inside = [path for path in MODULES if path.parent == folder and path.stem != "__init__"]
    assert len(inside) <= MODULES_A_FOLDER


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_what_travels_together_does_not_change_on_the_way(path):
    for line in (ROOT / path).read_text(encoding="utf8").splitlines():
        assert not line.startswith("@dataclass") or "frozen=True" in line, f"{path}: {line}"


# ------------------------------------------------------------------ chapters

LONGEST_CELL = 20  # lines of code that a folded cell computes; more is a module without tests
MOST_FUNCTIONS = 2  # that a folded cell defines: a method belongs in its tower, typed and tested
COMPREHENSIONS = {ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp}
LONGEST_COMPREHENSION = 2  # lines, without the brackets


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_comprehension_holds_no_other_and_is_short(path):
    text = path.read_text(encoding="utf8")
    sources = code_of(read_chapter(path)) if path.suffix == ".md" else [text]
    for node in chain(*(ast.walk(ast.parse(source)) for source in sources)):
        if type(node) in COMPREHENSIONS:
            _, *inside = map(type, ast.walk(node))
            assert not {*inside} & COMPREHENSIONS, f"name what is inside: {ast.unparse(node)}"
            first = node.key if isinstance(node, ast.DictComp) else node.elt
            last = (node.generators[-1].ifs or [node.generators[-1].iter])[-1]
            assert last.end_lineno - first.lineno < LONGEST_COMPREHENSION, ast.unparse(node)


LONGEST_CHECK = 10  # lines of code: a page hands over estimates, and the ledger judges
# what draws on a panel itself, and so is missing in the figure's table
UNNOTED = re.compile(
    r"\w\.(plot|errorbar|scatter|bar|fill_between|ax[hv](line|span)|imshow|pcolormesh|contourf?"
    r"|[hv]lines)\("
)
KNOBS = re.compile(r"^(?::|)tags: \[.*\bparameters\b.*\](?:(?!```)[^\0])*?^seed = 0$", re.MULTILINE)
EXERCISE = re.compile(r"^`{3,}\{exercise(?:-start)?\}", re.MULTILINE)


def length(source):
    """List the lines of a cell that are code."""
    lines = [line.strip() for line in source.splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)


@pytest.mark.parametrize("name", toc_chapters())
def test_folded_cells_are_short_figures_note_what_they_draw_and_checks_only_check(name):
    for cell in code_cells(read_chapter(chapter_path(name))):
        source, shown = cell.source, cell.metadata.get("mystnb", {})
        unnoted = UNNOTED.search(source.replace("figures.", ""))
        assert not unnoted, f"{unnoted} is not in the figure's table\n{source}"
        is_folded = "hide-input" in cell.metadata.get("tags", [])
        functions = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.FunctionDef)]
        if is_folded and "figure" not in shown and shown.get("code_prompt_show") != "Set-up":
            assert length(source) <= LONGEST_CELL, source
            assert len(functions) <= MOST_FUNCTIONS, f"move one to its tower\n{source}"
        if "ledger.check(" in source:
            assert length(source) <= LONGEST_CHECK, source
            assert not functions, f"a function is defined where it is judged\n{source}"


@pytest.mark.parametrize("name", toc_chapters())
def test_a_chapter_has_its_bones(name):
    text = chapter_path(name).read_text(encoding="utf8")
    if is_second(name):
        assert f"{{verdicts}} {first_page(name)}\n" in text, "no way to the chapter's rows"
    else:
        assert f"{{chapter-card}} {name}\n" in text, "the card that heads a chapter is missing"
    assert len(KNOBS.findall(text)) == 1, "one cell is tagged 'parameters' and has 'seed = 0'"
    if re.match(r"\d+_", name) and not is_second(name):  # 05b is a section of chapter 5
        assert len(EXERCISE.findall(text)) >= 3, "a chapter has at least three exercises"


# ------------------------------------------------------------------ no hidden state

HIDDEN_STATE = re.compile(
    r"torch\.manual_seed\(|random\.seed\(|set_default_(?:dtype|device)\("
    r"|os\.environ\[?.*\bCI\b|getenv\(.CI.\)"
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_global_seed_or_dtype_nothing_asks_for_ci_and_files_are_written_whole(path):
    """By write_atomically of claimbook/files.py, in the rooms of the press."""
    text = path.read_text(encoding="utf8")
    if path.suffix == ".md":  # the cells in sight, which a reader types, are seeded once
        text = text.replace("torch.manual_seed(0)", "", 1)
    assert not HIDDEN_STATE.search(text)
    in_a_room = PRESS in path.parent.parents
    assert not (in_a_room and re.search(r"\.write_(text|bytes)\b", text))
