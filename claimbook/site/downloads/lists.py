"""The page of what readers take home.

``{downloads} book``, ``{downloads} chapters`` and ``{downloads} data`` list the files of
:mod:`claimbook.site.downloads.offers` with their sizes, ``{downloads} exercises`` the hand-outs
of the chapters' main pages.
"""

from collections.abc import Sequence
from pathlib import Path

from docutils.nodes import Element, Node

from claimbook.files import read_json
from claimbook.pages import is_second
from claimbook.site.downloads import archive, export, wheel
from claimbook.site.downloads.offers import (
    FOLDER,
    HANDOUT,
    offers_of,
    recorded,
    size_text,
)
from claimbook.site.nodes import html_tag, spaced, tag
from claimbook.site.page import Page

KINDS = {"ipynb": "notebook with outputs", "md": "Markdown source"}


def sized_link(page: Page, place: str, text: str, size: int) -> html_tag:
    """A link to a file that is taken home, with its size."""
    name = place.rsplit("/", 1)[1]
    address = page.to_file(place)
    link = tag("a", text, href=address, download="", aria_label=f"{text}: {name}")
    return tag("span", link, f" ({size_text(size)})", classes=["file"])


def file_link(page: Page, place: str, text: str) -> list[html_tag]:
    """A link to one of the files, or nothing where the file is not there."""
    files = offers_of(page.content).files
    return [sized_link(page, place, text, len(files[place]))] if place in files else []


# -------------------------------------------------------------- the book and its chapters


def downloads_book(page: Page, node: Element) -> Sequence[Node | str]:
    """The whole book as an archive of this site."""
    link = tag("a", "Everything in one archive", href=page.to_file(archive.PLACE), download="")
    everything = tag(
        "p",
        link,
        ": this site with all notebooks, figures and their data, the ledger, the recorded results "
        "and the licence, as a ZIP file. Unpack it and open ",
        tag("code", "index.html"),
        "; it needs no network.",
    )
    return [everything]


def chapter_files(page: Page, node: Element) -> Sequence[Node | str]:
    """The files of the chapter that a card heads."""
    return links_of_chapter(page, node["chapter"])


def links_of_chapter(page: Page, chapter: str) -> Sequence[Node | str]:
    """A chapter as notebook and Markdown."""
    links: list[html_tag] = []
    for kind, text in KINDS.items():
        links += file_link(page, f"{FOLDER}/{chapter}.{kind}", text)
    return spaced(links) if links else ["nothing yet"]


def downloads_chapters(page: Page, node: Element) -> Sequence[Node | str]:
    """Each chapter with its files."""
    items = []
    for chapter, heading in page.content.headings.items():
        link = tag("a", heading, href=page.to_chapter(chapter))
        parts = [
            tag("p", link, classes=["download-title"]),
            tag("p", *links_of_chapter(page, chapter), classes=["files"]),
        ]
        items.append(tag("li", *parts))
    return [tag("ul", *items, classes=["downloads"])]


def downloads_exercises(page: Page, node: Element) -> Sequence[Node | str]:
    """The exercises of every chapter, without their solutions."""
    found = [
        file_link(page, f"{FOLDER}/{chapter}{HANDOUT}", heading)
        for chapter, heading in page.content.headings.items()
        if not is_second(chapter)
    ]
    return [tag("ul", *(tag("li", *links) for links in found if links), classes=["downloads"])]


# -------------------------------------------------------------- data


def downloads_data(page: Page, node: Element) -> Sequence[Node | str]:
    """The ledger, the recorded results and how to cite the book."""
    told: dict[str, Sequence[Node | str]] = {}
    for place, what in export.FILES.items():
        told[place] = [f": the ledger, {what}."]
    for path in recorded():
        told[f"{FOLDER}/{path.name}"] = [": ", *provenance(path)]
    told[f"{FOLDER}/{wheel.NAME}"] = [
        ": the package, with the ledger and the recorded results in it, for notebooks anywhere."
    ]
    told[f"{FOLDER}/requirements.lock"] = [": the versions that the book was run with."]
    told[f"{FOLDER}/CITATION.cff"] = [": how to cite the book."]
    items = [
        tag("li", *file_link(page, place, place.rsplit("/", 1)[1]), *words)
        for place, words in told.items()
        if place in offers_of(page.content).files
    ]
    return [tag("ul", *items, classes=["downloads"])]


def provenance(path: Path) -> Sequence[Node | str]:
    """Where a recorded result comes from, in a line: words and nodes."""
    held = read_json(path)
    said = [
        f"{len(held['jobs'])} jobs",
        f"{held['cpu_s']:.0f} s of processor time",
        held["machine"],
        f"Python {held['python']}",
        ", ".join(f"{name} {number}" for name, number in held["versions"].items()),
        held["date"],
    ]
    return ["; ".join(said), "; made by ", tag("code", held["command"]), "."]
