"""What the theme, docutils and pandas write that a reader cannot use, mended in finished pages.

What a screen reader cannot say, what is loaded and not used, what is loaded too late. Of its
writers only docutils could be overridden here: the theme builds its arrow in its own Python and its
sidebar and head in templates that would have to be copied whole, and tables of pandas come as
finished HTML. Each is one fixed piece of text, so the finished pages are mended by replacing it; a
parser would write every page anew, and differently.
"""

import re
from pathlib import Path

from iclutils.book.runs.files import write_atomically
from iclutils.book.site.numbers import typeset_numbers

# a page opened from a file may not ask for a font ahead of the style sheet
PRELOAD = (
    'if (location.protocol !== "file:")'
    ' for (const href of ["source-serif-4-latin-wght-normal", "source-sans-3-latin-wght-normal"])'
    ' document.head.append(Object.assign(document.createElement("link"), {rel: "preload",'
    r' as: "font", type: "font/woff2", crossOrigin: "", href: `\2fonts/${href}.woff2`}));'
)
# (what is written, what it should be)
MENDED = [
    # the arrow that opens a chapter's sections in the sidebar has no name that could be said
    (
        re.compile(r'<summary>(?=<span class="toctree-toggle")'),
        '<summary aria-label="Show or hide the sections">',
    ),
    # docutils: a list whose entries have a role of its own, deprecated, and no list item
    (
        re.compile(r'role="doc-biblioentry"'),
        'role="listitem"',
    ),
    # the theme: the sidebar's logo and search button stand outside every landmark
    (
        re.compile(r'(<div id="pst-primary-sidebar")(?! role)'),
        r'\1 role="navigation" aria-label="The book"',
    ),
    # pandas and docutils: the empty corner of a table is no heading
    (
        re.compile(r"<th((?: (?:id|class)=\"[^\"]*\")*)\s*>(?:\s|&nbsp;|\xa0|</?p>)*</th>"),
        r"<td\1></td>",
    ),
    # the theme: half a megabyte that replaces icons by drawings; the font that has them is loaded
    (
        re.compile(r'\s*<script defer src="[^"]*/fontawesome\.js[^"]*"></script>'),
        "",
    ),
    # Sphinx's own search, which the book's (search-places.js) takes the place of
    (
        re.compile(
            r'\s*<script src="[^"]*\b(?:searchtools|language_data|searchindex)\.js[^"]*"></script>'
        ),
        "",
    ),
    # fonts that come later than the text that they set would move it: two are asked for at once
    (
        re.compile(
            r'(?<!</script>\n)(<link rel="stylesheet" type="text/css" href=")([^"]*)(type\.css)'
        ),
        rf"<script>{PRELOAD}</script>\n\1\2\3",
    ),
]


def mend(text: str) -> str:
    """A page with all of it mended."""
    for written, better in MENDED:
        text = written.sub(better, text)
    return text


def mend_pages(site: Path) -> None:
    """Mend every page of the site, and typeset the numbers of its tables."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf8")
        mended = typeset_numbers(mend(text))
        if mended != text:
            write_atomically(page, mended)
