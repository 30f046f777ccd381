"""A small picture of one comparison: the number with its interval, and the range it is held to."""

import html

from docutils import nodes

from iclutils.book.ledger import format_value
from iclutils.ground.statistics import Comparison
from iclutils.ground.statistics.comparisons import EQUAL, GREATER

WIDTH, HEIGHT = 96.0, 14.0
ROOM = 0.15  # of the picture's width, to either side of what is drawn


def picture(part: Comparison) -> nodes.raw:
    """The comparison as an SVG of the height of a line: band, bar and dot; in words for others."""
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
    number = format_value(part.value, part.half_width)
    label = html.escape(f"{number}, to be {part.against}")
    shapes = (
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


def allowed(part: Comparison) -> tuple[float | None, float | None]:
    """The ends of the range in which the value was to lie; None where it is open."""
    if part.test == EQUAL:
        return part.bound - part.margin, part.bound + part.margin
    if part.test == GREATER:
        return part.bound, None
    return None, part.bound
