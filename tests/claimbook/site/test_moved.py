"""Places that have moved: the list is sound, and a page carries the way to them."""

from types import SimpleNamespace

from claimbook.files import ROOT
from claimbook.site.aids import moved


def test_every_page_of_the_list_is_there_and_no_place_moves_on():
    found = moved.moved()
    for page, places in found.items():
        assert (ROOT / f"{page}.md").exists(), page
        for target in places.values():
            there, _, name = target.partition("#")
            assert (ROOT / f"{there}.md").exists(), target
            assert name not in found.get(there, {}), f"{target} has moved on"


def test_a_target_may_leave_out_what_stays_the_same(tmp_path):
    path = tmp_path / "moved.yml"
    path.write_text('a:\n  one: b\n  two: b#three\n  four: "#five"\n', encoding="utf8")
    assert moved.moved(path) == {"a": {"one": "b#one", "two": "b#three", "four": "a#five"}}


def test_only_a_page_that_has_lost_a_place_carries_the_script(monkeypatch):
    monkeypatch.setattr(moved, "moved", lambda: {"x/a": {"one": "x/b#one", "two": "x/a#three"}})
    scripts = []
    app = SimpleNamespace(
        builder=SimpleNamespace(get_relative_uri=lambda here, there: f"{there[2:]}.html"),
        add_js_file=lambda name, body: scripts.append(body),
    )
    moved.lead_on(app, "x/b", {}, SimpleNamespace())
    assert scripts == []
    moved.lead_on(app, "x/a", {}, SimpleNamespace())
    (script,) = scripts
    assert script.endswith('({"one": "b.html#one", "two": "#three"});')
