"""Where marks, lines and numbers of rows stand on a page, read from pages that Sphinx makes."""

import pytest
from bs4 import BeautifulSoup

from claimbook.files import write_atomically
from claimbook.site import directives, marks

PAGE = "book/chapters/00_mini"
# behind the paragraph stands its line, hidden where the row holds; alone a mark belongs to the
# paragraph before; where no sentence stands, its line is open
TEXT = """# A page

{judged}`fair-ours`

It rises. {judged}`fair-holds` It is $x$. {judged}`fair-part` And so on.

First.

{judged}`fair-fails`

{judged}` fair-undecided `

- It falls.*{judged}`fair-blunt`*
- Next. {claim-verdict}`fair-fails`

{judged}`fair-none`
"""
SHOWN = """\
fair-ours: open, explained
It [rises.<#checked-fair-holds>] It is [x.<#checked-fair-part>] And so on.
fair-holds: hidden
fair-part: open
[First.<#checked-fair-fails><#checked-fair-undecided>]
fair-fails: open
fair-undecided: open
- It falls.<#checked-fair-blunt>
- fair-blunt: open
- Next. <../ledger.html#fair-fails>
"""
OTHERS = {
    f"{PAGE}_specialist": "{claim-verdict}`fair-fails` {judged}`fair-holds`",
    "book/notes": "{claim-value}` fair-fails `, {claim-value}`fair-part`,"
    "{claim-verdict}`fair-fails` {claim-value}`fair-none`",
}


def prepare(app):
    app.add_role("judged", marks.JudgedRole())
    for name in ("claim-value", "claim-verdict"):
        app.add_role(name, directives.ClaimRole())
    app.connect("doctree-read", marks.show_lines)


@pytest.fixture(scope="module")
def build(built, content, views, tmp_path_factory):
    """Return a function: the folder of a site with a text as its chapter, and the warnings."""

    def build(text):
        folder = tmp_path_factory.mktemp("book")
        for name, other in OTHERS.items():
            write_atomically(folder / f"{name}.md", f"---\norphan: true\n---\n\n# A\n\n{other}")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(directives, "content_of", lambda app: content)
            for module in (directives, marks):
                patch.setattr(module, "views_of", lambda app: views)
            _, warnings = built(folder, text, prepare, name=PAGE)
        return folder / "out", warnings.splitlines()

    return build


@pytest.fixture(scope="module")
def site(build):
    return build(TEXT)


def body(site, name):
    html = (site[0] / f"{name}.html").read_text(encoding="utf8")
    return BeautifulSoup(html, "lxml").select_one(".body")


def shown(page):
    """Return the paragraphs of a page: a mark is <its address>, [what stays on one line]."""
    for line in page.select("p.verdict-line"):
        claim = line.find("a", string="evidence")["href"].partition("#")[2]
        explained = ", explained" if line.find("a", string="how to read this line") else ""
        line.string = f"{claim}: {'hidden' if line.has_attr('hidden') else 'open'}{explained}"
    for mark in page.select("a.judged"):
        mark.string = f"<{mark['href']}>"
    for piece in page.select(".kept"):
        piece.insert(0, "[")
        piece.append("]")
    for hidden in page.select(".katex-mathml"):
        hidden.decompose()
    for item in page.select("li > p"):
        item.insert(0, "- ")
    words = (one.get_text().replace("\u2060", "") for one in page.select("p"))
    return "\n".join(" ".join(one.split()) for one in words)


def test_a_line_stands_behind_the_paragraph_of_its_mark_and_no_mark_begins_a_line(site):
    assert shown(body(site, PAGE)) == SHOWN


def test_a_number_and_a_verdict_in_a_sentence_lead_to_their_row(site):
    """On a main page a verdict is a mark; on the second page it is written out."""
    second, notes = (body(site, name) for name in OTHERS)
    assert [link.get_text() for link in second.select("p a")] == ["evidence"]
    links = [(link.get_text(), link["href"]) for link in notes.select("p a")]
    numbers = {"0.430 ± 0.020": "fair-fails", "2.77, from 1.99 to 3.86": "fair-part"}
    numbers["fair-fails"] = "fair-fails"
    assert links == [(words, f"ledger.html#{claim}") for words, claim in numbers.items()]


def test_what_a_page_has_not_is_warned_of(site):
    said = [warning.partition("WARNING: ")[2] for warning in site[1]]
    assert [words.split(":")[0] for words in said] == ["judged", "judged", "claim-value"]


@pytest.mark.parametrize("text", ["A. {0}\n\nB. {0}", "## {0}"])
def test_what_can_not_be_placed_is_warned_of(build, text):
    _, warnings = build(f"# A page\n\n{text.format('{judged}`fair-holds`')}\n")
    assert sum("judged: each mark must stand in a paragraph" in one for one in warnings) == 1
