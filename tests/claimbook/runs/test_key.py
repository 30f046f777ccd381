"""A page's key: what changes it, and what leaves it alone."""

import copy
import shutil
from pathlib import Path

import pytest
import torch
import yaml

from claimbook.files import write_atomically
from claimbook.ledger import Ledger
from claimbook.ledger.audit import audit
from claimbook.runs import cache, code, key
from iclutils.ground import statistics

ROOT = Path(__file__).resolve().parents[3]
MINI = ROOT / "tests" / "fixtures" / "mini" / "book"
SOUND = "00_mini"
CELLS = ["import torch\nfrom iclutils.one import f", "seed = 0"]
TOWERS = ("window", "regression", "stages")
READ = {"figures", "files", "ledger", "runs"}  # the checker and the site run no page again
PACKAGE = {
    "iclutils/__init__.py": "",
    "iclutils/one.py": "from iclutils.deep import inner\ndef f():\n    from iclutils import late\n",
    "iclutils/late.py": '"""Late."""\n',
    "iclutils/deep/__init__.py": "from . import beside\n",
    "iclutils/deep/beside.py": "",
    "iclutils/deep/inner.py": "from ..far import away\n",
    "iclutils/deep/other.py": "",
    "iclutils/far.py": "away = 1\n",
    "iclutils/recorded.py": "from claimbook.runs import records\n",
    "claimbook/__init__.py": "",
    "claimbook/runs/__init__.py": "",
    "claimbook/runs/records.py": "",
    "book/recorded/a.json": "1",
    "book/recorded/b.json": "2",
    "book/recorded/seeds.json": "3",
    "book/recorded/authors/c.json": "4",
    "requirements.lock": "torch==1\n",
}


@pytest.fixture
def root(tmp_path):
    """A package of a few modules, a few records and the small chapter's ledger."""
    for name, text in PACKAGE.items():
        write_atomically(tmp_path / name, text)
    shutil.copy(MINI / "claims.yml", tmp_path / "book")
    return tmp_path


def ledger(root):
    return yaml.safe_load((root / key.CLAIMS).read_text(encoding="utf8"))


def edit(data, place, value):
    for step in place[:-1]:
        data = data[step]
    data[place[-1]] = value


BLOCK = ("chapters", SOUND)
ROW = (*BLOCK, "claims", 0)


@pytest.mark.parametrize(
    ("place", "runs_again"),
    [
        ((*ROW, "brief"), False),
        ((*ROW, "statement"), False),
        ((*ROW, "statistic"), False),
        ((*ROW, "tolerance"), False),
        ((*ROW, "amended"), False),
        ((*ROW, "source", "printed"), False),
        ((*ROW, "controls", "shifted", "what"), False),
        (("documents", "ours", "title"), False),
        (("chapters", "01_another"), False),
        ((*BLOCK, "settings", "trials"), True),
        ((*BLOCK, "knobs", "trials", "low"), True),
        ((*BLOCK, "knobs", "seed", "recorded"), False),
        ((*ROW, "id"), True),
        ((*ROW, "expected"), True),
        ((*ROW, "quantity"), True),
        ((*ROW, "note"), False),  # of a row that is tested
        ((*ROW, "audit"), True),
        ((*ROW, "superseded_by"), True),
        ((*ROW, "parts"), True),
        ((*ROW, "controls", "shifted", "kind"), True),
        ((*ROW, "controls", "shifted", "condition"), True),
        ((*ROW, "a field that nobody knows yet"), True),
    ],
)
def test_only_what_a_run_uses_of_the_ledger_is_in_the_key(root, place, runs_again):
    before = key.page_key(SOUND, CELLS, root)
    data = ledger(root)
    edit(data, place, "changed")
    (root / key.CLAIMS).write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf8")
    assert (key.page_key(SOUND, CELLS, root) != before) == runs_again


def test_the_reason_why_a_row_is_not_tested_is_what_its_run_finds(root):
    keys = set()
    for note in ("It would take a year.", "It would take two years."):
        data = ledger(root)
        data["chapters"][SOUND]["claims"][0] |= {"expected": "not testable", "note": note}
        (root / key.CLAIMS).write_text(yaml.safe_dump(data), encoding="utf8")
        keys.add(key.page_key(SOUND, CELLS, root))
    assert len(keys) == 2


@pytest.mark.parametrize("field", ["superseded_by", "audit"])
def test_of_some_fields_a_run_asks_only_whether_they_are_there(root, field):
    keys = []
    for written in ({}, {field: "One reason."}, {field: "Another reason."}):
        data = ledger(root)
        data["chapters"][SOUND]["claims"][0] |= written
        (root / key.CLAIMS).write_text(yaml.safe_dump(data), encoding="utf8")
        keys.append(key.page_key(SOUND, CELLS, root))
    assert keys[0] != keys[1] == keys[2]


def test_a_text_that_is_only_set_in_another_way_leaves_the_key(root):
    before = key.page_key(SOUND, CELLS, root)
    for width in (40, 200):
        text = yaml.safe_dump(ledger(root), width=width, sort_keys=width == 40)
        (root / key.CLAIMS).write_text(text, encoding="utf8")
        assert key.page_key(SOUND, CELLS, root) == before


def test_a_check_reads_no_field_that_the_key_leaves_out():
    """Record and audit are the same where the rows have nothing else."""
    whole = Ledger(SOUND, path=MINI / "claims.yml", seed=0, trials=400)
    bare = copy.copy(whole)
    bare.rows = {row["id"]: row for row in key.used({"claims": [*whole.rows.values()]})["claims"]}
    bare.records = {}
    assert not any(key.WORDS & set(row) for row in bare.rows.values())
    mean = statistics.estimate(torch.linspace(-1, 1, 40).double())
    for book in (whole, bare):
        book.check("mini-mean", mean, controls={"shifted": mean})
    assert whole.records == bare.records
    found = whole.records["mini-mean"]
    assert audit(found, whole.rows[found.id]) == audit(found, bare.rows[found.id])


@pytest.mark.parametrize(
    ("name", "runs_again"),
    [
        ("iclutils/__init__.py", True),
        ("iclutils/one.py", True),
        ("iclutils/deep/__init__.py", True),  # the package of a module
        ("iclutils/deep/inner.py", True),
        ("iclutils/deep/beside.py", True),  # imported in the package
        ("iclutils/far.py", True),  # imported from two packages above
        ("iclutils/late.py", True),  # imported inside a function
        ("iclutils/data.txt", True),  # no module, but in a package that is imported
        ("iclutils/deep/other.py", False),
        ("iclutils/recorded.py", False),
        ("claimbook/runs/records.py", False),
        ("book/recorded/a.json", False),
        ("requirements.lock", True),
    ],
)
def test_only_the_code_that_a_page_reaches_is_in_its_key(root, name, runs_again):
    before = key.page_key(SOUND, CELLS, root)
    with (root / name).open("a") as file:
        file.write('"""A docstring."""\n')
    assert (key.page_key(SOUND, CELLS, root) != before) == runs_again


def test_another_page_has_other_modules(root):
    other = ["from iclutils.deep.other import g"]
    before = [key.page_key(SOUND, cells, root) for cells in (CELLS, other)]
    (root / "iclutils/one.py").write_text('"""Another docstring."""\n')
    after = [key.page_key(SOUND, cells, root) for cells in (CELLS, other)]
    assert after[0] != before[0]
    assert after[1] == before[1]


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("from iclutils import one", []),
        ("from iclutils import recorded", []),
        ("from iclutils import recorded\nx = recorded.read('a')['jobs']", ["a"]),
        ("from iclutils import recorded\nrecorded.table(recorded.read('b'), [])", ["b"]),
        ("from iclutils import recorded\nrecorded.published('c')", ["authors/c"]),
        ("from iclutils import recorded\nf(recorded=1)  # recorded", []),
        ("from iclutils import recorded\nrecorded = 1", None),
        ("from iclutils import recorded as recorded\nrecorded.read('b')", None),
        ("from iclutils import recorded\nrecorded.read(name)", None),
        ("from iclutils import recorded\n[*map(recorded.read, names)]", None),
        ("from iclutils import recorded\nf(recorded)", None),
        ("from iclutils import recorded as r\nr.read('a')", None),
        ("from iclutils.recorded import read\nread('a')", None),
        ("import iclutils.recorded\niclutils.recorded.read('a')", None),
        ("from iclutils import recorded\nimport iclutils\niclutils.recorded.read('a')", None),
        ("from claimbook.runs.records import read\nread('a')", None),
        ("%time 1", None),  # no plain Python: who knows
    ],
)
def test_the_records_of_a_page_are_those_that_it_names(root, cell, found):
    """All of them (None) where they cannot be told, and never the verdicts under other seeds."""
    names = ["a", "authors/c", "b"] if found is None else found
    expected = sorted(root / key.RECORDED / f"{name}.json" for name in names)
    assert key.records_read([cell], root) == expected
    before = key.page_key(SOUND, [cell], root)
    (root / key.SEEDS_FILE).write_text("changed")
    assert key.page_key(SOUND, [cell], root) == before
    for path in expected:
        path.write_text("changed")
        assert key.page_key(SOUND, [cell], root) != before
        before = key.page_key(SOUND, [cell], root)


def test_the_interpreter_is_in_the_key(root, monkeypatch):
    before = key.page_key(SOUND, CELLS, root)
    monkeypatch.setattr(code.platform, "python_version", lambda: "3.11.0")
    assert key.page_key(SOUND, CELLS, root) != before


@pytest.mark.parametrize(
    "name",
    [
        "one.py~",
        ".#one.py",
        "#one.py#",
        ".one.py.swp",
        ".ipynb_checkpoints/one-checkpoint.py",
        "__pycache__/one.pyc",
        ".a.json.123",
    ],
)
def test_what_an_editor_or_a_killed_writer_leaves_makes_nothing_stale(root, name):
    cells = ["from iclutils import one, recorded\nrecorded.read(one.f())"]
    before = key.page_key(SOUND, cells, root), key.inputs(root)
    for folder in ("iclutils", "iclutils/deep", "book/recorded"):
        write_atomically(root / folder / name, "two\n")
    assert (key.page_key(SOUND, cells, root), key.inputs(root)) == before


def test_the_site_reads_its_pages_again_for_a_word_of_the_ledger(root):
    before = key.inputs(root)
    data = ledger(root)
    edit(data, (*ROW, "brief"), "Another word.")
    (root / key.CLAIMS).write_text(yaml.safe_dump(data), encoding="utf8")
    assert key.inputs(root) != before


@pytest.mark.parametrize("name", cache.toc_chapters())
def test_no_page_of_the_book_is_run_again_for_the_checker_the_site_or_a_tower_it_leaves_out(name):
    cells = cache.code_of(cache.read_chapter(cache.chapter_path(name)))
    reached = code.reached(cells, ROOT)
    assert "claimbook.ledger.verdicts" in reached
    rooms = {module.split(".")[1] for module in reached if module.startswith("claimbook.")}
    assert rooms <= READ, f"of the machinery a page reads {', '.join(sorted(READ))}"
    towers = {tower for tower in TOWERS if f"iclutils.{tower}" in reached}
    assert towers == {tower for tower in TOWERS if f"iclutils.{tower}" in "\n".join(cells)}
