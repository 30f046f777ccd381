"""What a figure shows, noted as it is drawn: the numbers that go with it, as a table."""

from collections.abc import Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

Colour = str | tuple[float, float, float]
COLUMNS = "panel title x_axis y_axis series kind x x_name x_low x_high y y_low y_high value colour"


class Series(NamedTuple):
    """One series of a panel: its name, what is drawn, its colour (``""`` in a map), its columns."""

    name: str
    kind: str
    colour: str
    columns: dict[str, Any]


class Notes(NamedTuple):
    """What a panel shows: the names of its axes, ``x`` and ``y``, and its series."""

    names: dict[str, str]
    series: list[Series]


_notes: WeakKeyDictionary[Axes, Notes] = WeakKeyDictionary()


def notes_of(ax: Axes) -> Notes:
    """Return the notes of a panel."""
    return _notes.setdefault(ax, Notes({}, []))


def note(
    ax: Axes,
    name: str,
    kind: str,
    colour: Colour = "",
    **columns: ArrayLike | None,
) -> None:
    """Note a series of a panel: each of its ``columns`` has one entry for each point.

    The columns are ``x``, ``y``, ``x_low`` … ``y_high``, ``value`` and ``x_name``.
    """
    name = " ".join(name.split())  # a label may have two lines
    shown = {key: np.atleast_1d(one) for key, one in columns.items() if one is not None}
    notes_of(ax).series.append(Series(name, kind, colour and to_hex(colour), shown))


def csv_text(figure: Figure) -> str:
    """Write everything that ``figure`` shows as one tidy table.

    A row stands for each point, bar, band edge or cell of a map. Columns: the panel (from 1, in
    reading order), its title and axes; the series; the kind; ``x``, ``y``; ``x_low`` … ``y_high``
    for bars, bands and spans (the caption says what they are); ``value`` for maps; the colour. A
    column that a figure does not use is left out, and numbers have eight significant digits.
    """
    columns = COLUMNS.split()
    frames = [pandas.DataFrame(columns=columns), *rows(figure)]
    table = pandas.concat([one for one in frames if len(one)] or frames)
    used = table.reindex(columns=columns).replace("", None).dropna(axis="columns", how="all")
    text: str = used.to_csv(index=False, float_format="%.8g", lineterminator="\n")
    return text


def rows(figure: Figure) -> Iterator[pandas.DataFrame]:
    """Go through the series of ``figure``, each as the rows of :func:`csv_text`."""
    panels = [ax for ax in figure.axes if ax.get_label() != "<colorbar>" and ax.get_visible()]
    for number, ax in enumerate(panels, 1):
        notes = notes_of(ax)
        for one in notes.series:
            yield pandas.DataFrame(
                {
                    "panel": number,
                    "title": ax.get_title() or ax.get_title("left"),
                    "x_axis": notes.names.get("x", ""),
                    "y_axis": notes.names.get("y", ""),
                    "series": one.name,
                    "kind": one.kind,
                    "colour": one.colour,
                    **one.columns,
                }
            )
