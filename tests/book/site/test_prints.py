"""A finished page offers a print while it is one of this site, and at no other time."""

import pytest

from iclutils.book.runs.files import write_atomically
from iclutils.book.site.downloads import prints
from iclutils.book.site.downloads.offers import FOLDER

CHAPTER = "01_one"
EMPTY = f'<span class="file {prints.OFFER}" data-print="../downloads/{CHAPTER}"></span>'
OF_BOOK = f'<p><span class="{prints.OFFER}" data-print="downloads/{prints.BOOK}"></span></p>'


@pytest.fixture
def site(tmp_path):
    """The folder of a site with a chapter and the page of downloads; both are printed."""
    folder = tmp_path / "_build" / "html"
    for place, text in {f"chapters/{CHAPTER}": EMPTY, "downloads": OF_BOOK}.items():
        write_atomically(folder / "book" / f"{place}.html", f"<a>x</a> {text} <span>y</span>")
    (folder / FOLDER).mkdir()
    for name in (CHAPTER, prints.BOOK):
        write_atomically(prints.folder(tmp_path) / f"{name}.pdf", "a print" * 1000)
    write_atomically(prints.note(tmp_path), "this site")
    return folder


def read(site):
    """The chapter and the page of downloads."""
    places = (f"chapters/{CHAPTER}", "downloads")
    return [(site / "book" / f"{place}.html").read_text() for place in places]


def test_both_link_their_print_with_its_size(site, tmp_path):
    prints.offer(site, "this site", tmp_path)
    chapter, downloads = read(site)
    assert f'href="../downloads/{CHAPTER}.pdf">PDF</a> (7 kB)</span> <span>y</span>' in chapter
    assert f'href="downloads/{prints.BOOK}.pdf">The whole book as PDF</a> (7 kB): all' in downloads
    for name in (CHAPTER, prints.BOOK):
        assert (site / FOLDER / f"{name}.pdf").read_text() == "a print" * 1000


def test_a_print_of_another_site_is_not_offered_and_one_that_was_no_longer(site, tmp_path):
    before = read(site)
    prints.offer(site, "another site", tmp_path)
    chapter, downloads = read(site)
    assert chapter == before[0]
    assert "make pdf" in downloads
    assert not list((site / FOLDER).iterdir())
    unprinted = read(site)
    prints.offer(site, "this site", tmp_path)
    assert ".pdf" in read(site)[0]
    prints.offer(site, "another site", tmp_path)
    assert read(site) == unprinted


def test_what_is_filled_twice_is_the_same(site, tmp_path):
    prints.offer(site, "this site", tmp_path)
    once = read(site)
    prints.offer(site, "this site", tmp_path)
    assert read(site) == once
