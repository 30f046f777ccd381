"""A chapter that is saved in JupyterLab changes where it was edited and nowhere else."""

import jupytext
import pytest

from claimbook.lab import keep_layout
from claimbook.pages import chapter_path, toc_chapters


@pytest.mark.parametrize("name", toc_chapters())
def test_an_edit_is_the_only_difference(name):
    text = chapter_path(name).read_text(encoding="utf8")
    notebook = jupytext.reads(text, fmt="md:myst")
    notebook.metadata.kernelspec.display_name = "Python 3 (ipykernel)"
    assert keep_layout(text, jupytext.writes(notebook, fmt="md:myst")) == text
    [cell] = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    cell.source += "\nedited = 1"
    cell.metadata["tags"] = ["parameters", "edited-too"]
    new = keep_layout(text, jupytext.writes(notebook, fmt="md:myst")).splitlines()
    *options, last = [line for line in new if line not in text.splitlines()]
    assert last == "edited = 1"
    assert "edited-too" in "".join(options)
    assert len(options) < 8  # of the options that were edited, jupytext writes the layout
