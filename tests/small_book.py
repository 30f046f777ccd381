"""A small book whose chapters are run by the checker itself, sound or damaged."""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
MINI = ROOT / "tests" / "fixtures" / "mini" / "book"

SOUND = "00_mini"
MEAN = """\
- claim: {id: mini-mean, verdict: holds, value: 0.01, half_width: 0.21}
  parts: {'': [supported, 0.01, 0.21, = 0 to within 0.3, 399]}
  controls: {shifted: [contradicted, 0.01, 0.21, = 1 to within 0.3, 399]}
"""
COUNT = """\
- claim: {id: mini-count, verdict: holds, value: 0, half_width: 0}
  parts: {none: [supported, 0, 0, < 1]}
  controls: {all: [contradicted, 0, 0, '> 399']}
"""
PAGE = "told: {mini_mean: '0.01'}\nprinted: [['[7]']]\ntables: []\nfigures: {}\n"
EXPECTED = f"claims:\n{MEAN}{COUNT}{PAGE}"
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
UNREAD = shutil.ignore_patterns("__pycache__")


@dataclass
class Book:
    """A book of small chapters under ``root``, all made from the one in ``tests/fixtures``."""

    root: Path

    def __post_init__(self):
        for folder in ("iclutils", "claimbook", "tests/book"):
            shutil.copytree(ROOT / folder, self.root / folder, ignore=UNREAD)
        for name in ("conftest.py", "pyproject.toml", "requirements.lock"):
            shutil.copy(ROOT / name, self.root / name)
        (self.root / "book" / "chapters").mkdir(parents=True)
        (self.root / "tests" / "expected").mkdir(parents=True)
        self.ledger = yaml.safe_load((MINI / "claims.yml").read_text(encoding="utf8"))
        self.rows = self.ledger.pop("chapters")[SOUND]
        self.ledger["chapters"] = {}
        self.toc: list[str] = []

    def chapter(self, name, *, text=(), expected=(), rows=lambda rows: rows):
        """Add a chapter; ``text``, ``expected`` (pairs of old, new) and ``rows`` damage it."""
        own = name.split("_")[1]
        source = (MINI / "chapters" / f"{SOUND}.md").read_text(encoding="utf8")
        source = source.replace(SOUND, name).replace('"mini-', f'"{own}-')
        self.path(name).write_text(replaced(source, text), encoding="utf8")
        lines = replaced(EXPECTED.replace("mini-", f"{own}-"), expected)
        self.expected(name).write_text(lines, encoding="utf8")
        block = yaml.safe_load(yaml.safe_dump(self.rows).replace("mini-", f"{own}-"))
        self.ledger["chapters"][name] = block | {"claims": rows(block["claims"])}
        self.toc.append(name)
        return self

    def path(self, name):
        return self.root / "book" / "chapters" / f"{name}.md"

    def expected(self, name):
        return self.root / "tests" / "expected" / f"{name}.yml"

    def write(self):
        """Write the table of contents and the ledger, as the chapters that were added need them."""
        chapters = [{"file": f"book/chapters/{name}"} for name in self.toc]
        toc = {"format": "jb-book", "root": "book/intro", "chapters": chapters}
        for name, content in (("_toc.yml", toc), ("book/claims.yml", self.ledger)):
            text = yaml.safe_dump(content, allow_unicode=True, sort_keys=False)
            (self.root / name).write_text(text, encoding="utf8")

    def command(self, *options, chapters=()):
        what = [f"book/chapters/{name}.md" for name in chapters] or ["book/chapters"]
        return [*PYTEST, "--nbval-lax", "--nbval-current-env", *what, *options]

    def run(self, *options, chapters=(), write=True):
        """Run the pages: ``{page: {cell: message, or "" where it passed}}``, exit code, output."""
        if write:
            self.write()
        return self._session(self.command(*options, chapters=chapters))

    def compare(self, *pages):
        """Hold the cached runs to their references, as :meth:`run` tells it."""
        command = [*PYTEST, "tests/book/test_book.py", f"--pages={' '.join(pages)}"]
        found, code, output = self._session(command)
        return found.get("tests.book.test_book", {}), code, output

    def _session(self, command):
        report = self.root / "report.xml"
        report.unlink(missing_ok=True)
        done = self.process(*command, f"--junitxml={report}")
        found: dict[str, dict[str, str]] = {}
        for case in ElementTree.parse(report).getroot().iter("testcase") if report.exists() else ():
            name = case.get("classname", "").rpartition("chapters.")[2].removesuffix(".md")
            trouble = [one for one in case if one.tag in ("failure", "error", "skipped")]
            texts = [f"{one.get('message', '')}\n{one.text or ''}" for one in trouble]
            found.setdefault(name, {})[case.get("name", "")] = "\n".join(texts)
        return found, done.returncode, done.stdout + done.stderr

    def python(self, *words):
        """Run a program of the book to its end."""
        return self.process(sys.executable, *words)

    def process(self, *command):
        where = {"cwd": self.root, "env": environment(self.root)}
        return subprocess.run(command, **where, capture_output=True, text=True, timeout=900)

    def stale(self):
        done = self.python("-m", "claimbook.runs.notebooks")
        assert done.returncode == 0, done.stderr
        return [Path(name).stem for name in done.stdout.split()]


def replaced(text, changes):
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def environment(root):
    """As a build server's shell has it, where pytest says most: nothing of this test's session."""
    own = ("PYTEST_", "COV_", "COVERAGE_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    return kept | {"CI": "true", "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
