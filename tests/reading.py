"""What stands in sight on a page: words, numbers, pictures and code, and the limits of a lecture.

Words are those of the text and of captions. Exercises, credits with what was read, the checks at
the end, code, and what cells compute do not count; what is folded counts apart, without solutions.
Run it for a table of all pages, or of those that are named, and what breaks a rule of theirs:

    .venv/bin/python tests/reading.py [NAME ...]
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
from mdit_py_plugins.attrs import attrs_plugin
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

from claimbook.pages import SPECIALIST, is_second, toc_chapters
from claimbook.site.content import label

CHAPTERS = Path(__file__).resolve().parents[1] / "book" / "chapters"
FRONT = "intro"

# upper limits; a page is as long as its idea
WORDS = {"1": 1300, "5": 1300, "5b": 1200, "5c": 1600, FRONT: 900}
WORDS_ELSE = 1500
FIRST_SCREEN = 200  # words above the first heading
NUMERALS = 25  # in 1000 words
FOLDED_WORDS = 300
ALIVE = 3  # explorers
PICTURES = 5  # with them
CODE = 30  # lines in sight
# its specialist matter stands on the second pages of 5 and 5b, its cards at its own end
SHARED = {"05c_task_diversity"}
CREDITS = "Whose is what"  # the section of the chapter's card
UNCOUNTED = {"Exercises", "How it was checked", CREDITS, "Cite and reuse"}
DIRECTIVE = re.compile(r"\{([\w:-]+)\}\s*(.*)")
OPTION = re.compile(r"^:([\w-]+):\s*(.*)$")
SILENT = {  # no words of theirs are in sight
    *("exercise", "solution", "index", "raw", "bibliography", "image", "prediction-end"),
    *("scorecard", "ledger", "cite-the-book", "downloads", "run-times", "deviations"),
}
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell", "setup"}  # no code in sight
NUMBERS = {"glue:text", "claim-value", "ledger-count"}  # roles that show one number of a run
WORDLESS = {"judged", "cite", "cite:p", "cite:t", "claim-picture"}
TARGET = re.compile(r" <[^<>]*>$")
WORD = re.compile(r"[^\W_][\w'’-]*")
NUMERAL = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?:[ \u00a0\u202f]\d{3}\b)*")
# numbers that are part of a name: Result 1, chapter 5b, May 2024
NAMED = re.compile(r"\b(?:[Cc]hapters?|[Ss]ections?|Result|Theorem|Lemma|Figure|GPT)[ -]\d+\w*")
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
PARSER = MarkdownIt("commonmark").enable("table")
for plugin in (front_matter_plugin, colon_fence_plugin, dollarmath_plugin, myst_role_plugin):
    PARSER.use(plugin)
PARSER.use(attrs_plugin, spans=True)  # [words]{.screen-only}


@dataclass
class Open:
    """What a reader meets on a page, in its order; ``folded`` are the words behind a bar."""

    words: int = 0
    numerals: int = 0
    folded: int = 0
    first_screen: int = 0  # words above the first heading
    opens_alive: bool = False  # whether an explorer stands there
    alive: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)  # the cells in sight
    cards: list[str] = field(default_factory=list)  # the sections in which a chapter card stands
    verdicts: bool = False  # whether the ledger's cards stand on the page
    section: str = ""

    @property
    def code_lines(self) -> int:
        """The lines of code in sight."""
        return sum(bool(line.strip()) for cell in self.code for line in cell.splitlines())

    def text(self, words: int, numerals: int) -> None:
        """Some words in sight."""
        if self.section in UNCOUNTED:
            return
        self.words += words
        self.numerals += numerals
        if not self.section:
            self.first_screen += words


def path_of(name: str) -> Path:
    """The source of a page: of a chapter, or of the front page."""
    return CHAPTERS.parent / f"{name}.md" if name == FRONT else CHAPTERS / f"{name}.md"


def read(path: Path) -> Open:
    """Count a page."""
    seen = Open()
    collect(path.read_text(encoding="utf8"), seen)
    return seen


def collect(text: str, seen: Open) -> None:
    """Count one block of MyST and the blocks in it."""
    heading = ""
    for token in PARSER.parse(text):
        if token.type == "heading_open":
            heading = token.tag
        elif token.type == "heading_close":
            heading = ""
        elif token.type in ("fence", "colon_fence"):
            directive(token, seen)
        elif token.type == "inline":
            if heading == "h2":
                seen.section = token.content
            seen.text(*counted(token))


def counted(token: Token) -> tuple[int, int]:
    """The words and the numerals of a paragraph; a formula has neither."""
    words, numerals = "", 0
    for piece in token.children or []:
        role = piece.meta.get("name") if piece.type == "myst_role" else ""
        if role in NUMBERS:
            numerals += 1
            words += " number "
        elif role and role not in WORDLESS:
            words += TARGET.sub("", piece.content)
        elif piece.type == "text":
            numerals += len(NUMERAL.findall(YEAR.sub("", NAMED.sub("", piece.content))))
            words += piece.content
        elif piece.type == "code_inline":
            words += piece.content
        elif piece.type in ("softbreak", "hardbreak"):
            words += " "
    return len(WORD.findall(words)), numerals


def directive(token: Token, seen: Open) -> None:
    """Count one fenced block."""
    found = DIRECTIVE.match(token.info.strip())
    if found is None:
        return
    name, title = found.groups()
    options, body = split(token.content)
    if name == "code-cell":
        cell(options, body, seen)
    elif name == "chapter-card":
        seen.cards.append(seen.section)
        collect(body, seen)
    elif name == "verdicts":
        seen.verdicts = True
    elif name == "explorer":  # what is said in it is its caption
        seen.alive.append(title)
        seen.opens_alive |= not seen.section
        collect(body, seen)
    elif name == "run-figure":
        seen.figures.append(title)
        collect(body, seen)
    elif name == "dropdown" or "dropdown" in str(options.get("class", "")):
        collect(title, seen)
        if name != "solution":
            within = Open()
            collect(body, within)
            seen.folded += within.words + within.folded
    elif name not in SILENT and name != "math":
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


def cell(options: dict[str, Any], code: str, seen: Open) -> None:
    """Count one code cell: its code, where it is in sight, and its figure with the caption."""
    tags = set(re.findall(r"[\w-]+", str(options.get("tags", ""))))
    if not tags & HIDDEN:
        seen.code.append(code.strip("\n"))
    figure = options.get("mystnb", {}).get("figure", {})
    if figure and not tags & {"hide-cell", "remove-cell"} and seen.section not in UNCOUNTED:
        seen.figures.append(figure["name"])
        collect(figure.get("caption", ""), seen)


def complaints(name: str) -> Iterator[str]:
    """What breaks a rule on a main page of the book, or on the front page."""
    page = read(path_of(name))
    most = WORDS.get(name if name == FRONT else label(name), WORDS_ELSE)
    numerals = round(1000 * page.numerals / max(page.words, 1))
    for what, count, limit in (
        ("words in sight", page.words, most),
        ("words above the first heading", page.first_screen, FIRST_SCREEN),
        ("numerals in 1000 words", numerals, NUMERALS),
        ("folded words", page.folded, FOLDED_WORDS),
        ("explorers", len(page.alive), ALIVE),
        ("pictures", len(page.figures) + len(page.alive), PICTURES),
        ("lines of code in sight", page.code_lines, CODE),
    ):
        if count > limit:
            yield f"{count} {what}, at most {limit}"
    if not page.opens_alive:
        yield "no {explorer} above the first heading"
    if any(section != CREDITS for section in page.cards):
        yield f"the chapter card stands before the end; its place is '## {CREDITS}'"
    if page.verdicts and name not in SHARED:
        yield "the ledger's cards ({verdicts}) stand here; their place is the second page"
    second = CHAPTERS / f"{name}{SPECIALIST}.md"
    if name != FRONT and name not in SHARED and not second.exists():
        yield f"{second.name} is missing"


def main_pages() -> list[str]:
    """The front page, and the main pages of the chapters."""
    return [FRONT, *(name for name in toc_chapters() if not is_second(name))]


def main(names: list[str]) -> int:
    """The table of the pages, and what breaks a rule."""
    broken = 0
    for name in names or main_pages():
        seen = read(path_of(name))
        print(
            f"{name:28} words {seen.words:5} first {seen.first_screen:4} numerals "
            f"{seen.numerals:4} folded {seen.folded:4} alive {len(seen.alive)} "
            f"figures {len(seen.figures):2} code {seen.code_lines:3}"
        )
        for said in complaints(name):
            print(f"    {said}")
            broken = 1
    return broken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
