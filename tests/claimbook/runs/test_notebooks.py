"""The executed pages: a run is shown only under its key, and a damaged one is run again."""

import shutil

import pytest
from nbformat import v4
from small_book import MINI, SOUND

from claimbook.files import ROOT
from claimbook.pages import CHAPTERS, chapter_path, code_cells, read_chapter, toc_chapters
from claimbook.runs import notebooks
from claimbook.runs.page_key import page_key

TOC = f"format: jb-book\nroot: book/intro\nchapters:\n- file: book/chapters/{SOUND}\n"


@pytest.fixture
def book(tmp_path):
    """Make a folder with the small chapter and its ledger, and no package."""
    shutil.copytree(MINI, tmp_path / "book")
    (tmp_path / "_toc.yml").write_text(TOC)
    return tmp_path


@pytest.fixture
def page(book):
    """Run the small chapter, which has one line of output."""
    path = chapter_path(SOUND, book)
    notebook = read_chapter(path)
    code = code_cells(notebook)
    for number, cell in enumerate(code, 1):
        cell["execution_count"] = number
    code[0]["outputs"] = [v4.new_output("stream", name="stdout", text="seven\n")]
    notebooks.store(notebook, path, page_key(path, book), {"seconds": 1.5}, book)
    return path


def printed(notebook):
    return [output.text for cell in notebook.cells for output in cell.get("outputs", [])]


def test_a_word_of_prose_is_shown_and_an_edit_of_the_code_makes_the_run_stale(book, page):
    run = notebooks.current(page, book)
    assert (printed(run.notebook), run.seconds) == (["seven\n"], 1.5)
    assert notebooks.stale(book) == []
    words = page.read_text().replace("# ", "# Another ", 1)
    page.write_text(words)
    shown = notebooks.current(page, book).notebook
    assert "Another" in shown.cells[0].source
    assert printed(shown) == printed(notebooks.read_executed(words, str(page), str(book)))
    page.write_text(words.replace("2912 + seed", "2913 + seed"))
    assert notebooks.current(page, book) is None
    assert printed(notebooks.read_executed(page.read_text(), str(page), str(book))) == []
    assert notebooks.latest(page, book) is not None
    assert notebooks.stale(book) == [SOUND]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"cells": [], "metadata": {}}', "\x00garbage"])
def test_a_damaged_run_is_said_removed_and_stale(book, page, capsys, damage):
    file = notebooks.run_path(page, book)
    file.write_text(damage)
    assert notebooks.stale(book) == [SOUND]
    assert f"{file} is damaged" in capsys.readouterr().err
    assert not file.exists()


def test_chapters_toc_and_references_match():
    """Each chapter has its file, its claims and its reference; nothing lies beside the book."""
    toc = toc_chapters()
    on_disk = sorted(path.stem for path in (ROOT / CHAPTERS).glob("*.md"))
    assert sorted(toc) == on_disk
    assert sorted(path.stem for path in (ROOT / "tests" / "expected").glob("*.yml")) == on_disk
    assert not list((ROOT / CHAPTERS).glob("*.ipynb"))
