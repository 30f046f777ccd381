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
