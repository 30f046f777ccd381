"""What the theme, docutils and pandas write that a screen reader cannot use, mended in the finished pages."""

import re
from pathlib import Path

import bookcache

# (what is written, what it should be)
MENDED = [
    # the arrow that opens a chapter's sections in the sidebar has no name that could be said
    (re.compile(r'<summary>(?=<span class="toctree-toggle")'), '<summary aria-label="Show or hide the sections">'),
    # docutils: a list whose entries have a role of its own, deprecated, and no list item
    (re.compile(r'role="doc-biblioentry"'), 'role="listitem"'),
    # the theme: the sidebar's logo and search button stand outside every landmark
    (re.compile(r'(<div id="pst-primary-sidebar")(?! role)'), r'\1 role="navigation" aria-label="The book"'),
    # pandas and docutils: the empty corner of a table is no heading
    (re.compile(r"<th((?: (?:id|class)=\"[^\"]*\")*)\s*>(?:\s|&nbsp;|\xa0|</?p>)*</th>"), r"<td\1></td>"),
]


def mend(text):
    for written, better in MENDED:
        text = written.sub(better, text)
    return text


def mend_pages(app, exception):
    if exception or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf8")
        mended = mend(text)
        if mended != text:
            bookcache.write_atomically(page, mended)
