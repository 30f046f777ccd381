"""The skeleton of a chapter is green from the start, and a name that is taken is refused."""

import shutil
from pathlib import Path

import pytest
import yaml
from small_book import SOUND, Book

from claimbook import new_chapter
from claimbook.ledger import schema
from claimbook.pages import SPECIALIST, chapter_path, toc_chapters

ROOT = Path(__file__).resolve().parents[2]
NEW = "08_covariance_shift"


@pytest.fixture
def book(tmp_path):
    small = Book(tmp_path).chapter(SOUND)
    small.write()
    shutil.copytree(ROOT / "book" / "skeleton", tmp_path / "book" / "skeleton")
    return small


def test_it_is_two_pages_two_rows_and_two_lines_of_the_contents(book):
    new_chapter.add(NEW, book.root)
    second = NEW + SPECIALIST
    assert toc_chapters(book.root) == [SOUND, NEW, second]
    blocks = schema.load(book.root / "book" / "claims.yml").chapters
    assert [row.id for page in (NEW, second) for row in blocks[page].claims] == [
        "ch8-scatter",
        "ch8-more",
    ]
    for page in (NEW, second):
        text = chapter_path(page, book.root).read_text(encoding="utf8")
        assert "@" not in text.replace("@ ", "")


def test_it_runs_and_holds(book):
    new_chapter.add(NEW, book.root)
    both = (NEW, NEW + SPECIALIST)
    _, code, output = book.run("--chapters=try", "-rs", chapters=both, write=False)
    assert code == 0, output
    assert "ch8-scatter · holds" in output
    assert "ch8-more · holds" in output
    assert f"no reference yet (make expected NAME={NEW})" in output
    assert "ch8-more is noted in tests/rows.txt" in output


@pytest.mark.parametrize("name", ["", "eight", "8_x", "08_", "08_x_specialist", "../08_x"])
def test_a_name_that_is_no_chapters_is_refused(book, name):
    with pytest.raises(ValueError, match="a chapter's name reads 08_covariance_shift"):
        new_chapter.add(name, book.root)


def test_a_name_that_is_taken_is_refused(book):
    new_chapter.add(NEW, book.root)
    with pytest.raises(ValueError, match="there is a chapter 08_covariance_shift already"):
        new_chapter.add(NEW, book.root)


def test_a_ledger_that_ends_with_something_else_is_left_alone(book):
    ledger = book.root / "book" / "claims.yml"
    data = yaml.safe_load(ledger.read_text(encoding="utf8"))
    text = yaml.safe_dump(
        {"chapters": data["chapters"], "documents": data["documents"]}, sort_keys=False
    )
    ledger.write_text(text, encoding="utf8")
    with pytest.raises(ValueError, match="must end with 'chapters'"):
        new_chapter.add(NEW, book.root)
    assert ledger.read_text(encoding="utf8") == text
