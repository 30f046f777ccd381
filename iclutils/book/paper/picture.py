"""The README's picture: ``make picture`` copies the overview figure of the site that was built last into the repository.

Nine rows of each series of the figure's data travel inside the SVG, so that the tests can hold the picture against the
run's figure.
"""

import csv
import io
import re
import sys

import bookcache

ROOT = bookcache.ROOT
FIGURE = ROOT / "_build" / "html" / "book" / "figures" / "fig-overview.svg"
PICTURE = ROOT / "book" / "_static" / "overview.svg"
MARKED = re.compile(r"<!-- data: what the picture shows\n(.*)\n-->\n", re.S)


def nine_of_each(data: str) -> str:
    """Nine rows of each series of the figure's table, evenly spaced; all of a shorter one."""
    rows = list(csv.DictReader(io.StringIO(data)))
    series: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        series.setdefault(tuple(row.get(key, "") for key in ("panel", "series", "kind", "colour")), []).append(row)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for found in series.values():
        writer.writerows(found[i] for i in sorted({round(k * (len(found) - 1) / 8) for k in range(9)}))
    return text.getvalue()


def with_data(svg: str, data: str) -> str:
    """The SVG with its table as a comment after its root's start (two hyphens would end the comment)."""
    start = svg.index(">", svg.index("<svg")) + 1
    return f"{svg[:start]}\n<!-- data: what the picture shows\n{data.strip().replace('--', '- -')}\n-->\n{svg[start:]}"


def data_of(picture: str) -> str:
    return MARKED.search(picture)[1].replace("- -", "--") + "\n"


if __name__ == "__main__":
    if not FIGURE.exists():
        sys.exit(f"There is no {FIGURE.relative_to(ROOT)} yet: build the book first, with make book.")
    picture, data = (path.read_text(encoding="utf8") for path in (FIGURE, FIGURE.with_suffix(".csv")))
    bookcache.write_atomically(PICTURE, with_data(picture, nine_of_each(data)))
    print(PICTURE.relative_to(ROOT))
