"""What a run found about one row of the ledger, or about one chapter: the fills of its card."""

from collections.abc import Sequence

from docutils.nodes import Element, Node

from claimbook.ledger import Record
from claimbook.ledger.comparison import CONTRADICTED, SUPPORTED, UNDECIDED
from claimbook.ledger.text import comparison_text, readable, what_came_out
from claimbook.site import stamps
from claimbook.site.nodes import badge, spaced, tag
from claimbook.site.page import Page
from claimbook.site.results import value_text
from claimbook.site.stamps import NOT_RUN
from claimbook.site.verdicts.counts import damaged, given
from claimbook.site.words import HAPPENED

OUTCOME_SIGNS = {SUPPORTED: "✓", CONTRADICTED: "✗", UNDECIDED: "?"}
OWN_SETTINGS = " (at your settings)"


def record_of(page: Page, node: Element) -> Record:
    """What was found about the row that a place names."""
    return page.content.results.record(node["chapter"], node["claim"])


def verdict(page: Page, node: Element) -> Sequence[Node | str]:
    """The verdict as a badge."""
    return [badge(record_of(page, node).verdict)]


def finding(page: Page, node: Element) -> Sequence[Node | str]:
    """The sentence that says what holds, what does not, and where."""
    record = record_of(page, node)
    if not record.parts:
        return [record.finding]
    own = "" if record.default_settings else OWN_SETTINGS
    return [what_came_out(record.parts, record.why), own]


def value(page: Page, node: Element) -> Sequence[Node | str]:
    """The value, and whether the settings are the book's."""
    record = record_of(page, node)
    own = "" if record.default_settings else OWN_SETTINGS
    return [value_text(record) + own]


def expected(page: Page, node: Element) -> Sequence[Node | str]:
    """The verdict that was expected, and what was found where it is another."""
    found = record_of(page, node).verdict
    wanted = page.content.entries[node["claim"]].row["expected"]
    if found not in (wanted, NOT_RUN):
        return [f"{wanted}; found otherwise: {found}"]
    return [wanted]


def seeds(page: Page, node: Element) -> Sequence[Node | str]:
    """The verdicts under other master seeds."""
    found = page.content.results.seeds.get(node["claim"], {})
    if not found:
        return ["none recorded"]
    different = set(found.values())
    if len(different) == 1:
        return [f"{different.pop()} for seeds {', '.join(found)}"]
    return ["; ".join(f"seed {seed}: {verdict}" for seed, verdict in found.items())]


def parts(page: Page, node: Element) -> Sequence[Node | str]:
    """Each comparison that the verdict is made of."""
    record = record_of(page, node)
    if not record.parts:
        return ["none"]
    items = []
    for name, part in record.parts.items():
        outcome = part.outcome
        label = f"{readable(name)}: " if name else ""
        text = f"{OUTCOME_SIGNS[outcome]} {label}{comparison_text(part)} ({outcome})"
        items.append(tag("li", text))
    return [tag("ul", *items)]


def control(page: Page, node: Element) -> Sequence[Node | str]:
    """What a control gave, and whether that is what its kind demands."""
    record = record_of(page, node)
    if node["control"] not in record.controls:
        return []
    found = record.controls[node["control"]]
    row = page.content.entries[node["claim"]].row
    kind = row["controls"][node["control"]]["kind"]
    happened = HAPPENED[kind, found.outcome]
    return [tag("span", f"→ {comparison_text(found)}: {happened}", classes=["control-result"])]


def place(page: Page, node: Element) -> Sequence[Node | str]:
    """The chapter of a row, and how long that takes to run."""
    chapter = node["chapter"]
    address = page.to_chapter(chapter, node["claim"])
    link = tag("a", page.content.headings[chapter], href=address)
    taken = page.content.results.run(chapter).seconds
    if taken is None:
        return [link]
    return [link, f" (the whole chapter: {taken:.0f} s on one core)"]


def counts(page: Page, node: Element) -> Sequence[Node | str]:
    """How many rows of a chapter have each verdict, and where they are."""
    listed = page.content.results.cards(node["chapter"])
    scored = [one for one in page.content.scored if one.chapter in (node["chapter"], listed)]
    found = [one.record.verdict for one in scored]
    badges = [badge(verdict, counted(found.count(verdict), verdict)) for verdict in given(scored)]
    if badges and listed != node["chapter"]:
        second = tag("a", "its second page", href=f"{page.to_chapter(listed)}#the-verdicts")
        where = ("of the claims on this page and on ", second, ", which lists them all.")
        badges.append(tag("span", *where))
    resting = len(damaged(scored))
    if resting:
        rest = "rests" if resting == 1 else "rest"
        of_these = f"Of those that do not hold in full, {resting} {rest} on words "
        badges.append(tag("span", f"{of_these}that our copy of the source shows badly."))
    return spaced(badges) or [NOT_RUN]


def counted(count: int, verdict: str) -> str:
    """So many rows with a verdict, in words.

    >>> counted(1, "holds"), counted(3, "holds in part"), counted(2, "undecided")
    ('1 holds', '3 hold in part', '2 undecided')
    """
    plural = {"holds": "hold", "fails": "fail"}
    first, _, rest = verdict.partition(" ")
    said = first if count == 1 else plural.get(first, first)
    return f"{count} {said} {rest}".rstrip()


def validation(page: Page, node: Element) -> Sequence[Node | str]:
    """What the stamp says of a chapter's run, in its card."""
    run = page.content.results.run(node["chapter"])
    said = run.state
    if run.state != NOT_RUN:
        commit, environment, _, _, *date = stamps.details([run])
        python = f" (Python {run.origin['python']})" if "python" in run.origin else ""
        said += f"; {', '.join([commit, environment + python, *date])}"
    words = page.to_page("book/downloads") + "#last-validated"
    return [said, " (", tag("a", "what this says", href=words), ")"]


def seed(page: Page, node: Element) -> Sequence[Node | str]:
    """The master seed of a chapter's run."""
    used = page.content.results.run(node["chapter"]).seed
    return [NOT_RUN if used is None else str(used)]


def seconds(page: Page, node: Element) -> Sequence[Node | str]:
    """How long a chapter's run took."""
    taken = page.content.results.run(node["chapter"]).seconds
    return ["not timed" if taken is None else f"{taken:.0f} s on one core"]
