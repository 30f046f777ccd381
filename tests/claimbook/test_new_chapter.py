"""A new chapter is green from the start, and a name that is taken is refused."""

import re
import shutil
from pathlib import Path

import pytest
from small_book import SOUND, Book

from claimbook import new_chapter
from claimbook.ledger import schema
from claimbook.pages import SPECIALIST, chapter_path, toc_chapters

ROOT = Path(__file__).resolve().parents[2]
NEW = "08_covariance_shift"
SECOND = NEW + SPECIALIST


@pytest.fixture
def book(tmp_path):
    small = Book(tmp_path).chapter(SOUND)
    small.write()
    shutil.copytree(ROOT / "book" / "skeleton", tmp_path / "book" / "skeleton")
    return small


def test_it_is_two_pages_in_the_contents_whose_row_runs_and_holds(book):
    new_chapter.add(NEW, book.root)
    assert toc_chapters(book.root) == [SOUND, NEW, SECOND]
    chapters = schema.load(book.root / "book" / "claims.yml").chapters
    assert [row.id for page in (NEW, SECOND) for row in chapters[page].claims] == [
        "ch8-scatter",
        "ch8-more",
    ]
    assert "@NAME@" not in chapter_path(NEW, book.root).read_text(encoding="utf8")
    _, code, output = book.run(chapters=(NEW, SECOND), write=False)
    assert code == 0, output
    assert {"ch8-scatter · holds", "ch8-more · holds"} <= set(re.findall(r"\S+ · holds", output))
    assert f"make expected NAME={NEW}" in book.compare(NEW)[0]["test_claim[ch8-scatter]"]
    assert book.python("-m", "claimbook.check.snapshot", NEW, SECOND).returncode == 0
    assert book.compare(NEW, SECOND)[1] == 0


@pytest.mark.parametrize("name", ["", "eight", "8_x", "08_", "08_x_specialist", "../08_x"])
def test_a_name_that_is_no_chapters_is_refused(book, name):
    with pytest.raises(ValueError, match="a chapter's name reads 08_covariance_shift"):
        new_chapter.add(name, book.root)


def test_a_name_that_is_taken_is_refused(book):
    new_chapter.add(NEW, book.root)
    with pytest.raises(ValueError, match="there is a chapter 08_covariance_shift already"):
        new_chapter.add(NEW, book.root)
