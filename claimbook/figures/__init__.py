"""How the book's figures look, what they hold, and whether they can be read."""

from claimbook.figures.shapes import (
    annotate,
    band,
    legend,
    name_ends,
    panels,
    plain_ticks,
    shade_intervals,
    swept_bands,
)
from claimbook.figures.style import COLOURS, WIDTH, ramp, use_style

__all__ = [
    "COLOURS",
    "WIDTH",
    "annotate",
    "band",
    "legend",
    "name_ends",
    "panels",
    "plain_ticks",
    "ramp",
    "shade_intervals",
    "swept_bands",
    "use_style",
]
