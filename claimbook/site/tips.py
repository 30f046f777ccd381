"""Notes at cross-references: sphinx-tippy, with its scripts from here and the same in each build.

The scripts in the folder ``tippy`` are those of the npm packages ``@popperjs/core`` 2.11.8 and
``tippy.js`` 6.3.7, unchanged. No note is fetched from the web.
"""

from pathlib import Path

import sphinx_tippy
from bs4 import Tag
from sphinx.application import Sphinx
from sphinx.config import Config

STATIC = Path(__file__).with_name("tippy") / "static"
SCRIPTS = ("tippy/popper.min.js", "tippy/tippy-bundle.umd.min.js")
SHOWN = "figure, div.proof, div.exercise, div.citation"  # what a note shows as it stands
ASIDE = ("headerlink", "judged", "claim-value", "next-page")  # links that have no note
BEFORE = 400  # sphinx-tippy writes its files at 500


def set_tips(app: Sphinx, config: Config) -> None:
    """Set the options of sphinx-tippy."""
    config.html_static_path.append(str(STATIC))
    config.tippy_js = SCRIPTS
    config.tippy_tip_selector = SHOWN
    config.tippy_anchor_parent_selector = ".bd-article"
    config.tippy_skip_anchor_classes = ASIDE
    config.tippy_props = {"maxWidth": 480, "interactive": True, "delay": [300, 200]}
    config.tippy_enable_wikitips = config.tippy_enable_doitips = False


def past_terms(tag: Tag) -> Tag | None:
    """Find the next element that is no other name of the same entry."""
    found = tag.find_next_sibling(True)
    while isinstance(found, Tag) and found.name == "dt":
        found = found.find_next_sibling(True)
    return found if isinstance(found, Tag) else None


def sort_tips(app: Sphinx, exception: Exception | None) -> None:
    """Put the notes of each page in one order, which a set has not."""
    for page in sphinx_tippy.get_tippy_data(app)["pages"].values():
        page["refs_in_page"] = dict.fromkeys(sorted(page["refs_in_page"], key=str))


def drop_caches(app: Sphinx, exception: Exception | None) -> None:
    """Delete the caches of what sphinx-tippy would fetch."""
    for path in Path(app.outdir).glob("tippy_*_cache.json"):
        path.unlink()


def add_tips(app: Sphinx) -> None:
    """Set up sphinx-tippy."""
    sphinx_tippy.uuid4 = lambda: "tips"  # a name of its own in each build otherwise
    sphinx_tippy.next_sibling_tag = past_terms  # else an entry with two names has no explanation
    app.setup_extension("sphinx_tippy")
    app.connect("config-inited", set_tips)
    app.connect("build-finished", sort_tips, priority=BEFORE)
    app.connect("build-finished", drop_caches, priority=2 * BEFORE)
