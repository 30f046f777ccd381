"""The directives and roles that show the ledger: finished HTML, since a build knows what was found.

``{chapter-card} NAME`` heads a chapter, ``{verdicts} NAME`` leads to its rows, ``{scorecard}``
counts all of them and ``{ledger}`` shows them; ``{run-times}`` lists the runs. ``{claim-value}``,
``{claim-verdict}`` and ``{claim-picture}`` show one result in a sentence.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from docutils import nodes
from docutils.nodes import Node, system_message
from docutils.parsers.rst import directives
from markupsafe import Markup
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from claimbook.ledger.text import format_value, logarithm, written
from claimbook.pages import CHAPTERS, first_page, is_second
from claimbook.site.content import Content, Row, content_of
from claimbook.site.nodes import finished, tag
from claimbook.site.views import SIGNS, headline, is_damaged, own_settings, views_of

logger = logging.getLogger(__name__)

CLAIM = "claim"  # the type of a row among Sphinx's objects, which its search finds by name
FACTOR = "factor"


class Directive(SphinxDirective):
    """A directive that shows a template: that of its own name, unless it has more to do."""

    optional_arguments = 1

    @property
    def content_(self) -> Content:
        """Return what the site shows."""
        return content_of(self.env.app)

    def view(self, template: str, **given: Any) -> nodes.raw:
        """Render a template for this page; a notebook has the words alone."""
        html = views_of(self.env.app)(template, self.env.docname, **given)
        return finished(html, Markup(html).striptags())

    def run(self) -> list[Node]:
        """Return what the template makes."""
        return [self.view(f"{self.name}.html")]


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
        """Return the card."""
        chapter = self.arguments[0]
        if chapter not in self.content_.runs:
            known = list(self.content_.runs)
            raise self.error(f"chapter-card: '{chapter}' is no chapter; there are {known}")
        facts = {name: self.parse_inline(words)[0] for name, words in self.options.items()}
        facts = {name: facts[name] for name in self.option_spec if name in facts}
        lines = [
            tag("div", tag("dt", name.capitalize()), tag("dd", *words))
            for name, words in {**facts, "verdicts": [self.counts(chapter)]}.items()
        ]
        words = tag("div", *self.parse_content_to_nodes(), classes=["card-claim"])
        details = self.view("run.html", chapter=chapter)
        details["markdown"] = ""
        listed = tag("dl", *lines, classes=["claim-facts"])
        return [tag("div", words, listed, details, classes=["chapter-card"])]

    def counts(self, chapter: str) -> nodes.raw:
        """Count the rows of both pages of a chapter, each number with a link to them."""
        main = first_page(chapter)
        rows = [row for row in self.content_.rows if first_page(row["chapter"]) == main]
        against = [row for row in rows if row["verdict"] in ("fails", "holds in part")]
        damaged = sum(map(is_damaged, against))
        return self.view("counts.html", chapter=main, rows=rows, damaged=damaged)


class Verdicts(ChapterCard):
    """``{verdicts} NAME``: the same counts in a paragraph of their own."""

    has_content = False

    def run(self) -> list[Node]:
        """Return the paragraph."""
        return [tag("p", self.counts(self.arguments[0]))]


class LedgerPage(Directive):
    """``{ledger}``: every row with everything, a section a chapter, behind the filters."""

    def run(self) -> list[Node]:
        """Return the filters and the sections."""
        out: list[Node] = [self.view("ledger.html")]
        standard: Any = self.env.get_domain("std")
        for chapter, heading in self.content_.headings.items():
            rows = [row for row in self.content_.rows if row["chapter"] == chapter]
            for row in rows:
                standard.note_object(CLAIM, row["id"], row["id"], location=self.get_location())
            cards = "".join(self.view("card.html", row=row).astext() for row in rows)
            section = nodes.section(ids=[nodes.make_id(f"ledger-{chapter}")])
            section += nodes.title("", heading)
            section += finished(f'<div class="score-group">{cards}</div>')
            out.append(section)
        return out


class ClaimRole(SphinxRole):
    """One result in a sentence: the value, the verdict or the picture of a row, by its name."""

    def run(self) -> tuple[list[Node], list[system_message]]:
        """Show it; nothing, with a warning, where there is no such row or form."""
        claim, _, form = self.text.partition("|")
        try:
            row = content_of(self.env.app).by_id[claim.strip()]
            show = {"claim-value": self.value, "claim-verdict": self.verdict}
            return [show.get(self.name, self.picture)(row, form.strip())], []
        except (KeyError, ValueError) as error:
            message = "%s: %s: %s"
            logger.warning(message, self.name, self.text, error, location=self.get_location())
            return [], []

    def view(self, template: str, markdown: str = "", **given: Any) -> nodes.raw:
        """Render a template for this page."""
        return finished(views_of(self.env.app)(template, self.env.docname, **given), markdown)

    def value(self, row: Row, form: str) -> Node:
        """Return the number of a row; with ``|factor`` what its logarithm stands for."""
        if form not in ("", FACTOR) or row["value"] is None:
            raise ValueError("there is no such number")
        value, half_width = row["value"], row["half_width"] or 0.0
        if form == FACTOR:
            base, _ = logarithm(row["quantity"])
            if base is None:
                raise ValueError(f"shows no logarithm, and so no factor: {row['quantity']}")
            value = base ** abs(value)  # the factor above one
            half_width *= value * math.log(base)
        text = written(format_value(value, half_width)) + own_settings(row)
        address = views_of(self.env.app).address(self.env.docname, f"book/ledger.html#{row['id']}")
        return nodes.reference("", text, refuri=address, internal=True, classes=["claim-value"])

    def verdict(self, row: Row, form: str) -> Node:
        """Return the verdict of a row with a link to its card; on a main page it is a mark."""
        in_chapter = self.env.docname.startswith(CHAPTERS.as_posix())
        is_main = in_chapter and not is_second(self.env.docname)
        words = f"**{SIGNS[row['verdict']]} {row['verdict']}**"
        return self.view("verdict.html", words, row=row, in_chapter=in_chapter, is_main=is_main)

    def picture(self, row: Row, form: str) -> Node:
        """Return the picture of a row's number and of the range that it is held to."""
        held = headline(row)
        if held is None:
            raise ValueError("its number is that of no part")
        return self.view("picture.html", part=held)
