"""A run says where it comes from, with git and without."""

import shutil
import subprocess
import time
from datetime import date

import pytest
from towers import ROOT

from claimbook.runs import provenance

git_here = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(where, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(where), *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path):
    git(tmp_path, "init", "-q")
    assert provenance.commit(tmp_path) == (None, None)  # no commit yet
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "a")
    return tmp_path


@git_here
def test_a_commit_is_clean_only_where_nothing_differs(checkout):
    head, clean = provenance.commit(checkout)
    assert len(head) == 10
    assert clean
    (checkout / "a").write_text("2")
    assert provenance.commit(checkout) == (head, False)
    git(checkout, "reset", "-q", "--hard")
    (checkout / "b").touch()  # not yet known to git
    assert provenance.commit(checkout) == (head, False)


@git_here
def test_a_folder_inside_another_checkout_does_not_take_its_commit(checkout):
    (checkout / "unpacked").mkdir()
    assert provenance.commit(checkout / "unpacked") == (None, None)


def test_without_git_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    here = provenance.here(ROOT)
    assert (here["commit"], here["clean"]) == (None, None)


def test_versions_machine_and_date_are_told():
    here = provenance.here(ROOT)
    today = date.fromtimestamp(time.time())
    assert abs(date.fromisoformat(here["date"]) - today).days <= 1  # midnight, time zones
    assert set(here["versions"]) == {"torch", "numpy", "joblib"}
    assert here["machine"]
    assert provenance.version("no-such-package") == ""


def test_the_environment_is_the_interpreter_and_the_lock(tmp_path):
    shutil.copy(ROOT / "requirements.lock", tmp_path)
    environment = provenance.here(ROOT)["environment"]
    assert provenance.here(tmp_path)["environment"] == environment
    with (tmp_path / "requirements.lock").open("a") as lock:
        lock.write("one-more==1.0\n")
    assert provenance.here(tmp_path)["environment"] != environment
