"""A small ledger for the tests of this folder, whole or damaged."""

import copy

import pytest
import yaml

from claimbook.ledger import Ledger

CONDITION = "= 1 ± 0.5"
WRONG = {"wrong": {"kind": "wrong", "what": "w", "condition": CONDITION}}


def row(id, **changes):
    source = {"document": "ours", "place": "p"}
    said = {"id": id, "source": source, "brief": "It falls.", "statement": "s"}
    plain = said | {"kind": "identity", "statistic": "s"}
    judged = {"parts": {"*": CONDITION}, "tolerance": "t", "quantity": "the mean"}
    judged |= {"expected": "holds"}
    return plain | judged | {"controls": WRONG} | changes


PRINTED = {"document": "paper", "place": "Figure 1", "reading": "clear", "printed": "It falls."}
KINDS = {
    "null": {"kind": "null", "what": "no effect", "condition": CONDITION},
    "right": {"kind": "right", "what": "the corrected formula", "condition": CONDITION},
    "wrong": {"kind": "wrong", "what": "a wrong formula", "condition": CONDITION},
}
BOOK = {
    "documents": {
        "ours": {"title": "T", "kind": "book", "version": "1"},
        "paper": {"title": "P", "kind": "paper", "version": "1"},
    },
    "chapters": {
        "00_mini": {
            "settings": {"seed": 0, "n": 10},
            "claims": [
                row("a"),
                row("b", kind="limit", expected="fails"),
                row("k", source=PRINTED, controls=KINDS),
            ],
        }
    },
}


@pytest.fixture
def write(tmp_path):
    """Write a damaged copy of BOOK and return its path."""

    def write(damage=lambda data: None):
        data = copy.deepcopy(BOOK)
        damage(data)
        path = tmp_path / "claims.yml"
        path.write_text(yaml.safe_dump(data), encoding="utf8")
        return path

    return write


@pytest.fixture
def ledger(write):
    return Ledger("00_mini", path=write(), seed=0, n=10)
