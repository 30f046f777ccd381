"""The book on paper: what `make pdf` prints is whole, rightly numbered, and nothing is cut."""

import json
import re
import unicodedata
import zipfile
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from built_site import PAGES, ROOT, SITE, text_of
from pypdf import PdfReader
from pypdfium2 import PdfDocument

from claimbook.paper.explorers import FOLDER as PICTURES
from claimbook.paper.explorers import PLAYED
from claimbook.runs import cache
from claimbook.site.downloads import archive, prints
from claimbook.site.downloads.offers import size_text

pytestmark = pytest.mark.usefixtures("printed")

FOLDER = prints.folder()
A4 = (595.3, 841.9)  # points


def squeezed(text):
    """Without spaces and ligatures: a PDF has them as the layout wants them."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def words_of(page):
    """The text of a page of a PDF."""
    return page.get_textpage().get_text_range()


def marks(items, depth=1):
    """(depth, bookmark) of an outline."""
    for item in items:
        if isinstance(item, list):
            yield from marks(item, depth + 1)
        else:
            yield depth, item


@pytest.fixture(scope="module")
def book(printed):
    return PdfReader(FOLDER / f"{prints.BOOK}.pdf")


@pytest.fixture(scope="module")
def text_on(printed):
    """The text of a page of the book."""
    pages = PdfDocument(FOLDER / f"{prints.BOOK}.pdf")
    return lambda i: words_of(pages[i])


@pytest.fixture(scope="module")
def report(printed):
    return json.loads((FOLDER / "report.json").read_text(encoding="utf8"))


@pytest.fixture(scope="module")
def pages_of(book, report):
    """The pages of the book on which a page of the site is printed."""
    starts = [report["numbers"][f"{name.rpartition('/')[2]}--top"] - 1 for name in report["pages"]]
    ends = [*starts[1:], len(book.pages)]
    return dict(zip(report["pages"], map(range, starts, ends), strict=True))


def test_the_print_is_one_of_this_site():
    state = json.loads((ROOT / "_build" / "site.json").read_text(encoding="utf8"))
    assert prints.current(state["key"])


def test_the_site_offers_every_print_with_its_size():
    """Every place for one is filled with a link to a file that is there; the archive has it too."""
    linked = set()
    for page in PAGES:
        for place in prints.PLACE.finditer(text_of(page)):
            path = (SITE / page).parent / f"{place['address']}.pdf"
            size = size_text(path.stat().st_size)
            assert f'href="{place["address"]}.pdf"' in place[0], page
            assert f"</a> ({size})" in place[0], page
            linked.add(path.name)
    assert linked == {f"{name}.pdf" for name in (prints.BOOK, *cache.toc_chapters())}
    with zipfile.ZipFile(SITE / archive.PLACE) as held:
        for name in linked:
            packed = held.read(f"{archive.NAME}/book/downloads/{name}")
            assert packed == (FOLDER / name).read_bytes()


def test_every_page_of_the_book_is_bookmarked_and_begins_where_its_bookmark_says(
    book, report, text_on
):
    """The first-level bookmarks are the pages of _toc.yml; each title stands on its page."""
    first = [mark for depth, mark in marks(book.outline) if depth == 1]
    assert report["pages"] == cache.toc_pages()
    assert len(first) == len(report["pages"])
    numbers = [book.get_destination_page_number(mark) for mark in first]
    assert numbers == sorted(set(numbers))
    for mark, number in zip(first, numbers, strict=True):
        text = squeezed(text_on(number))
        assert squeezed(re.sub(r"\$.*?\$", "", mark.title)) in text, (
            f"{mark.title} is not on page {number + 1}"
        )
    assert len(book.pages) > 8 * len(report["pages"])


def test_sections_are_bookmarked_under_their_pages(book, report):
    found = [
        (depth, mark.title, book.get_destination_page_number(mark) + 1)
        for depth, mark in marks(book.outline)
    ]
    assert found == [
        (level, text, report["numbers"][anchor]) for level, anchor, text in report["headings"]
    ]
    assert not [title for _, title, _ in found if not title.strip()]


def test_the_contents_name_the_pages(report, text_on):
    """The number printed beside each title is the page that Chromium numbers at its foot."""
    start = min(report["numbers"].values())
    contents = squeezed("".join(map(text_on, range(start - 1))))
    for level, anchor, text in report["headings"]:
        number = report["numbers"][anchor]
        if level == 1:
            assert f"{squeezed(text)}{number}" in contents, (
                f"{text} has another page number than {number} in the contents"
            )
            assert text_on(number - 1).split()[-1] == str(number)


def test_links_lead_into_the_book_or_to_the_web(book):
    """No link of the printed site is left: to this machine, to a file, or to no place."""
    inside, outside = 0, []
    for page in book.pages:
        for annotation in page.get("/Annots") or []:
            action = annotation.get_object().get("/A")
            if action is None:
                inside += 1
                name = annotation.get_object()["/Dest"]
                assert str(name) in book.named_destinations, (
                    f"a link leads to {name}, which is nowhere"
                )
            else:
                outside.append(str(action["/URI"]))
    assert inside > 100
    assert not [
        address
        for address in outside
        if not address.startswith("https://") or "127.0.0.1" in address
    ]


@pytest.mark.parametrize("name", cache.toc_chapters())
def test_a_chapter_has_its_own_pdf(name, report):
    reader = PdfReader(FOLDER / f"{name}.pdf")
    title = next(text for _, anchor, text in report["headings"] if anchor == f"{name}--top")
    assert len(reader.pages) > 5
    assert title in (reader.metadata or {})["/Title"]
    assert [mark.title for depth, mark in marks(reader.outline) if depth == 1] == [title]
    for page in reader.pages:
        assert page.mediabox[2:] == pytest.approx(
            A4, abs=2
        )  # Chromium rounds to its pixels, 3/4 of a point
    if cache.is_second(name):
        pages = list(PdfDocument(FOLDER / f"{name}.pdf"))
        assert any("Controls" in words_of(page) for page in pages[-12:]), "its rows are folded"


def fonts(page):
    """The names of a page's fonts of words; those of many weights have none.

    Which formulas it still holds is a matter of its break, a line more or less.
    """
    held = page["/Resources"]["/Font"].values()
    names = {str(font.get_object().get("/BaseFont", "")).rpartition("+")[2] for font in held}
    return {name for name in names if not name.startswith("KaTeX")}


@pytest.mark.parametrize("name", cache.toc_chapters())
def test_a_chapter_is_set_in_the_book_as_it_is_alone(name, book, pages_of):
    first = book.pages[pages_of[f"{cache.CHAPTERS}/{name}"][0]]
    assert fonts(first) == fonts(PdfReader(FOLDER / f"{name}.pdf").pages[0])
    assert "" in fonts(first), "the book's own letters, of which nothing else sets a line"


@pytest.mark.parametrize("name", cache.toc_chapters())
def test_words_that_set_a_picture_are_printed(name, pages_of, text_on):
    """On the site they are buttons, and paper has none; what they say belongs to a sentence."""
    page = text_of(f"book/chapters/{name}.html")
    if "data-set=" not in page:
        return
    soup = BeautifulSoup(page, "lxml")
    for left_out in soup.select('.screen-only, .explorer-figure:has([data-explorer^="train_"])'):
        left_out.decompose()
    said = [words.get_text() for words in soup.select("[data-set]")]
    text = squeezed("".join(map(text_on, pages_of[f"{cache.CHAPTERS}/{name}"])))
    assert not [words for words in said if squeezed(words) not in text]


def test_nothing_is_wider_than_the_paper(report):
    assert {name: wide for name, wide in report["cut"].items() if wide} == {}


def test_no_page_is_empty(book):
    """A sheet with nothing but its foot (two pieces of text) means that the breaks went wrong."""
    bare = []
    for number, page in enumerate(book.pages, 1):
        drawn = page.get_contents().get_data()
        if len(re.findall(rb"\bT[jJ]\b", drawn)) <= 2 and not re.search(rb"\bDo\b", drawn):
            bare.append(number)
    assert not bare


def test_no_training_is_printed_that_nobody_has_played(report, pages_of, text_on):
    """They tell a reader to press Play, and so does the page that lists them, in a sentence."""
    pages = [name for name in report["pages"] if 'data-explorer="train_' in text_of(f"{name}.html")]
    assert len(pages) >= 5
    text = squeezed("".join(text_on(i) for name in pages for i in pages_of[name]))
    assert "pressPlay" in text
    assert "PressPlay" not in text


@pytest.mark.parametrize("page", sorted(PLAYED.values()))
def test_a_training_that_opens_a_page_is_printed_as_it_ends(page):
    first = PdfDocument(FOLDER / f"{Path(page).stem}.pdf")[0]
    assert squeezed("this is how a run of it ends.") in squeezed(words_of(first))


@pytest.mark.parametrize("name", PLAYED)
def test_its_dots_are_highest_where_there_are_as_many_prompts_as_weights(name):
    """At n = d(d+1), within a tenth: the axis is read off its first and its last tick."""
    soup = BeautifulSoup((PICTURES / f"{name}.svg").read_text(encoding="utf8"), "html.parser")
    ticks = {float(text["x"]): text.get_text() for text in soup.select("text[text-anchor=middle]")}
    (low, high), d = (min(ticks), max(t for t in ticks if ticks[t] == "1000")), int(name[-1])
    dots = max((path["d"] for path in soup.select("path")), key=len)
    x, _ = min(re.findall(r"M([\d.]+) (-?[\d.]+)h0", dots), key=lambda dot: float(dot[1]))
    share = (float(x) - low) / (high - low)
    n = float(ticks[low]) ** (1 - share) * 1000**share
    assert n == pytest.approx(d * (d + 1), rel=0.1)


def test_sizes_are_those_of_a_download(record_property):
    sizes = {path.name: path.stat().st_size for path in FOLDER.glob("*.pdf")}
    record_property("sizes", sizes)
    print({name: f"{size / 1e6:.1f} MB" for name, size in sizes.items()})
    assert len(sizes) == 1 + len(cache.toc_chapters())
    assert max(sizes.values()) < 25e6, sizes  # what a mail takes
