"""Chapters are labelled as their files are: 5b, their figures 5b.1 and 5b.2; headings have none.

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

AFTER_SPHINX = 600  # which numbers at 500
BEFORE, AFTER = 1, 2  # of a page's relations, as Sphinx notes them
QUESTION, PROOFS = "the next question", "the proofs"


def label_pages(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Replace the chapters' numbers by labels; no page has to be written anew for it."""
    sections: dict[str, Any] = dict(env.toc_secnumbers)
    figures: dict[str, Any] = dict(env.toc_fignumbers)
    # of each kind in a chapter, whose pages share their label
    counted: Mapping[tuple[str, str], Iterator[int]] = defaultdict(lambda: count(1))
    for chapter in content_of(app).chapters:
        page = f"{CHAPTERS.as_posix()}/{chapter}"
        if page not in sections:
            continue
        own = () if is_second(chapter) else (label(chapter),)
        sections[page] = {place: () if place else own for place in sections[page]}
        env.titles[page]["secnumber"] = own
        for link in env.tocs[page].findall(nodes.reference):  # the contents at the side
            link["secnumber"] = () if link["anchorname"] else own
        figures[page] = {
            kind: {place: (label(chapter), next(counted[label(chapter), kind])) for place in places}
            for kind, places in figures.get(page, {}).items()
        }
    env.toc_secnumbers, env.toc_fignumbers = sections, figures
    return []


def add_ways_on(app: Sphinx, pagename: str, context: dict[str, Any], doctree: Any) -> None:
    """Let "next" lead to the next chapter, and offer the second page beside it."""
    relations = getattr(app.builder, "relations", {})
    if pagename not in relations:
        return
    _, before, after = relations[pagename]
    to = passed(relations, after, AFTER)
    question = to is not None and to.startswith(f"{CHAPTERS.as_posix()}/")
    context["next"] = link_to(app, pagename, to, QUESTION if question else "")
    context["prev"] = link_to(app, pagename, passed(relations, before, BEFORE))
    second = after if after is not None and is_second(after) else None
    context["proofs"] = link_to(app, pagename, second, PROOFS)


def passed(relations: Mapping[str, Any], page: str | None, way: int) -> str | None:
    """The page itself, or the next one in the ``way`` that is no chapter's second page."""
    while page is not None and is_second(page):
        page = relations[page][way]
    return page


def link_to(app: Sphinx, page: str, to: str | None, what: str = "") -> dict[str, str] | None:
    """The way to another page, as the theme's templates want it; None where there is none."""
    if to is None:
        return None
    builder: Any = app.builder
    title = builder.render_partial(app.env.titles[to])["title"]
    return {"link": builder.get_relative_uri(page, to), "title": title, "what": what}
