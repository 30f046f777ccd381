"""A record is read as it was written, or named."""

import pytest

from claimbook import read_record


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
