"""The check bites: a small book of its own, broken in every way that must turn a run red.

Sessions are shared, since each one starts Python and a kernel a page: one book holds a sound page
and one for every kind of damage. The pages draw their numbers without torch, for which every kernel
would wait.
"""

import re

import nbformat
import pytest
import yaml
from small_book import EXPECTED, MEAN, SOUND, Book

from claimbook.ledger import amendments, load
from claimbook.runs import notebooks

# 60 steps of the logistic map: each doubles a change, 10⁻¹³ at the start is all of it at the end
CHAOS = """\
import torch
x = torch.rand((), dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
for _ in range(60):
    x = 4 * x * (1 - x)
[round(float(x), 3)]"""


def weaker(rows):
    """Hold a mean to a wider margin, with a control that is no other statement than its part."""
    rows[0]["parts"] = "= 0 ± 30"
    rows[0]["controls"]["shifted"]["condition"] = "= 9 ± 0.3"
    rows[1]["controls"]["all"]["condition"] = "> 1"
    return rows


def rows_of(book):
    return book.root / "tests" / "rows.txt"


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """One session over a sound page and others with every damage that a run can show.

    Damage that shows in different tests of a page shares one. Two workers run them; the page that
    only waits keeps the other worker free. The book has what was said when its pages were run
    (``cells``), compared and written (``compared``, ``written``).
    """
    book = Book(tmp_path_factory.mktemp("damaged"))

    def insert(code):
        return [("count = int(", f"{code}\ncount = int(")]

    book.chapter(SOUND, expected=[("0.01", "9.99")])  # it is written anew below
    # cells are marked so that nbval would excuse them; they fail all the same
    failing = "# NBVAL_SKIP\n__import__('fractions').Fraction(1, 0)"
    excused = f"hide-input, skip-execution, nbval-skip, raises-exception]\n{failing}"
    book.chapter("01_raises", text=[("hide-input]\ncount", f"{excused}\ncount")])
    verdict = ("count, verdict: holds", "count, verdict: fails")
    book.chapter("02_empty", text=[("2912 + seed", "2912")], expected=[verdict], rows=weaker)
    shown = [  # faults of what the page shows; others are of what it is held to
        ('{"none": count}', '{"none": -1}'),
        ("[len(draws) % 393]", "[len(draws) % 392]"),
        ('f"{mean.value:.2f}")', 'f"{2 + mean.value:.2f}", more="1")'),
    ]
    book.chapter("03_values", text=shown, expected=[("0.01, h", "0.53, h")])
    unchecked = ('ledger.check(\n    "rows-count"', 'dict(a=\n    "rows-count"')
    other = [unchecked, ('{"none":', 'b={"none":')]
    book.chapter("04_rows", text=other, expected=[(MEAN.replace("mini-", "rows-"), "")])
    stray = insert('print("a table")\nimport warnings; warnings.warn("careful")')
    book.chapter("05_stray", text=[*stray, ("trials = 400", "trials = 500")])
    book.chapter("10_slow", text=insert("import time; time.sleep(600)"))
    book.chapter("11_dies", text=insert("import os; os._exit(3)"))
    exec(CHAOS.rpartition("\n")[0], scope := {"seed": 0})
    ends = ("7", str(round(float(scope["x"]), 3)))
    book.chapter("06_chaos", text=[("[len(draws) % 393]", CHAOS)], expected=[ends])
    book.write()
    book.notes = amendments.notes_of(load(book.root / "book" / "claims.yml"))
    amendments.note_first_run(
        {"mini-mean": book.notes["mini-mean"]._replace(words="o")}, rows_of(book)
    )
    workers = ("-n", "2", "--no-loadscope-reorder")  # the cells of a page stay together
    book.cells, code, output = book.run("--nbval-cell-timeout", "25", *workers)
    assert code == 1, output
    book.written = book.python("-m", "claimbook.check.snapshot", SOUND, "01_raises")
    book.compared, code, output = book.compare()
    assert code == 1, output
    return book


def test_a_sound_page_is_green_and_any_damage_makes_one_of_the_two_sessions_red(damaged):
    cells, compared = damaged.cells, damaged.compared
    assert cells[SOUND] == {f"cell{number}": "" for number in range(1, 6)}
    sound = ("claim[mini-mean]", "claim[mini-count]", f"page[{SOUND}]")
    assert not any(compared[f"test_{test}"] for test in sound)
    failed = {page for page, tests in cells.items() if any(tests.values())}
    assert failed == {"01_raises", "10_slow", "11_dies"}
    assert failed == set(damaged.stale())
    run = damaged.root / "_build" / "runs" / f"{SOUND}.ipynb"
    nbformat.validate(nbformat.read(run, 4))


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("01_raises", r"ZeroDivisionError: Fraction\(1, 0\)"),
        ("10_slow", "Timeout of 25 seconds exceeded"),
        ("11_dies", "the kernel died"),
    ],
)
def test_a_page_that_is_not_green_says_why_and_leaves_no_run(damaged, page, message):
    error = damaged.cells[page]["cell5"]
    assert re.search(message, error, re.DOTALL | re.MULTILINE), error
    assert "\x1b" not in error
    assert len(error.splitlines()) < 25, error  # the report has them twice
    own = page.partition("_")[2]
    assert f"make chapter NAME={page}" in damaged.compared[f"test_claim[{own}-mean]"]


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("claim[values-mean]", r"moved 2\.48 times as far .*\s+found     holds · 0\.01"),
        ("claim[values-count]", r"part 'none': moved .*supported · 0 < 1\n.*supported · -1 <"),
        ("page[03_values]", r"output 1, line 1: moved .*\n  expected  \[7\]\n  found     \[8\]"),
        ("page[03_values]", "told more: found, but not in tests/expected: 1"),
        ("claim[empty-mean]", "= 0 to within 0.3\n  found .* = 0 to within 30"),
        ("page[02_empty]", r"control .all. \(0 > 1\) only negates the part .none. \(0 < 1\)"),
        ("page[04_rows]", "rows-count: this row of book/claims.yml has no check"),
        ("claim[rows-mean]", "found, but not in tests/expected: holds"),
        ("claim[rows-count]", "expected, but not found: holds"),
        ("page[05_stray]", "printed by a folded cell: cell 5: a table"),
        ("page[05_stray]", "a cell wrote to stderr: cell 5: .*careful"),
        ("page[05_stray]", "at your settings"),
    ],
)
def test_damage_is_named(damaged, test, message):
    error = damaged.compared[f"test_{test}"]
    assert re.search(message, error, re.DOTALL), error


def test_references_are_written_from_a_whole_run_and_rows_are_noted_in_their_first(damaged):
    """A note is of the row as it was written then, and stays."""
    assert damaged.written.returncode == 1
    assert "01_raises: not written: it has no run that is current" in damaged.written.stdout
    assert yaml.safe_load(damaged.expected(SOUND).read_text()) == yaml.safe_load(EXPECTED)
    assert "# What" not in damaged.expected("01_raises").read_text()
    notes = amendments.read(rows_of(damaged))
    assert notes["mini-mean"].words == "o"
    assert notes["mini-count"] == damaged.notes["mini-count"]
    assert "raises-mean" in notes
    assert "raises-count" not in notes  # its cell failed before


def test_a_run_at_other_settings_names_what_moved_and_is_compared_with_nothing(damaged):
    before = notebooks.latest(damaged.path(SOUND), damaged.root)
    path = damaged.expected(SOUND)
    text = path.read_text()
    path.write_text(text.replace("count, verdict: holds", "count, verdict: fails"))
    _, code, output = damaged.run("--set=trials=900", chapters=[SOUND], write=False)
    path.write_text(text)
    assert code == 0, output
    assert f"{SOUND}, trials=900 (default 400): 2 claims" in output
    assert re.search(r"mini-mean · holds · .* \(default: holds · 0\.01 ± 0\.21\)\n", output)
    moved = "(default: fails · 0)\n    moved: No normal draw is larger than ten.\n"
    assert f"at your settings: mini-count · holds · 0  {moved}" in output
    assert "no verdict moved" not in output
    assert notebooks.latest(damaged.path(SOUND), damaged.root) == before
    _, code, output = damaged.run("--set=trials=1", chapters=[SOUND], write=False)
    assert code != 0
    assert "trials must be a whole number from 2 to 1000; got 1" in output
    assert len(output.splitlines()) < 12, output


def test_a_perturbed_run_names_what_is_chaotic_and_is_not_cached(damaged):
    paths = {page: damaged.path(page) for page in (SOUND, "06_chaos")}
    before = [notebooks.latest(path, damaged.root) for path in paths.values()]
    cells, code, output = damaged.run("--variants=perturbed:2", chapters=paths, write=False)
    assert code == 1, output
    failed = [page for page, tests in cells.items() if any(tests.values())]
    assert failed == ["06_chaos.md@perturbed:2"]
    assert "page: output 1, line 1: moved " in cells[failed[0]]["cell5"]
    assert [notebooks.latest(path, damaged.root) for path in paths.values()] == before
    for page in paths:
        assert (damaged.root / "_build" / "portability" / f"{page}@perturbed:2.yml").exists()


def test_other_seeds_are_compared_noted_and_what_they_leave_alone_is_named(damaged):
    """A verdict that changes is red; so is a sampled value that does not hang on the seed."""
    pages = [SOUND, "02_empty"]
    cells, code, output = damaged.run("--master-seeds=1 2", chapters=pages, write=False)
    assert code == 1, output
    assert not any(cells[f"{SOUND}.md@seed=1"].values())
    empty = cells["02_empty.md@seed=1"]["cell5"]
    assert re.search(r"empty-mean, the headline: 0\.0.* did not move", empty)
    assert "empty-count: the verdict changed from 'fails' to 'holds'" in empty
    notes = amendments.read(rows_of(damaged))
    assert notes["mini-mean"].seeds == ("1", "2")
    assert notes["empty-count"].seeds == ("1!", "2!")
