"""What a reader works with on a page: explorers, words that set them, and predictions.

The explorers' scripts are classic ones on one namespace, ``iclExplorers``: from ``file://`` a
browser refuses modules of files of their own. A page loads those that it needs, in the order of
:func:`scripts`; ``_static/explorers/start.js`` tells the layout. That pages name explorers and
settings which there are is tested in ``tests/explorers``.

A prediction is chosen before the page tells:

    ```{prediction} Which way does the window move?
    - it narrows
    - it widens
    ```
    (what follows is folded until the reader has chosen)
    ```{prediction-end}
    ```
"""

import posixpath
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from claimbook.files import ROOT
from claimbook.site.nodes import html_tag, tag

logger = logging.getLogger(__name__)

FOLDER = ROOT / "book" / "_static" / "explorers"
SHEETS = ("explorers.css", "training.css")
TRAINING = "train_"
SHARED = ("numbers", "text", "plot", "probe", "controls", "fields", "form", "frame")
OF_TRAININGS = tuple(
    TRAINING + name
    for name in ("define", "random", "matrices", "head", "charts", "heat", "run", "player", "frame")
)
LAST = "start"
SHOWN = re.compile(r'data-explorer="(\w+)"')
START, END = "prediction", "prediction-end"  # classes
ANSWERS = range(2, 5)
FORM = re.compile(r"(?s)(.+?)\s*<(?:([\w/]+)/)?(\w+):\s*([^<>\s]+)>")


def scripts(names: Collection[str] | None = None, folder: Path = FOLDER) -> list[Path]:
    """List in their order the scripts of the explorers with these names, or of all.

    First comes what is shared, then the theories, then each explorer, whose files begin with its
    name; the start is last.
    """
    stems = sorted(path.stem for path in folder.glob("*.js"))
    own = [stem for stem in stems if stem not in (*SHARED, *OF_TRAININGS, LAST)]
    if names is not None:
        shown = tuple(f"{name}_" for name in names)
        own = [one for one in own if one.endswith("_theory") or f"{one}_".startswith(shown)]
    own = sorted(own, key=lambda stem: not stem.endswith("_theory"))
    trains = OF_TRAININGS if any(stem.startswith(TRAINING) for stem in own) else ()
    ordered = [*SHARED, *trains, *own, LAST]
    return [folder / f"{stem}.js" for stem in ordered if stem in stems]


class Explorer(SphinxDirective):
    """``{explorer} NAME``: an explorer, and below it its caption, the words inside.

    ``:alt:`` says what it shows to those whose browser runs no scripts; ``:settings:`` are those
    that it starts with here, as in its link: ``kappa=0.5&tau=1``; ``:main:`` is the setting whose
    control is in sight, where that is not its first.
    """

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[Mapping[str, Any]] = dict.fromkeys(
        ("alt", "settings", "main"), directives.unchanged_required
    )

    def run(self) -> list[nodes.Node]:
        """Return the place of the explorer, with its caption."""
        name, alt = self.arguments[0], " ".join(self.options.pop("alt", "").split())
        if not (FOLDER / f"{name}.js").exists() or not alt:
            raise self.error(f"explorer {name}: it must have a script in {FOLDER} and an :alt:")
        within = tag("noscript", f"This explorer needs JavaScript. {alt}")
        options = {f"data_{key}": value for key, value in self.options.items()}
        explorer = tag("div", within, classes=["explorer"], data_explorer=name, **options)
        caption = self.parse_content_to_nodes()
        return (
            [tag("div", explorer, *caption, classes=["explorer-figure"])] if caption else [explorer]
        )


class SetRole(SphinxRole):
    """``{set}`words <NAME: setting=value&setting=value>```, names as in the explorer's link.

    A browser with scripts shows the words as a button (``start.js``); without scripts, in print and
    in notebooks they are words. The other settings become those that the page starts with, so that
    what the sentence goes on to say is true whatever was turned before. A training plays with
    ``play=1``. ``<PAGE/NAME: …>`` is a link to the explorer of another page, such as
    ``chapters/01_attention_window/hill``, from the folder of this one.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the words; with a warning where they name no setting."""
        match = FORM.fullmatch(self.text)
        if not match:
            message = "set: must be: words <NAME: setting=value>"
            warning = self.inliner.reporter.warning(message, line=self.lineno)
            return [nodes.Text(self.text)], [warning]
        words, page, name, query = match.groups()
        if not page:
            return [tag("span", words, data_set=f"{name}?{query}")], []
        to = posixpath.join(posixpath.dirname(self.env.docname), page)
        address = self.env.app.builder.get_relative_uri(self.env.docname, to)
        return [tag("a", words, href=f"{address}#explorer-{name}?{query}")], []


def add_scripts(app: Sphinx, page: str, context: dict[str, Any]) -> None:
    """Let a page load what its explorers need (Sphinx: this page alone)."""
    if names := set(SHOWN.findall(context.get("body", ""))):
        for path in scripts(names):
            app.add_js_file(f"{FOLDER.name}/{path.name}", defer="defer")
        for sheet in SHEETS:
            app.add_css_file(sheet)


# ---------------------------------------------------------------- predictions


class Prediction(SphinxDirective):
    """``{prediction} QUESTION`` with a list of two to four answers."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return question and answers; what follows is folded by :func:`fold_predictions`."""
        answers = self.parse_content_to_nodes()
        if [type(one) for one in answers] != [nodes.bullet_list] or len(answers[0]) not in ANSWERS:
            raise self.error("prediction: it must have one list of two to four answers")
        answers[0]["classes"].append("prediction-answers")
        question, messages = self.parse_inline(self.arguments[0])
        paragraph = nodes.paragraph("", "", *question, classes=["prediction-question"])
        start = tag("div", paragraph, *answers, classes=[START])
        self.set_source_info(start)
        return [start, *messages]


class PredictionEnd(SphinxDirective):
    """``{prediction-end}``: what is folded ends here."""

    def run(self) -> list[nodes.Node]:
        """Return the place of the end."""
        end = tag("div", classes=[END])
        self.set_source_info(end)
        return [end]


def is_end(node: nodes.Node, *kinds: str) -> bool:
    """Return whether a node is the start or the end of a prediction."""
    return isinstance(node, html_tag) and bool(set(kinds) & set(node["classes"]))


def fold_predictions(doctree: nodes.document) -> None:
    """Fold what stands between each prediction and its end; warn where the end is not there."""
    for start in [node for node in doctree.findall() if is_end(node, START)]:
        rest = start.parent[start.parent.index(start) + 1 :]
        stops = (isinstance(node, nodes.section) or is_end(node, START, END) for node in rest)
        last = next((at for at, stop in enumerate(stops) if stop), None)
        if last is None or not is_end(rest[last], END):
            message = "prediction: its end is missing, or a heading stands before it"
            logger.warning(message, location=start)
            continue
        for node in rest[: last + 1]:
            start.parent.remove(node)
        summary = tag("summary", "What happens")
        start += tag("details", summary, *rest[:last], classes=["prediction-rest"], open="open")
    for end in [node for node in doctree.findall() if is_end(node, END)]:
        logger.warning("prediction-end: it ends no prediction", location=end)
