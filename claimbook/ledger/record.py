"""What one check found: shown by its cell, kept in the executed notebook, read from there."""

import ast
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any

from claimbook.ledger.comparison import Comparison
from claimbook.ledger.text import AT_YOUR_SETTINGS, format_value

VERDICT = "application/vnd.claimbook.record+json"  # a record's MIME type
_GLUED = "application/papermill.record/text/plain"  # MyST-NB's name for a glued text


@dataclass(frozen=True)
class Record:
    """What one check found; pages, tables and tests are all made from records.

    ``value`` and ``half_width`` are the number that the ledger shows. ``parts`` and ``controls``
    are the comparisons by name; a part that stands alone has the empty name. ``settings`` are the
    chapter's knobs, ``default_settings`` says whether they are those of the ledger, and ``beside``
    what is known of the row at those. ``why`` says which control failed, ``finding`` is one
    sentence: what holds, what does not, where.
    """

    chapter: str
    id: str
    verdict: str
    value: float
    half_width: float
    parts: dict[str, Comparison]
    controls: dict[str, Comparison]
    settings: dict[str, Any]
    default_settings: bool
    why: str = ""
    finding: str = ""
    beside: str = ""

    def line(self) -> str:
        """Write the line that a chapter shows: ``id · verdict · value ± half-width  (reason)``.

        It says where the settings are not the ledger's, and then what was found at those.
        """
        own = "" if self.default_settings else AT_YOUR_SETTINGS
        number = format_value(self.value, self.half_width)
        reason = f"  ({self.why})" if self.why else ""
        return f"{own}{self.id} · {self.verdict} · {number}{reason}{self.beside}"

    def to_json(self) -> dict[str, Any]:
        """Return the record as an object of JSON, as it is kept in an executed chapter.

        Parts and controls are lists, because notebooks are written with sorted keys.
        """
        fields = asdict(self)
        for group in ("parts", "controls"):
            fields[group] = [{"name": name, **one} for name, one in fields[group].items()]
        return fields

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Record":
        """Read what :meth:`to_json` wrote; ``TypeError`` where it is no record's."""
        groups: dict[str, Any] = {"parts": {}, "controls": {}}
        for group, compared in groups.items():
            for one in map(dict, fields[group]):
                name = one.pop("name")
                compared[name] = Comparison(**one)
        return cls(**{**fields, **groups})


def display(record: Record) -> None:
    """Show a verdict as one output of its cell: a line for Jupyter, and the record for the site.

    Outside of a notebook the line is printed.
    """
    from IPython import get_ipython

    if get_ipython() is None:
        print(record.line())
        return
    from IPython.display import display

    data = {"text/plain": record.line(), VERDICT: record.to_json()}
    display(data, raw=True)  # type: ignore[no-untyped-call]


def glue_text(**values: object) -> None:
    """Glue values under their names for the page.

    After ``glue_text(slope="0.31")`` the prose shows the value by ``{glue:text}`slope```. Outside
    of a notebook, and without MyST-NB, which shows it, it does nothing.
    """
    from IPython import get_ipython

    if get_ipython() is None or find_spec("myst_nb") is None:
        return
    from myst_nb import glue

    for name, value in values.items():
        glue(name, value, display=False)


def record_of(output: Any) -> Record | None:
    """Return the record stored in an output of a cell, or None."""
    fields = output.get("data", {}).get(VERDICT)
    return None if fields is None else Record.from_json(fields)


def records(notebook: Any) -> dict[str, Record]:
    """Collect the records of an executed notebook by the rows' ids."""
    checks = map(record_of, _outputs(notebook))
    return {record.id: record for record in checks if record is not None}


def glued(notebook: Any) -> dict[str, Any]:
    """Collect the values that the cells of an executed notebook glued, by name."""
    values = {}
    for output in _outputs(notebook):
        name = output.get("metadata", {}).get("scrapbook", {}).get("name")
        text = output.get("data", {}).get(_GLUED)
        if name and text is not None:
            with suppress(ValueError, SyntaxError):
                text = ast.literal_eval(text)
            values[name] = text
    return values


def _outputs(notebook: Any) -> Iterator[Any]:
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield from cell.get("outputs", [])
