"""What a card of a row says, held to the row's record: for the small site and the whole one."""

import math
import re
from collections.abc import Mapping
from typing import Any

from bs4 import Tag

from claimbook.ledger import Record, format_value
from claimbook.ledger.comparison import (
    CONTRADICTED,
    SUPPORTED,
    UNDECIDED,
    Comparison,
    Measured,
    outcome_of,
)
from claimbook.site.verdicts.interval import WIDTH, headline
from claimbook.site.words import LEGIBLE

SIGNS = {
    "holds": "✓",
    "holds in part": "◐",
    "fails": "✗",
    "undecided": "?",
    "not testable": "–",
}
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
POWER = re.compile(r"(?<=[\d)])e([+-]\d+)\b")
NAUGHT = re.compile(r"(?<![\w.])[-−](?=0(?:\.0+)?(?![.\d]))")
ONE = re.compile(r"(?<![\w.])1 · 10")
HIGH = re.compile(r"\^\(([^()]*)\)")
PIXEL = 0.25  # two places, each to a tenth of a pixel
OUTCOMES = {SUPPORTED: "✓", CONTRADICTED: "✗", UNDECIDED: "?"}
HOW = {  # the fields of a row that its card shows as they are written, by their labels
    "Kind": "kind",
    "Statistic": "statistic",
    "Tolerance from": "tolerance",
    "Note": "note",
    "Let stand by the audit": "audit",
}
CHANGED = re.compile(r"(\d{4}−\d\d−\d\d): (.*?); because: (.*)")
RELU = re.compile(r"\brelu\b")  # a part's name in the package's words, shown in the reader's
MARKS_OF_MARKDOWN = re.compile(r"\$[^$]*\$|\{[\w:]+\}`[^`]*`|[*_`'\"]+")
LOGARITHMS = {"log of ": math.e, "log₁₀ of ": 10.0}
MARKS = {"clear": "", "mangled": "damaged text", "illegible": "illegible text"}


def said(node: Tag | None) -> str:
    assert node is not None
    return " ".join(node.get_text().split())


def number(record: Record) -> str:
    if record.value is None:
        return "no value"
    return format_value(record.value, record.half_width or 0.0)


def in_line(text: str) -> str:
    """As a page shows it: −4.8 · 10⁻⁴; what stands low or high without its sign."""
    text = POWER.sub(lambda power: f" · 10{str(int(power[1])).translate(RAISED)}", text)
    text = ONE.sub("10", NAUGHT.sub("", text)).replace("-", "−")
    return " ".join(HIGH.sub(r"\1", text).replace("^", "").replace("_", "").split())


def read(node: Tag | None) -> str:
    return in_line(said(node))


def number_in_line(record: Record, quantity: str) -> str:
    """The number with its half-width; of a logarithm the factor, with the ends of its interval."""
    if record.value is None:
        return "no value"
    base = next((base for word, base in LOGARITHMS.items() if quantity.startswith(word)), None)
    if base is None:
        return in_line(number(record))
    half_width = record.half_width or 0.0
    ends = (record.value, record.value - half_width, record.value + half_width)
    share = (half_width or abs(record.value)) * math.log(base)
    digits = 3 if share >= 0.01 else 1 + math.ceil(-math.log10(share))  # so that the ends differ
    factors = [math.exp(end * math.log(base)) for end in ends]
    middle, low, high = (in_line(f"{one:#.{digits}g}".rstrip(".")) for one in factors)
    return middle if low == high else f"{middle}, from {low} to {high}"


def check_reservation(node: Tag | None, record: Record) -> None:
    """What does not hold of a claim stands beside its verdict, unless the verdict says it all."""
    outcomes = [part.outcome for part in record.parts.values()]
    said_by_the_verdict = len(outcomes) == 1 or set(outcomes) == {SUPPORTED}
    assert (node is None) == (said_by_the_verdict and not record.why)
    if node is not None:
        assert said(node)
        assert in_line(record.finding).startswith(read(node))


def check_badge(node: Tag, verdict: str) -> None:
    badge = node.select_one(".verdict")
    assert said(badge) == f"{SIGNS[verdict]} {verdict}"
    assert badge is not None
    assert badge["class"] == ["verdict", f"verdict-{verdict.replace(' ', '-')}"]


def check_comparison(text: str, part: Comparison) -> None:
    assert in_line(format_value(part.value, part.half_width)) in text
    assert in_line(part.against) in text


def check_card(card: Tag, record: Record, row: Mapping[str, Any]) -> None:
    """Badge, mark of the reading, finding, number, parts and controls."""
    head = card.select_one(".claim-head")
    assert head is not None
    check_badge(head, record.verdict)
    mark = head.select_one(".reading")
    reading = row["source"].get("reading", "clear")
    assert (said(mark) if mark else "") == MARKS[reading]
    finding = read(card.select_one(".claim-finding"))
    own = "" if record.default_settings else " (at your settings)"
    assert finding.endswith(own)
    assert in_line(record.finding).startswith(finding.removesuffix(own))
    assert finding
    facts = {said(line.dt): line.dd for line in card.select("dl.claim-facts > div")}
    assert read(facts["Measured"]).endswith(f": {in_line(number(record))}{own}")
    check_parts(facts["Parts"], record)
    check_controls(card, record, row)


def check_line(line: Tag, record: Record, row: Mapping[str, Any]) -> None:
    """A verdict in place: badge, mark of the reading, claim, number with its sign, picture."""
    check_badge(line, record.verdict)
    mark = line.select_one(".reading")
    assert (said(mark) if mark else "") == MARKS[row["source"].get("reading", "clear")]
    own = "" if record.default_settings else " (at your settings)"
    assert read(line.select_one(".line-claim")) == in_line(row["brief"] + own)
    check_reservation(line.select_one(".line-finding"), record)
    shown = line.select_one(".line-number")
    assert (read(shown) if shown else "no value") == number_in_line(record, row["quantity"])
    held = headline(record)
    drawn = line.select_one("svg.interval")
    assert (drawn is None) == (held is None)
    if drawn is not None and held is not None:
        check_picture(drawn, held)


def check_picture(svg: Tag, part: Comparison) -> None:
    """The band holds the dot where the value is one that was allowed; the bar has its length."""
    band, bar, dot = (svg.select_one(name) for name in ("rect.band", "line", "circle"))
    assert band is not None
    assert bar is not None
    assert dot is not None
    place = float(str(dot["cx"]))
    edges = float(str(band["x"])), float(str(band["x"])) + float(str(band["width"]))
    if min(abs(place - edge) for edge in edges) > PIXEL:
        exact = outcome_of(part.test, Measured(part.value), part.bound, part.margin)
        assert (edges[0] < place < edges[1]) == (exact == SUPPORTED)
    ends = float(str(bar["x1"])), float(str(bar["x2"]))
    assert ends[0] <= place <= ends[1]
    if part.two_sided:
        apart, drawn = 2 * part.margin, edges[1] - edges[0]
    else:
        apart = abs(part.value - part.bound)
        drawn = min(abs(place - edge) for edge in edges if 0 < edge < WIDTH)
    # lengths are drawn in the ratio of the numbers, each rounded to a tenth of a pixel
    assert abs((ends[1] - ends[0]) * apart - 2 * part.half_width * drawn) <= PIXEL * (
        apart + 2 * part.half_width
    )


def check_how(card: Tag, row: Mapping[str, Any]) -> None:
    """How the row is judged and what our copy is worth: every field that it has, in its words."""
    facts = {said(line.dt): read(line.dd) for line in card.select("dl.claim-facts > div")}
    for label, field in HOW.items():
        assert (label in facts) == bool(row.get(field)), (row["id"], label)
        if label in facts:
            check_words(facts[label], str(row[field]))
    conditions = row.get("parts", "none")
    listed = [conditions] if isinstance(conditions, str) else conditions.values()
    assert all(in_line(condition) in facts["Criterion"] for condition in listed), row["id"]
    changes = [read(item) for item in card.select("li") if CHANGED.match(read(item))]
    for text, change in zip(changes, row.get("amended", []), strict=True):
        date, what, why = CHANGED.fullmatch(text).groups()  # type: ignore[union-attr]
        assert date == in_line(str(change["date"]))
        check_words(what, str(change["what"]))
        check_words(why.split(" (")[0], str(change["why"]).split(" (")[0])
    if row["source"]["document"] != "ours":
        reading = LEGIBLE[row["source"]["reading"]]
        assert said(card.select_one("p.claim-source")).endswith(f"The text is {reading}.")


def check_words(shown: str, written: str) -> None:
    """What is written in Markdown is shown: its words between formulas and marks, in order."""
    place = 0
    for piece in MARKS_OF_MARKDOWN.split(written):
        words = in_line(piece)
        assert words in shown[place:], (written, shown)
        place = shown.index(words, place) + len(words)


def check_parts(shown: Tag | None, record: Record) -> None:
    assert shown is not None
    items = [read(item) for item in shown.select("li")]
    assert len(items) == len(record.parts)
    for text, (name, part) in zip(items, record.parts.items(), strict=True):
        label = f"{RELU.sub('ReLU', name)}: " if name else ""
        assert text.startswith(f"{OUTCOMES[part.outcome]} {in_line(label)}")
        assert text.endswith(f"({part.outcome})")
        check_comparison(text, part)


def check_controls(card: Tag, record: Record, row: Mapping[str, Any]) -> None:
    """The controls stand in the order of the row, whatever that of the page's check."""
    shown = [read(node) for node in card.select(".control-result")]
    assert set(row["controls"]) == set(record.controls) or not record.controls
    measured = [record.controls[name] for name in row["controls"] if name in record.controls]
    for text, part in zip(shown, measured, strict=True):
        check_comparison(text, part)
        assert part.outcome in text


def check_history(
    card: Tag, record: Record, row: Mapping[str, Any], seeds: Mapping[str, str]
) -> None:
    """The verdict that was expected, and those of other master seeds: on the ledger page."""
    facts = {said(line.dt): line.dd for line in card.select("dl.claim-facts > div")}
    expected = row["expected"]
    other = "" if expected == record.verdict else f"; found otherwise: {record.verdict}"
    assert said(facts["Expected before measuring"]) == expected + other
    text = said(facts["Other master seeds"])
    for seed, verdict in seeds.items():
        assert seed in text
        assert verdict in text
    assert seeds or text == "none recorded"
