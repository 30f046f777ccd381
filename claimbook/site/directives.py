"""The directives and roles that show the ledger: finished HTML, since a build knows what was found.

``{chapter-card} NAME`` heads a chapter, ``{verdicts} NAME`` leads to its rows, ``{scorecard}``
counts all of them and ``{ledger}`` shows them; ``{downloads} WHICH`` and ``{run-times}`` list
files and runs. ``{claim-value}``, ``{claim-verdict}`` and ``{claim-picture}`` show one result in a
sentence.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from docutils import nodes
from docutils.nodes import Node, system_message
from docutils.parsers.rst import directives
from markupsafe import Markup
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from claimbook.ledger.text import format_value, logarithm, written
from claimbook.pages import CHAPTERS, first_page, is_second
from claimbook.site.content import Content, Row, content_of, label
from claimbook.site.nodes import finished, tag
from claimbook.site.page import validated
from claimbook.site.views import (
    HALVES,
    READINGS,
    SIGNS,
    headline,
    is_damaged,
    own_settings,
    slug,
    verdicts,
    views_of,
)

logger = logging.getLogger(__name__)

CLAIM = "claim"  # the type of a row among Sphinx's objects, which its search finds by name
FACTOR = "factor"


class Directive(SphinxDirective):
    """A directive that shows a template."""

    optional_arguments = 1

    @property
    def content_(self) -> Content:
        """What the site shows."""
        return content_of(self.env.app)

    def view(self, template: str, **given: Any) -> nodes.raw:
        """Render a template for this page; a notebook has the words alone."""
        html = views_of(self.env.app)(template, self.env.docname, **given)
        return finished(html, Markup(html).striptags())


class Scorecard(Directive):
    """``{scorecard}``: how many rows have each verdict, by source."""

    def run(self) -> list[Node]:
        return [self.view("scorecard.html", verdicts=verdicts(self.content_.rows))]


class ChapterCard(Directive):
    """``{chapter-card} NAME``: paper, result, verdicts, run and downloads of a page."""

    required_arguments = 1
    optional_arguments = 0
    has_content = True
    option_spec: ClassVar[Mapping[str, Any]] = {
        "paper": directives.unchanged_required,
        "result": directives.unchanged_required,
    }

    def run(self) -> list[Node]:
        chapter = self.arguments[0]
        if chapter not in self.content_.runs:
            known = list(self.content_.runs)
            raise self.error(f"chapter-card: '{chapter}' is no chapter; there are {known}")
        facts = []
        for name in self.option_spec:
            if name in self.options:
                words, _ = self.parse_inline(self.options[name])
                facts.append(tag("div", tag("dt", name.capitalize()), tag("dd", *words)))
        facts.append(tag("div", tag("dt", "Verdicts"), tag("dd", self.counts(chapter))))
        run = self.content_.runs[chapter]
        said = validated(self.content_, chapter)
        details = self.view("run.html", chapter=chapter, run=run, validated=said)
        details["markdown"] = ""
        return [
            tag(
                "div",
                tag("div", *self.parse_content_to_nodes(), classes=["card-claim"]),
                tag("dl", *facts, classes=["claim-facts"]),
                details,
                classes=["chapter-card"],
            )
        ]

    def counts(self, chapter: str) -> nodes.raw:
        """Count the rows of both pages of a chapter, each number with a link to them."""
        main = first_page(chapter)
        rows = [row for row in self.content_.rows if first_page(row["chapter"]) == main]
        against = [row for row in rows if row["verdict"] in ("fails", "holds in part")]
        return self.view(
            "counts.html",
            chapter=main,
            rows=rows,
            verdicts=verdicts(rows),
            damaged=sum(map(is_damaged, against)),
        )


class Verdicts(ChapterCard):
    """``{verdicts} NAME``: the same counts in a paragraph of their own."""

    has_content = False

    def run(self) -> list[Node]:
        return [tag("p", self.counts(self.arguments[0]))]


class LedgerPage(Directive):
    """``{ledger}``: every row with everything, a section a chapter, behind the filters."""

    def run(self) -> list[Node]:
        content = self.content_
        out: list[Node] = [self.view("ledger.html", filters=self.filters())]
        standard: Any = self.env.get_domain("std")
        for chapter, heading in content.headings.items():
            rows = [row for row in content.rows if row["chapter"] == chapter]
            for row in rows:
                standard.note_object(CLAIM, row["id"], row["id"], location=self.get_location())
            cards = "".join(self.view("card.html", row=row).astext() for row in rows)
            section = nodes.section(ids=[nodes.make_id(f"ledger-{chapter}")])
            section += nodes.title("", heading)
            section += finished(f'<div class="score-group">{cards}</div>')
            out.append(section)
        return out

    def filters(self) -> list[tuple[str, str, Sequence[tuple[str, str]]]]:
        """Return each kind of filter: its name, and what it can be set to, with the words."""
        content = self.content_
        unseen = Markup('<span class="sr-words">{}</span>').format
        chapters: list[tuple[str, str]] = [
            (name, unseen("chapter ") + label(name) + unseen(heading.partition(".")[2] + ","))
            for name, heading in content.headings.items()
            if not is_second(name)
        ]
        signs = Markup('<span aria-hidden="true">{}</span> {}').format
        given: list[tuple[str, str]] = [
            (slug(one), signs(SIGNS[one], one)) for one in verdicts(content.rows)
        ]
        sources = [(key, content.documents[key]["short"]) for key in content.sources]
        readings = [(key, words or "clear") for key, (words, _) in READINGS.items()]
        halves = list(zip(HALVES, ("the sources", "this book"), strict=True))
        return [
            ("verdict", "Verdict", given),
            ("origin", "Said by", halves),
            ("chapter", "Chapter", chapters),
            ("source", "Source", sources),
            ("reading", "Our copy", readings),
        ]


class RunTimes(Directive):
    """``{run-times}``: how long the runs took that the site shows."""

    def run(self) -> list[Node]:
        return [self.view("times.html")]


class ClaimRole(SphinxRole):
    """One result in a sentence: the ``value``, the ``verdict`` or the ``picture`` of a row."""

    def __init__(self, show: Callable[["ClaimRole", Row, str], Node]) -> None:
        super().__init__()
        self.show = show

    def run(self) -> tuple[list[Node], list[system_message]]:
        """Show it; nothing, with a warning, where there is no such row or form."""
        claim, _, form = self.text.partition("|")
        try:
            row = content_of(self.env.app).by_id[claim.strip()]
            return [self.show(self, row, form.strip())], []
        except (KeyError, ValueError) as error:
            message = "%s: %s: %s"
            logger.warning(message, self.name, self.text, error, location=self.get_location())
            return [], []

    def view(self, template: str, markdown: str = "", **given: Any) -> nodes.raw:
        """Render a template for this page."""
        return finished(views_of(self.env.app)(template, self.env.docname, **given), markdown)

    def value(self, row: Row, form: str) -> Node:
        """The number of a row; with ``|factor`` the factor that a logarithm stands for."""
        if form not in ("", FACTOR) or row["value"] is None:
            raise ValueError("there is no such number")
        value, half_width = row["value"], row["half_width"] or 0.0
        base, _ = logarithm(row["quantity"])
        if form == FACTOR:
            if base is None:
                raise ValueError(f"shows no logarithm, and so no factor: {row['quantity']}")
            value = base ** abs(value)  # the factor above one
            half_width *= value * math.log(base)
        text = written(format_value(value, half_width)) + own_settings(row)
        address = views_of(self.env.app).address(self.env.docname, f"book/ledger.html#{row['id']}")
        return nodes.reference("", text, refuri=address, internal=True, classes=["claim-value"])

    def verdict(self, row: Row, form: str) -> Node:
        """The verdict of a row with a link to its card; on a main page it is a mark."""
        in_chapter = self.env.docname.startswith(CHAPTERS.as_posix())
        is_main = in_chapter and not is_second(self.env.docname)
        words = f"**{SIGNS[row['verdict']]} {row['verdict']}**"
        return self.view("verdict.html", words, row=row, in_chapter=in_chapter, is_main=is_main)

    def picture(self, row: Row, form: str) -> Node:
        """The picture of a row's number and of the range that it is held to."""
        held = headline(row)
        if held is None:
            raise ValueError("its number is that of no part")
        return self.view("picture.html", part=held)
