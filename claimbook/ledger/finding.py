"""The finding: one computed sentence a row, which says what holds, what does not, and where."""

import re
from collections.abc import Mapping, Sequence

from claimbook.ledger.comparison import CONTRADICTED, SUPPORTED, UNDECIDED, Comparison
from claimbook.ledger.lines import format_value
from claimbook.ledger.schema import Row

KINDS = re.compile(r"\brelu\b")  # chapters name a part by what the package calls its tasks
NAMED = 4  # parts that a sentence names before it counts the rest
WORDS = {SUPPORTED: "holds", CONTRADICTED: "does not hold", UNDECIDED: "is undecided"}


def finding_of(
    row: Row, parts: Mapping[str, Comparison], value: float, half_width: float, blunt: str
) -> str:
    """The finding of one row: what came out, and the number that is shown with its name.

    ``value`` and ``half_width`` are that number, the row's ``quantity`` its name; ``blunt`` says
    which control failed, and is empty where none did.
    """
    number = f"Measured: {format_value(value, half_width)} ({row.quantity})."
    return f"{what_came_out(parts, blunt)} {number}"


def what_came_out(parts: Mapping[str, Comparison], blunt: str = "") -> str:
    """What holds, what does not, and where, without the number.

    >>> from claimbook.ledger.comparison import greater
    >>> what_came_out({"affine": greater(2.0), "ReLU": greater(-1.0), "cosine": greater(1.0)})
    '2 of 3 parts hold. Contradicted: ReLU.'
    """
    if blunt:
        return f"This check cannot tell right from wrong: {blunt}."
    if len(parts) == 1:
        only = next(iter(parts.values()))
        return f"The statement {WORDS[only.outcome]}."
    groups = {
        outcome: [name for name, part in parts.items() if part.outcome == outcome]
        for outcome in WORDS
    }
    held = len(groups[SUPPORTED])
    if held == len(parts):
        return "Both parts hold." if held == 2 else f"All {held} parts hold."
    if len(groups[CONTRADICTED]) == len(parts):
        if len(parts) == 2:
            return "Neither part holds: both are contradicted."
        return f"None of the {len(parts)} parts holds: all are contradicted."
    if len(groups[UNDECIDED]) == len(parts):
        return f"All {len(parts)} parts are undecided."
    sentences = [f"{held} of {len(parts)} parts hold."]
    if groups[CONTRADICTED]:
        sentences.append(f"Contradicted: {_names(groups[CONTRADICTED])}.")
    if groups[UNDECIDED]:
        sentences.append(f"Undecided: {_names(groups[UNDECIDED])}.")
    return " ".join(sentences)


def readable(name: str) -> str:
    """The name of a part as one writes it.

    >>> readable("relu, d = 5")
    'ReLU, d = 5'
    """
    return KINDS.sub("ReLU", name)


def _names(names: Sequence[str]) -> str:
    shown = "; ".join(map(readable, names[:NAMED]))
    left = len(names) - NAMED
    return f"{shown}; and {left} more" if left > 0 else shown
