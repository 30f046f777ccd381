"""The mutation test: a row's trials are drawn again, and its verdict must follow.

The audit (:mod:`iclutils.book.ledger.audit`) reasons about a row's comparisons. This goes the way
from the trials on: as many Gaussian trials as stand behind a comparison, as scattered as the
measured ones, are drawn about a value at which its statement is false, or true, and estimated,
compared and judged by the functions that judged the row. A number that was computed and not sampled
is moved to that value.

It sees a verdict that does not follow the numbers, and a row with too few trials: one whose
statement, exactly true, would often be left undecided. It does not see whether the quantity itself
could take the value at which the statement is false, a square below zero, say; for that a row has
its controls.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch

from iclutils.book.ledger.audit import false_values, true_value
from iclutils.book.ledger.schema import HOLDS, NOT_TESTABLE, RIGHT, Row
from iclutils.book.ledger.verdicts import Record, judgement
from iclutils.ground.randomness import stream
from iclutils.ground.statistics import (
    CONTRADICTED,
    SUPPORTED,
    Comparison,
    Estimate,
    equal,
    estimate,
    greater,
    less,
    width,
)
from iclutils.ground.statistics.comparisons import EQUAL, GREATER

DRAWS = 40  # of the trials of a comparison whose statement is true
ENOUGH = 0.8  # the share of them in which it has to be supported

Group = Mapping[str, Comparison]


def drawn(found: Comparison, mean: float, generator: torch.Generator) -> Comparison:
    """The comparison of new trials about ``mean``, as many and as scattered as the measured ones.

    Degrees of freedom that are no whole number, of a difference or a slope, are rounded.
    """
    sample = _sample(found, mean, generator)
    if found.test == EQUAL:
        return equal(sample, found.bound, tol=found.margin)
    return (greater if found.test == GREATER else less)(sample, found.bound)


def _sample(found: Comparison, mean: float, generator: torch.Generator) -> Estimate:
    if not found.half_width:
        return Estimate(mean, 0.0, math.inf)
    if found.dof is None:  # the standard error is known, as that of a share
        se = found.half_width / width(math.inf)
        error = se * float(torch.randn((), generator=generator, dtype=torch.float64))
        return Estimate(mean + error, se, math.inf)
    trials = max(2, round(found.dof) + 1)
    spread = found.half_width / width(found.dof) * math.sqrt(trials)
    noise = torch.randn(trials, generator=generator, dtype=torch.float64)
    return estimate(mean + spread * noise)


def unmoved(record: Record, row: Row) -> list[str]:
    """Where a row's verdict does not follow its trials, one sentence each; empty where it does.

    >>> slope = {"slope": equal(0.3, 0.25, tol=0.1, se=0.02, dof=19)}
    >>> controls = {"wrong": equal(0.3, 1.0, tol=0.1, se=0.02, dof=19)}
    >>> record = Record("c", "r", "holds", 0.3, 0.1, slope, controls, {}, True)
    >>> row = {"id": "r", "controls": {"wrong": {"kind": "wrong", "what": "slope 1"}}}
    >>> unmoved(record, row)
    ["the part 'slope', drawn true, is supported in 21 of 40 draws of its trials: take more"]
    """
    generator = stream(0, "mutation", record.id)
    true = {name: _exactly(found, true_value(found)) for name, found in record.parts.items()}
    return [
        *_too_few_trials(record.parts, generator),
        *_parts_do_not_count(record, row, true, generator),
        *_controls_do_not_count(record, row, true, generator),
    ]


def _too_few_trials(parts: Group, generator: torch.Generator) -> Iterator[str]:
    """An inequality is drawn true once, and far from its bound; an equality may be too noisy.

    What was contradicted in spite of its noise has shown that its trials are enough.
    """
    for name, found in parts.items():
        if found.outcome == CONTRADICTED:
            continue
        draws = DRAWS if found.two_sided else 1
        again = (drawn(found, true_value(found), generator) for _ in range(draws))
        supported = sum(one.outcome == SUPPORTED for one in again)
        if supported < ENOUGH * draws:
            often = f"{supported} of {draws} draws of its trials"
            yield f"the part '{name}', drawn true, is supported in {often}: take more"


def _parts_do_not_count(
    record: Record, row: Row, true: Group, generator: torch.Generator
) -> Iterator[str]:
    """Where every part is true the row must hold; where one is drawn false it must not."""
    controls = _as_they_must(record, row)
    verdict = judgement(row, true, controls).verdict
    if record.parts and verdict != HOLDS:
        yield f"the row is '{verdict}' where every part is true"
    for name, found in record.parts.items():
        for value in false_values(found):
            turned = drawn(found, value, generator)
            verdict = judgement(row, {**true, name: turned}, controls).verdict
            if turned.outcome != CONTRADICTED or verdict == HOLDS:
                where = f"its trials drawn about {value:.4g}, where it is false"
                yield f"the part '{name}' with {where}, is {turned.outcome}, the row '{verdict}'"


def _controls_do_not_count(
    record: Record, row: Row, true: Group, generator: torch.Generator
) -> Iterator[str]:
    """A control that does what it must not makes the row not testable."""
    controls = _as_they_must(record, row)
    for name, found in record.controls.items():
        kind = row["controls"][name]["kind"]
        for value in false_values(found) if kind == RIGHT else [true_value(found)]:
            turned = drawn(found, value, generator)
            verdict = judgement(row, true, {**controls, name: turned}).verdict
            if record.parts and verdict != NOT_TESTABLE:
                yield f"the {kind} control '{name}', drawn about {value:.4g}, leaves '{verdict}'"


def _as_they_must(record: Record, row: Row) -> Group:
    """The controls with numbers at which each does what its kind demands."""
    told = {}
    for name, found in record.controls.items():
        right = row["controls"][name]["kind"] == RIGHT
        told[name] = _exactly(found, true_value(found) if right else false_values(found)[0])
    return told


def _exactly(found: Comparison, value: float) -> Comparison:
    """The comparison of ``value``, had it no noise."""
    return replace(found, half_width=0.0, dof=None).at(value)
