"""What the pages say of a row: each view is a template over the rows of ``ledger.json``.

A row has five places: the mark behind a sentence with its line, the table of what its page checks,
its card on the page of the ledger, the counts, and the data. The words of verdicts, readings and
controls stand in ``templates/macros.html``.
"""

import math
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin
from sphinx.application import Sphinx

from claimbook.ledger import FAILS, HOLDS, IN_PART, OURS, VERDICTS
from claimbook.ledger.text import (
    format_value,
    named_number,
    readable,
    typeset,
    written,
)
from claimbook.ledger.verdicts import FALSE_CONTRADICTION
from claimbook.pages import first_page, is_second
from claimbook.site.content import Content, Row, content_of, label
from claimbook.site.mathematics import formula_html

TEMPLATES = Path(__file__).with_name("templates")
SIGNS = dict(zip(VERDICTS, "✓◐✗?–", strict=True))
NUMBER = ("value", "half_width")
SPECIAL = re.compile(r"([\\`*_\[\]<])")  # what Markdown reads as markup
WIDTH, ROOM = 96.0, 0.15  # of the picture of an interval, and the share left free at either end


class Views:
    """The templates, with what they need of numbers, formulas and Markdown."""

    def __init__(self, content: Content) -> None:
        self.content = content
        parser = MarkdownIt("commonmark", {"typographer": True}).enable("smartquotes")
        parser.use(dollarmath_plugin, renderer=lambda tex, options: formula(tex))
        typed = lambda _, tokens, at, *rest: str(numbers_in(tokens[at].content))  # noqa: E731
        parser.add_render_rule("text", typed)
        self.environment = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=lambda name: name is None or name.endswith(".html"),
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
        )
        self.environment.globals |= {"content": content, "SIGNS": SIGNS, "VERDICTS": VERDICTS}
        self.environment.tests["is_second"] = is_second
        of_a_row = (finding, headline, origin, reservation)
        others = (first_page, label, picture, quoted, readable, value_of, written)
        self.environment.filters |= {one.__name__: one for one in (*of_a_row, *others)}
        self.environment.filters |= {
            "md": lambda text: Markup(parser.renderInline(str(text))),
            "named": lambda text: quoted(text, numbers_in),
            "escaped": lambda text: SPECIAL.sub(r"\\\1", str(text)),
            "num": numbers_in,
            "run": content.runs.__getitem__,
            "seed": content.seed,
            "slug": lambda verdict: verdict.replace(" ", "-"),  # as a class and in an address
            "own": own_settings,
            "number": named_number,
            "damaged": is_damaged,
            "tally": lambda rows: Counter(row["verdict"] for row in rows),
        }

    def __call__(self, template: str, page: str, **context: Any) -> str:
        """Render a template for a page, by its docname: ``to(target)`` is relative to that page."""
        to = partial(self.address, page)
        return self.environment.get_template(template).render(**context, to=to).strip()

    @staticmethod
    def address(page: str, target: str) -> str:
        """Return the address of a target within the site, from a page."""
        return posixpath.relpath(target, posixpath.dirname(page) or ".")

    def in_notebook(self, row: Row) -> str:
        """Return the line of a row in Markdown."""
        return " ".join(self("line.md", "", row=row).split())


@lru_cache(maxsize=1)
def views_of(app: Sphinx) -> Views:
    """Return the views of this run of Sphinx."""
    return Views(content_of(app))


def formula(tex: str) -> str:
    """Typeset a formula of a row's words."""
    return f'<span class="math notranslate nohighlight">{formula_html(tex)}</span>'


def numbers_in(text: Any) -> Markup:
    """Write a plain text with its numbers and symbols typeset."""
    return Markup(typeset(escape(str(text), quote=False)))


def quoted(text: str, words: Callable[[str], Markup] = Markup.escape) -> Markup:
    """Write a quotation word for word: nothing but its formulas is read as markup.

    ``words`` writes what stands between the formulas.
    """
    pieces = re.split(r"\$([^$]+)\$", " ".join(text.split()))  # words and formulas by turns
    return Markup("").join(
        Markup(formula(piece)) if at % 2 else words(piece) for at, piece in enumerate(pieces)
    )


# ---------------------------------------------------------------- of one row


def origin(row: Row) -> str:
    """Return whose statement a row is: ``theirs`` or ``ours``."""
    return "ours" if row["document"] == OURS else "theirs"


def is_damaged(row: Row) -> bool:
    """Return whether a row rests on text that our copy does not show as it was printed."""
    return row["reading"] not in (None, "clear")


def own_settings(row: Row) -> str:
    """Return the words behind a result of other settings than the book's."""
    return "" if row["default_settings"] else " (at your settings)"


def value_of(part: Mapping[str, Any]) -> str:
    """Write the number of a row, a part or a control with its half-width."""
    return format_value(part["value"], part["half_width"])


def finding(row: Row) -> str:
    """Say what holds, what does not, and where; without the number."""
    return str(row["finding"]).rpartition(" Measured: ")[0]


def reservation(row: Row) -> str:
    """Return the finding where the verdict does not say it all: parts came out differently."""
    outcomes = {part["outcome"] for part in row["parts"].values()}
    plain = len(row["parts"]) == 1 or outcomes == {"supported"}
    return "" if plain and not row["why"] else finding(row)


def headline(row: Row) -> Mapping[str, Any] | None:
    """Return the part whose number the row shows, if it is one of the parts."""
    number = {field: row[field] for field in NUMBER}
    same = [part for part in row["parts"].values() if number.items() <= part.items()]
    return same[0] if same else None


def picture(part: Mapping[str, Any]) -> dict[str, float]:
    """Lay a comparison out: the number with its interval, and the range that it must lie in."""
    value, half_width = part["value"], part["half_width"]
    bound, margin = part["bound"], part["margin"]
    band = {">": (bound, math.inf), "<": (-math.inf, bound), "=": (bound - margin, bound + margin)}
    start, end = band[part["test"]]
    marks = {"start": start, "end": end, "low": value - half_width, "high": value + half_width}
    ends = [mark for mark in marks.values() if math.isfinite(mark)]
    span = (max(ends) - min(ends)) or max(abs(min(ends)), 1.0)
    left, scale = min(ends) - ROOM * span, WIDTH / ((1 + 2 * ROOM) * span)
    marks["dot"] = value
    return {
        name: round(float(min(max((mark - left) * scale, 0.0), WIDTH)), 1)
        for name, mark in marks.items()
    }


def substitutions(rows: Sequence[Row]) -> dict[str, str]:
    """Return the numbers of the whole ledger that a sentence may name: ``{{ rows_theirs }}``."""
    theirs = [row for row in rows if origin(row) == "theirs"]
    ours = [row for row in rows if origin(row) == "ours"]
    verdicts = Counter(row["verdict"] for row in theirs)
    negative = [row for row in theirs if row["verdict"] in (FAILS, IN_PART)]
    parts = sum(part["half_width"] > 0 for row in rows for part in row["parts"].values())
    return {
        "rows_theirs": str(len(theirs)),
        "theirs_hold": str(verdicts[HOLDS]),
        "theirs_in_part": str(verdicts[IN_PART]),
        "theirs_fail": str(verdicts[FAILS]),
        "theirs_open": str(len(theirs) - len(negative) - verdicts[HOLDS]),
        "rows_ours": str(len(ours)),
        "ours_hold": str(sum(row["verdict"] == HOLDS for row in ours)),
        "rows_negative": str(len(negative)),
        "rows_damaged": str(sum(map(is_damaged, negative))),
        "rows_seen": str(sum((row["note"] or "").startswith("Seen before") for row in rows)),
        "sampled_parts": str(parts),
        "false_alarms": f"{parts * FALSE_CONTRADICTION:.2g}",
    }
