r"""The chapters as notebooks that can be read on their own.

A chapter's source has directives and roles that Jupyter does not know. Here the text between the
code cells is written again from the finished page, in which every number, reference, citation and
verdict is resolved. What Markdown has no form for (theorems, notes, folded solutions) becomes what
Jupyter shows of it: bold words, quotations, ``<details>``. Pictures to be turned by hand, and what
is said of them, are left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import nbformat
from docutils import nodes
from nbformat import v4
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node

from claimbook.files import write_atomically
from claimbook.ledger.record import record_of
from claimbook.pages import CHAPTERS
from claimbook.site.content import content_of
from claimbook.site.downloads import NOTEBOOKS
from claimbook.site.mathematics import one_formula
from claimbook.site.nodes import html_tag
from claimbook.site.views import SPECIAL, Views, views_of

PREFACE = (
    "*This notebook is a page of “In-Context Learning, Reproduced”, with the outputs and numbers "
    "of the run that the book shows. The book's page Downloads has the six lines that run it "
    "anywhere; in a checkout of the book's repository it runs as it is. Pictures to be turned by "
    "hand, such as a first picture that the text speaks of, are in the book alone.*"
)
TAKEN_HOME = "taken_home"  # of a page that is resolved for its notebook
UNSHOWN = (
    nodes.comment,
    nodes.target,
    nodes.image,
    nodes.system_message,
    addnodes.index,
    addnodes.toctree,
)
ON_SCREEN = {"screen-only", "explorer", "explorer-figure"}  # classes
SIGNS = {nodes.emphasis: "*", "em": "*", nodes.strong: "**"}


def write_notebooks(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write the notebook of every chapter; no page has to be written anew for them."""
    content = content_of(app)
    for chapter in content.chapters:
        page = f"{CHAPTERS.as_posix()}/{chapter}"
        doctree = env.get_doctree(page)
        doctree[TAKEN_HOME] = True
        env.apply_post_transforms(doctree, page)
        writer = Markdown(env.toc_fignumbers.get(page, {}))
        notebook = deepcopy(content.runs[chapter].notebook)
        notebook.cells = list(cells(notebook.cells, doctree, writer, views_of(app)))
        for count, cell in enumerate(notebook.cells):
            cell["id"] = f"cell-{count}"
        text = str(nbformat.writes(notebook)) + "\n"  # type: ignore[no-untyped-call]
        write_atomically(NOTEBOOKS / f"{chapter}.ipynb", text)
    return []


def cells(
    ran: Sequence[Any], doctree: nodes.document, writer: "Markdown", views: Views
) -> Iterator[Any]:
    """Yield the cells of a notebook: the words of the page, and the code that ran, in turn."""
    words, done = [PREFACE], 0
    for piece in [*writer.pieces(doctree, 1), len(ran) - 1]:
        if isinstance(piece, str):
            words += [piece] if piece else []
            continue
        if words:
            yield v4.new_markdown_cell("\n\n".join(words))  # type: ignore[no-untyped-call]
        yield from (code_cell(cell, views) for cell in ran[done : piece + 1] if "outputs" in cell)
        words, done = [], piece + 1


def code_cell(cell: Any, views: Views) -> Any:
    """Give a code cell readable verdicts, and fold code that the page folds.

    Glued values are for the site alone.
    """
    if "hide-input" in cell.metadata.get("tags", []):
        cell.metadata["jupyter"] = {"source_hidden": True}
    cell.outputs = [one for one in cell.outputs if "scrapbook" not in one.get("metadata", {})]
    for output in cell.outputs:
        if record := record_of(output):
            line = views.in_notebook(views.content.by_id[record.id])
            output["data"] = {"text/markdown": line, **output["data"]}
    return cell


@dataclass(frozen=True)
class Markdown:
    """Writes the nodes of one page; ``numbers`` are the page's own, by kind and id.

    A link leads to the web, or to a notebook beside this one; of any other link the words stay.
    """

    numbers: Mapping[str, Mapping[str, Sequence[int]]]

    def pieces(self, node: nodes.Element, depth: int) -> Iterator[str | int]:
        """Yield the text of a page, and the places of its code cells in the notebook, in order."""
        for child in node.children:
            if isinstance(child, nodes.section):
                yield from self.pieces(child, depth + 1)
            elif isinstance(child, nodes.Element) and child.get("nb_element") == "cell_code":
                yield int(child["cell_index"])
                yield from (self.block(caption) for caption in child.findall(nodes.caption))
            else:
                yield self.block(child, depth)

    def inline(self, node: nodes.Node) -> str:
        """Write a node within a line."""
        if isinstance(node, nodes.Text):
            return SPECIAL.sub(r"\\\1", " ".join(node.astext().split("\n")))
        name = tag_of(node)
        if is_unshown(node):
            return ""
        if isinstance(node, nodes.raw):
            return str(node.get("markdown", ""))
        if isinstance(node, nodes.math):
            return f"${node.astext()}$"
        if isinstance(node, nodes.literal) or name == "code":
            return f"`{node.astext()}`"
        words = self.sentence(node.children)
        inside = words.strip()
        if inside and (sign := SIGNS.get(name or type(node))):
            return words.replace(inside, f"{sign}{inside}{sign}", 1)  # signs must touch the words
        if isinstance(node, nodes.reference) or name == "a":
            link = node["attributes"].get("href", "") if name else node.get("refuri", "")
            target = self.address(str(link))
            return f"[{words}]({target})" if target and words else words
        return words

    def sentence(self, children: Iterable[nodes.Node]) -> str:
        """Write several nodes within a line."""
        return "".join(map(self.inline, children))

    def address(self, target: str) -> str:
        """Return where a link leads who has the notebook alone; empty where it cannot."""
        if urlsplit(target).scheme:
            return target
        beside = re.fullmatch(r"(\w+)\.html(#.*)?", target)
        return f"{beside[1]}.ipynb" if beside else ""

    def block(self, node: nodes.Node, depth: int = 1) -> str:
        """Write a node as paragraphs; ``depth`` is that of the next heading."""
        if is_unshown(node):
            return ""
        match node:
            case nodes.math_block():
                return self.formula(node)
            case nodes.literal_block() | nodes.doctest_block():
                return f"```\n{node.astext()}\n```"
            case nodes.title():
                return f"{'#' * (depth - 1)} {self.inline(node).strip()}"
            case nodes.caption():
                number = self.number("figure", node.parent)
                return (f"**Figure {number}.** " if number else "") + self.inline(node).strip()
            case nodes.raw() | nodes.Text() | nodes.Inline() | nodes.TextElement():
                return self.inline(node).strip()
            case nodes.section():
                return self.blocks(node.children, depth + 1)
            case exercise_node() | exercise_enumerable_node() | solution_node():
                return self.exercise(node)
            case nodes.Admonition():
                return self.note(node)
            case nodes.bullet_list() | nodes.enumerated_list():
                return self.listed(node)
            case nodes.block_quote():
                return as_quotation(self.blocks(node.children))
            case nodes.table():
                return self.table(node)
            case html_tag() if tag_of(node) in ("p", "dt"):
                return " ".join(self.inline(node).split())
            case html_tag() if node.children and tag_of(node.children[0]) == "dt":
                term, *rest = node.children
                return f"**{self.inline(term)}**: {' '.join(self.sentence(rest).split())}"
        return self.blocks(node.children, depth)

    def blocks(self, children: Iterable[nodes.Node], depth: int = 1) -> str:
        """Write several nodes, with an empty line between them."""
        return "\n\n".join(filter(None, (self.block(child, depth) for child in children)))

    def number(self, kind: str, node: nodes.Element) -> str:
        """Write the number of a figure, formula or theorem, as ``1.2``; empty where it has none."""
        known = self.numbers.get(kind, {})
        return next((".".join(map(str, known[one])) for one in node["ids"] if one in known), "")

    def formula(self, node: nodes.math_block) -> str:
        """Write a formula on a line of its own, with its number."""
        number = self.number("displaymath", node)
        label = f" \\tag{{{number}}}" if number else ""
        return f"$$\n{one_formula(node.astext())}{label}\n$$"

    def exercise(self, node: nodes.Element) -> str:
        """Write an exercise, or a solution that is folded."""
        title, *rest = node.children
        if isinstance(node, solution_node):
            summary = " ".join(title.astext().split())  # there Markdown is not read
            text = self.blocks(rest)
            return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"
        words = f"Exercise {self.number('exercise', node)} {self.inline(title)}"
        return f"**{' '.join(words.split())}**\n\n{self.blocks(rest)}"

    def note(self, node: nodes.Element) -> str:
        """Write a note, or a theorem with its number, as a quotation with its title."""
        title = node.next_node(nodes.title)
        rest = self.blocks(child for child in node.children if child is not title)
        name = "" if title is None else f"**{self.inline(title)}**"
        if "proof" in node["classes"]:
            number = self.number(str(node.get("countertype", "")), node)
            kind = f"{str(node.get('realtype', '')).capitalize()} {number}".rstrip()
            name = f"**{kind}** {self.inline(title)}"
        return as_quotation(f"{name}\n\n{rest}" if name else rest)

    def listed(self, node: nodes.Element) -> str:
        """Write a list; its items may hold blocks."""
        items = []
        for count, item in enumerate(node.children, 1):
            sign = f"{count}. " if isinstance(node, nodes.enumerated_list) else "- "
            items.append(sign + self.blocks(item.children).replace("\n", "\n" + " " * len(sign)))
        return re.sub(r"\n +\n", "\n\n", "\n".join(items))

    def table(self, node: nodes.table) -> str:
        """Write a table, its first row as its head."""
        lines = []
        for row in node.findall(nodes.row):
            entries = [self.sentence(cell.children) for cell in row.findall(nodes.entry)]
            cells = [entry.replace("|", r"\|") for entry in entries]
            lines.append(f"| {' | '.join(cells)} |")
            if len(lines) == 1:
                lines.append("|" + " --- |" * len(cells))
        return "\n".join(lines)


def tag_of(node: nodes.Node) -> str:
    """Return the name of an element of HTML; empty for other nodes."""
    return str(node["tag"]) if isinstance(node, html_tag) else ""


def is_unshown(node: nodes.Node) -> bool:
    """Return whether a node has no words for a notebook."""
    classes = set(node["classes"]) if isinstance(node, nodes.Element) else set()
    return isinstance(node, UNSHOWN) or tag_of(node) == "noscript" or bool(classes & ON_SCREEN)


def as_quotation(text: str) -> str:
    """Write paragraphs as a quotation."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
