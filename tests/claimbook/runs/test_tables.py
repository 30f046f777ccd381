"""The rows of a record, laid out by their settings."""

import pytest

from claimbook.runs import tables


def test_table_lays_rows_out_by_axes():
    rows = [
        {"a": a, "t": t, "kind": kind, "y": 10.0 * a + t}
        for kind in "xy"
        for a in (2, 1)
        for t in (0, 1, 2)
    ]
    found = tables.table(rows, ["a", "t"], ["y"], kind="x")
    assert found[:, :, 0].tolist() == [[10, 11, 12], [20, 21, 22]]
    # results stand in the order in which they are asked for
    both = tables.table(rows, ["a", "t"], ["y", "t"], kind="x")
    assert both[..., 1].tolist() == [[0, 1, 2]] * 2
    assert both[..., 0].tolist() == [[10, 11, 12], [20, 21, 22]]
    # a result may be lists, of one shape
    many = [{**row, "sets": [[1.0, 2.0, row["y"]]] * 4} for row in rows]
    found = tables.table(many, ["a", "t"], ["sets"], kind="x")
    assert found.shape == (2, 3, 1, 4, 3)
    assert found[1, 2, 0, 3].tolist() == [1, 2, 22]
    with pytest.raises(ValueError, match="every combination"):
        tables.table(rows, ["a", "t"], ["y"])
    with pytest.raises(ValueError, match="every combination"):
        tables.table(rows[1:], ["a", "t"], ["y"], kind="x")
