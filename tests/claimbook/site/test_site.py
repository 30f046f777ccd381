"""The site's extension without Sphinx: sources, literature, and what is replaced on a page."""

import re

import pytest

from claimbook import ledger
from claimbook.files import ROOT
from claimbook.site import fixes
from claimbook.site.figures import Figure, picture

STYLES = '<link rel="stylesheet" type="text/css" href="../_static/type.css?v=1" />'
SEARCH = (
    '\n<script src="../_static/searchtools.js"></script>\n<script src="searchindex.js"></script>'
)


def test_every_source_but_ours_has_an_address():
    documents = ledger.plain(ledger.load())["documents"]
    assert [key for key, document in documents.items() if not document.get("links")] == ["ours"]


@pytest.mark.parametrize(
    ("written", "better"),
    [
        ('<th class="a"> </th><th>x</th>', '<td class="a"></td><th>x</th>'),  # the empty alone
        ('<section id="proof-content">', "<section>"),  # an id of all theorems
        ('<section id="own">', '<section id="own">'),
        (STYLES, f"{STYLES}{fixes.FETCH}"),  # fonts are fetched behind the styles
        (f"<p>x</p>{SEARCH}<p>y</p>", "<p>x</p><p>y</p>"),  # the index where one searches, only
        (f'{SEARCH}<div id="search-results">', f'{SEARCH}<div id="search-results">'),
    ],
)
def test_what_is_written_is_replaced_once(written, better):
    assert fixes.fix(written) == better
    assert fixes.fix(better) == better


def test_the_theme_is_settled_before_anything_is_coloured():
    fixed = fixes.fix('root.dataset.theme = localStorage.getItem("theme") || "auto";')
    assert '"auto"' not in fixed
    assert "prefers-color-scheme" in fixed


def test_a_drawing_is_shown_in_its_size():
    svg = '<svg width="36pt" height="72pt">'  # an inch is 72 points and 96 pixels
    image = picture("index", Figure("fig-two", "00_mini", "", "two dots", svg, {}))
    assert (image["attributes"]["width"], image["attributes"]["height"]) == ("48", "96")


def test_every_class_that_is_given_to_a_node_is_one_of_the_styles_or_scripts():
    files = [*(ROOT / "book" / "_static").glob("*.css"), *(ROOT / "book" / "_static").glob("*.js")]
    styles = "".join(file.read_text(encoding="utf8") for file in files)
    faces = re.findall(r'@font-face \{ font-family: "(.*?)"', styles)
    assert set(fixes.FACES) == {f"1em '{name}'" for name in faces}
    known = {*re.findall(r"[\w-]+", styles)}
    for path in (ROOT / "claimbook" / "site").glob("*.py"):
        for classes in re.findall(r"classes=\[(.*?)\]", path.read_text(encoding="utf8")):
            assert {*re.findall(r'"([\w-]+)"', classes)} <= known, path


def test_only_cells_of_tables_are_touched():
    page = '<p>-1</p><table class="docutils"><td>-1</td></table><pre>1e-5</pre>'
    styled = '<table id="T_1"><th id="T_1_row0" >{}</th><td id="T_1_row0_col0" >{}</td></table>'
    plain = '<table border="1" class="dataframe"><tr>\n<th>{}</th>\n<td>{}</td>\n</tr></table>'
    written = page + styled.format("relu", "-1") + plain.format("relu", "−0.00 ± 0.02") + page
    read = page + styled.format("ReLU", "−1") + plain.format("ReLU", "0.00\xa0±\xa00.02") + page
    assert fixes.fix(written) == read


def test_the_literature_is_linked_and_used():
    text = (ROOT / "book" / "references.bib").read_text(encoding="utf8")
    entries = re.findall(r"@\w+\{(\w+),(.*?)\n\}", text, re.DOTALL)
    assert len(entries) == text.count("\n@") + 1
    pages = "".join(path.read_text(encoding="utf8") for path in (ROOT / "book").rglob("*.md"))
    named = {key for keys in re.findall(r"\{cite:\w+\}`([^`]+)`", pages) for key in keys.split(",")}
    assert {key for key, _ in entries} == named
    for key, fields in entries:
        # of an accent in TeX the entry's label would show the letters: MarvcenkoP67
        assert "\\" not in fields, key
        assert re.search(r"^  (?:doi|url) +=", fields, re.MULTILINE), key
