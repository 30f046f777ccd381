"""What stands around a page: its number, the ways on, and the stamp of the run that it shows.

Chapters are labelled as their files are: 5b, their figures 5b.1 and 5b.2; headings have none.
Sphinx numbers what stands in a numbered part of ``_toc.yml`` by its place there, in which 5b lies
below 5. Once it has, its numbers are replaced by labels: a chapter's second page has none of its
own and goes on counting the chapter's figures.
"""

import html
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from claimbook.pages import CHAPTERS, is_second
from claimbook.runs.notebooks import Run
from claimbook.site.content import Content, content_of, label

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


# ---------------------------------------------------------------- the stamp


def add_stamp(app: Sphinx, pagename: str, context: dict[str, Any], doctree: Any) -> None:
    """Put the stamp before the theme's own words at the foot.

    It is of the page's own chapter, or of all where it has no code of its own.
    """
    content = content_of(app)
    folder, _, chapter = pagename.rpartition("/")
    own = folder == CHAPTERS.as_posix() and chapter in content.runs
    said = of_page(content, chapter) if own else of_book(content)
    sentence = f'<p class="run-stamp">{html.escape(said)}</p>'
    context["theme_extra_footer"] = sentence + (context.get("theme_extra_footer") or "")


def of_page(content: Content, chapter: str) -> str:
    """Return the stamp of a chapter."""
    facts = details([content.runs[chapter]], [content.seed(chapter)])
    return f"The run that this page shows {content.states[chapter]}; {', '.join(facts)}."


def of_book(content: Content) -> str:
    """Return the stamp of a page without code of its own: all chapters together."""
    states = Counter(content.states.values())
    said = "; ".join(f"{'all ' if len(states) == 1 else ''}{n}: {one}" for one, n in states.items())
    facts = details(list(content.runs.values()), [content.seed(name) for name in content.runs])
    return f"The runs that the book shows, {said}; {', '.join(facts)}."


def validated(content: Content, chapter: str) -> str:
    """Return what a chapter's card says of its run."""
    run = content.runs[chapter]
    commit, environment, _, _, *date = details([run], [])
    python = f" (Python {run.provenance['python']})" if "python" in run.provenance else ""
    return f"{content.states[chapter]}; {', '.join([commit, environment + python, *date])}"


def details(runs: Sequence[Run], seeds: Iterable[Any]) -> list[str]:
    """Return commit, environment, seed, time and date of some runs, each once."""
    environments = [run.provenance.get("environment", "not recorded") for run in runs]
    dates = [run.provenance["date"] for run in runs if "date" in run.provenance]
    seconds = sum(run.seconds or 0.0 for run in runs)
    found = [
        each(map(commit_words, runs)),
        f"environment {each(environments)}",
        f"master seed {each(map(str, seeds))}",
        f"{seconds:.0f} s on one core",
    ]
    return [*found, each(dates)] if dates else found


def commit_words(run: Run) -> str:
    """Name the commit of a run, and say whether the checkout was just that."""
    if run.provenance.get("commit") is None:
        return "no commit recorded"
    tree = "clean" if run.provenance.get("clean") else "with uncommitted changes"
    return f"commit {run.provenance['commit']} ({tree})"


def each(words: Iterable[str]) -> str:
    """Join some words, every one once."""
    return " and ".join(dict.fromkeys(words))
