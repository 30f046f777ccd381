"""The site's extension without Sphinx: roles, sources, fixes."""


import pytest
import yaml

from claimbook import ledger
from claimbook.files import ROOT
from claimbook.ledger.schema import Document
from claimbook.site import fixes
from claimbook.site.downloads import offers
from claimbook.site.verdicts import sentences
from claimbook.site.words import document_words


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (" ch1-row ", ("ch1-row", "")),
        ("ch1-row | factor", ("ch1-row", "factor")),
        ("ch1-row|ratio", None),
        ("ch1-row|factor|b", None),
    ],
)
def test_the_text_of_a_role(text, asked):
    assert sentences.parse(text) == asked


@pytest.mark.parametrize(
    ("value", "half_width", "text"),
    [(-0.1234, 0.01, "−0.123 ± 0.010"), (2.0, 0.0, "2"), (1 / 3, 1e-9, "0.33333")],
)
def test_a_number_in_a_sentence(value, half_width, text):
    assert sentences.number_text(value, half_width, sentences.DIGITS) == text


def test_every_document_has_a_short_name():
    ledger = yaml.safe_load((ROOT / "book" / "claims.yml").read_text(encoding="utf8"))
    assert not [key for key, document in ledger["documents"].items() if "short" not in document]


def test_a_source_is_shown_with_its_addresses():
    where = {"arXiv": "https://arxiv.org/abs/1", "code": "https://example.org"}
    document: Document = {"title": "T", "kind": "talk", "version": "1", "links": where}
    first, *rest = document_words(document)
    assert first == "T (talk; 1)"
    shown = [node for node in rest if not isinstance(node, str)]
    assert [node["attributes"]["href"] for node in shown] == list(where.values())
    assert document_words({"title": "T", "kind": "talk", "version": "1"}) == ["T (talk; 1)"]


def test_every_source_but_ours_has_an_address():
    documents = ledger.plain(ledger.load())["documents"]
    assert [key for key, document in documents.items() if not document.get("links")] == ["ours"]


@pytest.mark.parametrize(
    ("size", "text"), [(12, "1 kB"), (2600, "3 kB"), (999_999, "1000 kB"), (1_250_000, "1.2 MB")]
)
def test_sizes(size, text):
    assert offers.size_text(size) == text


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


def test_fonts_are_fetched_behind_the_styles_and_asked_for_once():
    styles = '<link rel="stylesheet" type="text/css" href="../_static/type.css?v=1" />'
    fixed = fixes.fix(styles)
    assert fixed.startswith(f"{styles}<script>")
    assert fixes.fix(fixed) == fixed
