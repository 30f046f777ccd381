"""The line that a checked claim prints: how it is written, read back and compared.

A line reads ``id · verdict · value ± half-width``, or without ``±`` where the number was computed
and not sampled. A row without a number has none, and a reason may follow: ``id · not testable
(why)``. The lines of a chapter whose knobs are turned begin with :data:`AT_YOUR_SETTINGS`.
``tests/expected`` holds the lines of the book as it stands.
"""

import math
import re
from dataclasses import dataclass

from iclutils.book.ledger.schema import ID, VERDICTS

AT_YOUR_SETTINGS = "at your settings: "
ROUNDING = 1e-12  # below it a computed number is zero
EXACT_TOLERANCE = 1e-3  # of a computed number, relative: another machine rounds differently
EXACT_ZERO = 1e-10  # the same where the number is rounding itself: a hundred times ROUNDING
COUNTS = 1e7  # below it a whole number is shown with all its digits
HALF_WIDTH_FACTOR = 1.5  # an error bar that has grown further would hide a wrong value

_NUMBER = r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf)"
_LINE = re.compile(
    rf"(?P<id>{ID.pattern}) · (?P<verdict>{'|'.join(sorted(VERDICTS, key=len, reverse=True))})"
    rf"(?: · (?P<open>\()?(?P<value>{_NUMBER})(?: ± (?P<half>{_NUMBER}))?"
    r"(?(open)\)e(?P<power>[-+]\d+)))?"
    r"(?:  \((?P<why>.*)\))?"
)


@dataclass(frozen=True)
class Line:
    """One printed claim, read back; ``text`` is the line without its reason."""

    id: str
    verdict: str
    value: float | None
    half_width: float | None
    text: str

    def __str__(self) -> str:
        return self.text


def format_value(value: float, half_width: float) -> str:
    """A number with its half-width: two digits of the half-width, the value to the same place.

    A number that was computed and not sampled has the half-width 0, or one far below its last
    digit; it is shown to five digits, a count with all of them, and one at the level of rounding as
    0. From 1e5 and below 1e-3 the power of ten of a measured number is set apart.

    >>> format_value(0.3312, 0.012)
    '0.331 ± 0.012'
    >>> format_value(12, 0), format_value(1.00447213, 0), format_value(2e-17, 0)
    ('12', '1.0045', '0')
    >>> format_value(3.21e-7, 1.2e-8)
    '(3.21 ± 0.12)e-07'
    """
    if is_exact(value, half_width):
        return _exact(value)
    power = math.floor(math.log10(max(abs(value), half_width)))
    scale = power if power >= 5 or power <= -4 else 0
    value = value / 10.0**scale
    half_width = half_width / 10.0**scale
    places = max(0, 1 - math.floor(math.log10(half_width)))
    body = f"{value:.{places}f} ± {half_width:.{places}f}"
    return f"({body})e{scale:+03d}" if scale else body


def _exact(value: float) -> str:
    if abs(value) < ROUNDING:
        return "0"
    is_count = abs(value) < COUNTS and float(value).is_integer()
    return f"{value:.0f}" if is_count else f"{value:.5g}"


def is_exact(value: float, half_width: float) -> bool:
    """Whether a number is shown without its half-width, which no digit of it would show."""
    return half_width <= max(1e-6 * abs(value), ROUNDING)


def parse_line(text: object) -> Line:
    """Read a line of ``tests/expected``; number and reason may be absent.

    Raises ``ValueError`` for any other text, :data:`AT_YOUR_SETTINGS` before a line included.

    >>> parse_line("slope · holds · 0.331 ± 0.012").half_width
    0.012
    """
    match = _LINE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        wanted = f"'id · verdict · value ± half-width' with a verdict of {list(VERDICTS)}"
        raise ValueError(f"text must read {wanted}; got {text!r}")
    reason = match["why"]
    plain = match[0] if reason is None else match[0].removesuffix(f"  ({reason})")
    if match["value"] is None:
        return Line(match["id"], match["verdict"], None, None, plain)
    power = f"e{match['power']}" if match["power"] else ""
    value = float(match["value"] + power)
    half_width = 0.0 if match["half"] is None else float(match["half"] + power)
    return Line(match["id"], match["verdict"], value, half_width, plain)


_WRITTEN = re.compile(
    rf"(?P<open>\()?(?P<value>{_NUMBER})(?: ± (?P<half>{_NUMBER}))?(?(open)\)e(?P<power>[-+]\d+))"
)


def parse_number(text: str) -> tuple[float, float]:
    """A value and its half-width, as :func:`format_value` writes them.

    Raises ``ValueError`` for any other text.

    >>> parse_number("(3.21 ± 0.12)e-07"), parse_number("12")
    ((3.21e-07, 1.2e-08), (12.0, 0.0))
    """
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise ValueError(f"text must read 'value' or 'value ± half-width'; got {text!r}")
    power = f"e{match['power']}" if match["power"] else ""
    return float(match["value"] + power), float((match["half"] or "0") + power)


def parse_printed(text: str) -> Line:
    """Read a line as a chapter prints it, which :data:`AT_YOUR_SETTINGS` may precede.

    Raises ``ValueError`` where no claim is printed.
    """
    return parse_line(text.removeprefix(AT_YOUR_SETTINGS))


def disagreement(expected: Line, found: Line, *, verdict_only: bool = False) -> str:
    """What is wrong with ``found``, in words; empty where the lines agree.

    The verdict must be the same and the value within the expected half-width. The half-width itself
    may differ by :data:`HALF_WIDTH_FACTOR`. A computed number, which has none, must agree to
    :data:`EXACT_TOLERANCE`, and one that is 0 to :data:`EXACT_ZERO`. ``verdict_only`` leaves the
    numbers out, for other master seeds.
    """
    if found.verdict != expected.verdict:
        return f"the verdict changed from '{expected.verdict}' to '{found.verdict}'"
    if verdict_only:
        return ""
    if expected.value is None or expected.half_width is None:
        return "" if found.value is None else "one of the two lines has no value"
    if found.value is None or found.half_width is None:
        return "one of the two lines has no value"
    change = found.value - expected.value
    if expected.half_width == 0 or found.half_width == 0:
        return _exact_disagreement(expected, found)
    return _measured_disagreement(expected.half_width, found.half_width, change)


def _exact_disagreement(expected: Line, found: Line) -> str:
    if expected.half_width != found.half_width:
        return "one of the two values is computed and the other sampled"
    change = (found.value or 0.0) - (expected.value or 0.0)
    allowed = max(EXACT_TOLERANCE * abs(expected.value or 0.0), EXACT_ZERO)
    return "" if abs(change) <= allowed else f"the computed value changed by {change:+.3g}"


def _measured_disagreement(expected: float, found: float, change: float) -> str:
    gap = abs(change)
    if gap > expected:
        times = gap / expected
        return f"the value moved by {gap:.3g}, which is {times:.3g} times the expected ±"
    ratio = found / expected
    if not 1 / HALF_WIDTH_FACTOR <= ratio <= HALF_WIDTH_FACTOR:
        change_allowed = f"it may change by {HALF_WIDTH_FACTOR}"
        return f"the half-width changed by the factor {ratio:.3g}; {change_allowed}"
    return ""
