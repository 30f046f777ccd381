"""What the pages say of a row: each view is a template over the rows of ``ledger.json``.

A row has five places: the mark behind a sentence with its line, the table of what its page checks,
its card on the page of the ledger, the counts, and the data.
"""

import math
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin
from sphinx.application import Sphinx

from claimbook.ledger import FAILS, HOLDS, IN_PART, OURS, VERDICTS
from claimbook.ledger.comparison import Comparison
from claimbook.ledger.text import (
    format_value,
    is_exact,
    named_number,
    readable,
    typeset,
    what_came_out,
    written,
)
from claimbook.ledger.verdicts import false_alarm
from claimbook.pages import first_page, is_second
from claimbook.site.content import Content, Row, content_of
from claimbook.site.mathematics import Formula, typesetter

TEMPLATES = Path(__file__).with_name("templates")
SIGNS = dict(zip(VERDICTS, "✓◐✗?–", strict=True))
MARKS = SIGNS | {"not testable": "?"}  # in a sentence it only matters whether the claim holds
OUTCOMES = {"supported": "✓", "contradicted": "✗", "undecided": "?"}
WHERE = {
    "supported": "inside the allowed range",
    "contradicted": "outside the allowed range",
    "undecided": "the interval crosses an end of the allowed range",
}
READINGS = {  # how well our copy of a source can be read: beside the verdict, and on the card
    "clear": ("", "legible in the copy that we read"),
    "mangled": (
        "damaged text",
        "damaged in the copy that we read, so that the words are partly our repair",
    ),
    "illegible": (
        "illegible text",
        "illegible in the copy that we read, so that the words are our reconstruction",
    ),
}
UNTESTABLE = "which makes the row not testable"
CONTROLS = {  # of each kind: what it is, and what happened, by its outcome
    "wrong": {
        "": "wrong on purpose, must be contradicted",
        "contradicted": "rejected: contradicted, as it must be",
        "undecided": f"undecided: not told from the truth, {UNTESTABLE}",
        "supported": f"supported, {UNTESTABLE}",
    },
    "null": {
        "": "no effect is there, must be left unsupported",
        "contradicted": "contradicted: no such effect, as it must be",
        "undecided": "undecided: no effect found, as it must be",
        "supported": f"supported: an effect where there is none, {UNTESTABLE}",
    },
    "right": {
        "": "the corrected statement, must be supported",
        "supported": "supported, as it must be",
        "undecided": f"undecided, {UNTESTABLE}",
        "contradicted": f"contradicted, {UNTESTABLE}",
    },
}
HALVES = {  # whose statements: the heading of the counts, and their total
    "theirs": ("What the sources print", "All that the sources print"),
    "ours": ("What this book adds", "All that this book adds"),
}
PLURALS = {"holds": "hold", "fails": "fail"}
SPECIAL = re.compile(r"([\\`*_\[\]<])")  # what Markdown reads as markup
WIDTH, ROOM = 96.0, 0.15  # of the picture of an interval, and the share left free at either end


class Picture(NamedTuple):
    """The places of a comparison in its picture: the allowed band, the interval, the number."""

    start: float
    end: float
    low: float
    high: float
    dot: float


class Views:
    """The templates, with what they need of numbers, formulas and Markdown."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self.parser = MarkdownIt("commonmark", {"typographer": True}).enable("smartquotes")
        self.parser.use(dollarmath_plugin, renderer=formula)
        self.parser.add_render_rule(
            "text", lambda _, tokens, at, *rest: typeset(escape(tokens[at].content, quote=False))
        )
        self.environment = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=lambda name: name is None or name.endswith(".html"),
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
        )
        self.environment.globals |= {
            "SIGNS": SIGNS,
            "MARKS": MARKS,
            "OUTCOMES": OUTCOMES,
            "WHERE": WHERE,
            "READINGS": READINGS,
            "CONTROLS": CONTROLS,
            "HALVES": HALVES,
            "content": content,
        }
        self.environment.filters |= {
            "md": lambda text: Markup(self.parser.renderInline(str(text))),
            "quoted": quoted,
            "named": lambda text: quoted(text, numbers_in),
            "escaped": lambda text: SPECIAL.sub(r"\\\1", str(text)),
            "num": numbers_in,
            "written": written,
            "slug": slug,
            "readable": readable,
            "own": own_settings,
            "value": value_text,
            "number": named_number,
            "finding": finding,
            "reservation": reservation,
            "compared": compared,
            "compared_to": lambda part: f"{value_of(part)}, to be {part['against']}",
            "value_of": value_of,
            "counts": counts,
            "tally": lambda rows: Counter(row["verdict"] for row in rows),
            "selectby": lambda rows, half: [row for row in rows if origin(row) == half],
            "headline": headline,
            "tightest": lambda row: tightest(comparisons(row)),
            "picture": picture,
            "origin": origin,
            "damaged": is_damaged,
            "first_page": first_page,
            "is_second": is_second,
            "counted": counted,
            "duration": duration,
        }

    def __call__(self, template: str, page: str, **given: Any) -> str:
        """Render a template for a page, by its docname: ``to(place)`` is relative to that page."""

        to = partial(self.address, page)
        return self.environment.get_template(template).render(**given, to=to).strip()

    @staticmethod
    def address(page: str, place: str) -> str:
        """Return the address of a place of the site, from a page."""
        return posixpath.relpath(place, posixpath.dirname(page) or ".")

    def in_notebook(self, row: Row) -> str:
        """Return the line of a row in Markdown."""
        return " ".join(self("line.md", "", row=row).split())


@lru_cache(maxsize=1)
def views_of(app: Sphinx) -> Views:
    """Return the views of this run of Sphinx."""
    return Views(content_of(app))


def formula(tex: str, options: Mapping[str, Any]) -> str:
    """Typeset a formula of a row's words."""
    inner = typesetter().html(Formula(tex, bool(options.get("display_mode"))))
    return f'<span class="math notranslate nohighlight">{inner}</span>'


def numbers_in(text: Any) -> Markup:
    """Write a plain text with its numbers and symbols typeset."""
    return Markup(typeset(escape(str(text), quote=False)))


def quoted(text: str, words: Callable[[str], Markup] = Markup.escape) -> Markup:
    """Write a quotation word for word: nothing but its formulas is read as markup.

    ``words`` writes what stands between the formulas.
    """
    pieces = re.split(r"\$([^$]+)\$", " ".join(text.split()))  # words and formulas by turns
    return Markup("").join(
        Markup(formula(piece, {})) if at % 2 else words(piece) for at, piece in enumerate(pieces)
    )


# ---------------------------------------------------------------- of one row


def slug(verdict: str) -> str:
    """Return a verdict as a CSS class and as a value in an address."""
    return verdict.replace(" ", "-")


def origin(row: Row) -> str:
    """Return whose statement a row is: ``theirs`` or ``ours``."""
    return "ours" if row["document"] == OURS else "theirs"


def is_damaged(row: Row) -> bool:
    """Return whether a row rests on text that our copy does not show as it was printed."""
    return row["reading"] not in (None, "clear")


def own_settings(row: Row) -> str:
    """Return the words behind a result of other settings than the book's."""
    return "" if row["default_settings"] else " (at your settings)"


def value_of(found: Mapping[str, Any]) -> str:
    """Write the number of a row, a part or a control with its half-width."""
    value = found["value"]
    return "no value" if value is None else format_value(value, found["half_width"] or 0.0)


def value_text(row: Row) -> str:
    """Write the number of a row, and say where the settings are not the book's."""
    return value_of(row) + own_settings(row)


def comparison(found: Mapping[str, Any]) -> Comparison:
    """Return a part or a control of a row as a comparison."""
    return Comparison(**{field: found[field] for field in Comparison.__dataclass_fields__})


def comparisons(row: Row) -> dict[str, Comparison]:
    """Return the parts of a row as comparisons."""
    return {name: comparison(part) for name, part in row["parts"].items()}


def finding(row: Row) -> str:
    """Say what holds, what does not, and where; without the number."""
    return what_came_out(comparisons(row), row["why"]) if row["parts"] else row["finding"]


def reservation(row: Row) -> str:
    """Return the finding where the verdict does not say it all: parts came out differently."""
    outcomes = {part["outcome"] for part in row["parts"].values()}
    plain = len(row["parts"]) == 1 or outcomes == {"supported"}
    return "" if plain and not row["why"] else finding(row)


def compared(found: Mapping[str, Any]) -> str:
    """Write a comparison: its number, and what that was held against."""
    return f"{value_of(found)} {found['against']}"


def headline(row: Row) -> Mapping[str, Any] | None:
    """Return the part whose number the row shows, if it is one of the parts."""
    for part in row["parts"].values():
        if (part["value"], part["half_width"]) == (row["value"], row["half_width"]):
            return dict(part)
    return None


def picture(found: Mapping[str, Any]) -> Picture:
    """Lay a comparison out: the number with its interval, and the range it is held to."""
    bound, margin = found["bound"], found["margin"]
    low, high = {
        "=": (bound - margin, bound + margin),
        ">": (bound, math.inf),
        "<": (-math.inf, bound),
    }[found["test"]]
    value, half_width = found["value"], found["half_width"]
    ends = [value - half_width, value + half_width]
    ends += [end for end in (low, high) if math.isfinite(end)]
    span = (max(ends) - min(ends)) or max(abs(min(ends)), 1.0)
    left, scale = min(ends) - ROOM * span, WIDTH / ((1 + 2 * ROOM) * span)

    def place(number: float) -> float:
        return round(float(min(max((number - left) * scale, 0.0), WIDTH)), 1)

    return Picture(*map(place, (low, high, value - half_width, value + half_width, value)))


def tightest(parts: Mapping[str, Comparison]) -> str | None:
    """Name the part that is nearest to its limit; None where there are not two to choose from.

    A part that was sampled is as near as its gap is in half-widths, a computed one as its gap is in
    units of the margin, or of the larger of value and bound. Where some parts were sampled, the
    tightest is one of these, because noise is what may turn a verdict.

    >>> from claimbook.ledger.comparison import Measured, greater
    >>> near = greater(Measured(0.5, 0.3))
    >>> tightest({"far": greater(Measured(5.0, 0.3)), "near": near, "exact": greater(0.1)})
    'near'
    """
    if len(parts) < 2:
        return None
    sampled = [name for name, part in parts.items() if not is_exact(part.value, part.half_width)]
    return min(sampled or parts, key=lambda name: _room(parts[name]))


def _room(part: Comparison) -> float:
    gap = abs(abs(part.value - part.bound) - part.margin)  # to the nearer of its limits
    if not is_exact(part.value, part.half_width):
        return gap / part.half_width
    scale = part.margin or max(abs(part.value), abs(part.bound))
    return round(gap / scale, 9) if scale and math.isfinite(gap) else gap


# ---------------------------------------------------------------- of many rows


def counts(rows: Iterable[Row], field: str) -> dict[str, Counter[str]]:
    """Count the rows by one of their fields (``chapter``: the first page), then by verdict."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        found.setdefault(first_page(row[field]), Counter())[row["verdict"]] += 1
    return found


def verdicts(rows: Iterable[Row]) -> list[str]:
    """Return the verdicts that some of the rows have, what holds first."""
    return sorted({row["verdict"] for row in rows}, key=VERDICTS.index)


def counted(count: int, verdict: str) -> str:
    """Say how many rows have a verdict.

    >>> counted(1, "holds"), counted(3, "holds in part"), counted(2, "undecided")
    ('1 holds', '3 hold in part', '2 undecided')
    """
    first, _, rest = verdict.partition(" ")
    return f"{count} {first if count == 1 else PLURALS.get(first, first)} {rest}".rstrip()


def duration(seconds: float) -> str:
    """Write a time on one core: seconds below two minutes, minutes from there."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def substitutions(rows: Sequence[Row]) -> dict[str, str]:
    """Return the numbers of the whole ledger that a sentence may name: ``{{ rows_theirs }}``."""
    theirs = [row for row in rows if origin(row) == "theirs"]
    ours = [row for row in rows if origin(row) == "ours"]
    found = Counter(row["verdict"] for row in theirs)
    negative = [row for row in theirs if row["verdict"] in (FAILS, IN_PART)]
    parts = sum(part["half_width"] > 0 for row in rows for part in row["parts"].values())
    return {
        "rows_theirs": str(len(theirs)),
        "theirs_hold": str(found[HOLDS]),
        "theirs_in_part": str(found[IN_PART]),
        "theirs_fail": str(found[FAILS]),
        "theirs_open": str(len(theirs) - len(negative) - found[HOLDS]),
        "rows_ours": str(len(ours)),
        "ours_hold": str(sum(row["verdict"] == HOLDS for row in ours)),
        "rows_negative": str(len(negative)),
        "rows_damaged": str(sum(map(is_damaged, negative))),
        "rows_seen": str(sum((row["note"] or "").startswith("Seen before") for row in rows)),
        "sampled_parts": str(parts),
        "false_alarms": f"1 book in {float(f'{1 / false_alarm(parts):.2g}'):g}",
    }
