"""The rules of the house, read from the files: towers, sizes, no hidden state, chapters' bones."""

import ast
import dataclasses
import importlib
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
from towers import PACKAGE, PRESS, ROOT, SHARED, TOWERS, data

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
PACKAGES = (PACKAGE.name, PRESS.name)
TESTS = ROOT / "tests" / PACKAGE.name
SCIENCE = [path for path in MODULES if path.parts[0] == "iclutils" and path.stem != "__init__"]
LONGEST, SHORTEST = 450, 60  # lines of a module
MODULES_A_FOLDER = 14
SHORT = {"iclutils.products": "both towers of trained models need it, and nothing else is like it"}
TESTED_WITH = {"iclutils.arguments": "validation"}  # which offers all of it as its own
MAY_SEE = {
    **dict.fromkeys(SHARED, SHARED),
    **{tower: {tower, *SHARED} for tower in TOWERS},
}
# whole transformers are asked what single heads are asked: of the window's tower its samplers
MAY_SEE["transformer"] = MAY_SEE["transformer"] | {"window"}
SAMPLERS = {"covariates", "function_classes", "prompts"}


def imported(tree: ast.AST) -> Iterator[str]:
    """The dotted names of the packages that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGES):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith(PACKAGES))


def imports(path: Path) -> list[list[str]]:
    """Each import of a package as its parts, without the science's own name."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf8"))
    return [name.removeprefix("iclutils.").split(".") for name in imported(tree)]


def module_id(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_a_tower_sees_itself_and_what_is_shared(path):
    if path.parts[0] == PRESS.name:
        allowed = {PRESS.name, *SHARED}
        assert {parts[0] for parts in imports(path)} <= allowed, f"{path} imports a tower"
        return
    room = path.with_suffix("").parts[1]
    if room == "__init__":
        assert not imports(path), "import iclutils loads nothing"
        return
    allowed = MAY_SEE.get(room)
    assert allowed, (
        f"{path}: '{room}' is no room of the house; the towers are the folders of iclutils with an "
        f"__init__.py, now {', '.join(TOWERS)}"
    )
    for parts in imports(path):
        assert parts[0] in allowed, (
            f"{path} imports {'.'.join(parts)}; {room} may see {', '.join(sorted(allowed))} only"
        )
        assert room == "window" or parts[0] != "window" or parts[1] in SAMPLERS, (
            f"{path} imports {'.'.join(parts)}: of another tower its samplers only"
        )


@pytest.mark.parametrize(
    "path", [path for path in MODULES if "theory" in path.parts], ids=module_id
)
def test_a_theory_sees_no_model_of_its_tower(path):
    tower = path.parts[1]
    allowed = {"theory"} | data(tower)
    for parts in imports(path):
        assert parts[0] != tower or parts[1] in allowed, (
            f"{path} imports {'.'.join(parts)}: a prediction shares no code with what it predicts; "
            f"if that module neither trains nor predicts, name it in DATA of "
            f"iclutils/{tower}/__init__.py"
        )


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_a_module_fits_in_a_readers_head_and_is_worth_a_file(path):
    lines = (ROOT / path).read_text(encoding="utf8").count("\n")
    assert lines <= LONGEST, f"{path} has {lines} lines; a module is one concept, {LONGEST} at most"
    short = path in SCIENCE and lines < SHORTEST and module_id(path) not in SHORT
    assert not short, f"{path} has {lines} lines; merge it, or say in SHORT why it stands alone"


@pytest.mark.parametrize("folder", sorted({path.parent for path in MODULES}), ids=str)
def test_a_folder_is_read_at_one_glance(folder):
    inside = [path for path in MODULES if path.parent == folder]
    modules = [path.name for path in inside if path.stem != "__init__"]
    assert len(modules) <= MODULES_A_FOLDER, f"{folder} has {len(modules)} modules: {modules}"


@pytest.mark.parametrize("path", SCIENCE, ids=module_id)
def test_a_module_has_a_test_file(path):
    room = [part for part in path.parts[1:-1] if part != "theory"]
    name = TESTED_WITH.get(module_id(path), path.stem)
    tests = TESTS.joinpath(*room, f"test_{name}.py")
    assert tests.exists(), f"{tests.relative_to(ROOT)} is missing: a test file for each module"


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_what_travels_together_does_not_change_on_the_way(path):
    name = module_id(path).removesuffix(".__init__")
    for value in vars(importlib.import_module(name)).values():
        own = dataclasses.is_dataclass(value) and value.__module__ == name
        assert not own or value.__dataclass_params__.frozen, (
            f"{value.__name__} of {name} can be changed after its numbers were checked"
        )


@pytest.mark.parametrize("tower", TOWERS)
def test_a_tower_has_its_tests_and_its_data_are_there(tower):
    assert (TESTS / tower).is_dir(), f"{TESTS / tower} is missing"
    gone = data(tower) - {path.stem for path in (PACKAGE / tower).glob("*.py")}
    assert not gone, f"iclutils/{tower}/__init__.py names {gone} in DATA, which are no modules"


LONGEST_CELL = 20  # lines of code that a folded cell computes; more is a module without tests
# what draws on a panel itself, and so is missing in the figure's table
UNNOTED = re.compile(
    r"\w\.(plot|errorbar|scatter|bar|fill_between|ax[hv](line|span)|imshow|pcolormesh|contourf?"
    r"|[hv]lines)\("
)


def lines_of(source):
    lines = [line.strip() for line in source.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("name", toc_chapters())
def test_folded_cells_are_short_and_figures_note_what_they_draw(name):
    for cell in code_cells(read_chapter(chapter_path(name))):
        options = cell.metadata.get("mystnb", {})
        unnoted = UNNOTED.search(cell.source.replace("figures.", ""))
        assert not unnoted, f"{name}: {unnoted} is not in the figure's table\n{cell.source}"
        is_folded = "hide-input" in cell.metadata.get("tags", [])
        if is_folded and "figure" not in options and options.get("code_prompt_show") != "Set-up":
            assert len(lines_of(cell.source)) <= LONGEST_CELL, f"{name}:\n{cell.source}"


def test_half_of_the_figures_take_fifteen_lines_or_less():
    pages = [read_chapter(chapter_path(name)) for name in toc_chapters()]
    cells = [cell for page in pages for cell in code_cells(page)]
    figures = [cell for cell in cells if "figure" in cell.metadata.get("mystnb", {})]
    assert statistics.median(len(lines_of(cell.source)) for cell in figures) <= 15


LONGEST_CHECK = 10  # lines of code: a page hands over estimates, and the ledger judges


@pytest.mark.parametrize("name", toc_chapters())
def test_a_cell_that_checks_is_short_and_defines_no_function(name):
    for source in code_of(read_chapter(chapter_path(name))):
        if "ledger.check(" in source:
            code = [line for line in source.splitlines() if line.strip() and line.strip()[0] != "#"]
            defined = any(isinstance(node, ast.FunctionDef) for node in ast.walk(ast.parse(source)))
            assert len(code) <= LONGEST_CHECK, f"{name}: {len(code)} lines in the cell\n{source}"
            assert not defined, f"{name}: a function is defined where it is judged\n{source}"


SOURCES = [*PACKAGE.rglob("*.py"), *PRESS.rglob("*.py"), *(ROOT / CHAPTERS).glob("*.md")]
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
    if path.suffix == ".md":  # the cells in sight, which a reader types, are seeded once
        text = text.replace("torch.manual_seed(0)", "", 1)
    for pattern in HIDDEN_STATE:
        found = re.search(pattern, text)
        assert not found, f"{path.name}: {found[0] if found else ''}"


KEEPING = [path for path in MODULES if path.parts[0] == PRESS.name and len(path.parts) > 2]


@pytest.mark.parametrize("path", KEEPING, ids=module_id)
def test_what_is_kept_is_written_whole_or_not_at_all(path):
    if path.name == "files.py":
        return  # it is where the writing is done
    tree = ast.parse((ROOT / path).read_text(encoding="utf8"))
    writes = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    assert not {"write_text", "write_bytes"} & set(writes), f"{path}: take write_atomically"


@pytest.mark.parametrize("name", toc_chapters())
def test_a_chapter_has_its_bones(name):
    text = chapter_path(name).read_text(encoding="utf8")
    if is_second(name):
        assert f"{{verdicts}} {first_page(name)}\n" in text, "no way to the chapter's rows"
    else:
        assert f"{{chapter-card}} {name}\n" in text, "the card that heads a chapter is missing"
    knobs = re.findall(
        r"^(?::|)tags: \[.*\bparameters\b.*\](?:(?!```)[^\0])*?^seed = 0$", text, re.MULTILINE
    )
    assert len(knobs) == 1, "one cell is tagged 'parameters' and has a line 'seed = 0'"
    if re.match(r"\d+_", name) and not is_second(name):  # 05b is a section of chapter 5
        exercises = re.findall(r"^`{3,}\{exercise(?:-start)?\}", text, re.MULTILINE)
        assert len(exercises) >= 3, "a chapter has at least three exercises"
