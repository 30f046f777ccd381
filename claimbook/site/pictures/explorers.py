"""Explorers on the pages: ``{explorer} NAME`` leaves a place, and a page loads what it needs.

The scripts are classic ones on one namespace, ``iclExplorers``, loaded in a fixed order: from
``file://`` a browser refuses modules and workers of their own files. ``_static/explorers/start.js``
tells the layout.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from claimbook.files import write_atomically
from claimbook.site.nodes import tag

FOLDER = "explorers"
SHEETS = ("explorers.css", "training.css")
# of every explorer, before the rest
SHARED = ("numbers", "text", "plot", "probe", "controls", "fields", "form", "frame")
LAST = "start"
NUMERICS = ("train_define", "train_random", "train_matrices", "train_head")  # of every training
TRAINING = ("train_charts", "train_heat", "train_run", "train_player", "train_frame")
EXACT = {  # the own scripts of each that draws formulas, in their order
    "hill": ("hill",),
    "mismatch": ("window_theory", "mismatch"),
    "offset": ("window_theory", "offset"),
    "directions": ("directions",),
    "lookup": ("lookup",),
    "parallel": ("parallel",),
    "glimpse": ("window_theory", "glimpse"),
    "plateau": ("stages_theory", "plateau"),
    "diversity": ("regression_theory", "diversity"),
}
SCRIPTS = EXACT | {  # and those of each training: numerics, what frames them, theory, pictures
    f"train_{name}": (*NUMERICS, f"train_{name}", *TRAINING, *theory, f"train_{name}_view")
    for name, theory in {
        "window": ("window_theory",),
        "prompts": ("regression_theory",),
        "stages": ("stages_theory",),
        "lowrank": (),
    }.items()
}
# The names of each explorer's settings, as in its links; the first is the one in sight, unless the
# page says :main:. What each means and may be is said by its label and its slider: `controls` in
# the explorer's script. The browser tests hold this table against the scripts.
SETTINGS = {
    "hill": ("w", "star", "height", "sigma"),
    "mismatch": ("ratio", "n", "sigma", "d", "family"),
    "offset": ("offset", "n", "sigma", "d", "family", "one"),
    "directions": ("wv", "link", "where", "d", "n", "sigma", "cv"),
    "parallel": ("angle", "noise", "lambda"),
    "lookup": ("c", "rho", "K"),
    "glimpse": ("frame",),
    "plateau": ("done", "K"),
    "diversity": ("kappa", "tau"),
    "train_window": ("sigma", "L", "n", "d", "family", "seed", "play"),
    "train_prompts": ("lambda", "kappa", "d", "alpha", "rho", "exact", "seed", "play"),
    "train_stages": ("K", "p1", "seed", "play"),
    "train_lowrank": ("link", "J", "d", "k", "seed", "play"),
}
COMMENT = re.compile(r"^[ \t]*(?:/\*(?:(?!\*/).)*\*/[ \t]*|//[^\n]*)\n", re.DOTALL | re.MULTILINE)
PLACE = re.compile(r'data-explorer="([\w-]+)"')


class Explorer(SphinxDirective):
    """``{explorer} NAME``: an explorer, and below it its caption, the words inside.

    ``:alt:`` says what it shows to those whose browser runs no scripts; ``:settings:`` are those
    that it starts with here, as in its link: ``kappa=0.5&tau=1``; ``:main:`` is the setting whose
    control is in sight, where it is not the usual one.
    """

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[Mapping[str, Any]] = {
        "alt": directives.unchanged_required,
        "settings": directives.unchanged_required,
        "main": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """The place; raises an error of the directive where there is no such explorer."""
        name = self.arguments[0]
        if name not in SCRIPTS:
            raise self.error(f"explorer must be one of {sorted(SCRIPTS)}; got '{name}'")
        if "alt" not in self.options:
            raise self.error(f"explorer {name} must have an :alt: for those without JavaScript")
        main = self.options.get("main", SETTINGS[name][0])
        asked = self.options.get("settings", "")
        for setting in (main, *settings_of(asked)):
            if setting not in SETTINGS[name]:
                raise self.error(f"explorer {name} has no setting '{setting}': {SETTINGS[name]}")
        words = " ".join(self.options["alt"].split())
        within: list[nodes.Node] = [tag("noscript", f"This explorer needs JavaScript. {words}")]
        attributes = {"data_explorer": name, "data_main": main}
        if asked:
            attributes["data_settings"] = asked
        caption = self.parse_content_to_nodes()
        place = tag("div", *within, classes=["explorer"], **attributes)
        if not caption:
            return [place]
        return [tag("div", place, *caption, classes=["explorer-figure"])]


def drop_comments(site: Path) -> None:
    """Take the comments that fill whole lines out of a site's scripts, which readers load.

    They stay in the files of the repository.
    """
    for path in (site / "_static" / FOLDER).glob("*.js"):
        text = path.read_text(encoding="utf8")
        bare = COMMENT.sub("", text)
        if bare != text:
            write_atomically(path, bare)


def settings_of(query: str) -> list[str]:
    """The names in settings as a link has them: ``kappa=0.5&tau=1``."""
    return [pair.partition("=")[0] for pair in query.split("&")] if query else []


def needed(body: str) -> list[str]:
    """The scripts of a page, in the order in which they are loaded; none without an explorer.

    Raises ``KeyError`` where the page names an explorer that there is not.
    """
    found = PLACE.findall(body)
    own = [script for name in found for script in SCRIPTS[name]]
    return list(dict.fromkeys([*SHARED, *own, LAST])) if own else []


def add_scripts(app: Sphinx, pagename: str, context: dict[str, Any], doctree: Any) -> None:
    """Have the page load its explorers' scripts and their looks (Sphinx: for this page only)."""
    scripts = needed(context.get("body", ""))
    for script in scripts:
        app.add_js_file(f"{FOLDER}/{script}.js", defer="defer")
    for sheet in SHEETS if scripts else ():
        app.add_css_file(sheet)
