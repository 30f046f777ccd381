"""How long the run took that the site shows: ``{run-times}``, a table with a line a chapter."""

from collections.abc import Sequence

from docutils.nodes import Element, Node

from claimbook.site.nodes import html_tag, tag
from claimbook.site.page import Page

HEAD = ("page", "processor time", "master seed", "run")


def run_times(page: Page, node: Element) -> Sequence[Node | str]:
    """A line for each page with code, and their sum."""
    results = page.content.results
    lines = []
    total = 0.0
    for chapter, heading in page.content.headings.items():
        run = results.run(chapter)
        total += run.seconds or 0.0
        taken = "not timed" if run.seconds is None else duration(run.seconds)
        seed = "" if run.seed is None else str(run.seed)
        link = tag("a", heading, href=page.to_chapter(chapter))
        lines.append(line(link, taken, seed, run.state))
    lines.append(line("all pages, one after the other", duration(total), "", ""))
    lines[-1]["classes"].append("total")
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in HEAD)))
    table = tag("table", head, tag("tbody", *lines), classes=["scorecard", "run-times"])
    return [tag("div", table, classes=["scorecard-frame"])]


def duration(seconds: float) -> str:
    """A time on one core: seconds below two minutes, minutes from there."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def line(heading: Node | str, *words: str) -> html_tag:
    """One line of the table."""
    return tag("tr", tag("th", heading, scope="row"), *(tag("td", word) for word in words))
