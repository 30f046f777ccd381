"""What the theme, docutils and pandas write that a reader cannot use, mended in finished pages.

What a screen reader cannot say, what is loaded and not used, what is settled too late. Of its
writers only docutils could be overridden here: the theme builds its arrow in its own Python and its
sidebar and head in templates that would have to be copied whole, and tables of pandas come as
finished HTML. Each is one fixed piece of text, so the finished pages are mended by replacing it; a
parser would write every page anew, and differently.
"""

import re
from pathlib import Path

from claimbook.files import write_atomically
from claimbook.site.numbers import typeset_numbers

# (the pattern of what is written, what it should be)
MENDED = [
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
    # Sphinx: a span in a span for each word of a signature, a tenth of a page of the package
    (
        r'(<span class="(?:n|o|p|k|default_value)">)<span class="pre">([^<]*)</span>',
        r"\1\2",
    ),
]


def mend(text: str) -> str:
    """A page with all of it mended."""
    for written, better in MENDED:
        text = re.sub(written, better, text)
    return text


def mend_pages(site: Path) -> None:
    """Mend every page of the site, and typeset the numbers of its tables."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf8")
        mended = typeset_numbers(mend(text))
        if mended != text:
            write_atomically(page, mended)
