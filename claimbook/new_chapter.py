"""The skeleton of a chapter: two pages, their rows in the ledger, their lines in ``_toc.yml``.

    python -m claimbook.new_chapter 08_covariance_shift

What it writes (from ``book/skeleton``) is a small experiment of its own, green from the start, to
be replaced piece by piece; ``CONTRIBUTING.md`` has the steps.
"""

import re
import sys
from pathlib import Path

from claimbook.files import ROOT, read_yaml, write_atomically
from claimbook.ledger import schema
from claimbook.pages import CHAPTERS, SPECIALIST, chapter_path, toc_chapters

TEMPLATES = Path("book/skeleton")
NAME = re.compile(r"(\d\d[a-z]?)((?:_[a-z0-9]+)+)")


def add(name: str, root: Path = ROOT) -> list[str]:
    """Write the skeleton of the chapter ``name`` and return the files that were written.

    Raises ``ValueError`` for a name that is no chapter's, and for one that is taken.
    """
    words = _words(name)
    second = name + SPECIALIST
    ledger, contents = root / "book" / "claims.yml", root / "_toc.yml"
    templates = root / TEMPLATES
    if list(read_yaml(ledger))[-1] != "chapters":
        raise ValueError("claims.yml must end with 'chapters', where the new rows are written")
    taken = {*toc_chapters(root), *schema.load(ledger).chapters}
    paths = [chapter_path(page, root) for page in (name, second)]
    if taken & {name, second} or any(path.exists() for path in paths):
        raise ValueError(f"there is a chapter {name} already")
    texts = {
        paths[0]: _filled(templates / "first.md", words),
        paths[1]: _filled(templates / "second.md", words),
        ledger: ledger.read_text(encoding="utf8") + _filled(templates / "rows.yml", words),
        contents: _listed(contents.read_text(encoding="utf8"), name, second),
    }
    for path, text in texts.items():
        write_atomically(path, text)
    return [path.relative_to(root).as_posix() for path in texts]


def _words(name: str) -> dict[str, str]:
    """What stands for the marks of the templates."""
    found = NAME.fullmatch(name)
    if found is None or name.endswith(SPECIALIST):
        raise ValueError(f"a chapter's name reads 08_covariance_shift; got {name!r}")
    number, title = found[1].lstrip("0"), found[2].replace("_", " ").strip()
    return {
        "@NAME@": name,
        "@PREFIX@": f"ch{number}",
        "@LABEL@": f"ch-{title.replace(' ', '-')}",
        "@TITLE@": title.capitalize(),
        "@title@": title,
    }


def _filled(template: Path, words: dict[str, str]) -> str:
    """A template with its words."""
    text = template.read_text(encoding="utf8")
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text


def _listed(contents: str, name: str, second: str) -> str:
    """The table of contents with the two pages behind the last chapter."""
    lines = contents.splitlines()
    folder = f"{CHAPTERS.as_posix()}/"
    places = [number for number, line in enumerate(lines) if folder in line]
    if not places:
        raise ValueError("_toc.yml lists no chapter behind which a new one could stand")
    indent = lines[places[0]].partition("-")[0]
    lines[places[-1] + 1 : places[-1] + 1] = [
        f"{indent}- file: {folder}{name}",
        f"{indent}  sections:",
        f"{indent}    - file: {folder}{second}",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    try:
        written = add(sys.argv[1] if len(sys.argv) == 2 else "")
    except ValueError as error:
        sys.exit(f"make new-chapter NAME=08_covariance_shift: {error}")
    print("written:", *written, sep="\n  ")
