"""What stands in the open on a page: its words, formulas and figures, and its folded cells.

Folded blocks (dropdowns, solutions), code and what cells compute do not count; captions do. Run it
for a table of all chapters:  .venv/bin/python tests/reading.py
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

CHAPTERS = Path(__file__).resolve().parents[1] / "book" / "chapters"
DIRECTIVE = re.compile(r"\{([\w:-]+)\}\s*(.*)")
OPTION = re.compile(r"^:([\w-]+):\s*(.*)$")
FOLDED = {"dropdown", "solution"}
WORDLESS = {"verdicts", "raw", "bibliography", "code", "image"}
TARGET = re.compile(r" <[^<>]*>$")
WORD = re.compile(r"[^\W_][\w'’-]*")
PARSER = MarkdownIt("commonmark").enable("table")
for plugin in (front_matter_plugin, colon_fence_plugin, dollarmath_plugin, myst_role_plugin):
    PARSER.use(plugin)


@dataclass
class Open:
    """What a reader meets on a page without opening anything, in the order of the page."""

    words: int = 0
    formulas: int = 0
    figures: list[str] = field(default_factory=list)
    bars: list[str] = field(default_factory=list)  # the names of folded cells
    unnamed: int = 0  # folded cells whose bar has no name of its own
    runs: int = 0  # folded cells that follow another with nothing between them
    before_code: int = 0  # words before the first cell
    cards: bool = False  # whether the ledger's cards stand on the page
    tables: int = 0  # written ones; a cell's tables are told from the built page
    _cells: int = 0
    _after_fold: bool = False

    def text(self, words: int, formulas: int) -> None:
        """Some words in the open."""
        self.words += words
        self.formulas += formulas
        if words:
            self._after_fold = False


def read(path: Path) -> Open:
    """Count a page."""
    seen = Open()
    collect(path.read_text(encoding="utf8"), seen)
    return seen


def collect(text: str, seen: Open) -> None:
    """Count one block of MyST and the blocks in it."""
    for token in PARSER.parse(text):
        if token.type == "table_open":
            seen.tables += 1
        elif token.type in ("fence", "colon_fence"):
            directive(token, seen)
        elif token.type == "math_block" or token.type == "math_block_label":
            seen.text(0, 1)
        elif token.type == "inline":
            pieces = list(leaves(token))
            words = " ".join(shown(one) for one in pieces if one.type != "math_inline")
            formulas = sum(one.type.startswith("math") for one in pieces)
            seen.text(len(WORD.findall(words)), formulas)


def leaves(token: Token) -> Iterator[Token]:
    """The texts and formulas of a paragraph."""
    for child in token.children or []:
        if child.type in ("text", "math_inline", "math_inline_double", "code_inline", "myst_role"):
            yield child


def shown(piece: Token) -> str:
    """The words of a piece; of a reference with words of its own, not where it leads."""
    return TARGET.sub("", piece.content) if piece.type == "myst_role" else piece.content


def directive(token: Token, seen: Open) -> None:
    """Count one fenced block."""
    found = DIRECTIVE.match(token.info.strip())
    if found is None or found[1] == "index":  # entries of the index are not shown
        return
    name, title = found.groups()
    options, body = split(token.content)
    if name == "code-cell":
        cell(options, seen)
    elif name == "math":
        seen.text(0, 1)
    elif name == "verdicts":
        seen.cards = True
    elif name == "explorer":  # a figure with its caption; what is said in it belongs to it
        seen.figures.append(title)
        collect(body, seen)
    elif name in FOLDED or "dropdown" in str(options.get("class", "")) or name in WORDLESS:
        collect(title, seen)
    else:
        collect(title, seen)
        collect(body, seen)


def split(content: str) -> tuple[dict[str, Any], str]:
    """The options of a directive, and the rest."""
    if content.startswith("---\n"):
        head, _, body = content[4:].partition("\n---")
        return yaml.safe_load(head) or {}, body
    lines = content.splitlines()
    options: dict[str, Any] = {}
    while lines and (match := OPTION.match(lines[0])):
        options[match[1]] = match[2]
        lines.pop(0)
    return options, "\n".join(lines)


def cell(options: dict[str, Any], seen: Open) -> None:
    """Count one code cell: its figure and caption, and whether it is folded."""
    if not seen._cells:
        seen.before_code = seen.words
    seen._cells += 1
    tags = str(options.get("tags", ""))
    settings = options.get("mystnb", {})
    if "hide-input" in tags or "hide-cell" in tags:
        seen.runs += seen._after_fold
        name = settings.get("code_prompt_show", "")
        seen.bars.append(name)
        seen.unnamed += not name
        seen._after_fold = True
    figure = settings.get("figure", {})
    if figure and "hide-cell" not in tags:
        seen.figures.append(figure["name"])
        collect(figure["caption"], seen)


def main() -> None:
    """The table of all chapters."""
    for path in sorted(CHAPTERS.glob("*.md")):
        seen = read(path)
        print(
            f"{path.stem:36} words {seen.words:5} formulas {seen.formulas:4} "
            f"figures {len(seen.figures):2} bars {len(seen.bars):2} unnamed {seen.unnamed:2} "
            f"in a row {seen.runs:2} before code {seen.before_code:4} tables {seen.tables}"
        )


if __name__ == "__main__":
    sys.exit(main())
