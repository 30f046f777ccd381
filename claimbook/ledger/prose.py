"""What a chapter's run hands to its page: verdicts, and numbers for the prose."""

from collections.abc import Iterable, Mapping
from typing import Any

from claimbook.ledger.comparison import (
    CONTRADICTED,
    SUPPORTED,
    UNDECIDED,
    Comparison,
    Estimate,
)

VERDICT = "application/vnd.iclutils.verdict+json"  # a record's MIME type


def show(line: str, record: Mapping[str, Any]) -> None:
    """Show a verdict as one output of its cell: a line for Jupyter, and the record for the site.

    Outside of a notebook the line is printed.
    """
    from IPython import get_ipython

    if get_ipython() is None:
        print(line)
        return
    from IPython.display import display

    display({"text/plain": line, VERDICT: dict(record)}, raw=True)  # type: ignore[no-untyped-call]


def glue_text(**values: object) -> None:
    """Glue values under their names for the page.

    After ``glue_text(slope="0.31")`` the prose shows the value by ``{glue:text}`slope```. Outside
    of a notebook it does nothing.
    """
    from IPython import get_ipython

    if get_ipython() is None:
        return
    from myst_nb import glue

    for name, value in values.items():
        glue(name, value, display=False)


def count_outcomes(comparisons: Mapping[str, Comparison]) -> str:
    """How many comparisons were supported, contradicted and undecided, as a phrase.

    >>> from claimbook.ledger.comparison import greater
    >>> count_outcomes({"a": greater(1.0), "b": greater(-1.0)})
    '1 of 2 supported, 1 contradicted'
    """
    found = [comparison.outcome for comparison in comparisons.values()]
    rest = [f"{found.count(name)} {name}" for name in (CONTRADICTED, UNDECIDED) if name in found]
    return ", ".join([f"{found.count(SUPPORTED)} of {len(found)} {SUPPORTED}", *rest])


def count_signs(estimates: Iterable[Estimate]) -> str:
    """How many estimates rise above zero, fall below it, or cannot be told from it, as a phrase.

    >>> from claimbook.ledger.comparison import Measured
    >>> count_signs([Measured(1.0), Measured(-1.0), Measured(1.0, 5.0)])
    '1 of 3 rises, 1 falls, 1 undecided'
    """
    found = list(estimates)
    up = sum(one.value > one.half_width for one in found)
    down = sum(one.value < -one.half_width for one in found)
    rest = len(found) - up - down
    rises = f"{up} of {len(found)} {'rises' if up == 1 else 'rise'}"
    falls = [f"{down} {'falls' if down == 1 else 'fall'}"] if down else []
    undecided = [f"{rest} undecided"] if rest else []
    return ", ".join([rises, *falls, *undecided])
