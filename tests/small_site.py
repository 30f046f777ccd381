"""A small book of one chapter, whose run is put into the cache by hand, built as the book is."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import yaml
from nbformat import v4

from claimbook.check.snapshot import write_expected
from claimbook.ledger.record import VERDICT
from claimbook.pages import read_chapter
from claimbook.runs import notebooks
from claimbook.runs.page_key import page_key

ROOT = Path(__file__).resolve().parents[1]
MINI = ROOT / "tests" / "fixtures" / "mini" / "book"
SOUND = "00_mini"
ORIGIN = {
    "commit": "abc1234567",
    "clean": True,
    "environment": "1a2b3c4d",
    "python": "3.11.7",
    "date": "2026-11-21",
}
PAGES = {
    "intro": "# Mini\n\n```{scorecard}\n```\n",
    "ledger": "# The ledger\n\n```{ledger}\n```\n",
    "notes": "# Notes\n\nNo code.\n",
    "downloads": """# Downloads

```{downloads} book
```

```{downloads} chapters
```

```{downloads} data
```

(last-validated)=
## Stamp

Words.
""",
}
DROPPED = (  # what the book's configuration names and the small site has not
    "html_static_path",
    "html_css_files",
    "html_js_files",
)


class Built(NamedTuple):
    """What a build left: the pages' HTML by name, and the names of the files to take home."""

    pages: dict[str, str]
    files: set[str]


def verdict(record):
    """A record as a chapter's cell shows it."""
    data = {"text/plain": record.line(), VERDICT: record.to_json()}
    return v4.new_output("display_data", data=data)


def executed(path):
    """A chapter as a notebook that was run, and its cells of code, without outputs."""
    notebook = read_chapter(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(code, 1):
        cell["execution_count"] = number
    return notebook, code


class Site:
    """A book of one chapter, whose run is put into the cache by hand."""

    def __init__(self, root):
        self.root = root
        unread = shutil.ignore_patterns("__pycache__")
        for package in ("iclutils", "claimbook"):
            shutil.copytree(ROOT / package, root / package, ignore=unread)
        (root / "book" / "chapters").mkdir(parents=True)
        (root / "tests" / "expected").mkdir(parents=True)
        shutil.copy(MINI / "claims.yml", root / "book")
        shutil.copy(MINI / "chapters" / f"{SOUND}.md", self.chapter)
        for name in ("requirements.lock", "requirements.in", "pyproject.toml", "LICENSE"):
            shutil.copy(ROOT / name, root)
        (root / "CITATION.cff").write_text("title: mini\n")
        self.reference = root / "tests" / "expected" / f"{SOUND}.yml"
        for name, text in PAGES.items():
            (root / "book" / f"{name}.md").write_text(text)
        self.write_toc()
        self.write_config()

    def write_toc(self):
        names = (f"chapters/{SOUND}", "ledger", "notes", "downloads")
        files = [{"file": f"book/{name}"} for name in names]
        toc = {"format": "jb-book", "root": "book/intro", "chapters": files}
        (self.root / "_toc.yml").write_text(yaml.safe_dump(toc))

    def write_config(self):
        """The book's own configuration without what belongs to its looks."""
        config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf8"))
        config.pop("logo", None)
        config.pop("bibtex_bibfiles", None)
        config["html"].pop("favicon", None)
        for name in DROPPED:
            config["sphinx"]["config"].pop(name, None)
        (self.root / "_config.yml").write_text(yaml.safe_dump(config))

    @property
    def chapter(self):
        return self.root / "book" / "chapters" / f"{SOUND}.md"

    @property
    def note(self):
        return self.root / "_build" / "site.json"

    @property
    def html(self):
        return self.root / "_build" / "html"

    def ran(self, records=(), seconds=45.0, **changed):
        """As the checker leaves a run behind: every cell with its number, the last with records."""
        notebook, code = executed(self.chapter)
        code[-1]["outputs"] = list(map(verdict, records))
        run = {**ORIGIN, **changed}
        key = page_key(self.chapter, self.root)
        notebooks.store(notebook, self.chapter, key, run | {"seconds": seconds}, self.root)
        write_expected(SOUND, notebook, self.root)

    @property
    def command(self):
        """What builds it, without running anything."""
        program = Path(sys.executable).with_name("jupyter-book")
        return [str(program), "build", str(self.root), "-n"]

    def make(self):
        done = subprocess.run(
            self.command, cwd=self.root, capture_output=True, text=True, timeout=300
        )
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        assert "Executing notebook" not in said
        assert "Traceback" not in said

    def build(self):
        """Build it; its pages and files."""
        self.make()
        return self.read()

    def read(self):
        """The pages and files that the last build left."""
        names = [f"book/{name}" for name in (*PAGES, f"chapters/{SOUND}")]
        pages = {name: (self.html / f"{name}.html").read_text(encoding="utf8") for name in names}
        return Built(pages, {path.name for path in (self.html / "book/downloads").iterdir()})
