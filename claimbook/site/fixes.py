"""What the theme, docutils and pandas write that a reader cannot use, replaced in finished pages.

What a screen reader cannot say, what is loaded and not used, what is settled too late. Each is one
fixed piece of text of a writer that cannot be told otherwise.
"""

import re
from pathlib import Path

from claimbook.files import write_atomically
from claimbook.ledger.text import readable, typeset

# a font is fetched when a line that it sets is laid out: too late for font-display: optional
FACES = ["1em 'Source Serif 4'", "1em 'Source Sans 3'"]
FETCH = f"<script>{FACES}.forEach(face => document.fonts.load(face));</script>"
# pandas' tables, plain and styled, and a cell of theirs
TABLE = re.compile(r'<table [^>]*(?:class="dataframe"|id="T_).*?</table>', re.DOTALL)
CELL = re.compile(r"(<(t[dh])(?: [^>]*)?>)([^<]*)(?=</\2>)")
FIXES = [  # the pattern of what is written, what it should be
    # the arrow that opens a chapter's sections in the sidebar has no name that could be said
    (
        r'<summary>(?=<span class="toctree-toggle")',
        '<summary aria-label="Show or hide the sections">',
    ),
    # docutils: a list whose entries have a role of its own, deprecated, and no list item
    (r'role="doc-biblioentry"', 'role="listitem"'),
    # the theme: the sidebar's logo and search button stand outside every landmark
    (
        r'(<div id="pst-primary-sidebar")(?! role)',
        r'\1 role="navigation" aria-label="The book"',
    ),
    # pandas and docutils: the empty corner of a table is no heading
    (
        r"<th((?: (?:id|class)=\"[^\"]*\")*)\s*>(?:\s|&nbsp;|\xa0|</?p>)*</th>",
        r"<td\1></td>",
    ),
    # the theme: half a megabyte that replaces icons by drawings; the font that has them is loaded
    (r'\s*<script defer src="[^"]*/fontawesome\.js[^"]*"></script>', ""),
    # the theme: light or dark is settled by a script at the end, and what it colours changes twice
    (
        r'(dataset\.theme = localStorage\.getItem\("theme"\) \|\| )"auto";',
        r'\1(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");',
    ),
    # and until then, or where no script runs, there are no colours, and each figure twice
    (r'(<html [^>]*)data-theme="auto"', r'\1data-theme="light"'),
    (
        r'(<link rel="stylesheet" type="text/css" href="[^"]*type\.css[^>]*>)(?!<script)',
        rf"\1{FETCH}",
    ),
    # sphinx-proof and sphinx-exercise: one id for what all theorems and exercises say
    (r'(<(?:section|div)\b[^>]*) id="(?:exercise|solution|proof)-content"', r"\1"),
]


def fix(text: str) -> str:
    """Replace all of it in a page."""
    for written, better in FIXES:
        text = re.sub(written, better, text)
    return text


def typeset_numbers(page: str) -> str:
    """Typeset the numbers in the tables of a page; words are left as they are."""

    def cells(table: re.Match[str]) -> str:
        return CELL.sub(lambda cell: cell[1] + typeset(readable(cell[3])), table[0])

    return TABLE.sub(cells, page)


def fix_pages(site: Path) -> None:
    """Replace it in every page of the site, and typeset the numbers of its tables."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf8")
        fixed = typeset_numbers(fix(text))
        if fixed != text:
            write_atomically(page, fixed)
