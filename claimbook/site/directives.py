"""The directives and roles that show the ledger: finished HTML, since a build knows all results.

``{chapter-card} NAME`` heads a chapter, ``{verdicts} NAME`` leads to its rows, ``{scorecard}``
counts all of them and ``{ledger}`` shows them; ``{run-times}`` lists the runs. ``{claim-value}``
and ``{claim-verdict}`` show one result in a sentence.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from docutils import nodes
from docutils.nodes import Node, system_message
from docutils.parsers.rst import directives
from markupsafe import Markup
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from claimbook.ledger.text import named_number
from claimbook.pages import CHAPTERS, is_second
from claimbook.site.content import Row, content_of
from claimbook.site.nodes import finished, tag
from claimbook.site.views import SIGNS, own_settings, views_of

logger = logging.getLogger(__name__)

CLAIM = "claim"  # the type of a row among Sphinx's objects, which its search finds by name


def view(env: BuildEnvironment, template: str, markdown: str | None = None, **context: Any) -> Node:
    """Render a template for the page that is read; a notebook has its words, or ``markdown``."""
    html = views_of(env.app)(template, env.docname, **context)
    return finished(html, Markup(html).striptags() if markdown is None else markdown)


class Directive(SphinxDirective):
    """A directive that shows the template of its own name, unless it has more to do."""

    optional_arguments = 1

    def run(self) -> list[Node]:
        """Return what the template makes."""
        return [view(self.env, f"{self.name}.html", argument=" ".join(self.arguments))]


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
        if chapter not in content_of(self.env.app).runs:
            known = list(content_of(self.env.app).runs)
            raise self.error(f"chapter-card: '{chapter}' is no chapter; there are {known}")
        names = [name for name in self.option_spec if name in self.options]
        facts = {name: self.parse_inline(self.options[name])[0] for name in names}
        facts["verdicts"] = [view(self.env, "counts.html", argument=chapter)]
        lines = [
            tag("div", tag("dt", name.capitalize()), tag("dd", *words))
            for name, words in facts.items()
        ]
        words = tag("div", *self.parse_content_to_nodes(), classes=["card-claim"])
        details = view(self.env, "run.html", markdown="", chapter=chapter)
        listed = tag("dl", *lines, classes=["claim-facts"])
        return [tag("div", words, listed, details, classes=["chapter-card"])]


class LedgerPage(Directive):
    """``{ledger}``: every row with everything, a section a chapter, behind the filters."""

    def run(self) -> list[Node]:
        """Return the filters and the sections."""
        out = super().run()
        standard: Any = self.env.get_domain("std")
        for chapter, heading in content_of(self.env.app).headings.items():
            rows = [row for row in content_of(self.env.app).rows if row["chapter"] == chapter]
            for row in rows:
                standard.note_object(CLAIM, row["id"], row["id"], location=self.get_location())
            cards = "".join(view(self.env, "card.html", row=row).astext() for row in rows)
            section = nodes.section(ids=[nodes.make_id(f"ledger-{chapter}")])
            section += nodes.title("", heading)
            section += finished(f'<div class="score-group">{cards}</div>')
            out.append(section)
        return out


class ClaimRole(SphinxRole):
    """One result in a sentence: the value, the verdict or the picture of a row, by its name."""

    def run(self) -> tuple[list[Node], list[system_message]]:
        """Show it; nothing, with a warning, where there is no such row or number."""
        row = content_of(self.env.app).by_id.get(self.text.strip())
        show: Any = {"value": self.value, "verdict": self.verdict}
        node = show[self.name.removeprefix("claim-")](row) if row else None
        if node is None:
            message = "%s: the ledger has no such row, or no number of it: %s"
            logger.warning(message, self.name, self.text, location=self.get_location())
        return [node] if node else [], []

    def value(self, row: Row) -> Node:
        """Return the number of a row; a logarithm becomes what it is one of."""
        text = named_number(row)[0] + own_settings(row)
        address = views_of(self.env.app).address(self.env.docname, f"book/ledger.html#{row['id']}")
        return nodes.reference("", text, refuri=address, internal=True, classes=["claim-value"])

    def verdict(self, row: Row) -> Node:
        """Return the verdict of a row with a link to its card; on a main page it is a mark."""
        in_chapter = self.env.docname.startswith(CHAPTERS.as_posix())
        is_main = in_chapter and not is_second(self.env.docname)
        words = f"**{SIGNS[row['verdict']]} {row['verdict']}**"
        options = {"row": row, "in_chapter": in_chapter, "is_main": is_main}
        return view(self.env, "verdict.html", words, **options)
