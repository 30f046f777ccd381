"""Numbers of the whole ledger inside a sentence: ``{ledger-count}`NAME```.

``theirs``: rows about what a source prints; ``negative``: those of them that fail or hold in part;
``damaged``: those among these that rest on damaged text; ``seen``: rows whose note begins "Seen
before", since some of their numbers were known when they were written; ``sampled-parts`` and
``false-alarms``: how many parts are judged by a number with an error, and of how many books with
nothing but true statements one would contradict one of them ("1 book in 41").
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from docutils.nodes import Element, Node, system_message
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from claimbook.ledger import FAILS, IN_PART, VERDICTS
from claimbook.ledger.alarms import false_alarm, sampled_parts
from claimbook.site.nodes import from_run
from claimbook.site.page import Page
from claimbook.site.results import Scored
from claimbook.site.words import is_damaged, is_ours

logger = logging.getLogger(__name__)

NEGATIVE = (FAILS, IN_PART)


def given(scored: Iterable[Scored]) -> list[str]:
    """The verdicts that some of the rows have, what holds first."""
    return sorted({one.record.verdict for one in scored}, key=VERDICTS.index)


def theirs(scored: Sequence[Scored]) -> list[Scored]:
    """The rows about what a source prints."""
    return [one for one in scored if not is_ours(one.row)]


def negative(scored: Sequence[Scored]) -> list[Scored]:
    """The rows that find against a source, in part or as a whole."""
    return [one for one in theirs(scored) if one.record.verdict in NEGATIVE]


def damaged(scored: Sequence[Scored]) -> list[Scored]:
    """Those that rest on text which our copy does not show as it was printed."""
    return [one for one in negative(scored) if is_damaged(one.row)]


def seen(scored: Sequence[Scored]) -> list[Scored]:
    """The rows that were written when some of their numbers had been seen, as their notes say."""
    return [one for one in scored if one.row.get("note", "").startswith("Seen before")]


def parts_of(scored: Sequence[Scored]) -> int:
    """How many parts were judged by a number with an error."""
    return sampled_parts(one.record for one in scored)


def false_alarms(scored: Sequence[Scored]) -> str:
    """Of how many true books one would show a contradicted part, to two digits."""
    parts = parts_of(scored)
    if not parts:
        return "no book"
    books = 1 / false_alarm(parts)
    digits = 1 - math.floor(math.log10(books))
    return f"1 book in {round(books, digits):g}"


COUNTS: Mapping[str, Callable[[Sequence[Scored]], object]] = {
    "theirs": lambda scored: len(theirs(scored)),
    "negative": lambda scored: len(negative(scored)),
    "damaged": lambda scored: len(damaged(scored)),
    "seen": lambda scored: len(seen(scored)),
    "sampled-parts": parts_of,
    "false-alarms": false_alarms,
}


class CountRole(SphinxRole):
    """One number of the whole ledger."""

    def run(self) -> tuple[list[Node], list[system_message]]:
        """The place; nothing, with a warning, where there is no such number."""
        name = self.text.strip()
        if name not in COUNTS:
            message = "%s: no such number: %s; there are %s"
            logger.warning(message, self.name, name, list(COUNTS), location=self.get_location())
            return [], []
        return [from_run("", what="ledger_count", count=name)], []


def ledger_count(page: Page, node: Element) -> Sequence[Node | str]:
    """The number, from the rows that were run."""
    return [str(COUNTS[node["count"]](page.content.scored))]
