"""Records are read as they were written: sweeps, and what authors published with its source."""

import hashlib

import pytest

from claimbook import read_record
from claimbook.files import RECORDED

CHECKSUMS = {  # of the numbers as they were compared with the authors' repository
    "fit_ends": "71e8268fc63c649b3904aa70b87e64eb",
    "linear_double_descent": "84d759917c0ec4b244205138a46537a9",
    "linear_layer": "33f901c621f05d02ceb9b47122b6c242",
    "linear_task_diversity": "51cd0e189a7a714014aef95e4d090211",
    "narrow_double_descent": "6fc89b18334999f6c190d7ae1bb36591",
    "narrow_task_diversity": "53a78a0a855a5c168fb69091f61ad832",
    "transformers": "56ff9d1075b61e787a2c05d69a8ec9d7",
    "transformers_practised": "c17ed7a26261a003d4575430463cf867",
    "wide_double_descent": "03c24893f84ef0799e762d6735a48ceb",
}


def test_the_numbers_of_the_authors_are_those_that_they_published():
    """Nothing is fetched: who corrects a file compares it with the commit that it names, again."""
    files = (RECORDED / "authors").glob("*.json")
    found = {path.stem: hashlib.sha256(path.read_bytes()).hexdigest()[:32] for path in files}
    assert found == CHECKSUMS


def test_a_record_is_read_or_named(tmp_path):
    file = tmp_path / "authors" / "layer.json"
    file.parent.mkdir()
    file.write_text('{"rows": [{"x": 2}]}')
    assert read_record("authors/layer", tmp_path)["rows"] == [{"x": 2}]
    with pytest.raises(FileNotFoundError, match=r"circles\.json is missing; .* are authors/layer"):
        read_record("circles", tmp_path)
    file.write_text("{")
    with pytest.raises(ValueError, match=r"layer\.json is no JSON"):
        read_record("authors/layer", tmp_path)
