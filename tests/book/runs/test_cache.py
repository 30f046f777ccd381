"""The notebook cache: its key, runs that were interrupted, and the records that come back."""

from pathlib import Path

import nbformat
import pytest

from iclutils.book.ledger import Record
from iclutils.book.runs import cache
from iclutils.ground.statistics import equal

ROOT = Path(__file__).resolve().parents[3]
MINI = ROOT / "tests" / "fixtures" / "mini" / "book"
SOUND = "00_mini"


def test_the_interpreter_is_in_the_key(monkeypatch):
    before = cache.execution_key()
    monkeypatch.setattr(cache.platform, "python_version", lambda: "3.11.0")
    assert cache.execution_key() != before


def test_an_interrupted_run_is_not_taken_for_a_whole_one(tmp_path):
    chapter = MINI / "chapters" / f"{SOUND}.md"
    notebook = cache.read_chapter(chapter)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(cells, 1):
        cell["execution_count"] = number
    cache.store_run(notebook, chapter, tmp_path / "cache" / "key", 1.0)
    assert cache.cached_run(chapter, tmp_path / "cache" / "key") is not None
    for executed in (tmp_path / "cache" / "key").rglob("*.ipynb"):
        executed.write_text(executed.read_text()[:40])
    assert cache.cached_run(chapter, tmp_path / "cache" / "key") is None
    cache.store_run(notebook, chapter, tmp_path / "cache" / "key", 1.0)
    assert cache.cached_run(chapter, tmp_path / "cache" / "key") is not None


def test_chapters_toc_and_references_match():
    """Each chapter has its file, its claims and its reference; nothing lies beside the book."""
    toc = cache.toc_chapters()
    on_disk = sorted(path.stem for path in (ROOT / cache.CHAPTERS).glob("*.md"))
    assert toc, "_toc.yml lists no chapter"
    assert sorted(toc) == on_disk
    assert sorted(path.stem for path in (ROOT / "tests" / "expected").glob("*.yml")) == on_disk
    assert not list((ROOT / cache.CHAPTERS).glob("*.ipynb"))


def test_a_record_comes_back_from_an_executed_chapter_with_its_type():
    part = equal(1.0, 1.0, tol=0.5)
    record = Record("00_mini", "a", "holds", 1.0, 0.4, {"": part}, {}, {"seed": 0}, True)
    glued = {
        "output_type": "display_data",
        "metadata": {"scrapbook": {"name": "claim:a"}},
        "data": {"application/papermill.record/text/plain": repr(record.to_json())},
    }
    told = {
        "output_type": "display_data",
        "metadata": {"scrapbook": {"name": "slope"}},
        "data": {"application/papermill.record/text/plain": "not a literal"},
    }
    cell = nbformat.v4.new_code_cell(outputs=[glued, told])
    notebook = nbformat.v4.new_notebook(cells=[cell])
    assert cache.records(notebook) == {"a": record}
    assert dict(cache.glued(notebook))["slope"] == "not a literal"


def test_the_checker_and_the_site_are_not_in_the_key():
    """No chapter imports them, so that no chapter is run again after an edit there."""
    keyed = {path.relative_to(ROOT).as_posix() for path in cache.key_files(ROOT)}
    assert "iclutils/book/ledger/verdicts.py" in keyed
    assert not any(path.startswith("iclutils/book/checker") for path in keyed)
    assert not any(path.startswith("iclutils/book/site") for path in keyed)


@pytest.mark.parametrize(
    "name",
    [
        "statistics.py~",
        ".#statistics.py",
        "#statistics.py#",
        ".statistics.py.swp",
        ".ipynb_checkpoints/statistics-checkpoint.py",
        "__pycache__/statistics.pyc",
        ".sweep.json.123",
    ],
)
def test_what_an_editor_or_a_killed_writer_leaves_makes_nothing_stale(tmp_path, name):
    for folder in ("iclutils/ground", "book/recorded"):
        cache.write_atomically(tmp_path / folder / "statistics.py", "one\n")
    before = cache.execution_key(tmp_path)
    for folder in ("iclutils/ground", "book/recorded"):
        cache.write_atomically(tmp_path / folder / name, "two\n")
    assert cache.execution_key(tmp_path) == before
    cache.write_atomically(tmp_path / "iclutils" / "ground" / "other.py", "two\n")
    assert cache.execution_key(tmp_path) != before


def test_an_unknown_chapter_counts_as_long(tmp_path):
    assert cache.known_seconds("00_mini", tmp_path) is None
    assert cache.last_seconds("00_mini", tmp_path) == cache.UNKNOWN_SECONDS
    cache.write_atomically(tmp_path / "_build" / "cache" / "seconds" / "00_mini", "12.5\n")
    assert cache.known_seconds("00_mini", tmp_path) == 12.5
    assert cache.last_seconds("00_mini", tmp_path) == 12.5


@pytest.mark.parametrize("given", ["/elsewhere", "", "{root}:/elsewhere"])
def test_the_kernels_get_this_checkouts_package_first_and_one_thread(monkeypatch, tmp_path, given):
    for name in cache.THREADS:
        monkeypatch.setenv(name, "8")
    monkeypatch.setenv("PYTHONPATH", given.format(root=tmp_path))
    cache.prepare_environment(tmp_path)
    rest = [":/elsewhere"] if "elsewhere" in given else [""]
    assert cache.os.environ["PYTHONPATH"] == f"{tmp_path}{rest[0]}"
    assert {cache.os.environ[name] for name in cache.THREADS} == {"1"}
