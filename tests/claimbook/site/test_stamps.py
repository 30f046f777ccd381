"""The stamp says what was done and no more: each of its cases."""

import pytest
from small_site import ORIGIN

from claimbook.site import stamps
from claimbook.site.stamps import Run

WHOLE = Run(stamps.COMPARED, 45.2, 0, ORIGIN)


def test_a_compared_run_is_stamped_with_everything():
    assert stamps.sentence(WHOLE) == (
        "The code of this page: run and compared with the reference values; "
        "commit abc1234567 (clean), environment 1a2b3c4d, "
        "master seed 0, 45 s on one core, 2026-11-21."
    )


@pytest.mark.parametrize(
    ("change", "reference", "own", "said"),
    [
        ({}, "r", True, stamps.COMPARED),
        ({"outcome": "disagrees"}, "r", True, stamps.DIFFERS),
        ({}, "edited since", True, stamps.OUTDATED),
        ({}, None, True, stamps.OUTDATED),
        ({"outcome": None, "reference": None}, "r", True, stamps.ONLY_RUN),
        ({}, "r", False, stamps.OWN_SETTINGS),
    ],
)
def test_a_run_is_called_compared_only_with_the_reference_that_stands_now(
    change, reference, own, said
):
    assert stamps.state(ORIGIN | change, reference, own) == said


def test_a_run_that_the_build_made_itself_has_no_origin():
    assert stamps.state({}, "r", True) == stamps.ONLY_RUN
    assert stamps.sentence(Run(stamps.ONLY_RUN, None, 0, {})) == (
        "The code of this page: run by make book and shown as it came out "
        "(make check also compares a run with the reference values); "
        "commit not recorded, environment not recorded, "
        "master seed 0, not timed."
    )


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
    dirty = Run(stamps.ONLY_RUN, None, 3, ORIGIN | {"clean": False, "date": "2026-11-20"})
    mixed = stamps.summary([WHOLE, WHOLE, dirty, Run()])
    assert mixed == (
        "The chapters' code: 2 run and compared with the reference values; "
        "1 run by make book and shown as it came out "
        "(make check also compares a run with the reference values); "
        "1 not run; commit abc1234567 (clean) and commit abc1234567 (with uncommitted changes), "
        "environment 1a2b3c4d, master seed 0 and 3, 90 s on one core (1 not timed), "
        "2026-11-21 and 2026-11-20."
    )
