"""What readers take home: notebooks in plain Markdown, the archive, the wheel."""

import io
import os
import subprocess
import sys
import zipfile

import pytest
from docutils import nodes

from claimbook.files import write_atomically
from claimbook.site import downloads
from claimbook.site.nodes import finished
from claimbook.site.notebooks import Markdown


def paragraph(*children):
    return nodes.paragraph("", "", *children)


@pytest.fixture
def writer():
    numbers = {"displaymath": {"equation-a": (1, 2)}, "theorem": {"thm": (3, 1)}}
    return Markdown(numbers, "book/chapters/01_a", "")


def test_words_become_markdown(writer):
    text = paragraph(
        nodes.Text("a*b "),
        nodes.strong("", "bold "),
        nodes.inline("", "move the slider", classes=["screen-only"]),
        nodes.math("x_1", "x_1"),
        nodes.reference("", "there", refuri="02_b.html#c"),
        nodes.reference("", "web", refuri="https://example.org"),
        nodes.reference("", "page", refuri="../notation.html"),
    )
    said = "a\\*b **bold** $x_1$[there](02_b.ipynb)[web](https://example.org)page"
    assert writer.block(text) == said


def test_blocks_become_markdown(writer):
    formula = nodes.math_block("", "y=x", ids=["equation-a"])
    assert writer.block(formula) == "$$\ny=x \\tag{1.2}\n$$"
    whole = nodes.math_block("", "\\begin{align}y\\end{align}", classes=["amsmath"])
    assert writer.block(whole) == "\\begin{align}y\\end{align}"
    items = nodes.bullet_list("", *(nodes.list_item("", paragraph(nodes.Text(t))) for t in "ab"))
    assert writer.block(items) == "- a\n- b"
    said = nodes.section("", paragraph(nodes.Text("It holds.")))
    theorem = nodes.admonition(
        "", nodes.title("", "(A)"), said, classes=["proof"], ids=["thm"], countertype="theorem"
    )
    theorem["realtype"] = "theorem"
    assert writer.block(theorem) == "> **Theorem 3.1** (A)\n>\n> It holds."


def test_a_note_becomes_a_quotation_under_its_title(writer):
    words = paragraph(nodes.Text("It is so."))
    titled = nodes.admonition("", nodes.title("", "Aside"), words)
    assert writer.block(titled) == "> **Aside**\n>\n> It is so."
    assert writer.block(nodes.note("", words.deepcopy())) == "> It is so."


def test_addresses_lead_where_a_notebook_can_follow():
    alone = Markdown({}, "book/chapters/01_a", "").address
    assert alone("02_b.html#x") == "02_b.ipynb"
    assert alone("../ledger.html") == alone("#x") == ""
    public = Markdown({}, "book/chapters/01_a", "https://example.org/b/").address
    assert public("../ledger.html#x") == "https://example.org/b/book/ledger.html#x"


def test_the_archive_holds_the_site_and_how_to_begin(tmp_path, views, monkeypatch):
    monkeypatch.setattr(downloads, "views_of", lambda app: views)
    site = tmp_path / "html"
    shown = {"searchindex.js", "book/a.svg", "book/ledger.json", "book/downloads/a.ipynb"}
    for name in shown:
        write_atomically(site / name, "x")
    downloads.write_archive(None, site)
    with zipfile.ZipFile(site / downloads.FOLDER / f"{downloads.ARCHIVE}.zip") as held:
        names = {name for name in held.namelist() if not name.endswith("/")}
        assert b"iclutils-*.whl" in held.read("html/README.txt")
    others = {"README.txt", "LICENSE", "CITATION.cff"}
    assert names == {f"html/{name}" for name in shown | others}


def test_finished_html_has_words_of_its_own_in_a_notebook(writer):
    assert writer.block(finished("<p>✓</p>", "**✓ holds**")) == "**✓ holds**"
    assert writer.block(nodes.raw("", "<script></script>", format="html")) == ""


PROGRAM = """
from claimbook import cached, read_record
from claimbook.ledger import Ledger, load, plain
from claimbook.files import packages
from iclutils.validation import positive

import iclutils

assert iclutils.__file__.startswith({here!r}), iclutils.__file__
settings = plain(load())["chapters"]["03_linear_attention"]["settings"]
assert packages() == ("iclutils",)
assert Ledger("03_linear_attention", **settings).rows
assert read_record("05_double_descent")["jobs"]
assert cached(positive, "x", 2.0) == 2.0
"""


def test_the_wheel_is_the_same_each_time_and_runs_without_a_checkout(tmp_path):
    file = downloads.wheel()
    assert file == downloads.wheel()
    zipfile.ZipFile(io.BytesIO(file)).extractall(tmp_path / "installed")
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    here = str(tmp_path / "installed")
    environment = {**os.environ, "PYTHONPATH": here, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", PROGRAM.format(here=here)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before
