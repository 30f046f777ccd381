"""How the book's figures look, what they hold, and whether they can be read."""

from claimbook.figures.plots import (
    axis,
    band,
    bars,
    between,
    box,
    cloud,
    contours,
    curve,
    heat,
    horizontal,
    intervals,
    legend,
    points,
    remark,
    shade,
    shade_intervals,
    sweep,
    vertical,
)
from claimbook.figures.style import COLOURS, WIDTH, panels, ramp, use_style
