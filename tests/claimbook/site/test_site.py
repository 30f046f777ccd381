"""The site's extension without Sphinx: sources, fixes."""

import re

import yaml

from claimbook import ledger
from claimbook.files import ROOT
from claimbook.site import fixes


def test_every_document_has_a_short_name():
    ledger = yaml.safe_load((ROOT / "book" / "claims.yml").read_text(encoding="utf8"))
    assert not [key for key, document in ledger["documents"].items() if "short" not in document]


def test_every_source_but_ours_has_an_address():
    documents = ledger.plain(ledger.load())["documents"]
    assert [key for key, document in documents.items() if not document.get("links")] == ["ours"]


def test_only_empty_headings_become_cells():
    assert fixes.fix('<th class="a"> </th><th>x</th>') == '<td class="a"></td><th>x</th>'
    assert fixes.fix(fixes.fix("<th></th>")) == "<td></td>"


def test_the_theme_is_settled_before_anything_is_coloured():
    written = 'root.dataset.theme = localStorage.getItem("theme") || "auto";'
    assert '"auto"' not in fixes.fix(written)
    assert "prefers-color-scheme" in fixes.fix(written)


def test_what_theorems_and_exercises_say_has_no_id_of_all():
    said = '<section id="exercise-content"><p>x</p></section><section id="own"></section>'
    assert fixes.fix(said) == '<section><p>x</p></section><section id="own"></section>'
    said = '<section class="lemma-content" id="proof-content">'
    assert fixes.fix(said) == '<section class="lemma-content">'


def test_fonts_are_fetched_behind_the_styles_and_asked_for_once():
    styles = '<link rel="stylesheet" type="text/css" href="../_static/type.css?v=1" />'
    fixed = fixes.fix(styles)
    assert fixed.startswith(f"{styles}<script>")
    assert fixes.fix(fixed) == fixed


def test_only_cells_of_tables_are_touched():
    page = '<p>-1</p><table class="docutils"><td>-1</td></table><pre>1e-5</pre>'
    styled = '<table id="T_1"><th id="T_1_row0" >{}</th><td id="T_1_row0_col0" >{}</td></table>'
    plain = '<table border="1" class="dataframe"><tr>\n<th>{}</th>\n<td>{}</td>\n</tr></table>'
    written = page + styled.format("relu", "-1") + plain.format("relu", "−0.00 ± 0.02") + page
    read = page + styled.format("ReLU", "−1") + plain.format("ReLU", "0.00\xa0±\xa00.02") + page
    assert fixes.typeset_numbers(written) == read


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


def test_the_search_index_is_loaded_where_one_searches():
    scripts = "".join(
        f'\n<script src="{place}.js"></script>'
        for place in ("../_static/searchtools", "../_static/language_data", "../searchindex")
    )
    assert fixes.fix(f"<p>x</p>{scripts}<p>y</p>") == "<p>x</p><p>y</p>"
    searching = f'{scripts}<div id="search-results">'
    assert fixes.fix(searching) == searching
