"""How often a true book would show a false verdict: the formula on the page, by simulation.

A book of 96 rows with 496 sampled parts. Every part's statement is exactly true at its margin: an
inequality's truth is its bound, an equality's the edge of its margin. Trials are Gaussian, rows and
parts independent, and the parts' degrees of freedom those of the book's usual numbers of trials.
"""

import math
from typing import NamedTuple

import pytest
import torch

from iclutils.book.ledger import FAILS, IN_PART, Record
from iclutils.book.ledger.alarms import FALSE_CONTRADICTION, false_alarm, sampled_parts
from iclutils.book.ledger.verdicts import verdict_of
from iclutils.ground.randomness import stream
from iclutils.ground.statistics import (
    CONTRADICTED,
    UNDECIDED,
    Estimate,
    equal,
    greater,
    mean_se,
    width,
)

MARGIN = 5.0  # of the equalities, in standard deviations of a trial


class Rows(NamedTuple):
    """Rows of one make: how many, of how many parts, each from ``trials`` trials."""

    count: int
    parts: int
    trials: int
    two_sided: bool


KINDS = [
    Rows(24, 1, 10, False),
    Rows(16, 6, 10, False),
    Rows(8, 18, 20, False),
    Rows(16, 4, 20, True),
    Rows(12, 2, 40, True),
    Rows(12, 8, 8, False),
    Rows(8, 6, 4, False),
]
BOOKS = 10_000
BATCH = 2_000


def judged(value, se, rows):
    """The comparison of one part, through the very functions that chapters call."""
    found = Estimate(value, se, rows.trials - 1)
    return equal(found, -MARGIN, tol=MARGIN) if rows.two_sided else greater(found)


class Seen(NamedTuple):
    """What a simulation counted."""

    parts: int  # contradicted parts
    verdicts: int  # rows that fail or hold in part
    books: int  # books with a contradicted part


@pytest.fixture(scope="module")
def simulated():
    """The truth is 0: the bound of the inequalities, the upper edge of the equalities.

    An inequality is contradicted on its lower side and an equality on its upper one, so that the
    latter's trials are turned before they are compared in bulk; what lies anywhere near to being
    contradicted is judged one by one.
    """
    generator = stream(0, "a true book")
    parts = 0
    verdicts = 0
    alarmed = torch.zeros(BOOKS, dtype=torch.bool)
    for rows in KINDS:
        for start in range(0, BOOKS, BATCH):
            shape = (rows.trials, BATCH, rows.count, rows.parts)
            trials = torch.randn(shape, generator=generator)
            value, se, dof = mean_se(trials)
            wrong_way = value if rows.two_sided else -value
            near = wrong_way > 0.9 * width(dof) * se
            for book, row in near.any(-1).nonzero().tolist():
                outcomes = [
                    judged(float(one), float(error), rows).outcome
                    for one, error in zip(value[book, row], se[book, row], strict=True)
                ]
                parts += outcomes.count(CONTRADICTED)
                verdicts += verdict_of(outcomes) in (FAILS, IN_PART)
                alarmed[start + book] |= CONTRADICTED in outcomes
    return Seen(parts, verdicts, int(alarmed.sum()))


def test_a_true_part_is_contradicted_as_often_as_stated(simulated):
    """248 are expected of 4.96 million; 4 of the count's own standard deviations are allowed."""
    assert sum(rows.count for rows in KINDS) == 96
    sampled = sum(rows.count * rows.parts for rows in KINDS)
    assert sampled == 496
    expected = FALSE_CONTRADICTION * BOOKS * sampled
    assert abs(simulated.parts - expected) < 4 * math.sqrt(expected)


def test_a_true_book_contradicts_itself_as_often_as_the_page_says(simulated):
    """One book in 41 is expected, 245 of 10 000, and 4 standard deviations are allowed."""
    rate = false_alarm(496)
    assert 1 / rate == pytest.approx(41, abs=0.5)
    expected = BOOKS * rate
    assert abs(simulated.books - expected) < 4 * math.sqrt(expected * (1 - rate))


def test_false_verdicts_are_no_more_than_the_contradicted_parts(simulated):
    """A part among undecided ones leaves its row undecided, which accuses nobody."""
    assert 0 < simulated.verdicts < simulated.parts


def test_only_sampled_parts_can_err():
    noisy = greater(1.0, se=0.1, dof=9)
    exact = greater(1.0)
    record = Record("c", "r", "holds", 1, 0, {"a": noisy, "b": exact, "c": noisy}, {}, {}, True)
    assert sampled_parts([record, record]) == 4
    assert false_alarm(0) == 0
    assert judged(0.0, 0.1, KINDS[0]).outcome == UNDECIDED
