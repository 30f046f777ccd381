"""A small site, built again and again: no build leaves an old stamp standing."""

import time
from types import SimpleNamespace

import pytest
from killed import SIGNALS, end, started
from small_site import Site

from claimbook.site import state

STAMPED = "abc1234567 (clean), environment 1a2b3c4d, master seed 0, 45 s on one core, 2026-11-21"
DEADLINE = 300.0  # seconds


def kill_while_it_writes(site, number):
    """Begin a build, and end it by a signal."""
    process = started(site.command, site.root)
    end_of_patience = time.monotonic() + DEADLINE
    while "writing output" not in (site.root / "log").read_text():
        assert process.poll() is None, (site.root / "log").read_text()
        assert time.monotonic() < end_of_patience
        time.sleep(0.01)
    end(process, number)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Three builds on one folder, each after one change, by what it was.

    Between the first and the second, three are killed; the last of them has the second's results.
    """
    site = Site(tmp_path_factory.mktemp("site"))
    seen = {}
    site.ran()
    site.reference.unlink()
    seen["new"] = site.build()
    for change, number in zip(({"seconds": 1.0}, {"seconds": 2.0}, {}), SIGNALS, strict=True):
        site.ran(**change)
        kill_while_it_writes(site, number)
    seen["compared"] = site.build()
    site.reference.write_text(site.reference.read_text().replace("told: {}", "told: {a: '1'}"))
    site.note.unlink()  # as a build leaves it that is killed while it writes
    (site.html / "book/notes.html").write_text("half a page")
    seen["edited"] = site.build()
    return seen


@pytest.mark.parametrize(
    ("build", "words"),
    [
        ("new", "run; it has no reference values yet"),
        ("compared", "run and compared with"),
        ("edited", "found to differ from"),
    ],
)
def test_no_build_leaves_an_old_stamp_on_any_page(site, build, words):
    for name, text in site[build].pages.items():
        stamp = text.split("run-stamp")[1].split("</p>")[0]
        assert words in stamp, f"{name} after the build '{build}': {stamp}"
        assert STAMPED in stamp


def test_the_note_of_the_last_build_is_gone_until_this_one_has_ended(tmp_path, monkeypatch):
    """A build that is killed leaves none, even if the next one has the results of the last."""
    held = tmp_path / "site.json"
    made_of = {"results": "r", "files": {"book/downloads/a.ipynb": "1 kB", "book/ledger.csv": ""}}
    monkeypatch.setattr(state, "note", lambda app: held)
    monkeypatch.setattr(state, "content_of", lambda app: None)
    monkeypatch.setattr(state, "state_of", lambda content: made_of)
    pages = SimpleNamespace(found_docs={"intro", "book/chapters/a", "book/chapters/b"})
    everything = sorted(pages.found_docs)
    assert state.refresh(None, pages) == everything  # nothing is known
    assert not held.exists()
    state.note_state(None)
    assert state.refresh(None, pages) == []
    assert not held.exists()  # killed here
    assert state.refresh(None, pages) == everything
    state.note_state(None)
    made_of["files"] = dict.fromkeys(made_of["files"], "2 kB")
    assert state.refresh(None, pages) == ["book/chapters/a"]  # which says the size of its own
    state.note_state(None)
    made_of["results"] = "s"
    assert state.refresh(None, pages) == everything
