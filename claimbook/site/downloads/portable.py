"""The chapters as notebooks that can be read on their own, and their exercises as hand-outs.

A chapter's source has directives and roles that Jupyter does not know. Here the text between the
code cells is written again from the finished page, as plain Markdown
(:mod:`claimbook.site.downloads.markdown`), captions and verdicts included.
A hand-out is the exercises of one page, without their solutions, in the same Markdown.
"""

import re
from collections.abc import Collection, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node

from claimbook.files import write_atomically
from claimbook.ledger.record import record_of
from claimbook.pages import CHAPTERS
from claimbook.site.content import content_of
from claimbook.site.downloads.markdown import Markdown
from claimbook.site.downloads.offers import HANDOUT, NOTEBOOKS
from claimbook.site.marks import MARK, places
from claimbook.site.views import Views, views_of

PREFACE = (
    "*This notebook is a page of “In-Context Learning, Reproduced”, with the outputs and numbers "
    "of the run that the book shows. To run it anywhere, install the package `iclutils` and the "
    "locked versions as README.txt in the book's archive says (page Downloads); in a checkout of "
    "the book's repository it runs as it is.*"
)
ABOUT_HANDOUT = (
    "*Exercises of “In-Context Learning, Reproduced” (CC BY 4.0). Figures and formulas have the "
    "numbers of the page, where the solutions stand, too.*"
)
RAW = re.compile(r"\{[a-zA-Z][\w:.-]*\}`|^\s*(?:`{3,}|:{3,})\{", re.MULTILINE)  # roles, directives
AFTER_THE_NUMBERS = 900  # Sphinx numbers the figures at 500
EXERCISES = (exercise_node, exercise_enumerable_node)
TAKEN_HOME = "iclbook_taken_home"  # of a page that is resolved for its notebook


def write_portable(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write notebook and hand-out of every chapter; no page has to be written anew for them."""
    content = content_of(app)
    for chapter in content.chapters:
        name = f"{CHAPTERS.as_posix()}/{chapter}"
        if name in env.found_docs:
            doctree = resolved(env, name)
            writer = Markdown(env.toc_fignumbers.get(name, {}), name, app.config.html_baseurl)
            notebook = deepcopy(content.runs[chapter].notebook)
            text = portable(app, name, notebook, doctree, writer)
            write_atomically(NOTEBOOKS / f"{name}.ipynb", text)
            write_handout(NOTEBOOKS / f"{name}{HANDOUT}", doctree, writer)
    return []


def write_handout(place: Path, doctree: nodes.document, writer: Markdown) -> None:
    """Write a page's exercises below its title; leave no file where it has none."""
    found = (node for node in doctree.findall() if isinstance(node, EXERCISES))
    asked = [writer.exercise(node) for node in found]
    if not asked:
        place.unlink(missing_ok=True)
        return
    title = writer.block(next(iter(doctree.findall(nodes.title))), 2)
    write_atomically(place, "\n\n".join([title, ABOUT_HANDOUT, *asked]) + "\n")


def portable(
    app: Sphinx, page: str, notebook: Any, doctree: nodes.document, writer: Markdown
) -> str:
    """One chapter as the text of a notebook."""
    import nbformat
    from nbformat import v4

    placed = {mark["claim"] for mark in places(app.env.get_doctree(page), MARK)}
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
                cells.append(shown(cell, views_of(app), placed))
        last = piece
    notebook.cells = cells
    for count, cell in enumerate(cells):
        cell["id"] = f"cell-{count}"
    return str(nbformat.writes(notebook)) + "\n"  # type: ignore[no-untyped-call]


def resolved(env: BuildEnvironment, page: str) -> nodes.document:
    """Return a page with its references and numbers, as Sphinx resolves them."""
    doctree = env.get_doctree(page)
    doctree[TAKEN_HOME] = True
    env.apply_post_transforms(doctree, page)
    return doctree


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


def shown(cell: Any, views: Views, placed: Collection[str]) -> Any:
    """A code cell with readable verdicts, but for those that the text has ``placed``.

    Glued values are for the site alone. Code that the page folds is folded in Jupyter too.
    """
    if "hide-input" in cell.metadata.get("tags", []):
        cell.metadata["jupyter"] = {"source_hidden": True}
    outputs = []
    for output in cell.outputs:
        record = record_of(output)
        if record is None and "scrapbook" not in output.get("metadata", {}):
            outputs.append(output)
        elif record is not None and record.id not in placed:
            said = views.in_notebook(views.content.by_id[record.id])
            output["data"] = {"text/markdown": said, **output["data"]}
            outputs.append(output)
    cell.outputs = outputs
    return cell
