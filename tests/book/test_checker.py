"""The check bites: a small book of its own, broken in every way that must turn the run red.

Sessions are shared, since each one starts Python, torch and a kernel per chapter: one book holds a
sound chapter and one for every kind of damage, and the tests read from its report what became of
each.
"""

import re

import pytest
import yaml
from small_book import EXPECTED, MEAN, SOUND, Book

from iclutils.book.runs import cache as bookcache
from iclutils.book.runs import origin as bookorigin


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """One session over a sound chapter and one for every damage that a run can show."""
    book = Book(tmp_path_factory.mktemp("damaged"))
    book.chapter(SOUND)
    book.chapter(
        "01_values", expected=[("0.01 ± 0.21", "0.53 ± 0.21"), ("count · holds", "count · fails")]
    )
    book.chapter(
        "02_empty",
        text=[
            ("greater(count, trials - 1)", "greater(count, 1)"),
            ("stream(seed,", "stream(0,"),
        ],
    )
    book.chapter("03_raises", text=[("count = int(", "1 / 0\ncount = int(")])
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
    found, code, output = book.run("--fill-cache", "--nbval-cell-timeout", "15")
    return book, found, code, output


def test_a_sound_chapter_is_green_and_any_damage_makes_the_session_red(damaged):
    _, found, code, output = damaged
    assert code == 1, output
    assert set(found[SOUND]) == {
        "cell0",
        "cell1",
        "cell2",
        "cell3",
        "claim:mini-mean",
        "claim:mini-count",
        "page",
        "ledger",
    }
    assert not any(found[SOUND].values())
    red = {chapter for chapter, tests in found.items() if any(tests.values())}
    assert red == set(found) - {SOUND}
    assert len(found) == 8


@pytest.mark.parametrize(
    ("chapter", "test", "message"),
    [
        (
            "01_values",
            "claim:values-mean",
            r"values-mean: the value moved by 0\.52, which is 2\.48 times the expected ±",
        ),
        (
            "01_values",
            "claim:values-mean",
            r"expected  values-mean · holds · 0\.53 ± 0\.21\s+"
            r"found     values-mean · holds · 0\.01",
        ),
        (
            "01_values",
            "claim:values-count",
            "values-count: the verdict changed from 'fails' to 'holds'",
        ),
        (
            "02_empty",
            "ledger",
            r"the wrong control .all. \(0 > 1\) only negates the part .none. \(0 < 1\)",
        ),
        ("03_raises", "cell3", "ZeroDivisionError"),
        ("03_raises", "claim:raises-mean", "03_raises did not run through"),
        ("03_raises", "claim:raises-count", "03_raises did not run through"),
        ("03_raises", "ledger", "03_raises did not run through"),
        (
            "04_rows",
            "ledger",
            "rows-count: this row of book/claims.yml has no check in the chapter",
        ),
        ("04_rows", "ledger", "rows-mean: checked, but has no entry in tests/expected"),
        ("04_rows", "claim:rows-count", "rows-count: the chapter did not print this claim"),
        ("05_stray", "ledger", "printed but not compared: cell3: a table"),
        ("05_stray", "ledger", "a cell wrote to stderr: cell3: .*careful"),
        ("05_stray", "ledger", "at your settings"),
        ("10_slow", "cell3", "Timeout of 15 seconds exceeded"),
        ("10_slow", "claim:slow-mean", "did not run through"),
        ("11_dies", "cell3", "the kernel died"),
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
    assert re.search(r"^10_slow: cell [1-4] of 4, \d+ s so far", said, re.MULTILINE), said
    assert re.search(rf"^{SOUND}: all 4 cells ran, in \d+ s$", said, re.MULTILINE), said
    assert re.search(r"^03_raises: broken off at cell 4 of 4, after \d+ s$", said, re.MULTILINE)
    left = (damaged[0].root / "_build" / "progress").glob("*")
    assert not list(left), "the files through which the processes told it stay behind"


def test_a_failure_is_said_in_words_when_it_happens(damaged):
    said = before_the_end(damaged[3])
    moved = "values-mean: the value moved by 0.52, which is 2.48 times the expected ±"
    assert f"01_values, claim:values-mean failed\n  {moved}\n" in said
    assert "03_raises, cell 4 of 4 failed" in said
    assert "ZeroDivisionError: division by zero" in said
    assert "05_stray, ledger failed" in said
    assert "the kernel died" in said
    assert "did not run through" not in said  # a consequence, which pytest lists at the end


def test_workers_tell_the_terminal_too(tmp_path):
    """The same lines through pytest-xdist, whose workers have no terminal."""
    book = Book(tmp_path).chapter(SOUND)
    book.chapter("01_values", expected=[("0.01 ± 0.21", "0.53 ± 0.21")])
    _, code, output = book.run("-n", "2", "--dist", "loadfile", "--fill-cache")
    assert code == 1, output
    said = before_the_end(output)
    assert re.search(rf"^{SOUND}: all 4 cells ran, in \d+ s$", said, re.MULTILINE), said
    assert re.search(r"^01_values: all 4 cells ran, in \d+ s$", said, re.MULTILINE), said
    assert "01_values, claim:values-mean failed\n  values-mean: the value moved by 0.52" in said
    assert not list((tmp_path / "_build" / "progress").glob("*"))
    _, _, output = book.run("-n", "2", "--dist", "loadfile")
    assert re.search(r"^\w+: cell \d of 4, \d+ s so far(, about| \(the last)", output, re.MULTILINE)


def test_a_run_that_failed_is_not_kept_for_the_site(damaged):
    book = damaged[0]
    assert set(book.stale()) == {"03_raises", "10_slow", "11_dies"}


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
    assert not refused["cell0"]
    assert "trials must be at least 2; got 1" in refused["cell1"]
    assert "did not run through" in refused["knob"]
    unwired = found["02_empty.md@seed=1"]
    assert "empty-mean, the headline: 0.0" in unwired["knob"]
    assert "did not move" in unwired["knob"]
    assert "empty-count" not in unwired["knob"]


def origin(book, name):
    folder = book.root / "_build" / "cache" / bookcache.execution_key(book.root)
    return bookcache.cached_run(book.path(name), folder).origin


def test_the_site_is_told_how_the_comparison_went(damaged):
    book = damaged[0]
    for name, outcome in {
        SOUND: "agrees",
        "01_values": "disagrees",
        "02_empty": "disagrees",
        "04_rows": "disagrees",
        "05_stray": "disagrees",
    }.items():
        assert origin(book, name)["outcome"] == outcome
        assert origin(book, name)["reference"] == bookorigin.reference(name, book.root)
        assert origin(book, name)["commit"] is None  # the small book is no checkout


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The sound chapter alone, executed and cached."""
    book = Book(tmp_path_factory.mktemp("small")).chapter(SOUND)
    found, code, output = book.run("--fill-cache", "--chapters=run")
    assert code == 0, output
    assert set(found[SOUND]) == {"cell0", "cell1", "cell2", "cell3"}
    return book


def cached_mean(book):
    folder = book.root / "_build" / "cache" / bookcache.execution_key(book.root)
    run = bookcache.cached_run(book.path(SOUND), folder)
    assert run.seconds > 0
    return bookcache.records(run.notebook)["mini-mean"]


def test_every_input_is_in_the_key_and_a_wrong_constant_shows_by_how_much(small):
    """Each input changes the key; a change in the package makes the chapter run again."""
    assert small.stale() == []
    assert origin(small, SOUND)["environment"] == bookorigin.environment(small.root)
    assert "outcome" not in origin(small, SOUND)  # only run
    before, keys = cached_mean(small), {bookcache.execution_key(small.root)}
    (small.root / "book" / "recorded").mkdir()
    for name in (
        "requirements.lock",
        "book/claims.yml",
        "book/recorded/sweep.json",
        "iclutils/data.txt",
    ):
        with (small.root / name).open("a") as file:
            file.write("\n# changed\n")
        keys.add(bookcache.execution_key(small.root))
    assert len(keys) == 5
    (small.root / bookcache.SEEDS_FILE).write_text("{}")  # no chapter reads it
    assert bookcache.execution_key(small.root) in keys

    module = small.root / "iclutils" / "ground" / "statistics" / "estimates.py"
    module.write_text(
        module.read_text().replace(
            "samples.mean(dim), samples", "samples.mean(dim) + 0.5, 0.5 * samples"
        )
    )
    assert small.stale() == [SOUND]
    found, code, output = small.run("--fill-cache")
    assert code == 1, output
    assert (
        "mini-mean: the verdict changed from 'holds' to 'fails'" in found[SOUND]["claim:mini-mean"]
    )
    after = cached_mean(small)
    shift = after.value - before.value
    assert shift == pytest.approx(0.5, abs=1e-12)  # both means are below 1: a few rounding errors
    assert origin(small, SOUND)["outcome"] == "disagrees"
    assert small.stale() == []


QUIET = {  # faults that leave the headline number alone: what is changed, and what is said
    "01_wide": (
        ("statistics.equal(mean, 0.0, tol=0.3)", "statistics.equal(mean, 0.0, tol=30.0)"),
        "claim:wide-mean",
        "held against '= 0 to within 30', and was against '= 0 to within 0.3'",
    ),
    "02_interval": (
        ("statistics.equal(mean, 0.0, tol=0.3)", "statistics.within(mean, -0.3, 10.0)"),
        "claim:interval-mean",
        "held against",
    ),
    "03_itself": (
        ('{"none": statistics.less(count, 1)}', '{"none": statistics.less(-1, 1)}'),
        "claim:itself-count",
        "part 'none': the computed value changed by -1",
    ),
    "04_control": (
        ("statistics.equal(mean, 1.0, tol=0.3)", "statistics.equal(mean, 9.0, tol=0.3)"),
        "claim:control-mean",
        "control 'shifted': it is held against '= 9",
    ),
    "05_more": (
        ('{"none": statistics', '{"more": statistics.less(count, 2), "none": statistics'),
        "claim:more-count",
        "its parts are ['more', 'none'], and were ['none']",
    ),
    "06_prose": (
        ('f"{mean.value:.2f}"', 'f"{2 + mean.value:.2f}"'),
        "page",
        "told mini_mean",
    ),
    "07_untold": (
        ('tell(mini_mean=f"{mean.value:.2f}")', 'tell(mini_mean=f"{mean.value:.2f}", more="1")'),
        "page",
        "only found ['more']",
    ),
}


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    book = Book(tmp_path_factory.mktemp("quiet"))
    for name, (change, _, _) in QUIET.items():
        book.chapter(name, text=[change])
    return book.run()[0]


@pytest.mark.parametrize("name", QUIET)
def test_a_fault_that_leaves_the_headline_alone_is_red(quiet, name):
    _, test, message = QUIET[name]
    assert message in quiet[name][test]


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory):
    """A session that rewrites references: of a sound chapter and of one that raises."""
    book = Book(tmp_path_factory.mktemp("rewritten"))
    book.chapter(SOUND, expected=[("0.01", "9.99")])
    book.chapter("03_raises", text=[("count = int(", "1 / 0\ncount = int(")])
    before = {name: book.expected(name).read_text() for name in book.toc}
    found, code, _ = book.run("--chapters=expected")
    return book, before, found, code


def test_references_are_rewritten_only_from_a_whole_run(rewritten):
    book, before, found, code = rewritten
    assert code == 1
    assert yaml.safe_load(book.expected(SOUND).read_text()) == yaml.safe_load(EXPECTED)
    assert book.expected("03_raises").read_text() == before["03_raises"]
    assert "did not run through" in found["03_raises"]["ledger"]


def test_master_seeds_are_turned_compared_and_recorded(tmp_path):
    book = Book(tmp_path).chapter(
        SOUND, expected=[("count · holds", "count · fails"), ("0.01", "9.99")]
    )
    record = tmp_path / bookcache.SEEDS_FILE
    bookcache.write_atomically(record, '{"mini-mean": {"7": "fails"}, "gone": {"1": "holds"}}')
    _, code, output = book.run("--master-seeds=1 2")
    assert code == 1, output
    assert "mini-count: the verdict changed from 'fails' to 'holds'" in output
    assert "mini-mean: " not in output
    found = yaml.safe_load(record.read_text())
    assert found["mini-mean"] == {"1": "holds", "2": "holds", "7": "fails"}
    assert found["mini-count"] == {"1": "holds", "2": "holds"}
    assert "gone" not in found


def test_a_chapter_that_would_not_be_checked_is_refused(tmp_path):
    book = Book(tmp_path)
    book.chapter("01_headless", text=[("---\njupytext:", "<!-- -->\n---\njupytext:")])
    book.chapter("02_lost", in_toc=False)
    book.chapter("03_empty", rows=lambda rows: [])
    book.chapter("04_noreference")
    book.expected("04_noreference").unlink()
    book.chapter("05_skips", text=[(":tags: [hide-input]", ":tags: [skip-execution]")])
    book.chapter("06_badline", expected=[(" · holds · 0", " · is fine · 0 ± 0")])
    book.chapter(
        "07_nested",
        text=[
            (
                "```{code-cell} ipython3\ncount",
                "````{dropdown} More\n```{code-cell} ipython3\ncount",
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
        "05_skips.md, code cell 0: every cell is run",
        "06_badline.yml: text must read 'id · verdict",
        "07_nested.md: 1 code cell(s) stand inside another block",
    ):
        assert message in output


def test_a_book_without_chapters_is_red(tmp_path):
    _, code, output = Book(tmp_path).run()
    assert code == 5, output  # pytest's own exit code for "no tests collected"
