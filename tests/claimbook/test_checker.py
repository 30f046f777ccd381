"""The check bites: a small book of its own, broken in every way that must turn the run red.

Sessions are shared, since each one starts Python and a kernel per chapter: one book holds a sound
chapter and one for every kind of damage, and the tests read from its report what became of each.
The chapters draw their numbers without torch, for which every kernel would wait.
"""

import re

import pytest
import yaml
from small_book import EXPECTED, MEAN, SOUND, Book

from claimbook.ledger import amendments, load, outputs
from claimbook.runs import notebooks, provenance


def weaker(rows):
    """A mean held to a wider margin, and a control that is no other statement than its part."""
    rows[0]["parts"] = "= 0 ± 30"
    rows[0]["controls"]["shifted"]["condition"] = "= 9 ± 0.3"
    rows[1]["controls"]["all"]["condition"] = "> 1"
    return rows


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """One session over a sound chapter and others with every damage that a run can show.

    Damage that shows in different tests of a chapter shares one. Two workers run them, which have
    no terminal; the chapter that only waits keeps the other worker free.
    """
    book = Book(tmp_path_factory.mktemp("damaged"))
    book.chapter(SOUND)
    excused = "hide-input, skip-execution, nbval-skip, raises-exception]\n# NBVAL_SKIP\n1 / 0"
    marked = ("hide-input]\ncount = int(", f"{excused}\ncount = int(")  # it fails all the same
    book.chapter("01_raises", text=[marked])
    book.chapter("02_empty", text=[("2912 + seed", "2912")], rows=weaker)
    shown = [  # faults of what the page shows; others are of what it is held to
        ('{"none": count}', '{"none": -1}'),
        ("[len(draws) % 393]", "[len(draws) % 392]"),
        ('f"{mean.value:.2f}")', 'f"{2 + mean.value:.2f}", more="1")'),
    ]
    book.chapter("03_values", text=shown, expected=[("0.01, h", "0.53, h")])
    book.chapter(
        "04_rows",
        text=[
            ('ledger.check(\n    "rows-count"', 'dict(a=\n    "rows-count"'),
            ('{"none":', 'b={"none":'),
        ],
        expected=[(MEAN.replace("mini-", "rows-"), "")],
    )
    book.chapter(
        "05_stray",
        text=[
            (
                "count = int(",
                'print("a table")\nimport warnings; warnings.warn("careful")\ncount = int(',
            ),
            ("trials = 400", "trials = 500"),
        ],
    )
    book.chapter("10_slow", text=[("count = int(", "import time; time.sleep(600)\ncount = int(")])
    book.chapter("11_dies", text=[("count = int(", "import os; os._exit(3)\ncount = int(")])
    hidden = '__import__("importlib").import_module("claimbook.runs." + "provenance")'
    book.chapter("12_hidden", text=[("count = int(", f"{hidden}\ncount = int(")])
    workers = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
    found, code, output = book.run("--fill-cache", "--nbval-cell-timeout", "15", *workers)
    return book, found, code, output


def test_a_sound_chapter_is_green_and_any_damage_makes_the_session_red(damaged):
    _, found, code, output = damaged
    assert code == 1, output
    assert set(found[SOUND]) == {
        "cell1",
        "cell2",
        "cell3",
        "cell4",
        "cell5",
        "claim:mini-mean",
        "claim:mini-count",
        "page",
        "ledger",
    }
    assert not any(found[SOUND].values())
    red = {chapter for chapter, tests in found.items() if any(tests.values())}
    assert red == set(found) - {SOUND}
    assert len(found) == 9


@pytest.mark.parametrize(
    ("chapter", "test", "message"),
    [
        ("03_values", "claim:values-mean", r"moved by 0\.52, which is 2\.48 times the smaller ±"),
        ("03_values", "claim:values-mean", r"  holds · 0\.53 ± 0\.21\s+found     holds · 0\.01"),
        ("02_empty", "ledger", r"control .all. \(0 > 1\) only negates the part .none. \(0 < 1\)"),
        ("01_raises", "cell5", "ZeroDivisionError"),
        ("01_raises", "claim:raises-mean", "01_raises did not run through"),
        ("01_raises", "claim:raises-count", "01_raises did not run through"),
        ("01_raises", "ledger", "01_raises did not run through"),
        ("04_rows", "ledger", "rows-count: this row of book/claims.yml has no check"),
        ("04_rows", "ledger", "rows-mean: checked, but has no entry in tests/expected"),
        ("04_rows", "claim:rows-count", "rows-count: not checked by the chapter"),
        ("05_stray", "ledger", "printed by a folded cell: cell 5: a table"),
        ("05_stray", "ledger", "a cell wrote to stderr: cell 5: .*careful"),
        ("05_stray", "ledger", "at your settings"),
        ("10_slow", "cell5", "Timeout of 15 seconds exceeded"),
        ("10_slow", "claim:slow-mean", "did not run through"),
        ("11_dies", "cell5", "the kernel died"),
        ("12_hidden", "cell5", r"not in the page's key, .*claimbook/runs/provenance\.py$"),
        ("12_hidden", "ledger", "12_hidden did not run through"),
        ("02_empty", "claim:empty-mean", "against '= 0 to within 30', .* '= 0 to within 0.3'"),
        ("02_empty", "claim:empty-mean", "control 'shifted': it is held against '= 9"),
        ("03_values", "claim:values-count", "part 'none': the computed value changed by -1"),
        ("03_values", "page", "told mini_mean"),
        ("03_values", "page", r"output 1, line 1\n  expected  \[7\]\n  found     \[8\]"),
        ("03_values", "page", r"only found \['told more'\]"),
    ],
)
def test_damage_is_named(damaged, chapter, test, message):
    found = damaged[1][chapter][test]
    assert re.search(message, found, re.DOTALL), found


def test_no_failure_hides_as_expected_or_skipped(damaged):
    output = damaged[3]
    assert "xfail" not in output
    assert "skipped" not in output.splitlines()[-1]


def before_the_end(output):
    """What a session said while it ran."""
    return output.split("= FAILURES =")[0]


def test_whoever_waits_is_told_how_far_each_chapter_is(damaged):
    said = before_the_end(damaged[3])
    for line in (
        "10_slow begins$",
        rf"{SOUND}: all 5 cells ran, in \d+ s$",
        r"01_raises: broken off at cell 5 of 5, after \d+ s$",
    ):
        assert re.search(f"^{line}", said, re.MULTILINE), said


def test_a_failure_is_said_in_words_when_it_happens(damaged):
    said = before_the_end(damaged[3])
    moved = "values-mean: the value moved by 0.52, which is 2.48 times the smaller ±"
    assert f"03_values, claim:values-mean failed\n  {moved}\n" in said
    assert "01_raises, cell 5 of 5 failed" in said
    assert "ZeroDivisionError: division by zero" in said
    assert "05_stray, ledger failed" in said
    assert "the kernel died" in said
    assert "did not run through" not in said  # a consequence, which pytest lists at the end


def test_the_last_screen_repeats_the_causes_and_nothing_that_follows_from_them(damaged):
    _, _, _, output = damaged
    last = output.rpartition("= what failed =")[2]
    assert len(last.splitlines()) < 50
    cause = "01_raises, cell 5 of 5 failed\n  Cell execution caused an exception\n"
    assert f"{cause}  ZeroDivisionError: division by zero\n" in last
    assert "more, which are told above\n" in last
    assert "did not run through" not in output.split("= FAILURES =")[1]
    assert re.search(r"\d+ failed, \d+ passed, 16 not reached", last.splitlines()[-1]), last


def test_a_run_that_failed_is_not_kept_for_the_site(damaged):
    book = damaged[0]
    assert set(book.stale()) == {"01_raises", "10_slow", "11_dies", "12_hidden"}


def test_a_knob_is_turned_refused_and_wired(damaged):
    """The sound chapter runs on and says so, and refuses one trial before anything runs.

    A value that another seed leaves as it was is named.
    """
    book = damaged[0]
    chapters = (SOUND, "02_empty")
    found, code, output = book.run("--knobs=seed=1 trials=1", chapters=chapters)
    assert code == 1, output
    assert not any(found[f"{SOUND}.md@seed=1"].values())
    refused = found[f"{SOUND}.md@trials=1"]
    assert not refused["cell1"]
    assert "trials must be at least 2; got 1" in refused["cell2"]
    assert "not run: an earlier cell of this chapter failed" in refused["cell3"]
    assert "did not run through" in refused["knob"]
    unwired = found["02_empty.md@seed=1"]
    assert "empty-mean, the headline: 0.0" in unwired["knob"]
    assert "did not move" in unwired["knob"]
    assert "empty-count" not in unwired["knob"]


def origin(book, name):
    return notebooks.current(book.path(name), book.root).provenance


def test_the_site_is_told_how_the_comparison_went(damaged):
    book = damaged[0]
    for name, outcome in {
        SOUND: "agrees",
        "03_values": "disagrees",
        "02_empty": "disagrees",
        "04_rows": "disagrees",
        "05_stray": "disagrees",
    }.items():
        assert origin(book, name)["outcome"] == outcome
        assert origin(book, name)["reference"] == provenance.reference(name, book.root)
        assert origin(book, name)["commit"] is None  # the small book is no checkout
        assert origin(book, name)["environment"] == provenance.here(book.root)["environment"]


def cached_mean(book):
    run = notebooks.current(book.path(SOUND), book.root)
    assert run.seconds > 0
    return outputs.records(run.notebook)["mini-mean"]


def test_a_change_in_the_package_runs_the_page_again_and_shows_by_how_much(damaged):
    """A wrong constant in a module that it imports; a word of the ledger runs nothing."""
    book = damaged[0]
    before = cached_mean(book)
    row = book.ledger["chapters"][SOUND]["claims"][0]
    row["brief"] = "The mean of very many normal draws is zero."
    book.write()
    assert cached_mean(book) == before
    module = book.root / "iclutils" / "ground" / "estimate.py"
    module.write_text(
        module.read_text().replace(
            "Estimate(_known(value), spread", "Estimate(_known(value) + 0.5, 0.5 * spread"
        )
    )
    assert notebooks.current(book.path(SOUND), book.root) is None
    found, code, output = book.run("--fill-cache", chapters=[SOUND])
    assert code == 1, output
    assert re.search(rf"^{SOUND} begins, about \d+ s left$", output, re.MULTILINE), output
    assert (
        "mini-mean: the verdict changed from 'holds' to 'fails'" in found[SOUND]["claim:mini-mean"]
    )
    after = cached_mean(book)
    shift = after.value - before.value
    assert shift == pytest.approx(0.5, abs=1e-12)  # both means are below 1: a few rounding errors
    assert origin(book, SOUND)["outcome"] == "disagrees"


def test_master_seeds_are_turned_compared_and_recorded(tmp_path):
    """What is new replaces what was, under its seed; a row whose verdicts differ is red.

    Seeds that confirmed another verdict, or another criterion, no longer count.
    """
    book = Book(tmp_path).chapter(
        SOUND,
        text=[('{"none": count}', '{"none": 5 * (seed - 1)}')],
        expected=[("count, verdict: holds", "count, verdict: fails"), ("0.01", "9.99")],
    )
    book.write()
    record = tmp_path / "tests" / "rows.txt"
    now = amendments.notes_of(load(tmp_path / "book" / "claims.yml"))
    before = now["mini-mean"]._replace(verdict="holds", seeds=("7", "10"))
    amendments.write({"mini-mean": before}, record)
    _, code, output = book.run("--master-seeds=1 2", write=False)
    assert code == 1, output
    assert "mini-count: the verdict changed from 'fails' to 'holds'" in output
    assert "mini-mean: " not in output
    found = amendments.read(record)
    assert found["mini-mean"].seeds == ("1", "2", "7", "10")
    assert (found["mini-count"].verdict, found["mini-count"].seeds) == ("fails", ("1!", "2"))
    changed = found["mini-mean"]._replace(criterion="another")
    amendments.write({"mini-mean": changed}, record)
    book.run("--master-seeds=3", write=False)
    assert amendments.read(record)["mini-mean"] == changed


def test_references_are_rewritten_from_a_whole_run_and_rows_are_noted_in_their_first(tmp_path):
    """A note is of the row as it was written then, and stays.

    A chapter without a reference is tried where a new one is made (test_new_chapter.py).
    """
    book = Book(tmp_path).chapter(SOUND, expected=[("0.01", "9.99")])
    book.chapter("01_raises", text=[("count = int(", "1 / 0\ncount = int(")])
    before = book.expected("01_raises").read_text()
    book.write()
    now = amendments.notes_of(load(tmp_path / "book" / "claims.yml"))
    older = now["mini-mean"]._replace(words="others")
    notes = tmp_path / "tests" / "rows.txt"
    amendments.note_first_run({"mini-mean": older}, notes)
    found, code, output = book.run("--chapters=expected")
    assert code == 1, output
    assert yaml.safe_load(book.expected(SOUND).read_text()) == yaml.safe_load(EXPECTED)
    assert book.expected("01_raises").read_text() == before
    assert "did not run through" in found["01_raises"]["ledger"]
    assert "mini-count · holds · 0" in output
    assert "mini-count is noted in tests/rows.txt" in output
    seen = {row: now[row] for row in ("mini-count", "raises-mean")}
    assert amendments.read(notes) == seen | {"mini-mean": older}


def test_a_chapter_that_would_not_be_checked_is_refused(tmp_path):
    book = Book(tmp_path)
    book.chapter("01_headless", text=[("---\njupytext:", "<!-- -->\n---\njupytext:")])
    book.chapter("02_lost", in_toc=False)
    book.chapter("03_empty", rows=lambda rows: [])
    book.chapter("04_noreference")
    book.expected("04_noreference").unlink()
    book.chapter("06_badline", expected=[("count, verdict: holds", "count, verdict: is fine")])
    book.chapter(
        "07_nested",
        text=[
            (
                "```{code-cell} ipython3\n:tags: [hide-input]\ncount",
                "````{dropdown} More\n```{code-cell} ipython3\n:tags: [hide-input]\ncount",
            ),
            ("The mean was", "````\n\nThe mean was"),
        ],
    )
    _, code, output = book.run("--collect-only")
    assert code != 0
    for message in (
        "01_headless.md has no jupytext header",
        "02_lost.md stands in book/chapters but not in _toc.yml",
        "03_empty.md has no claim in book/claims.yml",
        "make expected NAME=04_noreference",
        "06_badline.yml: Expected `str` matching regex '^(holds|",
        "07_nested.md: 1 code cell(s) stand inside another block",
    ):
        assert message in output


@pytest.mark.parametrize("option", ["--knobs=all", "--master-seeds=1"])
def test_the_last_screen_names_the_file_that_stops_every_chapter_once(tmp_path, option):
    book = Book(tmp_path).chapter(SOUND).chapter("03_values")
    book.ledger["documents"] = None
    _, code, output = book.run(option)
    assert code != 0
    last = output.rpartition("= what failed =")[2].splitlines()
    told = "claims.yml: Expected `object`, got `null` - at `$.documents`"
    assert len([line for line in last if line.startswith(told)]) == 1, output
    assert len(last) < 6
