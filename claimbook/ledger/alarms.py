"""How often a book whose statements are all true would contradict one of them.

A part that is true is contradicted only where its whole interval lies on the wrong side of its
bound. Student's interval for the mean of Gaussian trials does so with a probability of at most half
of its ``level`` (``[tool.claimbook]`` of ``pyproject.toml``), whatever the degrees of freedom:
exactly that where the truth lies on the bound, or an equality on the edge of its margin, and less
elsewhere. For a difference with few, unequal degrees of freedom it is more; the ledger's page has
the numbers. A number that was computed and not sampled does so never.
"""

from collections.abc import Iterable

from claimbook.files import settings
from claimbook.ledger.record import Record

FALSE_CONTRADICTION = settings().get("level", 1e-4) / 2  # of one sampled part, at most


def sampled_parts(records: Iterable[Record]) -> int:
    """How many parts of the rows were judged by a number with an error."""
    return sum(part.half_width > 0 for record in records for part in record.parts.values())


def false_alarm(parts: int) -> float:
    """The probability that at least one of so many independent true parts is contradicted.

    Of parts that hang together it is at most ``parts`` times the probability of one, which is
    nearly the same.

    >>> round(false_alarm(1), 8), round(false_alarm(1000), 4)
    (5e-05, 0.0488)
    """
    return float(1 - (1 - FALSE_CONTRADICTION) ** parts)
