"""The press without the science: another book is run, checked and built by ``claimbook`` alone."""

import shutil

import pytest
from small_book import SOUND, Book

SCIENCE = "from iclutils.stats.estimate import from_spread\n"
MEAN = "from_spread(fmean(draws), pstdev(draws), trials)"
OWN = "Measured(fmean(draws), 4 * pstdev(draws) / trials**0.5, trials - 1)"
WITHOUT = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("iclutils", "torch"):
            raise ModuleNotFoundError(f"No module named '{name}'")

sys.meta_path.insert(0, Refused())
"""
CONFIG = """
title: Another book
only_build_toc_files: true
execute: {execute_notebooks: "off"}
sphinx:
  extra_extensions: [claimbook.site, claimbook.site.mathematics, sphinx_proof, sphinx_exercise]
  config: {html_math_renderer: katex}
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    book = Book(tmp_path_factory.mktemp("alone"))
    shutil.rmtree(book.root / "iclutils")
    write = {
        "sitecustomize.py": WITHOUT,
        "pyproject.toml": '[project]\nname = "another"\nversion = "1"\n[tool.claimbook]\n',
        "_config.yml": CONFIG,
        "book/intro.md": "# Another book\n\n```{scorecard}\n```\n",
        "book/ledger.md": "(ledger)=\n# The ledger\n\n```{ledger}\n```\n",
    }
    for name, text in write.items():
        (book.root / name).write_text(text, encoding="utf8")
    own = [(SCIENCE, "from claimbook.ledger.comparison import Measured\n"), (MEAN, OWN)]
    return book.chapter(SOUND, text=[*own, ("{cite:t}`collins2024`", "none")])


def test_its_pages_run_and_its_site_is_built_without_the_science_and_torch(alone):
    for name in ("iclutils", "torch"):
        assert f"No module named '{name}'" in alone.python("-c", f"import {name}").stderr
    found, code, output = alone.run()
    assert code == 0, output
    assert set(found[SOUND].values()) == {""}
    left = alone.root / "_build" / "html" / "left.html"  # by an earlier build
    left.parent.mkdir(parents=True)
    left.touch()
    done = alone.python("-m", "claimbook.build")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not left.exists()
    page = (alone.root / "_build" / "html" / "book" / "chapters" / f"{SOUND}.html").read_text()
    assert "This page was computed on" in page
    assert page.count('class="verdict-line') == 2, "at the cells, where no section lists the checks"
