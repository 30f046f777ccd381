"""The book on paper: headless Chromium prints every page of ``_toc.yml``, and all as one book.

    python -m claimbook.paper.pdf      print the site in _build/html, and lay the PDFs into it

The pages are opened as a reader opens them (scripts run); ``print.js`` then unfolds
what is folded, shrinks what is wider than the paper and mends the links, and ``print.css`` is the
style. The PDFs lie in _build/pdf, and on the site while it is the one that was printed
(:func:`claimbook.site.downloads.prints.offer`).
"""

import html
import io
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from claimbook import build
from claimbook.files import ROOT, write_atomically
from claimbook.paper import chromium
from claimbook.paper.bookmarks import finish
from claimbook.paper.whole import Fragment, fragment, whole
from claimbook.runs import cache
from claimbook.site.downloads import prints
from claimbook.site.downloads.archive import write_archive

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, PdfMargins

SITE = ROOT / "_build" / "html"
SCRIPT = Path(__file__).parent / "print.js"
MARGIN: "PdfMargins" = {"top": "16mm", "bottom": "18mm", "left": "18mm", "right": "18mm"}
WIDTH = 658  # CSS pixels between the margins of A4
TIMEOUT = 300_000  # milliseconds; a busy machine is no failure
# the contents alone; a link is one only where its place is
CONTENTS = """numbers => {
  for (const article of document.querySelectorAll('article')) article.remove();
  for (const link of document.querySelectorAll('.contents a')) {
    const id = link.hash.slice(1);
    link.lastChild.textContent = numbers[id];
    document.body.append(Object.assign(document.createElement('span'), {id}));
  }
}"""
FOOTER = (
    '<div style="font-size: 7.5px; font-family: sans-serif; color: #444; width: 100%; '
    'margin: 0 18mm; display: flex; justify-content: space-between">'
    '<span>{title}</span><span class="pageNumber"></span></div>'
)


def write_pdf(page: "Page", path: Path, title: str) -> None:
    """Print what the page shows, on A4 with the title and the page number at the foot."""
    page.pdf(
        path=path,
        format="A4",
        margin=MARGIN,
        print_background=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=FOOTER.format(title=html.escape(title)),
    )


class Patient(chromium.Quiet):
    """Serves the site so that its letters may come late: nobody sees on paper how lines move."""

    def send_head(self) -> Any:
        """As always, but for the sheet that names the letters."""
        path = Path(self.translate_path(self.path))
        if path.name != "type.css":
            return super().send_head()
        sheet = path.read_bytes().replace(b"font-display: optional", b"font-display: block")
        self.send_response(200)
        self.send_header("Content-Type", "text/css")
        self.send_header("Content-Length", str(len(sheet)))
        self.end_headers()
        return io.BytesIO(sheet)


@contextmanager
def paper_page(browser: "Browser") -> Iterator["Page"]:
    """A page as wide as the paper, in the style of the print."""
    context = browser.new_context(
        viewport={"width": WIDTH, "height": 1000}, color_scheme="light", reduced_motion="reduce"
    )
    context.set_default_timeout(TIMEOUT)
    page = context.new_page()
    page.emulate_media(media="print")
    yield page
    context.close()


def open_ready(page: "Page", address: str, name: str, names: Sequence[str]) -> Fragment:
    """Open a page of the site and make it ready for paper."""
    page.goto(f"{address}{name}.html")
    page.evaluate("document.fonts.ready")
    given = {"names": names, "name": name, "address": address, "width": WIDTH}
    return fragment(name, page.evaluate(SCRIPT.read_text(encoding="utf8"), given))


def print_book(
    page: "Page", address: str, path: Path, fragments: Sequence[Fragment]
) -> dict[str, int]:
    """Print all pages as one book; returns the page number of each heading.

    Most of a print is the layout of all its pages, so it is done once: then the contents alone are
    printed, with the numbers of the pages, and take the place of those without.
    """

    def contents(numbers: Mapping[str, int]) -> Path:
        page.evaluate(CONTENTS, numbers)
        first = path.with_name("contents.pdf")
        write_pdf(page, first, title)
        return first

    headings = [heading for part in fragments for heading in part.headings]
    body = whole(fragments)
    place = f"{address}whole.html"
    title = fragments[0].title
    page.route(place, lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto(place)
    page.evaluate("document.fonts.ready")
    write_pdf(page, path, title)
    numbers = finish(path, headings, title, contents)
    path.with_name("contents.pdf").unlink()
    return numbers


def site_key() -> str:
    """The key of the site in ``_build/html``; raises ``FileNotFoundError`` where none is whole."""
    try:
        state = json.loads(SITE.with_name("site.json").read_text(encoding="utf8"))
    except (OSError, ValueError):
        message = "There is no whole site in _build/html to print: run make book"
        raise FileNotFoundError(message) from None
    return str(state["key"])


def print_all() -> dict[str, Any]:
    """Print everything; returns what was printed and what is wider than the paper, by page."""
    key = site_key()
    out = prints.folder()
    names = cache.toc_pages()
    fragments: list[Fragment] = []
    with (
        chromium.opened() as browser,
        chromium.served(SITE, Patient) as address,
        paper_page(browser) as page,
    ):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        for name in names:
            part = open_ready(page, address, name, names)
            fragments.append(part)
            if name.startswith(f"{cache.CHAPTERS.as_posix()}/"):
                title = f"{fragments[0].title} · {part.title}"
                chapter = out / f"{Path(name).name}.pdf"
                write_pdf(page, chapter, title)
                finish(chapter, part.headings, title)
        numbers = print_book(page, address, out / f"{prints.BOOK}.pdf", fragments)
    report = {
        "pages": names,
        "cut": {part.name: part.cut for part in fragments},
        "headings": [heading for part in fragments for heading in part.headings],
        "numbers": numbers,
    }
    write_atomically(out / "report.json", json.dumps(report, indent=1))
    write_atomically(prints.note(), key)  # last: a print cut short is not offered
    return report


if __name__ == "__main__":
    was_current = build.is_current()
    try:
        printed = print_all()
    except FileNotFoundError as missing:
        sys.exit(f"make pdf: {missing}.")
    wide = {name: found for name, found in printed["cut"].items() if found}
    if wide:
        found = re.sub(r"[{}]", "", json.dumps(wide, ensure_ascii=False))
        sys.exit(f"Wider than the paper: {found}")
    prints.offer(SITE, site_key())
    write_archive(SITE)  # it holds them too
    if was_current:
        build.note_state()  # the next make book has nothing to do
    place = prints.folder().relative_to(ROOT) / f"{prints.BOOK}.pdf"
    print(f"The book is on paper: {place}, and its chapters beside it")
