r"""A page's nodes as plain Markdown, for readers who take a chapter away as a notebook.

By then every number, cross-reference, citation and verdict is resolved, so that no directive and no
role is left. What Markdown has no form for (theorems, notes, folded solutions) becomes what Jupyter
shows of them: bold words, quotations, ``<details>``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urljoin, urlsplit

from docutils import nodes
from sphinx import addnodes
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node

from claimbook.site.mathematics import one_formula
from claimbook.site.nodes import html_tag

SPECIAL = re.compile(r"([\\`*_\[\]<])")
Numbers = Mapping[str, Mapping[str, Sequence[int]]]  # of figures and more, by kind and id
UNSHOWN = (
    nodes.comment,
    nodes.target,
    nodes.image,
    nodes.system_message,
    addnodes.index,
    addnodes.toctree,
)
LISTS = (nodes.bullet_list, nodes.enumerated_list)


class Markdown:
    """Writes the nodes of one ``page``; ``numbers`` are the page's own.

    ``site`` is the address of the site, which may be unknown: then a link leads to the web, or to a
    notebook beside this one; of any other link the words stay.
    """

    def __init__(self, numbers: Numbers, page: str, site: str) -> None:
        self.numbers = numbers
        self.page = page
        self.site = site

    # ---------------------------------------------------------- in a sentence

    def inline(self, node: nodes.Node) -> str:
        """The words of a node, on one line."""
        if isinstance(node, nodes.Text):
            return SPECIAL.sub(r"\\\1", " ".join(node.astext().split("\n")))
        if isinstance(node, nodes.raw):
            return str(node.get("markdown", ""))
        if isinstance(node, UNSHOWN):
            return ""
        if isinstance(node, nodes.math):
            return f"${node.astext()}$"
        if isinstance(node, nodes.literal) or self.tag(node) == "code":
            return f"`{node.astext()}`"
        words = self.sentence(node.children)
        if isinstance(node, nodes.emphasis) or self.tag(node) == "em":
            return marked(words, "*")
        if isinstance(node, nodes.strong) or {"verdict", "line-claim"} & set(self.classes(node)):
            return marked(words, "**")
        if isinstance(node, nodes.reference):
            return self.link(words, str(node.get("refuri", "")))
        if self.tag(node) == "a":
            return self.link(words, str(node["attributes"].get("href", "")))
        return words

    def sentence(self, children: Iterable[nodes.Node]) -> str:
        """The words of several nodes."""
        return "".join(self.inline(child) for child in children)

    def link(self, words: str, target: str) -> str:
        """A link, or its words where it would lead nowhere."""
        target = self.address(target)
        return f"[{words}]({target})" if target and words else words

    def address(self, target: str) -> str:
        """Where a link of the page leads who has the notebook alone; nothing where it cannot."""
        if urlsplit(target).scheme:
            return target
        if self.site:
            return urljoin(f"{self.site}{self.page}.html", target)
        found = re.fullmatch(r"(\w+)\.html(#.*)?", target)
        return f"{found[1]}.ipynb" if found else ""

    def tag(self, node: nodes.Node) -> str:
        """The name of an element of HTML."""
        return str(node["tag"]) if isinstance(node, html_tag) else ""

    def classes(self, node: nodes.Node) -> list[str]:
        """The classes of a node."""
        return list(node["classes"]) if isinstance(node, nodes.Element) else []

    # ---------------------------------------------------------- blocks

    def block(self, node: nodes.Node, depth: int = 1) -> str:
        """A node that stands for itself, as paragraphs; ``depth`` is that of the next heading."""
        if isinstance(node, nodes.raw):
            return str(node.get("markdown", ""))
        if isinstance(node, UNSHOWN):
            return ""
        if isinstance(node, (nodes.Text, nodes.Inline, nodes.TextElement)):
            return self.of_words(node, depth)
        if isinstance(node, nodes.section):
            return self.blocks(node.children, depth + 1)
        if isinstance(node, (exercise_node, exercise_enumerable_node, solution_node)):
            return self.exercise(node)
        if "proof" in self.classes(node):
            return self.theorem(node)
        if isinstance(node, nodes.Admonition):
            return self.note(node)
        if isinstance(node, LISTS):
            return self.listed(node)
        if isinstance(node, nodes.block_quote):
            return as_quotation(self.blocks(node.children))
        if isinstance(node, nodes.table):
            return self.table(node)
        if isinstance(node, html_tag):
            return self.of_html(node)
        return self.blocks(node.children, depth)

    def blocks(self, children: Iterable[nodes.Node], depth: int = 1) -> str:
        """Several nodes, with an empty line between them."""
        return "\n\n".join(filter(None, (self.block(child, depth) for child in children)))

    def of_words(self, node: nodes.Node, depth: int) -> str:
        """What holds words and no blocks."""
        if isinstance(node, nodes.math_block):
            return self.formula(node)
        if isinstance(node, (nodes.literal_block, nodes.doctest_block)):
            return f"```\n{node.astext()}\n```"
        words = self.inline(node).strip()
        if isinstance(node, nodes.title):
            return f"{'#' * (depth - 1)} {words}"
        if isinstance(node, nodes.caption):
            return self.caption(node, words)
        return words

    def number(self, kind: str, places: Iterable[str]) -> str:
        """The number of a figure, formula or theorem, as ``1.2``; nothing where it has none."""
        for place in places:
            found = self.numbers.get(kind, {}).get(place)
            if found:
                return ".".join(map(str, found))
        return ""

    def formula(self, node: nodes.math_block) -> str:
        """A formula on a line of its own, with its number."""
        text = str(node.astext()).strip()
        if node.get("nowrap") or "amsmath" in node["classes"]:
            return text
        number = self.number("displaymath", node["ids"])
        label = f" \\tag{{{number}}}" if number else ""
        return f"$$\n{one_formula(text)}{label}\n$$"

    def caption(self, node: nodes.caption, words: str) -> str:
        """The caption of a figure, with its number."""
        number = self.number("figure", node.parent["ids"])
        return f"**Figure {number}.** {words}" if number else words

    def theorem(self, node: nodes.Element) -> str:
        """A theorem, definition or the like: its name and number, and what it says."""
        title, *rest = node.children
        number = self.number(str(node.get("countertype", "")), node["ids"])
        name = f"**{str(node.get('realtype', '')).capitalize()} {number}**".replace(" **", "**")
        return as_quotation(f"{name} {self.inline(title)}\n\n{self.blocks(rest)}")

    def exercise(self, node: nodes.Element) -> str:
        """An exercise, or a solution that is folded."""
        title, *rest = node.children
        words = " ".join(self.inline(title).split())
        if isinstance(node, solution_node):
            said = self.blocks(rest)
            summary = " ".join(title.astext().split())  # there Markdown is not read
            return f"<details>\n<summary>{summary}</summary>\n\n{said}\n\n</details>"
        name = f"Exercise {self.number('exercise', node['ids'])} {words}".strip()
        return f"**{name}**\n\n{self.blocks(rest)}"

    def note(self, node: nodes.Admonition) -> str:
        """A note in the margin of the argument, as a quotation with its title; folded ones too."""
        title = node.next_node(nodes.title)
        rest = [child for child in node.children if not isinstance(child, nodes.title)]
        head = f"**{self.inline(title)}**\n\n" if title is not None else ""
        return as_quotation(head + self.blocks(rest))

    def listed(self, node: nodes.Element) -> str:
        """A list; its items may hold blocks."""
        numbered = isinstance(node, nodes.enumerated_list)
        items = []
        for count, item in enumerate(node.children, 1):
            sign = f"{count}. " if numbered else "- "
            text = self.blocks(item.children)
            items.append(sign + text.replace("\n", "\n" + " " * len(sign)))
        return re.sub(r"\n +\n", "\n\n", "\n".join(items))

    def table(self, node: nodes.table) -> str:
        """A table, its first row as its head."""
        rows = [
            [self.sentence(cell.children).replace("|", r"\|") for cell in row.findall(nodes.entry)]
            for row in node.findall(nodes.row)
        ]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        lines.insert(1, "|" + " --- |" * len(rows[0]))
        return "\n".join(lines)

    def of_html(self, node: html_tag) -> str:
        """An element of the book's own: cards, verdicts, lists of them."""
        name = self.tag(node)
        if name in {"svg", "button", "input", "img", "figure", "noscript"}:
            return ""
        if name == "details" and "chapter-card" in self.classes(node.parent):
            return ""  # the run, and downloads: the notebook is one
        if name in {"p", "span", "em", "a", "code", "summary", "dt"}:
            return " ".join(self.inline(node).split())
        if name == "div" and node.children and self.tag(node.children[0]) == "dt":
            term, *rest = node.children
            return f"**{self.inline(term)}**: {' '.join(self.sentence(rest).split())}"
        return self.blocks(node.children)


def marked(words: str, sign: str) -> str:
    """Words between signs of emphasis, which must touch them."""
    inside = words.strip()
    return words.replace(inside, f"{sign}{inside}{sign}", 1) if inside else words


def as_quotation(text: str) -> str:
    """Paragraphs as a quotation."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
