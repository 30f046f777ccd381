"""What stands around a page: its number, the ways on, and the stamp of the run that it shows.

Chapters are labelled as their files are: 5b, their figures 5b.1 and 5b.2; headings have none.
Sphinx numbers what stands in a numbered part of ``_toc.yml`` by its place there, in which 5b lies
below 5. Once it has, its numbers are replaced by labels: a chapter's second page has none of its
own and goes on counting the chapter's figures.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from claimbook.pages import CHAPTERS, is_second
from claimbook.site.content import content_of, label
from claimbook.site.views import views_of

BEFORE, AFTER = 1, 2  # of a page's relations, as Sphinx notes them
PREFIX = f"{CHAPTERS.as_posix()}/"


def label_pages(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Replace the chapters' numbers by labels; no page has to be written anew for it."""
    sections: Any = env.toc_secnumbers
    figures: Any = env.toc_fignumbers
    # of each kind in a chapter, whose pages share their label
    counts: Mapping[tuple[str, str], Iterator[int]] = defaultdict(lambda: count(1))
    for chapter in content_of(app).chapters:
        page, name = f"{PREFIX}{chapter}", label(chapter)
        own = () if is_second(chapter) else (name,)
        sections[page] = {anchor: () if anchor else own for anchor in sections.get(page, ())}
        env.titles[page]["secnumber"] = own
        for link in env.tocs[page].findall(nodes.reference):  # the contents at the side
            link["secnumber"] = () if link["anchorname"] else own
        numbers = {}
        for kind, anchors in figures.get(page, {}).items():
            numbers[kind] = {anchor: (name, next(counts[name, kind])) for anchor in anchors}
        figures[page] = numbers
    return []


def add_ways_on(app: Sphinx, page: str, context: dict[str, Any]) -> None:
    """Let "next" lead to the next chapter, and offer the second page beside it."""
    builder: Any = app.builder

    def way(to: str | None, what: str = "") -> dict[str, str] | None:
        if to is None:
            return None
        title = builder.render_partial(app.env.titles[to])["title"]
        return {"link": builder.get_relative_uri(page, to), "title": title, "what": what}

    _, before, after = builder.relations.get(page, (None, None, None))
    second = after if is_second(after or "") else None
    while is_second(before or ""):
        before = builder.relations[before][BEFORE]
    while is_second(after or ""):
        after = builder.relations[after][AFTER]
    context["prev"] = way(before)
    context["next"] = way(after, "the next question" if (after or "").startswith(PREFIX) else "")
    context["proofs"] = way(second, "the proofs")


def add_stamp(app: Sphinx, page: str, context: dict[str, Any]) -> None:
    """Put the stamp before the theme's own words at the foot.

    It is of the page's own chapter, or of all where it has no code of its own.
    """
    every, own = content_of(app).chapters, page.removeprefix(PREFIX)
    chapters = [own] if page.startswith(PREFIX) and own in every else every
    stamp = views_of(app)("stamp.html", page, chapters=chapters, own=chapters == [own])
    context["theme_extra_footer"] = stamp + (context.get("theme_extra_footer") or "")
