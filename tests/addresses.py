"""The addresses of the built site that somebody may have kept: pages, headings, figures, claims.

    python tests/addresses.py       add those of _build/html to tests/fixtures/addresses.txt

An address that was once published is never taken out: what moves is named in ``book/moved.yml``.
"""

import html.parser
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "_build" / "html"
KEPT = ROOT / "tests" / "fixtures" / "addresses.txt"
ASIDE = {"_static", "_modules", "_previews", "_downloads"}  # folders that are no pages of the book
OTHERS = {"genindex.html", "py-modindex.html", "search.html", "404.html", "index.html"}
# numbered as they come, cells of computed tables, the package's modules and names, uses of a term
UNKEPT = re.compile(
    r"id\d+|index-|T_|module-|iclutils\.|use-|book/|toggle|score-"
    r"|(exercise|solution|theorem|proof|definition|lemma|proposition)-content"
)


class Places(html.parser.HTMLParser):
    """The ids of what a page says, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside |= tag == "article"
        name = dict(attrs).get("id")
        if self._inside and name and not UNKEPT.match(name):
            self.found.append(name)

    def handle_endtag(self, tag: str) -> None:
        if tag == "article":
            self._inside = False


def addresses(site: Path) -> dict[str, list[str]]:
    """Every page of the book with its places."""
    pages = {page.relative_to(site): page for page in sorted(site.rglob("*.html"))}
    return {
        page.as_posix(): Places(file.read_text(encoding="utf8")).found
        for page, file in pages.items()
        if not ASIDE & set(page.parts) and page.name not in OTHERS
    }


def read() -> set[str]:
    """The addresses that were ever noted: ``page.html`` and ``page.html#place``."""
    return set(KEPT.read_text(encoding="utf8").split()) if KEPT.exists() else set()


def main(site: Path) -> int:
    """Add the addresses of a built site to those that are kept."""
    now = addresses(site)
    found = set(now) | {f"{page}#{place}" for page, places in now.items() for place in places}
    KEPT.write_text("\n".join(sorted(read() | found)) + "\n", encoding="utf8")
    print(f"{len(found)} addresses, {len(read())} kept in all")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else SITE))
