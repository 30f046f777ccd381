"""The book's style for each test of a figure, and every figure closed after it."""

import matplotlib.pyplot as plt
import pytest

from claimbook import figures


@pytest.fixture(autouse=True)
def style():
    with plt.rc_context():
        figures.use_style()
        yield
    plt.close("all")


@pytest.fixture
def ax():
    return figures.panels(1, 1)[1][0]


@pytest.fixture
def drawing():
    """Return what draws a line with a legend and a formula, anew at each call."""

    def draw():
        figure, (axes,) = figures.panels(1, 1)
        figures.curve(axes, [1, 2], [1, 2], "a", "exact", label="a")
        axes.legend(loc="upper left")
        axes.set(xlabel="n", ylabel="loss", title=r"$w^*$")
        return figure

    return draw
