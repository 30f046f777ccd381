"""The reference pages, which autodoc writes from the package's docstrings."""

from typing import Any

from sphinx.application import Sphinx


def leave_out_fields(app: Sphinx, what: str, name: str, member: Any, *given: Any) -> bool | None:
    """Leave out a named tuple's fields: its docstring tells what they are, Python their places."""
    return True if type(member).__name__ == "_tuplegetter" else None
