"""Where a row's mark and its line stand: in the sentence, and behind its paragraph."""

from types import SimpleNamespace

import pytest
from docutils import nodes, utils
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser

from claimbook.site import directives, marks
from claimbook.site.cells import CHECKED, gather_checks
from claimbook.site.directives import ClaimRole
from claimbook.site.marks import JudgedRole, marker, markers
from claimbook.site.mathematics import KeepTogether

PAGE = "book/chapters/00_mini"
A, B = "fair-holds", "fair-part"


def mark(claim=A):
    return marker("mark", claim)


def words(*parts):
    return nodes.paragraph(
        "", "", *(nodes.Text(part) if isinstance(part, str) else part for part in parts)
    )


@pytest.fixture
def warned(monkeypatch):
    """Return what is warned of."""
    warnings = []
    warning = lambda text, *words, location: warnings.append(text % words)  # noqa: E731
    for module in (marks, directives):
        monkeypatch.setattr(module, "logger", SimpleNamespace(warning=warning))
    return warnings


def read(app, *children):
    """Make a page of one section, after it was read."""
    document = utils.new_document("", get_default_settings(Parser))
    document += nodes.section("", nodes.title("", "A page"), *children)
    marks.show_lines(app, document)
    return document


def text_of(node):
    """Return the words of a node with its marks, or the row whose line stands there."""
    if isinstance(node, nodes.raw) and "line" in node:
        return [node["line"], "hidden" if " hidden>" in node.astext() else "open"]
    pieces = [one for one in node.findall() if isinstance(one, (nodes.Text, nodes.raw))]
    texts = (one for one in pieces if not isinstance(one.parent, nodes.raw))
    return "".join(f"<{one['mark']}>" if isinstance(one, nodes.raw) else one for one in texts)


HOLDS, PART = [A, "hidden"], [B, "open"]


@pytest.mark.parametrize(
    ("parts", "page"),
    [  # behind the paragraph; alone it marks the one before; where no sentence stands, it is open
        (
            [("It rises.\n", A, " It falls.", B), ("Next.",)],
            [f"It rises.<{A}> It falls.<{B}>", HOLDS, PART, "Next."],
        ),
        ([("First.",), (A,), (B,), ("Next.",)], [f"First.<{A}><{B}>", HOLDS, PART, "Next."]),
        ([(A,)], [[A, "open"]]),
    ],
)
def test_a_line_stands_behind_the_paragraph_of_its_mark(app, warned, parts, page):
    paragraphs = [words(*(mark(one) if one in (A, B) else one for one in part)) for part in parts]
    assert [text_of(child) for child in read(app, *paragraphs)[0].children[1:]] == page
    assert not warned


def test_within_other_words_it_leaves_them_whole(app):
    item = nodes.list_item("", words("It rises.", nodes.emphasis("", "", mark(A))))
    read(app, nodes.bullet_list("", item, nodes.list_item("", words("Next."))))
    assert [type(node) for node in item.children] == [nodes.paragraph, nodes.raw]


@pytest.mark.parametrize(
    "parts", [[words("A.", mark(A)), words("B.", mark(A))], [nodes.title("", "", mark(B))]]
)
def test_what_can_not_be_placed_is_warned_of(app, warned, parts):
    read(app, *parts)
    assert len(warned) == 1
    assert warned[0].startswith("judged: each mark must stand in a paragraph")


def test_the_first_line_with_a_picture_says_how_it_is_read(app):
    first, second = markers(read(app, words("It rises.", mark(A), mark(B))), "line")
    assert "how to read this line" in first.astext()
    assert "how to read this line" not in second.astext()


@pytest.mark.parametrize(("title", "left"), [(CHECKED, []), ("More", [B])])
def test_the_checks_of_a_page_are_one_table_and_stand_under_one_bar(app, views, title, left):
    """Where there is no such section, a verdict stays at its cell, unless a mark shows it."""
    forms = [nodes.container("", marker("check", claim), nodes.Text("plain")) for claim in (A, B)]
    outputs = nodes.container("", *forms, nb_element="cell_code_output")
    cell = nodes.container("", outputs, nb_element="cell_code")
    document = read(
        app, words("It rises.", mark(A)), nodes.section("", nodes.title("", title), cell)
    )
    gather_checks(views, PAGE, document)
    assert [one["check"] for one in markers(document, "check")] == left
    assert cell["ids"] == [f"check-{claim}" for claim in (A, B)]
    _, *rest = document[0][-1].children
    if title == CHECKED:
        table, bar = rest
        assert [f'id="checked-{claim}"' in table.astext() for claim in (A, B)] == [True, True]
        assert bar["tag"] == "details"
    else:
        assert rest == [cell]


# ---------------------------------------------------------------- roles

SECOND = f"{PAGE}_specialist"


def run(name, text, app, docname=PAGE):
    """Return what a role makes of a text on a page."""
    role = JudgedRole() if name == "judged" else ClaimRole()
    role.text, role.lineno, role.name = text, 1, name
    env = SimpleNamespace(app=app, docname=docname)
    role.inliner = SimpleNamespace(
        document=SimpleNamespace(settings=SimpleNamespace(env=env)),
        reporter=SimpleNamespace(get_source_and_line=lambda line: (docname, 1)),
    )
    return role.run()[0]


@pytest.mark.parametrize(
    ("name", "text", "docname"),
    [
        ("judged", A, SECOND),  # a row of another page
        ("judged", "fair-none", PAGE),
        ("claim-value", "fair-none", PAGE),
    ],
)
def test_what_a_page_has_not_is_warned_of(app, warned, name, text, docname):
    assert run(name, text, app, docname) == []
    assert len(warned) == 1


@pytest.mark.parametrize(
    ("text", "number"),
    [(" fair-fails ", "0.430 ± 0.020"), ("fair-part", "2.77, from 1.99 to 3.86")],
)
def test_a_number_in_a_sentence_leads_to_its_row(app, text, number):
    (node,) = run("claim-value", text, app, "book/notes")
    assert node.astext() == number
    assert node["refuri"] == f"ledger.html#{text.strip()}"


@pytest.mark.parametrize(
    ("name", "docname", "html"),
    [
        ("claim-verdict", PAGE, 'class="judged"'),
        ("claim-verdict", SECOND, ">evidence</a>"),
        ("claim-verdict", "book/notes", "<code>fair-fails</code>"),
    ],
)
def test_a_verdict_in_a_sentence_is_a_mark_on_a_main_page(app, name, docname, html):
    (node,) = run(name, "fair-fails", app, docname)
    assert html in node.astext()
    assert ('class="judged"' in node.astext()) == (docname == PAGE and name == "claim-verdict")


@pytest.mark.parametrize(
    ("parts", "boxes"),
    [
        (["It holds.", mark(A), " And so on."], [f"holds.<{A}>"]),
        (["It is ", nodes.math("", "x"), ".", mark(A), " So.", mark(B)], [f"x.<{A}>", f"So.<{B}>"]),
        ([mark(A), "Alone."], []),
    ],
)
def test_a_mark_begins_no_line(parts, boxes):
    paragraph = words(*parts)
    before = text_of(paragraph)
    KeepTogether.run(SimpleNamespace(document=paragraph))
    together = [one for one in paragraph.findall(nodes.inline) if "kept" in one["classes"]]
    assert [text_of(one) for one in together] == boxes
    assert text_of(paragraph) == before, "no word is lost"
