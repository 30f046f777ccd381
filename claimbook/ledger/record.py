"""What one check found, as the page, the scorecard and the tests need it; and as JSON keeps it."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from claimbook.ledger.comparison import Comparison
from claimbook.ledger.lines import AT_YOUR_SETTINGS, format_value

MEASURED = ("value", "half_width")


@dataclass(frozen=True)
class Record:
    """What one check found; the page, the scorecard and the tests are all made from records.

    ``value`` and ``half_width`` are the number that the ledger shows; a row that was not tested has
    none. ``parts`` and ``controls`` are the comparisons by name; a part that stands alone has the
    empty name. ``settings`` are the chapter's knobs, and ``default_settings`` says whether they are
    those of the ledger. ``finding`` is one sentence: what holds, what does not, where.
    """

    chapter: str
    id: str
    verdict: str
    value: float | None
    half_width: float | None
    parts: dict[str, Comparison]
    controls: dict[str, Comparison]
    settings: dict[str, Any]
    default_settings: bool
    why: str = ""
    finding: str = ""

    def line(self) -> str:
        """The one line that a chapter shows: ``id · verdict · value ± half-width  (reason)``.

        It says first where the settings are not the ledger's.
        """
        own = "" if self.default_settings else AT_YOUR_SETTINGS
        words = [self.id, self.verdict]
        if self.value is not None:
            words.append(format_value(self.value, self.half_width or 0.0))
        reason = f"  ({self.why})" if self.why else ""
        return own + " · ".join(words) + reason

    def to_json(self) -> dict[str, Any]:
        """The record as an object of JSON, as it is kept in an executed chapter.

        Parts and controls are lists, because notebooks are written with sorted keys. JSON has no
        infinity and no NaN: where a part or control measured one, it is the text that Python's
        ``float`` reads (``"inf"``).
        """
        fields = asdict(self)
        for group in ("parts", "controls"):
            named = fields[group].items()
            fields[group] = [{"name": name, **found, **_measured(found)} for name, found in named]
        return fields

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Record":
        """The record that :meth:`to_json` wrote; ``TypeError`` where it is no record's."""
        groups = {}
        for group in ("parts", "controls"):
            groups[group] = {found["name"]: _comparison(**found) for found in fields[group]}
        return cls(**{**fields, **groups})


def _measured(fields: Mapping[str, Any]) -> dict[str, float | str]:
    """What was measured as JSON has it: numbers, or the text of one that is not finite."""
    numbers = {field: fields[field] for field in MEASURED}
    return {field: one if math.isfinite(one) else str(one) for field, one in numbers.items()}


def _comparison(name: str, **fields: Any) -> Comparison:
    """A comparison from its fields as JSON has them, but for its name."""
    measured = {field: float(fields[field]) for field in MEASURED}
    return Comparison(**{**fields, **measured})
