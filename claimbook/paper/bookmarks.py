"""The bookmarks of a PDF, in the headings' own words (Chromium garbles them)."""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from claimbook.paper.whole import Heading


def finish(
    pdf: Path,
    headings: Sequence[Heading],
    title: str,
    contents: Callable[[Mapping[str, int]], Path] | None = None,
) -> dict[str, int]:
    """Give ``pdf`` its bookmarks and its title; returns each heading's page by its anchor.

    A heading is found by the name under which the contents link to it. ``contents`` prints the
    first pages anew, now that all pages are known; they then look as those. Raises
    ``RuntimeError`` where the PDF has no place of a heading's name, or the new first pages have
    their links elsewhere.
    """
    from pypdf import PdfWriter
    from pypdf.generic import Fit

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # warns of a number in Chromium's trailer
    writer = PdfWriter(clone_from=pdf)
    found = writer.named_destinations.items()
    places: dict[str, Any] = {str(name).removeprefix("/"): place for name, place in found}
    if missing := [heading.text for heading in headings if heading.anchor not in places]:
        raise RuntimeError(f"{pdf.name} has no page for {missing}")
    numbers: dict[str, int] = {}
    open_marks: list[tuple[int, Any]] = []  # the marks above the next one, with their levels
    for heading in headings:
        place = places[heading.anchor]
        number = writer.get_destination_page_number(place) or 0
        while open_marks and open_marks[-1][0] >= heading.level:
            open_marks.pop()
        mark = writer.add_outline_item(
            title=heading.text,
            page_number=number,
            parent=open_marks[-1][1] if open_marks else None,
            fit=Fit.xyz(left=0, top=float(place["/Top"])),
            is_open=False,
        )
        open_marks.append((heading.level, mark))
        numbers[heading.anchor] = number + 1
    writer.page_mode = "/UseOutlines"
    writer.add_metadata({"/Title": title, "/Creator": "make pdf"})
    if contents is not None:
        replace_first_pages(writer, contents(numbers))
    writer.write(pdf)
    return numbers


def replace_first_pages(writer: Any, first: Path) -> None:
    """Let the first pages look like those of ``first``; their links stay where they are."""
    from pypdf import PdfReader
    from pypdf.generic import NameObject

    for old, new in zip(writer.pages, PdfReader(first).pages, strict=False):
        if rectangles(old) != rectangles(new):
            raise RuntimeError("the page numbers in the contents move their lines")
        for what in ("/Contents", "/Resources"):
            # raw: a reference stays one; a stream in its place is an empty page to many readers
            old[NameObject(what)] = new.raw_get(what).clone(writer)


def rectangles(page: Any) -> list[Any]:
    """Where the links of a page are."""
    return [link.get_object()["/Rect"] for link in page.get("/Annots") or []]
