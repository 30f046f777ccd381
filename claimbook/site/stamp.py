"""The stamp at the foot of every page: which run it shows, and whether it is as expected."""

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sphinx.application import Sphinx

from claimbook.pages import CHAPTERS
from claimbook.runs.notebooks import Run
from claimbook.site.content import Content, content_of


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
