"""The book on paper without a browser: the contents, the articles, the bookmarks."""

import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader, PdfWriter

from claimbook.paper import bookmarks
from claimbook.paper.whole import Fragment, Heading, whole


def page(name, *levels):
    """A page with headings of these levels, a style of its own and one that all share."""
    headings = [
        Heading(level, f"{name}--{count}", f"{name} & {level} <{count}>")
        for count, level in enumerate(levels)
    ]
    return Fragment(
        name=name,
        html="".join(f'<h2 id="{heading.anchor}">x</h2>' for heading in headings),
        title=f"Title of {name} & more",
        stamp=f"Stamp of {name}",
        headings=headings,
        sheets=['<link rel="stylesheet" href="all.css">', f'<link href="{name}.css">'],
        styles=["p {}", f"#{name} {{}}"],
        cut=(),
    )


PAGES = [page("one", 1, 2, 3, 2), page("two", 1, 2, 3, 4, 2), page("three", 1)]


def test_the_book_has_every_page_once_with_its_looks():
    book = BeautifulSoup(whole(PAGES), "html.parser")
    assert [one["data-page"] for one in book.select("article")] == [one.name for one in PAGES]
    assert book.title.get_text() == PAGES[0].title
    styles = [node.get_text() for node in book.select("head style")]
    assert styles == [style for one in PAGES for style in one.styles]
    sheets = [node["href"] for node in book.select("head link")]
    assert sheets == ["all.css", *(f"{one.name}.css" for one in PAGES)]


def test_the_contents_name_pages_and_sections_and_lead_to_them():
    book = BeautifulSoup(whole(PAGES), "html.parser")
    lines = book.select("ul.contents li")
    expected = [heading for one in PAGES for heading in one.headings if heading.level <= 2]
    for line, heading in zip(lines, expected, strict=True):
        assert line["class"] == [f"level{heading.level}"]
        assert line.a["href"] == f"#{heading.anchor}"
        assert line.a.span.get_text() == heading.text
        assert len(book.find_all(id=heading.anchor)) == 1
        assert line.a.contents[-1]["class"] == ["number"]  # where the page number is written


def test_the_title_page_says_which_run_is_printed():
    said = BeautifulSoup(whole(PAGES), "html.parser").select_one(".title-page")
    assert said.select_one(".book-title").get_text() == PAGES[0].title
    assert PAGES[0].stamp in [node.get_text() for node in said.select(".book-stamp")]


def outline(items, depth=1):
    """(level, bookmark) of an outline, from its top down."""
    for item in items:
        if isinstance(item, list):
            yield from outline(item, depth + 1)
        else:
            yield depth, item


@pytest.mark.parametrize("levels", [(1, 2, 3, 2, 1), (1, 1, 2, 2, 2), (1, 2, 3, 4, 1)])
def test_bookmarks_stand_under_their_pages_and_lead_to_theirs(tmp_path, levels):
    path = tmp_path / "book.pdf"
    writer = PdfWriter()
    headings = page("one", *levels).headings
    starts = [0, 2, 2, 3, 5]  # two begin on one page
    for _ in range(6):
        writer.add_blank_page(width=595, height=842)
    for heading, start in zip(headings, starts, strict=True):
        writer.add_named_destination(heading.anchor, start)
    for name, destination in writer.named_destinations.items():
        destination.update({"/Top": 700})
        assert name
    writer.write(path)
    numbers = bookmarks.finish(path, headings, "A title")
    reader = PdfReader(path)
    assert numbers == {
        heading.anchor: start + 1 for heading, start in zip(headings, starts, strict=True)
    }
    assert [
        (level, mark.title, reader.get_destination_page_number(mark))
        for level, mark in outline(reader.outline)
    ] == [
        (heading.level, heading.text, start)
        for heading, start in zip(headings, starts, strict=True)
    ]
    assert reader.metadata["/Title"] == "A title"
    with pytest.raises(RuntimeError, match="has no page for"):
        bookmarks.finish(path, [*headings, Heading(1, "nowhere", "n")], "A title")
