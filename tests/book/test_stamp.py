"""The stamp says what was done and no more: each of its cases, and that a build never leaves an old one standing."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
MINI = ROOT / "tests" / "fixtures" / "mini" / "book"
SOUND = "00_mini"
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import bookcache  # noqa: E402
import bookorigin  # noqa: E402
from bookorigin import Run  # noqa: E402

ORIGIN = {"commit": "abc1234567", "clean": True, "environment": "1a2b3c4d", "python": "3.11.7", "date": "2026-11-21",
          "reference": "r", "outcome": "agrees"}
WHOLE = Run(bookorigin.COMPARED, 45.2, 0, ORIGIN)
git_here = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(where, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(where), *who, *arguments], check=True, capture_output=True)


def test_a_compared_run_is_stamped_with_everything():
    assert bookorigin.sentence(WHOLE) == (
        "The code of this page: run and compared with its reference values; commit abc1234567 (clean), environment 1a2b3c4d, "
        "master seed 0, 45 s on one core, 2026-11-21.")


@pytest.mark.parametrize(("change", "reference", "own", "said"), [
    ({}, "r", True, bookorigin.COMPARED),
    ({"outcome": "disagrees"}, "r", True, bookorigin.DIFFERS),
    ({}, "edited since", True, bookorigin.OUTDATED),
    ({}, None, True, bookorigin.OUTDATED),
    ({"outcome": None, "reference": None}, "r", True, bookorigin.ONLY_RUN),
    ({}, "r", False, bookorigin.OWN_SETTINGS),
])
def test_a_run_is_called_compared_only_with_the_reference_that_stands_now(change, reference, own, said):
    assert bookorigin.state(ORIGIN | change, reference, own) == said


def test_a_run_that_the_build_made_itself_has_no_origin():
    assert bookorigin.state({}, "r", True) == bookorigin.ONLY_RUN
    assert bookorigin.sentence(Run(bookorigin.ONLY_RUN, None, 0, {})) == (
        "The code of this page: run, not compared with its reference values; commit not recorded, environment not recorded, "
        "master seed 0, not timed.")


def test_no_run_and_no_chapters_are_said():
    assert bookorigin.sentence(Run()) == "The code of this page was not run."
    assert bookorigin.summary([Run(), Run()]) == "The chapters' code: all 2 not run."
    assert bookorigin.summary([]) == "The book has no chapters yet."


def test_the_other_pages_sum_up_the_chapters():
    assert bookorigin.summary([WHOLE, WHOLE]).startswith(
        "The chapters' code: all 2 run and compared with their reference values; commit abc1234567 (clean), environment")
    assert "90 s on one core" in bookorigin.summary([WHOLE, WHOLE])
    dirty = Run(bookorigin.ONLY_RUN, None, 3, ORIGIN | {"clean": False, "date": "2026-11-20"})
    mixed = bookorigin.summary([WHOLE, WHOLE, dirty, Run()])
    assert mixed == (
        "The chapters' code: 2 run and compared with their reference values; 1 run, not compared with its reference values; "
        "1 not run; commit abc1234567 (clean) and commit abc1234567 (with uncommitted changes), environment 1a2b3c4d, "
        "master seed 0 and 3, 90 s on one core (1 not timed), 2026-11-21 and 2026-11-20.")


@git_here
def test_commit_is_clean_only_where_nothing_differs(tmp_path):
    git(tmp_path, "init", "-q")
    assert bookorigin.commit(tmp_path) == (None, None)  # no commit yet
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "a")
    head, clean = bookorigin.commit(tmp_path)
    assert len(head) == 10
    assert clean
    (tmp_path / "a").write_text("2")
    assert bookorigin.commit(tmp_path) == (head, False)
    git(tmp_path, "add", "a")
    assert bookorigin.commit(tmp_path) == (head, False)
    git(tmp_path, "reset", "-q", "--hard")
    assert bookorigin.commit(tmp_path) == (head, True)
    (tmp_path / "b").touch()  # not yet known to git
    assert bookorigin.commit(tmp_path) == (head, False)
    assert bookorigin.commit_words({"commit": head, "clean": False}) == f"commit {head} (with uncommitted changes)"


@git_here
def test_a_folder_inside_another_checkout_does_not_take_its_commit(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "a")
    (tmp_path / "unpacked").mkdir()
    assert bookorigin.commit(tmp_path / "unpacked") == (None, None)


def test_without_git_the_stamp_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    origin = bookorigin.now(ROOT)
    assert (origin["commit"], origin["clean"]) == (None, None)
    assert "no commit (not a git checkout)" in bookorigin.sentence(WHOLE._replace(origin=ORIGIN | origin))


def test_the_environment_is_the_interpreter_and_the_lock(tmp_path, monkeypatch):
    shutil.copy(ROOT / "requirements.lock", tmp_path)
    here = bookorigin.environment(ROOT)
    assert bookorigin.environment(tmp_path) == here
    with (tmp_path / "requirements.lock").open("a") as lock:
        lock.write("one-more==1.0\n")
    assert bookorigin.environment(tmp_path) != here
    monkeypatch.setattr(bookorigin.platform, "python_version", lambda: "3.11.0")
    assert bookorigin.environment(ROOT) != here


# ------------------------------------------------------------------ a small site, built again and again


class Site:
    """A book of one chapter, whose run is put into the cache by hand."""

    def __init__(self, root):
        self.root = root
        for name in ("iclutils", "book/_ext"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        (root / "book" / "chapters").mkdir()
        (root / "tests" / "expected").mkdir(parents=True)
        shutil.copy(MINI / "claims.yml", root / "book")
        shutil.copy(MINI / "chapters" / f"{SOUND}.md", root / "book" / "chapters")
        shutil.copy(ROOT / "requirements.lock", root)
        (root / "CITATION.cff").write_text("title: mini\n")
        self.reference = root / "tests" / "expected" / f"{SOUND}.yml"
        self.reference.write_text("- 'mini-mean · holds · 0.01 ± 0.21'\n")
        for name, text in {"intro": "# Mini\n\n```{scorecard}\n```\n", "notes": "# Notes\n\nNo code.\n",
                           "downloads": "# Downloads\n\n```{downloads} book\n```\n\n```{downloads} chapters\n```\n\n"
                                        "```{downloads} data\n```\n\n(last-validated)=\n## Stamp\n\nWords.\n"}.items():
            (root / "book" / f"{name}.md").write_text(text)
        pages = ["book/chapters/" + SOUND, "book/notes", "book/downloads"]
        toc = {"format": "jb-book", "root": "book/intro", "chapters": [{"file": page} for page in pages]}
        (root / "_toc.yml").write_text(yaml.safe_dump(toc))
        config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf8"))
        for name in ("logo", "bibtex_bibfiles"):
            config.pop(name, None)
        config["html"].pop("favicon", None)
        for name in ("html_static_path", "html_css_files", "html_js_files", "html_extra_path", "mathjax_path"):
            config["sphinx"]["config"].pop(name, None)
        config["sphinx"]["local_extensions"] = {"iclbook": "book/_ext"}
        (root / "_config.yml").write_text(yaml.safe_dump(config))

    @property
    def chapter(self):
        return self.root / "book" / "chapters" / f"{SOUND}.md"

    def ran(self, **origin):
        """As the checker leaves a run behind: every cell with its number."""
        notebook = bookcache.read_chapter(self.chapter)
        for number, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), 1):
            cell["execution_count"] = number
        known = {"reference": bookorigin.reference(SOUND, self.root)}
        bookcache.store_run(notebook, self.chapter, bookcache.cache_path(self.root), 45.0, ORIGIN | known | origin)

    def build(self):
        done = subprocess.run([str(Path(sys.executable).with_name("jupyter-book")), "build", str(self.root), "-n"], cwd=self.root,
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Executing notebook" not in done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr

    def page(self, name):
        return (self.root / "_build" / "html" / f"{name}.html").read_text(encoding="utf8")

    def pages(self):
        return {name: self.page(name) for name in ("book/intro", "book/notes", "book/downloads", f"book/chapters/{SOUND}")}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Four builds on one folder, each after one change: {what: (the pages, the files to take home)}."""
    site, seen = Site(tmp_path_factory.mktemp("site")), {}
    note, pdf = site.root / "_build" / "site.json", site.root / "_build" / "pdf"

    def build(name):
        site.build()
        seen[name] = site.pages(), {path.name for path in (site.root / "_build/html/book/downloads").iterdir()}

    site.ran(outcome=None)
    build("only run")
    site.ran()  # nothing but the origin of the run is new
    bookcache.write_atomically(pdf / f"{SOUND}.pdf", "a print that was broken off, or is of another site")
    build("compared")
    bookcache.write_atomically(pdf / "site_key", json.loads(note.read_text(encoding="utf8"))["key"])
    build("printed")
    with site.reference.open("a") as file:
        file.write("# edited\n")
    note.unlink()  # as a build leaves it that is killed while it writes
    (site.root / "_build/html/book/notes.html").write_text("half a page")
    build("edited")
    assert json.loads(note.read_text(encoding="utf8"))["key"]
    return seen


@pytest.mark.parametrize(("build", "words"), [("only run", "not compared with"), ("compared", "run and compared with"),
                                              ("printed", "run and compared with"), ("edited", "changed after")])
def test_no_build_leaves_an_old_stamp_on_any_page(site, build, words):
    for name, text in site[build][0].items():
        stamp = text.split("run-stamp")[1].split("</p>")[0]
        assert words in stamp, f"{name} after the build '{build}': {stamp}"
        assert "abc1234567 (clean), environment 1a2b3c4d, master seed 0, 45 s on one core, 2026-11-21" in stamp


def test_pdfs_are_offered_only_while_they_are_a_print_of_this_site(site):
    """An incomplete print is not offered, nor one of a site whose stamp was another; no link leads to one."""
    for build, (pages, files) in site.items():
        linked = [name for name, text in pages.items() if f"{SOUND}.pdf" in text]
        assert bool(linked) == (f"{SOUND}.pdf" in files) == (build == "printed"), build
        assert "make pdf" in pages["book/downloads"]
    assert f'href="../downloads/{SOUND}.pdf"' in site["printed"][0][f"book/chapters/{SOUND}"]


def test_each_file_is_offered_with_its_size(site):
    pages, files = site["compared"]
    assert {f"{SOUND}.ipynb", f"{SOUND}.md", "CITATION.cff"} <= files
    size = len((MINI / "chapters" / f"{SOUND}.md").read_bytes())
    assert f"Markdown source</a> ({max(1, round(size / 1000))} kB)" in pages["book/downloads"]
    assert "ledger.csv" in pages["book/downloads"]
