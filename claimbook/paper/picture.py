"""The README's picture: the overview figure of the site that was built last.

    python -m claimbook.paper.picture      copy it into the repository (make picture)

Chromium then sets it beside the book's title: the picture that goes with a shared link, which those
who show such links want as a PNG of this size.

Nine rows of each series of the figure's data travel inside the SVG, so that the tests can hold the
picture against the run's figure.
"""

import csv
import io
import re
import sys
from pathlib import Path

from claimbook.files import ROOT, write_atomically
from claimbook.paper import chromium

FIGURE = ROOT / "_build" / "html" / "book" / "figures" / "fig-overview.svg"
PICTURE = ROOT / "book" / "_static" / "overview.svg"
CARD = ROOT / "book" / "_static" / "preview.png"
WIDTH, HEIGHT = 1200, 630  # pixels of the card
PAGE = """<style>
  @font-face {{ font-family: BookSans; font-weight: 200 900;
    src: url({base}fonts/source-sans-3-latin-wght-normal.woff2); }}
  @font-face {{ font-family: BookSerif;
    src: url({base}fonts/source-serif-4-latin-wght-normal.woff2); }}
  body {{ margin: 0; width: {width}px; height: {height}px; display: flex; background: #fff; }}
  div {{ flex: 1; display: flex; flex-direction: column; justify-content: center; padding: 0 60px;
    background: #12375c; color: #fff; font: 650 64px/1.15 BookSans, sans-serif; }}
  p {{ margin: 30px 0 0; font: 400 30px/1.35 BookSerif, serif; }}
  img {{ height: 600px; margin: 15px 40px; }}
</style><div>In-Context Learning, Reproduced<p>What three groups of authors claim, run again
beside the exact answer</p></div><img src="{base}{name}">"""
MARKED = re.compile(r"<!-- data: what the picture shows\n(.*)\n-->\n", re.S)
KEPT = 9  # rows of a series
SERIES = ("panel", "series", "kind", "colour")  # what tells one series from another


def nine_of_each(data: str) -> str:
    """Nine rows of each series of the figure's table, evenly spaced; all of a shorter one."""
    rows = list(csv.DictReader(io.StringIO(data)))
    series: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        name = tuple(row.get(key, "") for key in SERIES)
        series.setdefault(name, []).append(row)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for found in series.values():
        last = len(found) - 1
        positions = {round(k * last / (KEPT - 1)) for k in range(KEPT)}
        writer.writerows(found[position] for position in sorted(positions))
    return text.getvalue()


def with_data(svg: str, data: str) -> str:
    """The SVG with its table as a comment after its root's start."""
    start = svg.index(">", svg.index("<svg")) + 1
    table = data.strip().replace("--", "- -")  # two hyphens would end the comment
    comment = f"\n<!-- data: what the picture shows\n{table}\n-->\n"
    return svg[:start] + comment + svg[start:]


def data_of(picture: str) -> str:
    """The table inside a picture; raises ``ValueError`` where it holds none."""
    match = MARKED.search(picture)
    if match is None:
        raise ValueError("picture must hold the comment that with_data writes; it holds none")
    return match[1].replace("- -", "--") + "\n"


def draw_card(drawing: Path, card: Path) -> None:
    """Set a drawing beside the book's title, as a PNG.

    :raises FileNotFoundError: where this machine has no Chromium.
    """
    with chromium.served(drawing.parent) as address, chromium.opened() as browser:
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        size = {"width": WIDTH, "height": HEIGHT}
        body = PAGE.format(**size, base=address, name=drawing.name)
        place = f"{address}card.html"
        page.route(place, lambda route: route.fulfill(body=body, content_type="text/html"))
        page.goto(place)
        page.evaluate("document.fonts.ready")
        write_atomically(card, page.screenshot())


if __name__ == "__main__":
    if not FIGURE.exists():
        place = FIGURE.relative_to(ROOT)
        sys.exit(f"There is no {place} yet: build the book first, with make book.")
    drawing = FIGURE.read_text(encoding="utf8")
    numbers = FIGURE.with_suffix(".csv").read_text(encoding="utf8")
    write_atomically(PICTURE, with_data(drawing, nine_of_each(numbers)))
    print(PICTURE.relative_to(ROOT))
    try:
        draw_card(PICTURE, CARD)
    except FileNotFoundError as missing:
        sys.exit(f"make picture: {missing}.")
    print(CARD.relative_to(ROOT))
