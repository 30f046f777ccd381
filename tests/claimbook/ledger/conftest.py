"""A small ledger for the tests of this folder, whole or damaged."""

import pytest
import yaml

from claimbook.ledger import Ledger

BOOK = """
documents:
  ours: {title: T, short: T, kind: book, version: '1', links: {}}
  paper: {title: P, short: P, kind: paper, version: '1', links: {}}
chapters:
  00_mini:
    settings: {seed: 0, n: 10}
    claims:
      - &row
        id: a
        source: {document: ours, place: p}
        brief: It falls.
        statement: s
        kind: identity
        statistic: s
        parts: {'*': = 1 ± 0.5}
        tolerance: t
        quantity: the mean
        expected: holds
        controls: {wrong: {kind: wrong, what: w, condition: = 1 ± 0.5}}
      - {<<: *row, id: b, kind: limit, expected: fails}
      - <<: *row
        id: k
        source: {document: paper, place: Figure 1, reading: clear, printed: It falls.}
        controls:
          'null': {kind: 'null', what: no effect, condition: = 1 ± 0.5}
          right: {kind: right, what: the corrected formula, condition: = 1 ± 0.5}
          wrong: {kind: wrong, what: a wrong formula, condition: = 1 ± 0.5}
"""


@pytest.fixture
def write(tmp_path):
    """Write BOOK with other values at some places, or none where a value is ``...``."""

    def write(changes=()):
        data = yaml.safe_load(BOOK)
        for place, value in dict(changes).items():
            *path, last = place.split(".")
            part = data
            for step in path:
                part = part[int(step) if isinstance(part, list) else step]
            part[last] = value
            if value is ...:
                del part[last]
        path = tmp_path / "claims.yml"
        path.write_text(yaml.safe_dump(data), encoding="utf8")
        return path

    return write


@pytest.fixture
def ledger(write):
    return Ledger("00_mini", path=write(), seed=0, n=10)
