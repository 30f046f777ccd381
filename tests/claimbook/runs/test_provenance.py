"""A run says where it comes from, with git and without."""

import subprocess
from datetime import UTC, datetime, timedelta

from towers import ROOT

from claimbook.runs import provenance
from claimbook.runs.page_key import digest


def git(where, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(where), *who, *arguments], check=True, capture_output=True)


def test_a_commit_is_clean_only_where_nothing_differs(tmp_path):
    git(tmp_path, "init", "-q")
    assert provenance.commit(tmp_path) == (None, None)  # no commit yet
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "a")
    head, clean = provenance.commit(tmp_path)
    assert (len(head), clean) == (10, True)
    (tmp_path / "inside").mkdir()
    assert provenance.commit(tmp_path / "inside") == (None, None)  # another's commit is not its own
    (tmp_path / "b").touch()  # not yet known to git
    assert provenance.commit(tmp_path) == (head, False)


def test_a_run_says_where_it_was_made_with_git_or_without(tmp_path, monkeypatch):
    here, now = provenance.here(ROOT), datetime.now(UTC)
    assert here["date"] in {(now - timedelta(minutes=late)).date().isoformat() for late in (0, 1)}
    assert set(here["versions"]) == {"torch", "numpy", "joblib"}
    assert here["machine"]
    assert here["environment"] == digest([], ROOT)[:8]  # of the interpreter and the lock
    assert provenance.version("no-such-package") == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.commit(ROOT) == (None, None)
