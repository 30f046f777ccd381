"""JupyterLab for ``make lab``: a save changes what was edited and nothing else."""

import re
from pathlib import Path
from typing import Any

import yaml

HEADER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
# a code cell's first line and its options, as YAML between bars or as :name: value lines
OPTIONS = re.compile(
    r"^(`{3,}\{code-cell\}[^\n]*\n)(---\n.*?^---\n|(?::[\w-]+:[^\n]*\n)+\n?)",
    re.DOTALL | re.MULTILINE,
)
OWN = {"jupytext_version", "display_name"}  # differ from one installation to the next


def keep_options(model: dict[str, Any], path: str, contents_manager: Any, **_: Any) -> None:
    """Keep the layout of the options of a chapter that Jupyter's server is about to write."""
    file = Path(contents_manager.root_dir) / path
    if model["type"] == "file" and file.suffix == ".md" and file.exists():
        model["content"] = keep_layout(file.read_text(encoding="utf8"), model["content"])


def keep_layout(old: str, new: str) -> str:
    """Write each block of options of ``new`` as ``old`` does where their values are the same.

    Jupytext wraps long captions and changes quotation marks whenever it saves; so a change of one
    cell alone changes the lines of that cell alone.
    """
    layouts: dict[str, list[str]] = {}
    for match in OPTIONS.finditer(old):
        layouts.setdefault(repr(values(match[2])), []).append(match[2])

    def layout(match: re.Match[str]) -> str:
        known = layouts.get(repr(values(match[2])), [match[2]])
        return match[1] + (known.pop(0) if len(known) > 1 else known[0])

    text = OPTIONS.sub(layout, new)
    before, after = HEADER.search(old), HEADER.search(text)
    if before and after and values(before[0]) == values(after[0]):
        text = before[0] + text[after.end() :]
    return text


def values(block: str) -> Any:
    """Read a block of options, or the header."""
    if block.startswith(":"):
        block = re.sub(r"^:([\w-]+):", r"\1:", block, flags=re.MULTILINE)
    return _stripped(yaml.safe_load(block.replace("---\n", "")))


def _stripped(data: Any) -> Any:
    """Drop what names an installation, in a fixed order of the names."""
    if not isinstance(data, dict):
        return data
    return {name: _stripped(data[name]) for name in sorted(data) if name not in OWN}
