"""The notebooks for download, with their outputs."""

import os
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from iclutils.book.runs.files import write_atomically


def notebook_folder(env: BuildEnvironment) -> Path:
    """Where MyST-NB writes the notebooks."""
    return Path(env.mystnb_config.output_folder)  # type: ignore[attr-defined]  # set by MyST-NB


def executed_notebooks(app: Sphinx, env: BuildEnvironment) -> None:
    """On a cache hit MyST-NB writes the notebooks without their outputs: put them back."""
    import nbformat
    from jupyter_cache import get_cache

    cache = get_cache(app.config.nb_execution_cache_path)
    for path in notebook_folder(env).rglob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        if any(cell.get("outputs") for cell in notebook.cells):
            continue
        try:
            _, notebook = cache.merge_match_into_notebook(notebook)
        except KeyError:
            continue
        drop_glued(notebook)
        times = path.stat()
        write_atomically(path, nbformat.writes(notebook))  # type: ignore[no-untyped-call]
        # else Sphinx would read the chapter again in every build
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def drop_glued(notebook: Any) -> None:
    """Take out the glued values, which are for the site only."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [
                output for output in cell.outputs if "scrapbook" not in output.get("metadata", {})
            ]
