"""Python's garbage collector, held back while pages are read and written.

A doctree's nodes know their parents, so that only the collector frees them. But it looks through
all that a build keeps, again and again while a page grows: more than a third of the build's time.
"""

import gc
from typing import Any

from sphinx.application import Sphinx


def hold_back(app: Sphinx) -> None:
    """Free nothing from here on but when :func:`collect` is called."""
    gc.disable()


def collect(app: Sphinx, *given: Any) -> None:
    """Free the doctrees that have been read and written to the disk."""
    gc.collect()


def release(app: Sphinx, exception: Exception | None) -> None:
    """Let the collector work as usual, but not look once more through all that was built."""
    gc.freeze()
    gc.enable()
