"""The chapters as notebooks that can be read on their own.

The notebooks that MyST-NB writes hold the chapters' source, with directives and roles that Jupyter
does not know. Here the text between the code cells is written again from the finished page, as
plain Markdown (:mod:`iclutils.book.site.markdown`), captions and verdicts included.
"""

import re
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransformer

from iclutils.book.runs import cache
from iclutils.book.runs.files import write_atomically
from iclutils.book.site.build import build_of
from iclutils.book.site.fill import FILLS
from iclutils.book.site.lines import EVIDENCE, printed_claims, verdict_lines
from iclutils.book.site.markdown import Markdown
from iclutils.book.site.nodes import as_nodes, badge, from_run, html_tag, tag
from iclutils.book.site.notebooks import notebook_folder
from iclutils.book.site.page import Page
from iclutils.book.site.results import reservation

PREFACE = (
    "*This notebook is a page of “In-Context Learning, Reproduced”, with the outputs and numbers "
    "of the run that the book shows. Its code computes with the package `iclutils`: run it in a "
    "checkout of the book's repository.*"
)
RAW = re.compile(r"\{[a-zA-Z][\w:.-]*\}`|^\s*(?:`{3,}|:{3,})\{", re.MULTILINE)  # roles, directives
AFTER_THE_NUMBERS = 900  # Sphinx numbers the figures at 500
LISTS_OF_FILES = ("chapter_files",)


def write_portable(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write the notebook of every chapter; no page has to be written anew for it."""
    for chapter in build_of(app).chapters:
        name = f"{cache.CHAPTERS.as_posix()}/{chapter}"
        executed = notebook_folder(env) / f"{name}.ipynb"
        if name in env.found_docs and executed.exists():
            page = Page(build_of(app), app.builder, name)
            place = build_of(app).notebook_folder / f"{name}.ipynb"
            write_atomically(place, portable(app, page, executed))
    return []


def portable(app: Sphinx, page: Page, executed: Path) -> str:
    """One chapter as the text of a notebook."""
    import nbformat
    from nbformat import v4

    notebook = nbformat.read(executed, as_version=4)  # type: ignore[no-untyped-call]
    doctree = resolved(app.env, page)
    numbers = app.env.toc_fignumbers.get(page.name, {})
    writer = Markdown(numbers, addresses(page.name, app.config.html_baseurl))
    cells = [v4.new_markdown_cell(PREFACE)]  # type: ignore[no-untyped-call]
    words: list[str] = []
    last = -1
    for piece in [*text_and_cells(doctree, writer, 1), len(notebook.cells)]:
        if isinstance(piece, str):
            words.append(piece)
            continue
        if any(words):
            text = "\n\n".join(filter(None, words))
            cells.append(v4.new_markdown_cell(text))  # type: ignore[no-untyped-call]
        words = []
        for cell in notebook.cells[last + 1 : piece + 1]:
            if cell.cell_type == "code":
                cells.append(shown(cell, page, writer))
        last = piece
    notebook.cells = cells
    for count, cell in enumerate(cells):
        cell["id"] = f"cell-{count}"
    return str(nbformat.writes(notebook)) + "\n"  # type: ignore[no-untyped-call]


def resolved(env: BuildEnvironment, page: Page) -> nodes.document:
    """A page with its references and numbers, as Sphinx resolves them, and its places filled."""
    doctree = env.get_doctree(page.name)
    before = copy(env.temp_data)
    try:
        env.temp_data["docname"] = page.name
        transformer = SphinxTransformer(doctree)
        transformer.set_environment(env)
        transformer.add_transforms(env.app.registry.get_post_transforms())
        transformer.apply_transforms()
    finally:
        env.temp_data = before
    for card in list(doctree.findall(html_tag)):
        if "claim" in card["classes"]:
            card.replace_self(short(page, card))
    for place in list(doctree.findall(from_run)):
        known = place["what"] not in LISTS_OF_FILES
        place.replace_self(as_nodes(FILLS[place["what"]](page, place) if known else []))
    return doctree


def short(page: Page, card: html_tag) -> html_tag:
    """A row's card as one line: verdict, name, claim and what does not hold of it."""
    claim = card["ids"][0].removeprefix("claim-")
    chapter = page.build.entries[claim].chapter
    record = page.build.results.record(chapter, claim)
    name = tag("code", claim)
    if record is None:
        return tag("p", name)
    brief = page.build.entries[claim].row["brief"]
    said = " ".join(filter(None, [brief, reservation(record)]))
    return tag("p", badge(record.verdict), " ", name, ": ", said)


def text_and_cells(node: nodes.Element, writer: Markdown, depth: int) -> Iterator[str | int]:
    """The text of a page, and the places of its code cells in the notebook, in their order."""
    for child in node.children:
        if isinstance(child, nodes.section):
            yield from text_and_cells(child, writer, depth + 1)
        elif isinstance(child, nodes.Element) and child.get("nb_element") == "cell_code":
            yield int(child["cell_index"])
            for caption in child.findall(nodes.caption):
                yield writer.block(caption)
        else:
            yield writer.block(child, depth)


def shown(cell: Any, page: Page, writer: Markdown) -> Any:
    """A code cell with readable verdicts; code that the page folds is folded in Jupyter too."""
    if "hide-input" in cell.metadata.get("tags", []):
        cell.metadata["jupyter"] = {"source_hidden": True}
    cell.outputs = [readable(output, page, writer) for output in cell.outputs]
    return cell


def readable(output: Any, page: Page, writer: Markdown) -> Any:
    """An output; one that holds nothing but verdicts as the sentences that the page has."""
    from nbformat import v4

    claims = printed_claims(output.get("text", ""))
    if not claims or not all(claim in page.build.entries for claim in claims):
        return output
    said = "\n\n".join(writer.block(line) for line in verdict_lines(page, claims))
    said = re.sub(rf" · {EVIDENCE}$", "", said, flags=re.MULTILINE)  # where the link leads nowhere
    data = {"text/markdown": said, "text/plain": output["text"]}
    return v4.new_output("display_data", data=data)  # type: ignore[no-untyped-call]


def addresses(page: str, site: str) -> Callable[[str], str]:
    """Where the links of a page lead from a notebook: to notebooks beside it, and to the web."""

    def address(target: str) -> str:
        if urlsplit(target).scheme:
            return target
        if site:
            return urljoin(f"{site}{page}.html", target)
        found = re.fullmatch(r"(\w+)\.html(#.*)?", target)
        return f"{found[1]}.ipynb" if found else ""

    return address
