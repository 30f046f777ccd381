"""Where a row's mark and its line stand: in the sentence, and behind its paragraph."""

from types import SimpleNamespace

import pytest
from docutils import nodes, utils
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser

from claimbook.ledger.record import VERDICT
from claimbook.site import directives, marks
from claimbook.site.cells import CHECKED, gather_checks
from claimbook.site.directives import ClaimRole, LedgerPage
from claimbook.site.marks import CHECK, LINE, MARK, JudgedRole, VerdictOutput, place, places

PAGE = "book/chapters/00_mini"
A, B = "fair-holds", "fair-part"


def mark(claim=A):
    return place(MARK, claim)


def words(*parts):
    return nodes.paragraph(
        "", "", *(nodes.Text(part) if isinstance(part, str) else part for part in parts)
    )


@pytest.fixture
def warned(monkeypatch):
    """What is warned of."""
    found = []
    warning = lambda text, *words, location: found.append(text % words)  # noqa: E731
    for module in (marks, directives):
        monkeypatch.setattr(module, "logger", SimpleNamespace(warning=warning))
    return found


def read(app, *children):
    """A page of one section, after it was read."""
    document = utils.new_document("", get_default_settings(Parser))
    document += nodes.section("", nodes.title("", "A page"), *children)
    marks.show_verdicts(app, document)
    return document


def told(node):
    """The words of a node with its marks, or the row whose line stands there."""
    if isinstance(node, nodes.raw):
        return [node["claim"], "hidden" if " hidden>" in node.astext() else "open"]
    pieces = [one for one in node.findall() if isinstance(one, (nodes.Text, nodes.raw))]
    texts = (one for one in pieces if not isinstance(one.parent, nodes.raw))
    return "".join(f"<{one['claim']}>" if isinstance(one, nodes.raw) else one for one in texts)


def outline(app, *children):
    return [told(child) for child in read(app, *children)[0].children[1:]]


def test_a_line_stands_behind_the_paragraph_of_its_mark(app, warned):
    found = outline(app, words("It rises.\n", mark(A), " It falls.", mark(B)), words("Next."))
    assert found == [f"It rises.<{A}> It falls.<{B}>", [A, "hidden"], [B, "open"], "Next."]
    assert not warned


def test_alone_it_marks_the_paragraph_before(app, warned):
    found = outline(app, words("First."), words(mark(A)), words(mark(B)), words("Next."))
    assert found == [f"First.<{A}><{B}>", [A, "hidden"], [B, "open"], "Next."]


def test_where_no_sentence_stands_before_it_the_line_is_open(app):
    assert outline(app, nodes.table(), words(mark(A))) == ["", [A, "open"]]


def test_within_other_words_it_leaves_them_whole(app):
    item = nodes.list_item("", words("It rises.", nodes.emphasis("", "", mark(A))))
    read(app, nodes.bullet_list("", item, nodes.list_item("", words("Next."))))
    assert [type(node) for node in item.children] == [nodes.paragraph, nodes.raw]


def test_what_can_not_be_placed_is_warned_of(app, warned):
    read(app, words("A.", mark(A)), words("B.", mark(A)), nodes.title("", "", mark(B)))
    assert warned == [
        f"judged: '{A}' is placed twice on this page",
        f"judged: '{B}' must stand in a paragraph",
    ]


def page(app):
    """A page with a mark, and a cell that checks its row and another one."""
    outputs = nodes.container("", place(CHECK, A), place(CHECK, B))
    cell = nodes.container("", outputs, nb_element="cell_code")
    checks = nodes.section("", nodes.title("", CHECKED), cell)
    return read(app, words("It rises.", mark(A)), checks)


def test_where_a_page_lists_its_checks_a_mark_leads_there(app):
    (found,) = places(page(app), MARK)
    assert f'href="#checked-{A}"' in found.astext()
    (alone,) = places(read(app, words("It rises.", mark(A))), MARK)
    assert f'href="../ledger.html#{A}"' in alone.astext()


def test_the_first_line_with_a_picture_says_how_it_is_read(app):
    document = read(app, words("It rises.", mark(A), mark(B)))
    first, second = places(document, LINE)
    assert "how to read this line" in first.astext()
    assert "how to read this line" not in second.astext()


def test_the_checks_of_a_page_are_one_table_and_stand_under_one_bar(app, views):
    document = page(app)
    gather_checks(views, PAGE, document)
    section = document[0][-1]
    title, table, bar = section.children
    assert title.astext() == CHECKED
    assert [f'id="checked-{claim}"' in table.astext() for claim in (A, B)] == [True, True]
    assert bar["tag"] == "details"
    assert not list(places(section, CHECK)), "what the table lists is no output any more"


def test_a_verdict_among_outputs_is_a_place(app):
    data = SimpleNamespace(mime_type=VERDICT, content={"id": A})
    (found,) = VerdictOutput.handle_mime(None, data, inline=False)
    assert (found["shows"], found["claim"]) == (CHECK, A)
    assert VerdictOutput.handle_mime(None, SimpleNamespace(mime_type="text/plain"), False) is None


# ---------------------------------------------------------------- roles


def run(role, text, app, docname=PAGE):
    """What a role makes of a text on a page."""
    role.text, role.lineno, role.name = text, 1, "role"
    env = SimpleNamespace(app=app, docname=docname)
    role.inliner = SimpleNamespace(
        document=SimpleNamespace(settings=SimpleNamespace(env=env)),
        reporter=SimpleNamespace(get_source_and_line=lambda line: (docname, 1)),
    )
    return role.run()[0]


@pytest.mark.parametrize(
    ("claim", "docname", "known"),
    [(A, PAGE, True), (A, f"{PAGE}_specialist", False), ("fair-none", PAGE, False)],
)
def test_a_role_names_a_row_of_its_own_page(app, warned, claim, docname, known):
    found = run(JudgedRole(), claim, app, docname)
    assert [node["claim"] for node in found] == ([claim] if known else [])
    assert bool(warned) is not known


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" fair-fails ", "0.430 ± 0.020"),
        ("fair-part", "1.02 ± 0.33"),
        ("fair-part|factor", "2.77 ± 0.92"),
    ],
)
def test_a_number_in_a_sentence_leads_to_its_row(app, text, said):
    (found,) = run(ClaimRole(ClaimRole.value), text, app, "book/notes")
    assert found.astext() == said
    assert found["refuri"] == f"ledger.html#{text.split('|')[0].strip()}"


@pytest.mark.parametrize("text", ["fair-none", "fair-part|ratio", "fair-fails|factor"])
def test_a_number_that_there_is_not_is_warned_of(app, warned, text):
    assert run(ClaimRole(ClaimRole.value), text, app) == []
    assert len(warned) == 1


@pytest.mark.parametrize(
    ("docname", "words"),
    [
        (PAGE, "data-line"),
        (f"{PAGE}_specialist", ">evidence</a>"),
        ("book/notes", "<code>fair-fails</code>"),
    ],
)
def test_a_verdict_in_a_sentence_is_a_mark_on_a_main_page(app, docname, words):
    (found,) = run(ClaimRole(ClaimRole.verdict), "fair-fails", app, docname)
    assert (words in found.astext()) == (docname != PAGE)
    assert ('class="judged"' in found.astext()) == (docname == PAGE)


def test_a_picture_in_a_sentence(app, warned):
    (found,) = run(ClaimRole(ClaimRole.picture), "fair-fails", app)
    assert "outside the allowed range" in found.astext()
    assert "<title>dot and bar: measured, with its interval; shaded: the allowed" in found.astext()


def test_the_ledger_can_be_filtered_by_all_that_its_rows_have(content):
    directive = SimpleNamespace(content_=content)
    found = {
        kind: [value for value, _ in options] for kind, _, options in LedgerPage.filters(directive)
    }
    assert found == {
        "verdict": ["holds", "holds-in-part", "fails", "undecided", "not-testable"],
        "origin": ["theirs", "ours"],
        "chapter": ["00_mini"],
        "source": ["paper", "slides"],
        "reading": ["clear", "mangled", "illegible"],
    }


def boxes(*parts):
    """The boxes of a paragraph that no line breaks in, once its marks are held."""
    paragraph = words(*parts)
    before = told(paragraph)
    for one in list(places(paragraph, MARK)):
        marks.hold(one)
    assert told(paragraph) == before, "no word is lost"
    return [told(one) for one in paragraph.findall(nodes.inline) if "kept" in one["classes"]]


def test_a_mark_begins_no_line():
    kept = nodes.inline("", "", nodes.math("", "x"), nodes.Text("."), classes=["kept"])
    assert boxes("It holds.", mark(A), " And so on.") == [f"holds.<{A}>"]
    assert boxes("It is ", kept, mark(A), " So.", mark(B)) == [f"x.<{A}>", f"So.<{B}>"]
    assert boxes(mark(A), "Alone.") == []
