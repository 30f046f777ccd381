"""The README's picture: the overview figure of the site that was built last.

    python -m iclutils.book.paper.picture      copy it into the repository (make picture)

Nine rows of each series of the figure's data travel inside the SVG, so that the tests can hold the
picture against the run's figure.
"""

import csv
import io
import re
import sys

from iclutils.book.runs.files import ROOT, write_atomically

FIGURE = ROOT / "_build" / "html" / "book" / "figures" / "fig-overview.svg"
PICTURE = ROOT / "book" / "_static" / "overview.svg"
MARKED = re.compile(r"<!-- data: what the picture shows\n(.*)\n-->\n", re.S)
KEPT = 9  # rows of a series
SERIES = ("panel", "series", "kind", "colour")  # what tells one series from another


def evenly(length: int) -> list[int]:
    """At most ``KEPT`` positions of a list, the first and the last among them."""
    return sorted({round(k * (length - 1) / (KEPT - 1)) for k in range(KEPT)})


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
        writer.writerows(found[position] for position in evenly(len(found)))
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


if __name__ == "__main__":
    if not FIGURE.exists():
        place = FIGURE.relative_to(ROOT)
        sys.exit(f"There is no {place} yet: build the book first, with make book.")
    drawing = FIGURE.read_text(encoding="utf8")
    numbers = FIGURE.with_suffix(".csv").read_text(encoding="utf8")
    write_atomically(PICTURE, with_data(drawing, nine_of_each(numbers)))
    print(PICTURE.relative_to(ROOT))
