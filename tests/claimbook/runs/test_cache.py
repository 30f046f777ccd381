"""The notebook cache: stale runs, and interrupted ones."""

import shutil
from concurrent.futures import ProcessPoolExecutor

import nbformat
import pytest
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from small_site import MINI, ROOT, SOUND, executed

from claimbook.runs import cache
from claimbook.runs.processor import THREADS


def test_an_interrupted_run_is_not_taken_for_a_whole_one(tmp_path):
    chapter = MINI / "chapters" / f"{SOUND}.md"
    folder = tmp_path / "cache" / "key"
    cache.store_run(executed(chapter)[0], chapter, folder, 1.0, "k")
    assert cache.cached_run(chapter, folder) is not None
    for written in folder.rglob("*.ipynb"):
        written.write_text(written.read_text()[:40])
    assert cache.cached_run(chapter, folder) is None
    cache.store_run(executed(chapter)[0], chapter, folder, 1.0, "k")
    assert cache.cached_run(chapter, folder) is not None


def lost(folder, name):
    """How many of 20 runs of three chapters are gone as soon as they are kept."""
    missing = 0
    for number in range(20):
        path = folder.parent / f"{name}_{number % 3}.md"
        cell = nbformat.v4.new_code_cell(f"{path.stem} = 1", execution_count=1)
        notebook = nbformat.v4.new_notebook(cells=[cell])
        cache.store_run(notebook, path, folder, 1.0, str(number))
        records = get_cache(folder).list_cache_records()
        kept = [record.data["key"] for record in records if record.uri == str(path)]
        missing += kept != [str(number)]
    return missing


def test_processes_that_keep_runs_at_once_lose_none(tmp_path):
    with ProcessPoolExecutor(3) as pool:
        assert sum(pool.map(lost, [tmp_path / "cache" / "runs"] * 3, "pqr")) == 0


def test_chapters_toc_and_references_match():
    """Each chapter has its file, its claims and its reference; nothing lies beside the book."""
    toc = cache.toc_chapters()
    on_disk = sorted(path.stem for path in (ROOT / cache.CHAPTERS).glob("*.md"))
    assert toc, "_toc.yml lists no chapter"
    assert sorted(toc) == on_disk
    assert sorted(path.stem for path in (ROOT / "tests" / "expected").glob("*.yml")) == on_disk
    assert not list((ROOT / cache.CHAPTERS).glob("*.ipynb"))


@pytest.fixture
def book(tmp_path):
    """A folder with the small chapter and its ledger, and no package."""
    shutil.copytree(MINI, tmp_path / "book")
    return tmp_path


def held(root):
    return [record.uri for record in get_cache(cache.cache_path(root)).list_cache_records()]


def test_a_run_is_current_only_under_the_pages_present_key(book, monkeypatch):
    chapter = cache.chapter_path(SOUND, book)
    key = cache.page_key(chapter, book)
    cache.store_run(executed(chapter)[0], chapter, cache.cache_path(book), 1.0, key)
    assert cache.current_run(chapter, book).seconds == 1.0
    cache.drop_stale(book)
    assert held(book) == [str(chapter)]
    monkeypatch.setattr(cache, "page_key", lambda path, root: "another")
    assert cache.current_run(chapter, book) is None
    assert cache.cached_run(chapter, cache.cache_path(book)) is not None
    cache.drop_stale(book)  # or the build would show it
    assert cache.cached_run(chapter, cache.cache_path(book)) is None
    assert held(book) == []


def test_a_page_has_one_run(book):
    """That of the code that it had before goes, whole or broken, and another page's stays."""
    chapter, other = (cache.chapter_path(name, book) for name in (SOUND, "01_other"))
    other.write_text(chapter.read_text().replace("2912 + seed", "2913"))
    folder = cache.cache_path(book)
    for path in (other, chapter):
        cache.store_run(executed(path)[0], path, folder, 1.0, "k")
    for broken in (False, True):
        if broken:
            shutil.rmtree(folder / "executed")
        chapter.write_text(chapter.read_text() + "\n```{code-cell} ipython3\n1\n```\n")
        cache.store_run(executed(chapter)[0], chapter, folder, 1.0, "k")
        assert sorted(held(book)) == [str(chapter), str(other)]
        assert cache.cached_run(chapter, folder) is not None


def test_a_run_that_a_build_made_itself_is_stale(book):
    chapter = cache.chapter_path(SOUND, book)
    bundle = CacheBundleIn(executed(chapter)[0], str(chapter), data={"execution_seconds": 1.0})
    get_cache(cache.cache_path(book)).cache_notebook_bundle(bundle)
    assert cache.current_run(chapter, book) is None
    cache.drop_stale(book)
    assert held(book) == []


def test_an_unknown_chapter_counts_as_long(tmp_path):
    assert cache.known_seconds("00_mini", tmp_path) is None
    assert cache.by_length("00_mini", tmp_path) == (False, -cache.UNKNOWN_SECONDS)
    cache.write_atomically(tmp_path / "_build" / "cache" / "seconds" / "00_mini", "12.5\n")
    assert cache.known_seconds("00_mini", tmp_path) == 12.5
    assert cache.by_length("00_mini", tmp_path) == (False, -12.5)


@pytest.mark.parametrize("given", ["/elsewhere", "", "{root}:/elsewhere"])
def test_the_kernels_get_this_checkouts_package_first_and_one_thread(monkeypatch, tmp_path, given):
    for name in THREADS:
        monkeypatch.setenv(name, "8")
    monkeypatch.setenv("PYTHONPATH", given.format(root=tmp_path))
    cache.prepare_environment(tmp_path)
    rest = [":/elsewhere"] if "elsewhere" in given else [""]
    assert cache.os.environ["PYTHONPATH"] == f"{tmp_path}{rest[0]}"
    assert {cache.os.environ[name] for name in THREADS} == {"1"}
