"""What the built site offers to take home: complete, and as the repository and the runs have it."""

import csv
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile

import nbformat
import pytest

from claimbook.files import ROOT
from claimbook.pages import chapter_path, code_of, read_chapter, toc_chapters
from claimbook.site.downloads import ARCHIVE
from tests import taken_home
from tests.built_site import PAGES, SITE, rows, text_of

PLACE = SITE / "book" / "downloads" / f"{ARCHIVE}.zip"
RAW = re.compile(r"\{[a-zA-Z][\w:.-]*\}`|^\s*(?:`{3,}|:{3,})\{", re.MULTILINE)  # roles, directives


@pytest.mark.parametrize("name", toc_chapters())
def test_a_notebook_can_be_read_on_its_own(name):
    """It is valid, has its outputs, and nothing that only the book's builder understands."""
    notebook = nbformat.read(SITE / "book" / "downloads" / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    words = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert len(words) > 3
    assert not [match[0] for text in words for match in RAW.finditer(text)]
    titles = [line for text in words for line in text.split("\n") if line.startswith("# ")]
    assert len(titles) == 1
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.source for cell in code] == code_of(read_chapter(chapter_path(name)))
    outputs = [output for cell in code for output in cell.outputs]
    assert outputs
    assert not [output for output in outputs if "scrapbook" in output.get("metadata", {})]
    texts = [str(output.get("data", {}).get("text/markdown", "")) for output in outputs]
    own = [row["verdict"] for row in rows() if row["chapter"] == name]
    shown = [re.match(r"\*\*\S ([a-z ]+)\*\*", one) for one in texts]
    assert sorted(match[1] for match in shown if match) == sorted(own)


def test_the_archive_holds_the_whole_site():
    with zipfile.ZipFile(PLACE) as archive:
        assert archive.testzip() is None
        names = {name.removeprefix(f"{SITE.name}/") for name in archive.namelist()}
    whole = {path.relative_to(SITE).as_posix() for path in SITE.rglob("*") if path.is_file()}
    assert whole - names <= {PLACE.relative_to(SITE).as_posix(), ".inputs"}
    assert {*PAGES, "index.html", "LICENSE", "CITATION.cff", "README.txt"} <= names
    files = {f"book/downloads/{name}{end}" for name in toc_chapters() for end in (".ipynb", ".md")}
    assert files <= names


EXECUTE = """
import iclutils, nbclient.cli, sys
assert iclutils.__file__.startswith(sys.prefix), iclutils.__file__
nbclient.cli.main()
"""
TAKEN = "05c_task_diversity"  # the one that runs for the shortest time


def test_a_notebook_runs_in_an_empty_folder_with_what_the_page_names(tmp_path):
    """In an environment that has the locked packages, and of the book the wheel alone.

    The weekly workflow does it with everything downloaded, by the six lines themselves.
    """
    with zipfile.ZipFile(PLACE) as archive:
        (tmp_path / "README.txt").write_bytes(archive.read(f"{SITE.name}/README.txt"))
    lines = taken_home.commands(tmp_path)
    assert len(lines) == 6
    assert "\n".join(lines) in (ROOT / "book" / "downloads.md").read_text(encoding="utf8")
    folder = tmp_path / "an empty folder"
    python = folder / "own" / "bin" / "python"
    venv.create(folder / "own", symlinks=True)
    own = folder / "own" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    (own / "locked.pth").write_text(sysconfig.get_path("purelib"))
    [wheel] = PLACE.parent.glob("iclutils-*.whl")
    zipfile.ZipFile(wheel).extractall(own)
    notebook = folder / f"{TAKEN}.ipynb"
    shutil.copy(PLACE.with_name(notebook.name), notebook)
    offered = taken_home.read(notebook)
    kernel = [python, "-m", "ipykernel", "install", "--prefix", folder / "own", "--name", "python3"]
    for command in (kernel, [python, "-c", EXECUTE, "--inplace", notebook]):
        options = {"cwd": folder, "env": taken_home.outside(), "timeout": 600}
        done = subprocess.run(command, **options, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert taken_home.differences(taken_home.read(notebook), offered, rows()) == []
    assert len(taken_home.verdicts(taken_home.read(notebook))) > 5


def test_sources_and_data_are_offered_as_they_are():
    """The Markdown of a chapter is the file of the repository, and so are the recorded results."""
    files = SITE / "book" / "downloads"
    originals = [chapter_path(name) for name in toc_chapters()]
    originals.append(ROOT / "CITATION.cff")
    originals += (ROOT / "book" / "recorded").glob("*.json")
    for path in originals:
        assert (files / path.name).read_bytes() == path.read_bytes(), path.name
    assert not [path.name for path in files.iterdir() if path.stat().st_size == 0]


NEVER_EMPTY = {"document", "place", "brief", "statement", "statistic", "criterion", "tolerance"}
NEVER_EMPTY |= {"verdict", "anchor", "run"}


def in_a_cell(value):
    """Write a value as the table has it: what nests is JSON."""
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def test_the_ledger_as_data_has_every_field_of_every_row():
    with (SITE / "book" / "ledger.csv").open(encoding="utf8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [row["id"] for row in rows()] == [line["id"] for line in lines]
    for row, line in zip(rows(), lines, strict=True):
        assert line == {field: in_a_cell(value) for field, value in row.items()}
        assert all(map(line.get, NEVER_EMPTY)), row["id"]
        assert row["chapter_seconds"] > 0
        assert row["value"] is None or row["half_width"] is not None
        for name, control in row["controls"].items():
            assert control["what"], (row["id"], name)
            assert row["parts"] == {} or control["outcome"], (row["id"], name)
        page, anchor = row["anchor"].split("#")
        assert f'id="{anchor}"' in text_of(f"book/{page}"), row["anchor"]
