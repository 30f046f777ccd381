"""A page's key: what changes it, and what leaves it alone."""

import shutil
from types import SimpleNamespace as Bare

import pytest
import yaml
from small_book import MINI, SOUND
from towers import TOWERS

from claimbook.files import ROOT, write_atomically
from claimbook.ledger import Ledger
from claimbook.ledger.comparison import Measured
from claimbook.pages import CHAPTERS, chapter_path, code_of, read_chapter, toc_chapters
from claimbook.runs import page_key

PAGE = """\
---
jupytext:
  text_representation:
    format_name: myst
---

# A page

```{code-cell} ipython3
import torch
from iclutils.one import f
```

```{code-cell} ipython3
seed = 0
```
"""
BRINGS = {"transformer": {"window", "regression", "stages"}}  # whose samplers it takes
# the rooms that pages read; the checker and the site run no page again
READ = {"__init__", "figures", "files", "ledger", "pages", "runs"}
PACKAGE = {
    "iclutils/__init__.py": "",
    "iclutils/one.py": "from iclutils.deep import inner\ndef f():\n    from iclutils import late\n",
    "iclutils/late.py": "",  # imported inside a function
    "iclutils/deep/__init__.py": "from . import beside\n",  # the package of a module
    "iclutils/deep/beside.py": "",
    "iclutils/deep/inner.py": "from ..far import away\n",
    "iclutils/deep/other.py": "",
    "iclutils/far.py": "away = 1\n",
    "claimbook/__init__.py": "",
    "book/recorded/a.json": "1",
    "book/recorded/authors/c.json": "4",
    "requirements.lock": "torch==1\n",
}
UNREACHED = {
    *("iclutils/deep/other.py", "claimbook/__init__.py"),
    *("book/recorded/a.json", "book/recorded/authors/c.json"),
}


@pytest.fixture
def root(tmp_path):
    """Make a package of a few modules, a few records and the small chapter's ledger."""
    for name, text in PACKAGE.items():
        write_atomically(tmp_path / name, text)
    shutil.copy(MINI / "claims.yml", tmp_path / "book")
    write_atomically(tmp_path / CHAPTERS / f"{SOUND}.md", PAGE)
    return tmp_path


@pytest.fixture
def changes_key(root):
    """Tell whether the page's key is another one than when it was asked last."""
    keys = []

    def changes_key():
        keys.append(page_key.page_key(chapter_path(SOUND, root), root))
        return len(keys) > 1 and keys[-1] != keys[-2]

    changes_key()
    return changes_key


def test_a_check_reads_no_field_that_the_key_leaves_out():
    """The record is the same where the rows have nothing else."""
    whole, bare = (Ledger(SOUND, path=MINI / "claims.yml", seed=0, trials=400) for _ in range(2))
    for row in page_key.used_fields(SOUND, MINI.parent)["claims"]:
        controls = {name: Bare(**it) for name, it in row["controls"].items()}
        conditions = {"": row["parts"]}
        bare.rows[row["id"]] = Bare(**row | {"controls": controls}, conditions=conditions)
    mean = Measured(0.1, 0.2, 9)
    for book in (whole, bare):
        book.check("mini-mean", mean, controls={"shifted": mean})
    assert whole.records == bare.records


BLOCK = ("chapters", SOUND)
ROW = (*BLOCK, "claims", 0)


@pytest.mark.parametrize(
    ("place", "runs_again"),
    [
        *(((*ROW, *name), False) for name in (("brief",), ("expected",), ("source", "printed"))),
        ((*ROW, "controls", "shifted", "what"), False),
        (("documents", "ours", "title"), False),
        (("chapters", "01_another"), False),
        ((*BLOCK, "settings", "trials"), True),
        *(((*ROW, name), True) for name in ("id", "quantity", "parts")),
        *(((*ROW, "controls", "shifted", name), True) for name in ("kind", "condition")),
    ],
)
def test_only_what_a_run_uses_of_the_ledger_is_in_the_key(root, changes_key, place, runs_again):
    """Nor is the layout of its file."""
    data = yaml.safe_load((root / page_key.CLAIMS).read_text(encoding="utf8"))
    part = data
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = "changed"
    text = yaml.safe_dump(data, allow_unicode=True, width=40, sort_keys=False)
    (root / page_key.CLAIMS).write_text(text, encoding="utf8")
    assert changes_key() == runs_again


@pytest.mark.parametrize("name", PACKAGE)
def test_only_the_code_that_a_page_reaches_is_in_its_key(root, changes_key, name):
    with (root / name).open("a") as file:
        file.write('"""A docstring."""\n')
    assert changes_key() == (name not in UNREACHED)


def test_the_cells_and_the_interpreter_are_in_the_key_and_the_prose_is_not(
    root, changes_key, monkeypatch
):
    page = chapter_path(SOUND, root)
    page.write_text(PAGE.replace("# A page", "# Another page"))
    assert not changes_key()
    page.write_text(PAGE.replace("seed = 0", "seed = 1"))
    assert changes_key()
    monkeypatch.setattr(page_key.platform, "python_version", lambda: "3.11.0")
    assert changes_key()


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("[read_record(name) for name in ('a', 'authors/c')]", ["a", "authors/c"]),
        ("x = 1  # read_record('a')", []),
        ("%time 1", []),  # no plain Python
    ],
)
def test_the_records_of_a_page_are_those_that_it_names(root, changes_key, cell, names):
    records = [root / page_key.RECORDED / f"{name}.json" for name in names]
    assert page_key.records_read([cell], root) == records
    chapter_path(SOUND, root).write_text(PAGE.replace("seed = 0", cell))
    changes_key()
    for path in records:
        path.write_text("changed")
        assert changes_key()


@pytest.mark.parametrize("name", toc_chapters())
def test_no_page_of_the_book_is_run_again_for_the_checker_the_site_or_a_tower_it_leaves_out(name):
    cells = code_of(read_chapter(chapter_path(name)))
    files = [path.relative_to(ROOT).as_posix() for path in page_key.modules_read(cells)]
    assert "claimbook/ledger/verdicts.py" in files
    rooms = {file.split("/")[1].removesuffix(".py") for file in files if file[:10] == "claimbook/"}
    assert rooms <= READ, f"of the machinery a page reads {', '.join(sorted(READ))}"
    towers = {tower for tower in TOWERS if f"iclutils/{tower}/__init__.py" in files}
    named = {tower for tower in TOWERS if f"iclutils.{tower}" in "\n".join(cells)}
    assert named <= towers <= named.union(*(BRINGS.get(tower, set()) for tower in named))
