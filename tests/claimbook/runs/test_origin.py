"""The stamp says what was done and no more: each of its cases."""

import shutil
import subprocess
from pathlib import Path

import pytest
from small_site import ORIGIN

from claimbook.runs import origin
from claimbook.runs.origin import Run

ROOT = Path(__file__).resolve().parents[3]

WHOLE = Run(origin.COMPARED, 45.2, 0, ORIGIN)
git_here = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(where, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(where), *who, *arguments], check=True, capture_output=True)


def test_a_compared_run_is_stamped_with_everything():
    assert origin.sentence(WHOLE) == (
        "The code of this page: run and compared with the reference values; "
        "commit abc1234567 (clean), environment 1a2b3c4d, "
        "master seed 0, 45 s on one core, 2026-11-21."
    )


@pytest.mark.parametrize(
    ("change", "reference", "own", "said"),
    [
        ({}, "r", True, origin.COMPARED),
        ({"outcome": "disagrees"}, "r", True, origin.DIFFERS),
        ({}, "edited since", True, origin.OUTDATED),
        ({}, None, True, origin.OUTDATED),
        ({"outcome": None, "reference": None}, "r", True, origin.ONLY_RUN),
        ({}, "r", False, origin.OWN_SETTINGS),
    ],
)
def test_a_run_is_called_compared_only_with_the_reference_that_stands_now(
    change, reference, own, said
):
    assert origin.state(ORIGIN | change, reference, own) == said


def test_a_run_that_the_build_made_itself_has_no_origin():
    assert origin.state({}, "r", True) == origin.ONLY_RUN
    assert origin.sentence(Run(origin.ONLY_RUN, None, 0, {})) == (
        "The code of this page: run by make book and shown as it came out "
        "(make check also compares a run with the reference values); "
        "commit not recorded, environment not recorded, "
        "master seed 0, not timed."
    )


def test_no_run_and_no_chapters_are_said():
    assert origin.sentence(Run()) == "The code of this page was not run."
    assert origin.summary([Run(), Run()]) == "The chapters' code: all 2 not run."
    assert origin.summary([]) == "The book has no chapters yet."


def test_the_other_pages_sum_up_the_chapters():
    assert origin.summary([WHOLE, WHOLE]).startswith(
        "The chapters' code: all 2 run and compared with the reference values; "
        "commit abc1234567 (clean), environment"
    )
    assert "90 s on one core" in origin.summary([WHOLE, WHOLE])
    dirty = Run(origin.ONLY_RUN, None, 3, ORIGIN | {"clean": False, "date": "2026-11-20"})
    mixed = origin.summary([WHOLE, WHOLE, dirty, Run()])
    assert mixed == (
        "The chapters' code: 2 run and compared with the reference values; "
        "1 run by make book and shown as it came out "
        "(make check also compares a run with the reference values); "
        "1 not run; commit abc1234567 (clean) and commit abc1234567 (with uncommitted changes), "
        "environment 1a2b3c4d, master seed 0 and 3, 90 s on one core (1 not timed), "
        "2026-11-21 and 2026-11-20."
    )


@git_here
def test_commit_is_clean_only_where_nothing_differs(tmp_path):
    git(tmp_path, "init", "-q")
    assert origin.commit(tmp_path) == (None, None)  # no commit yet
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "a")
    head, clean = origin.commit(tmp_path)
    assert len(head) == 10
    assert clean
    (tmp_path / "a").write_text("2")
    assert origin.commit(tmp_path) == (head, False)
    git(tmp_path, "add", "a")
    assert origin.commit(tmp_path) == (head, False)
    git(tmp_path, "reset", "-q", "--hard")
    assert origin.commit(tmp_path) == (head, True)
    (tmp_path / "b").touch()  # not yet known to git
    assert origin.commit(tmp_path) == (head, False)
    assert (
        origin.commit_words({"commit": head, "clean": False})
        == f"commit {head} (with uncommitted changes)"
    )


@git_here
def test_a_folder_inside_another_checkout_does_not_take_its_commit(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "a")
    (tmp_path / "unpacked").mkdir()
    assert origin.commit(tmp_path / "unpacked") == (None, None)


def test_without_git_the_stamp_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    here = origin.now(ROOT)
    assert (here["commit"], here["clean"]) == (None, None)
    assert "no commit (not a git checkout)" in origin.sentence(WHOLE._replace(origin=ORIGIN | here))


def test_the_environment_is_the_interpreter_and_the_lock(tmp_path, monkeypatch):
    shutil.copy(ROOT / "requirements.lock", tmp_path)
    here = origin.environment(ROOT)
    assert origin.environment(tmp_path) == here
    with (tmp_path / "requirements.lock").open("a") as lock:
        lock.write("one-more==1.0\n")
    assert origin.environment(tmp_path) != here
    monkeypatch.setattr(origin.platform, "python_version", lambda: "3.11.0")
    assert origin.environment(ROOT) != here
