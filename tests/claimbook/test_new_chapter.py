"""A new chapter is green from the start, and a name that is taken is refused."""

import shutil

import pytest
from small_book import ROOT, SOUND, Book

from claimbook import new_chapter
from claimbook.pages import SPECIALIST, chapter_path, toc_chapters

NEW = "08_covariance_shift"
SECOND = NEW + SPECIALIST


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    small = Book(tmp_path_factory.mktemp("new")).chapter(SOUND)
    small.write()
    shutil.copytree(ROOT / "book" / "skeleton", small.root / "book" / "skeleton")
    new_chapter.add(NEW, small.root)
    return small


def test_it_is_two_pages_in_the_contents_whose_rows_run_and_hold(book):
    assert toc_chapters(book.root) == [SOUND, NEW, SECOND]
    assert "@NAME@" not in chapter_path(NEW, book.root).read_text(encoding="utf8")
    _, code, output = book.run(chapters=(NEW, SECOND), write=False)
    assert code == 0, output
    assert "ch8-scatter · holds" in output
    assert "ch8-more · holds" in output
    assert f"make expected NAME={NEW}" in book.compare(NEW)[0]["test_claim[ch8-scatter]"]
    assert book.python("-m", "claimbook.check.snapshot", NEW, SECOND).returncode == 0
    assert book.compare(NEW, SECOND)[1] == 0


@pytest.mark.parametrize("name", ["", "eight", "8_x", "08_", "08_x_specialist", "../08_x", NEW])
def test_a_name_that_is_no_chapters_or_is_taken_is_refused(book, name):
    said = "there is a chapter 08_covariance_shift already" if name == NEW else "name reads 08_cov"
    with pytest.raises(ValueError, match=said):
        new_chapter.add(name, book.root)
