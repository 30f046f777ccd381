"""The stamp says what was done and no more: each of its cases."""

from functools import partial

from nbformat import v4
from small_site import ORIGIN

from claimbook.check import snapshot
from claimbook.site import stamps
from claimbook.site.stamps import Run

WHOLE = Run(stamps.COMPARED, 45.2, 0, ORIGIN)


def test_a_compared_run_is_stamped_with_everything():
    assert stamps.sentence(WHOLE) == (
        "The code of this page: run and compared with the reference values; "
        "commit abc1234567 (clean), environment 1a2b3c4d, "
        "master seed 0, 45 s on one core, 2026-11-21."
    )


def test_a_run_is_compared_with_the_reference_that_stands_now(tmp_path, monkeypatch):
    for name in ("expected_path", "read_expected"):
        there = partial(getattr(snapshot, name), root=tmp_path)
        monkeypatch.setattr(stamps, name, there)
    cell = v4.new_code_cell("1", outputs=[v4.new_output("stream", name="stdout", text="1")])
    notebook = v4.new_notebook(cells=[cell])
    assert stamps.state("a", notebook, True) == stamps.NO_REFERENCE
    snapshot.write_expected("a", notebook, tmp_path)
    assert stamps.state("a", notebook, True) == stamps.COMPARED
    assert stamps.state("a", v4.new_notebook(), True) == stamps.DIFFERS
    assert stamps.state("a", notebook, False) == stamps.OWN_SETTINGS


def test_no_run_and_no_chapters_are_said():
    assert stamps.sentence(Run()) == "The code of this page was not run."
    assert stamps.summary([Run(), Run()]) == "The chapters' code: all 2 not run."
    assert stamps.summary([]) == "The book has no chapters yet."


def test_the_other_pages_sum_up_the_chapters():
    assert stamps.summary([WHOLE, WHOLE]).startswith(
        "The chapters' code: all 2 run and compared with the reference values; "
        "commit abc1234567 (clean), environment"
    )
    assert "90 s on one core" in stamps.summary([WHOLE, WHOLE])
    dirty = Run(stamps.NO_REFERENCE, None, 3, ORIGIN | {"clean": False, "date": "2026-11-20"})
    mixed = stamps.summary([WHOLE, WHOLE, dirty, Run()])
    assert mixed == (
        "The chapters' code: 2 run and compared with the reference values; "
        "1 run; it has no reference values yet; "
        "1 not run; commit abc1234567 (clean) and commit abc1234567 (with uncommitted changes), "
        "environment 1a2b3c4d, master seed 0 and 3, 90 s on one core (1 not timed), "
        "2026-11-21 and 2026-11-20."
    )
