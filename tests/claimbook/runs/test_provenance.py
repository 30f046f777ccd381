"""A run says where it comes from, with git and without."""

import subprocess

from claimbook.runs import provenance


def git(where, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(where), *who, *arguments], check=True, capture_output=True)


def test_a_commit_is_clean_only_where_nothing_differs(tmp_path, monkeypatch):
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
    monkeypatch.setenv("PATH", str(tmp_path))  # without git
    assert provenance.commit(tmp_path) == (None, None)
