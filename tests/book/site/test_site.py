"""The site's extension without Sphinx: its table of fills, a role's text, the ledger as data."""

import base64
import re
from dataclasses import asdict
from types import SimpleNamespace

import pytest
import yaml

from iclutils.book import ledger
from iclutils.book.ledger import HOLDS, Document, Record
from iclutils.book.runs.files import ROOT
from iclutils.book.runs.origin import Run
from iclutils.book.site.aids import access, cite, fonts
from iclutils.book.site.content import Content
from iclutils.book.site.downloads import export, offers, repository
from iclutils.book.site.fill import FILLS
from iclutils.book.site.results import Entry, Results
from iclutils.book.site.verdicts import sentences
from iclutils.book.site.words import document_words
from iclutils.ground.comparison import SUPPORTED, Comparison

SOURCES = sorted((ROOT / "iclutils" / "book" / "site").rglob("*.py"))
PART = Comparison(value=-0.5, half_width=0.1, against="below 0", outcome=SUPPORTED)
RECORD = Record("c", "row", HOLDS, 0.25, 0.01, {"": PART}, {"wrong": PART}, {}, True)
ROW = {
    "id": "row",
    "source": {"document": "d", "place": "p", "reading": "clear", "printed": "It falls."},
    "brief": "It falls.",
    "statement": "s",
    "kind": "rate",
    "statistic": "t",
    "parts": {"*": "> 0"},
    "tolerance": "e",
    "quantity": "the rate",
    "controls": {
        "wrong": {"kind": "wrong", "what": "a wrong rate"},
        "never-run": {"kind": "null", "what": "another"},
    },
    "expected": HOLDS,
}


def test_every_place_that_a_directive_leaves_has_its_fill():
    """The names in the code are those of the table; ``place()`` is the directives' short way."""
    named = set()
    gathered = set()
    for path in SOURCES:
        text = path.read_text(encoding="utf8")
        named |= set(re.findall(r'\bwhat="(\w+)"', text))
        named |= set(re.findall(r'\bplace\("(\w+)"[,)]', text))
        named |= set(re.findall(r'\bClaimRole\("(\w+)"\)', text))
        gathered |= set(re.findall(r'add_directive\("([\w-]+)", Gathered\)', text))
    lists = tuple(name.replace("-", "_") for name in gathered)
    named |= {name for name in FILLS if name.startswith(lists)}
    assert named == set(FILLS)


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


def test_the_ledger_is_read_once_a_build(monkeypatch, tmp_path):
    reads = []
    load = ledger.load

    def counted(path):
        reads.append(path)
        return load(path)

    monkeypatch.setattr("iclutils.book.site.content.load", counted)
    content = Content(tmp_path, tmp_path)
    assert content.entries
    assert content.headings.keys() == set(content.chapters)
    assert content.results.runs.keys() == set(content.chapters)
    assert content.scored == []  # no cache lies there: nothing is run
    assert len(reads) == 1


def test_a_row_as_data_has_the_same_fields_with_a_run_and_without():
    found = Results({"c": {"row": RECORD}}, {"c": Run("run")}, {})
    row = export.ledger_row(Entry("c", ROW), found)
    assert row["anchor"] == "chapters/c.html#claim-row"
    assert row["controls"] == {
        "wrong": {"kind": "wrong", "what": "a wrong rate"} | asdict(PART),
        "never-run": {"kind": "null", "what": "another"},
    }
    assert (row["amended"], row["suggested_by"], row["audit"]) == ([], None, None)
    empty = export.ledger_row(Entry("c", ROW), Results({}, {}, {}))
    assert empty.keys() == row.keys()
    assert (empty["verdict"], empty["commit"], empty["seeds"]) == ("not run", None, {})


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
    documents = ledger.load()["documents"]
    assert [key for key, document in documents.items() if not document.get("links")] == ["ours"]


@pytest.mark.parametrize(
    ("size", "text"), [(12, "1 kB"), (2600, "3 kB"), (999_999, "1000 kB"), (1_250_000, "1.2 MB")]
)
def test_sizes(size, text):
    assert offers.size_text(size) == text


def test_a_citation_names_groups_and_people():
    entry = {
        "title": "T",
        "version": "1",
        "authors": [{"name": "A group"}, {"given-names": "B.", "family-names": "C"}],
        "date-released": "2026-11-21",
    }
    assert cite.sentence(entry) == "A group and B. C: T, version 1, 2026-11-21."
    assert "author = {{A group} and C, B.}" in cite.bibtex(entry)
    assert "year = {2026}" in cite.bibtex(entry)


@pytest.mark.parametrize(
    ("site", "repository", "cited"),
    [
        ("", "", None),
        ("", "https://r.org", "https://r.org"),
        ("https://s.org/", "r", "https://s.org/"),
    ],
)
def test_the_address_that_is_cited_is_the_site_s_or_the_repository_s(site, repository, cited):
    app = configured(repository)
    app.config.html_baseurl = site
    entry = cite.citation(app)
    assert entry.get("url") == cited
    assert (f"url = {{{cited}}}" in cite.bibtex(entry)) == (cited is not None)
    assert cite.sentence(entry).endswith(f", {cited or entry['date-released']}.")


def test_only_empty_headings_become_cells():
    assert access.mend('<th class="a"> </th><th>x</th>') == '<td class="a"></td><th>x</th>'
    assert access.mend(access.mend("<th></th>")) == "<td></td>"


@pytest.mark.parametrize("sheet", fonts.EMBEDDED)
def test_the_fonts_of_almost_every_line_stand_in_the_style(tmp_path, sheet):
    """They cannot come late then; the others stay files, and doing it again changes nothing."""
    for name, faces in fonts.EMBEDDED.items():
        folder = (tmp_path / name).parent / "fonts"
        folder.mkdir(parents=True, exist_ok=True)
        for face in faces:
            (folder / face).write_bytes(face.encode())
        links = "".join(f"src: url(fonts/{face}); " for face in [*faces, "rare.woff2"])
        (tmp_path / name).write_text(links, encoding="utf8")
    fonts.embed_fonts(tmp_path)
    written = (tmp_path / sheet).read_text(encoding="utf8")
    held = re.findall(r"url\(data:font/woff2;base64,([^)]*)\)", written)
    assert [base64.b64decode(each).decode() for each in held] == list(fonts.EMBEDDED[sheet])
    assert written.endswith("src: url(fonts/rare.woff2); ")
    fonts.embed_fonts(tmp_path)
    assert (tmp_path / sheet).read_text(encoding="utf8") == written


def test_fonts_are_read_behind_the_styles_and_asked_for_once():
    styles = '<link rel="stylesheet" type="text/css" href="../_static/type.css?v=1" />'
    mended = access.mend(styles)
    assert mended.startswith(f"{styles}<script>")
    assert "document.fonts.load" in mended
    assert access.mend(mended) == mended


def test_the_theme_is_settled_before_anything_is_coloured():
    written = 'root.dataset.theme = localStorage.getItem("theme") || "auto";'
    assert '"auto"' not in access.mend(written)
    assert "prefers-color-scheme" in access.mend(written)


def configured(url):
    """A Sphinx application as far as the address of the repository goes."""
    options = {"repository_url": url, **dict.fromkeys(repository.BUTTONS, False)}
    return SimpleNamespace(config=SimpleNamespace(html_theme_options=options))


def test_links_to_the_repository_appear_with_its_address():
    app = configured("https://example.org/book/")
    repository.switch_buttons(app, app.config)
    assert all(app.config.html_theme_options[name] for name in repository.BUTTONS)
    assert repository.linked(app) == "[the book's repository](https://example.org/book)"


def test_without_an_address_there_is_no_link_to_the_repository():
    app = configured("")
    repository.switch_buttons(app, app.config)
    assert not any(app.config.html_theme_options[name] for name in repository.BUTTONS)
    assert "](" not in repository.linked(app)


def test_an_address_that_is_none_is_refused():
    app = configured("github.com/owner/name")
    with pytest.raises(ValueError, match="must begin with https"):
        repository.switch_buttons(app, app.config)
