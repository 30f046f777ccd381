"""A small picture of one comparison: the number with its interval, and the range it is held to.

Whoever points at it reads what its marks are; a screen reader is told what it shows.
"""

import html

from docutils import nodes

from claimbook.ledger import Record, format_value
from claimbook.ledger.comparison import (
    CONTRADICTED,
    EQUAL,
    GREATER,
    SUPPORTED,
    UNDECIDED,
    Comparison,
)
from claimbook.site.numbers import written

WIDTH, HEIGHT = 96.0, 14.0
ROOM = 0.15  # of the picture's width, to either side of what is drawn
MEASURED = "measured"


def picture(part: Comparison, what: str = MEASURED) -> nodes.raw:
    """The comparison as an SVG of the height of a line: band, bar and dot; in words for others.

    ``what`` names the number that is drawn, where it is another one than the line says.
    """
    low, high = allowed(part)
    ends = [part.value - part.half_width, part.value + part.half_width]
    ends += [end for end in (low, high) if end is not None]
    left, right = min(ends), max(ends)
    span = (right - left) or max(abs(left), 1.0)
    left, right = left - ROOM * span, right + ROOM * span

    def place(value: float) -> float:
        return WIDTH * (value - left) / (right - left)

    start = 0.0 if low is None else place(low)
    end = WIDTH if high is None else place(high)
    bar = (place(part.value - part.half_width), place(part.value + part.half_width))
    middle = HEIGHT / 2
    label = html.escape(description(part, what))
    shapes = (
        f"<title>{html.escape(tooltip(part, what))}</title>"
        f'<rect class="band" x="{start:.1f}" y="1" width="{end - start:.1f}" '
        f'height="{HEIGHT - 2:.0f}"/>'
        f'<line x1="{bar[0]:.1f}" x2="{bar[1]:.1f}" y1="{middle}" y2="{middle}"/>'
        f'<circle cx="{place(part.value):.1f}" cy="{middle}" r="2.5"/>'
    )
    svg = (
        f'<svg class="interval" role="img" aria-label="{label}" width="{WIDTH:.0f}" '
        f'height="{HEIGHT:.0f}" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}">{shapes}</svg>'
    )
    return nodes.raw("", svg, format="html")


def tooltip(part: Comparison, what: str = MEASURED) -> str:
    """What the marks of the picture are, for whoever points at it."""
    bar = f"dot and bar: {what}, with its interval" if part.half_width else f"dot: {what}"
    return written(f"{bar}; shaded: the allowed range, {part.against}")


def description(part: Comparison, what: str = MEASURED) -> str:
    """The picture in words: the number, the range, and where in it the number lies.

    >>> from claimbook.ledger.comparison import Measured, greater
    >>> description(greater(3.0, 1.0))
    'Measured 3, to be > 1: inside the allowed range'
    >>> description(greater(Measured(3.0, 6.2), 4.0))
    'Measured 3.0 ± 6.2, to be > 4: the interval crosses an end of the allowed range'
    """
    where = {
        SUPPORTED: "inside the allowed range",
        CONTRADICTED: "outside the allowed range",
        UNDECIDED: "the interval crosses an end of the allowed range",
    }[part.outcome]
    number = format_value(part.value, part.half_width)
    return written(f"{what.capitalize()} {number}, to be {part.against}: {where}")


def headline(record: Record) -> Comparison | None:
    """The part whose number the row shows, if it is one of the parts."""
    for part in record.parts.values():
        if part.value == record.value and part.half_width == record.half_width and part.test:
            return part
    return None


def allowed(part: Comparison) -> tuple[float | None, float | None]:
    """The ends of the range in which the value was to lie; None where it is open."""
    if part.test == EQUAL:
        return part.bound - part.margin, part.bound + part.margin
    if part.test == GREATER:
        return part.bound, None
    return None, part.bound
