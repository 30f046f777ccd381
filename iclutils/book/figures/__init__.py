"""How the book's figures look, what they hold, and whether they can be read."""

from iclutils.book.figures.shapes import (
    annotate,
    band,
    legend,
    panels,
    plain_ticks,
    shade_intervals,
    swept_bands,
)
from iclutils.book.figures.style import COLOURS, WIDTH, ramp, use_style

__all__ = [
    "COLOURS",
    "WIDTH",
    "annotate",
    "band",
    "legend",
    "panels",
    "plain_ticks",
    "ramp",
    "shade_intervals",
    "swept_bands",
    "use_style",
]
