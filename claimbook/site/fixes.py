"""What the theme, docutils and pandas write that a reader cannot use, replaced in finished pages.

What a screen reader cannot say, what is loaded and not used, what is settled too late. Each is one
fixed piece of text of a writer that cannot be told otherwise.

Notes at cross-references are sphinx-tippy's, with its scripts from here and the same in each build.
Those in the folder ``tippy`` are the ones of the npm packages ``@popperjs/core`` 2.11.8 and
``tippy.js`` 6.3.7, unchanged. No note is fetched from the web.
"""

import re
from pathlib import Path

import sphinx_tippy
from sphinx.application import Sphinx
from sphinx.config import Config

from claimbook.files import write_atomically
from claimbook.ledger.text import readable, typeset

# a font is fetched when a line that it sets is laid out: too late for font-display: optional
FACES = ["1em 'Source Serif 4'", "1em 'Source Sans 3'"]
FETCH = f"<script>{FACES}.forEach(face => document.fonts.load(face));</script>"
# pandas' tables, plain and styled, and a cell of theirs
TABLE = re.compile(r'<table [^>]*(?:class="dataframe"|id="T_).*?</table>', re.DOTALL)
CELL = re.compile(r"(<(t[dh])(?: [^>]*)?>)([^<]*)(?=</\2>)")
FIXES = {  # the pattern of what is written, what it should be
    # the arrow that opens a chapter's sections in the sidebar has no name that could be said
    r'<summary>(?=<span class="toctree-t)': '<summary aria-label="Show or hide the sections">',
    # docutils: a list whose entries have a role of its own, deprecated, and no list item
    r'role="doc-biblioentry"': 'role="listitem"',
    # the theme: the sidebar's logo and search button stand outside every landmark
    r'(<div id="pst-primary-sidebar")(?! role)': r'\1 role="navigation" aria-label="The book"',
    # pandas and docutils: the empty corner of a table is no heading
    r"<th((?: (?:id|class)=\"[^\"]*\")*)\s*>(?:\s|&nbsp;|\xa0|</?p>)*</th>": r"<td\1></td>",
    # the theme: half a megabyte that replaces icons by drawings; the font that has them is loaded
    r'\s*<script defer src="[^"]*/fontawesome\.js[^"]*"></script>': "",
    # Jupyter Book: the scripts of live cells, of which there are none, and the address of a CDN
    r"<script(?:>const THEBE_JS_URL[^<]*| [^>]*/sphinx-thebe\.js[^>]*>)</script>": "",
    # the theme: the index of the search on every page, for results while one types, which are off
    r'\s*<script src="(?:[^"]*/)?(?:searchtools|language_data|searchindex)\.js[^"]*"></script>'
    r'(?!(?s:.*)id="search-results")': "",
    # the theme: light or dark is settled by a script at the end, and what it colours changes twice
    r'(dataset\.theme = localStorage\.getItem\("theme"\) \|\| )"auto";': (
        r'\1(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");'
    ),
    # and until then, or where no script runs, there are no colours, and each figure twice
    r'(<html [^>]*)data-theme="auto"': r'\1data-theme="light"',
    r'(<link rel="stylesheet" [^>]*href="[^"]*type\.css[^>]*>)(?!<script)': rf"\1{FETCH}",
    # sphinx-proof and sphinx-exercise: one id for what all theorems and exercises say
    r'(<(?:section|div)\b[^>]*) id="(?:exercise|solution|proof)-content"': r"\1",
}


def fix(text: str) -> str:
    """Replace all of it in a page, and typeset the numbers in its tables, not in its words."""
    for written, better in FIXES.items():
        text = re.sub(written, better, text)
    cell = lambda match: match[1] + typeset(readable(match[3]))  # noqa: E731
    return TABLE.sub(lambda table: CELL.sub(cell, table[0]), text)


def fix_pages(site: Path) -> None:
    """Replace it in every page of the site; delete the caches of notes that nobody fetches."""
    for cache in site.glob("tippy_*_cache.json"):
        cache.unlink()
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf8")
        if (fixed := fix(text)) != text:
            write_atomically(page, fixed)


# ---------------------------------------------------------------- notes at references

STATIC = Path(__file__).with_name("tippy") / "static"
OPTIONS = {
    "tippy_js": ("tippy/popper.min.js", "tippy/tippy-bundle.umd.min.js"),
    "tippy_tip_selector": "figure, div.proof, div.exercise, div.citation",  # shown as it stands
    "tippy_anchor_parent_selector": ".bd-article",
    "tippy_skip_anchor_classes": ("headerlink", "judged", "claim-value", "next-page"),
    "tippy_props": {"maxWidth": 480, "interactive": True, "delay": [300, 200]},
    "tippy_enable_wikitips": False,
    "tippy_enable_doitips": False,
}
BEFORE = 400  # sphinx-tippy writes its files at 500


def set_tips(app: Sphinx, config: Config) -> None:
    """Set the options of sphinx-tippy."""
    config.html_static_path.append(str(STATIC))
    for name, value in OPTIONS.items():
        config[name] = value


def mend_tips(app: Sphinx, exception: Exception | None) -> None:
    """Put the notes of each page in one order, which a set has not, and entries into a list."""
    for page in sphinx_tippy.get_tippy_data(app)["pages"].values():
        for anchor, note in page["id_to_html"].items():
            if note.startswith("<dt"):
                page["id_to_html"][anchor] = f"<dl>{note}</dl>"
        page["refs_in_page"] = dict.fromkeys(sorted(page["refs_in_page"], key=str))


def add_tips(app: Sphinx) -> None:
    """Set up sphinx-tippy."""
    sphinx_tippy.uuid4 = lambda: "tips"  # a name of its own in each build otherwise
    app.setup_extension("sphinx_tippy")
    app.connect("config-inited", set_tips)
    app.connect("build-finished", mend_tips, priority=BEFORE)
