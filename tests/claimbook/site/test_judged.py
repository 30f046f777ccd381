"""Where a row's mark and its line stand: in the sentence, and behind its paragraph."""

from types import SimpleNamespace

import pytest
from docutils import nodes, utils
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser

from claimbook.site.nodes import from_run
from claimbook.site.results import Entry
from claimbook.site.verdicts import judged
from claimbook.site.verdicts.judged import JudgedRole, place


def asked(claim):
    return place("mark", "01_mini", claim)


@pytest.fixture
def warned(monkeypatch):
    """What is warned of."""
    found = []
    warning = lambda text, *words, location: found.append(text % words)  # noqa: E731
    monkeypatch.setattr(judged, "logger", SimpleNamespace(warning=warning))
    return found


@pytest.fixture
def outline():
    """What stands on a page, one after another, once its lines are placed."""

    def outline(*children):
        document = utils.new_document("", get_default_settings(Parser))
        document += nodes.section("", *children)
        judged.place_lines(None, document)
        return list(map(told, document[0].children))

    return outline


def told(node):
    """The words of a node with its marks, or the name of the line that it is the place of."""
    if isinstance(node, from_run):
        return [node["claim"], "open"] if node.get("open") else [node["claim"]]
    return "".join(
        f"<{one['claim']}>" if isinstance(one, from_run) else str(one)
        for one in node.findall()
        if isinstance(one, (nodes.Text, from_run))
    )


def words(*parts):
    return nodes.paragraph("", "", *map(as_node, parts))


def as_node(part):
    return nodes.Text(part) if isinstance(part, str) else part


def test_a_line_stands_behind_the_paragraph_of_its_mark(outline, warned):
    found = outline(words("It rises.\n", asked("a"), " It falls.", asked("b")), words("Next."))
    assert found == ["It rises.<a> It falls.<b>", ["a"], ["b"], "Next."]
    assert not warned


def test_alone_it_marks_the_paragraph_before(outline):
    found = outline(words("First."), words(asked("a")), words(asked("b")), words("Next."))
    assert found == ["First.<a><b>", ["a"], ["b"], "Next."]


def test_where_no_sentence_stands_before_it_the_line_is_open(outline):
    assert outline(nodes.table(), words(asked("a"))) == ["", ["a", "open"]]


def test_within_other_words_it_leaves_them_whole(outline):
    item = nodes.list_item("", words("It rises.", nodes.emphasis("", "", asked("a"))))
    document = nodes.bullet_list("", item, nodes.list_item("", words("Next.")))
    outline(document)
    assert [type(node) for node in item.children] == [nodes.paragraph, from_run]


def test_what_can_not_be_placed_is_warned_of(outline, warned):
    outline(words("A.", asked("a")), words("B.", asked("a")), nodes.title("", "", asked("b")))
    assert warned == [
        "judged: 'a' is placed twice on this page",
        "judged: 'b' must stand in a paragraph",
    ]


@pytest.mark.parametrize(
    ("claim", "page", "known"),
    [
        ("a", "book/chapters/01_mini", True),
        ("a", "book/chapters/01_mini_specialist", False),
        ("b", "book/chapters/01_mini", False),
    ],
)
def test_a_role_names_a_row_of_its_own_page(monkeypatch, warned, claim, page, known):
    build = SimpleNamespace(entries={"a": Entry("01_mini", {})})
    monkeypatch.setattr(judged, "content_of", lambda app: build)
    env = SimpleNamespace(app=None, docname=page)
    role = JudgedRole()
    role.text, role.lineno = claim, 1
    settings = SimpleNamespace(env=env)
    role.inliner = SimpleNamespace(
        document=SimpleNamespace(settings=settings),
        reporter=SimpleNamespace(get_source_and_line=lambda line: (page, 1)),
    )
    found, _ = role.run()
    assert [node["claim"] for node in found] == (["a"] if known else [])
    assert bool(warned) is not known




def boxes(*parts):
    """The boxes of a paragraph that no line breaks in, once its marks are held."""
    paragraph = words(*parts)
    before = told(paragraph)
    for mark in list(paragraph.findall(from_run)):
        judged.hold(mark)
    assert told(paragraph) == before, "no word is lost"
    return [told(one) for one in paragraph.findall(nodes.inline) if "kept" in one["classes"]]


def test_a_mark_begins_no_line():
    kept = nodes.inline("", "", nodes.math("", "x"), nodes.Text("."), classes=["kept"])
    assert boxes("It holds.", asked("a"), " And so on.") == ["holds.<a>"]
    assert boxes("It is ", kept, asked("a"), " So.", asked("b")) == ["x.<a>", "So.<b>"]
    assert boxes(asked("a"), "Alone.") == []
