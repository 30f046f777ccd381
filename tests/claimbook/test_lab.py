"""A chapter that is saved in JupyterLab changes where it was edited and nowhere else."""

from pathlib import Path

import jupytext
import pytest

from claimbook.lab import keep_layout

CHAPTERS = sorted((Path(__file__).resolve().parents[2] / "book" / "chapters").glob("*.md"))


def saved(text, edit=lambda notebook: None):
    """Return what JupyterLab writes after a chapter was opened and edited."""
    notebook = jupytext.reads(text, fmt="md:myst")
    notebook.metadata.kernelspec.display_name = "Python 3 (ipykernel)"
    edit(notebook)
    return keep_layout(text, jupytext.writes(notebook, fmt="md:myst"))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_that_was_only_opened_is_as_it_was(path):
    text = path.read_text(encoding="utf8")
    assert saved(text) == text


def test_an_edit_is_the_only_difference():
    text = next(path for path in CHAPTERS if path.stem.startswith("06")).read_text(encoding="utf8")

    def turn(notebook):
        [cell] = [cell for cell in notebook.cells if "p1 = 0.5" in cell.source]
        cell.source = cell.source.replace("p1 = 0.5", "p1 = 0.6")
        figure = [cell for cell in notebook.cells if "mystnb" in cell.metadata][-1]
        figure.metadata["tags"] = ["hide-output"]

    new = saved(text, turn)
    lines = [line for line in new.splitlines() if line not in text.splitlines()]
    assert "p1 = 0.6  # share of the dominant feature: 0.3 to 0.7" in lines
    assert "tags: [hide-output]" in lines
    assert len(lines) < 8  # of the options that were edited, jupytext writes the layout
