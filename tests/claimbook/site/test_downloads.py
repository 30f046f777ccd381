"""What readers take home: notebooks in plain Markdown."""

from docutils import nodes

from claimbook.site.nodes import finished
from claimbook.site.notebooks import Markdown

NUMBERS = {"displaymath": {"equation-a": (1, 2)}, "theorem": {"thm": (3, 1)}}
WRITER = Markdown(NUMBERS)


def paragraph(*children):
    return nodes.paragraph("", "", *children)


def test_words_become_markdown():
    text = paragraph(
        nodes.Text("a*b "),
        nodes.strong("", "bold "),
        nodes.inline("", "move the slider", classes=["screen-only"]),
        nodes.math("x_1", "x_1"),
        nodes.reference("", "there", refuri="02_b.html#c"),
        nodes.reference("", "web", refuri="https://example.org"),
        nodes.reference("", "page ", refuri="../notation.html"),
        nodes.reference("", "above", refuri="#above"),
    )
    markdown = "a\\*b **bold** $x_1$[there](02_b.ipynb)[web](https://example.org)page above"
    assert WRITER.block(text) == markdown


def test_blocks_become_markdown():
    formula = nodes.math_block("", "y=x", ids=["equation-a"])
    assert WRITER.block(formula) == "$$\ny=x \\tag{1.2}\n$$"
    items = nodes.bullet_list("", *(nodes.list_item("", paragraph(nodes.Text(t))) for t in "ab"))
    assert WRITER.block(items) == "- a\n- b"
    statement = nodes.section("", paragraph(nodes.Text("It holds.")))
    theorem = nodes.admonition(
        "", nodes.title("", "(A)"), statement, classes=["proof"], ids=["thm"], countertype="theorem"
    )
    theorem["realtype"] = "theorem"
    assert WRITER.block(theorem) == "> **Theorem 3.1** (A)\n>\n> It holds."


def test_a_note_becomes_a_quotation_under_its_title():
    words = paragraph(nodes.Text("It is so."))
    titled = nodes.admonition("", nodes.title("", "Aside"), words)
    assert WRITER.block(titled) == "> **Aside**\n>\n> It is so."
    assert WRITER.block(nodes.note("", words.deepcopy())) == "> It is so."


def test_finished_html_has_words_of_its_own_in_a_notebook():
    assert WRITER.block(finished("<p>✓</p>", "**✓ holds**")) == "**✓ holds**"
    assert WRITER.block(nodes.raw("", "<script></script>", format="html")) == ""
