"""A prediction that the reader makes before the page tells.

    ```{prediction} Which way does the window move?
    - it narrows
    - it widens
    ```
    (what follows is folded until the reader has chosen)
    ```{prediction-end}
    ```
"""

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from claimbook.site.nodes import html_tag, tag

logger = logging.getLogger(__name__)

START, END = "prediction", "prediction-end"
ANSWERS = range(2, 5)
FOLD = "What happens"


class Prediction(SphinxDirective):
    """``{prediction} QUESTION`` with a list of two to four answers."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The question and its answers; what follows is folded by :func:`fold_predictions`."""
        found = self.parse_content_to_nodes()
        if len(found) != 1 or not isinstance(found[0], nodes.bullet_list):
            raise self.error("prediction: its answers must be one list, and nothing else")
        answers = found[0]
        if len(answers) not in ANSWERS:
            wanted = f"{ANSWERS.start} to {ANSWERS.stop - 1}"
            raise self.error(f"prediction: there must be {wanted} answers; got {len(answers)}")
        answers["classes"].append("prediction-answers")
        question, messages = self.parse_inline(self.arguments[0])
        asked = nodes.paragraph("", "", *question, classes=["prediction-question"])
        place = tag("div", asked, answers, classes=[START])
        self.set_source_info(place)
        return [place, *messages]


class PredictionEnd(SphinxDirective):
    """``{prediction-end}``: what is folded ends here."""

    def run(self) -> list[nodes.Node]:
        """The place of the end."""
        place = tag("div", classes=[END])
        self.set_source_info(place)
        return [place]


def is_of(node: nodes.Node, name: str) -> bool:
    """Whether a node is an element of a class."""
    return isinstance(node, html_tag) and name in node["classes"]


def of_class(doctree: nodes.document, name: str) -> list[html_tag]:
    """The elements of a class, in their order."""
    return [node for node in doctree.findall(html_tag) if is_of(node, name)]


def fold_predictions(doctree: nodes.document) -> None:
    """Fold what stands between each prediction and its end; warn where the end is not there."""
    for start in of_class(doctree, START):
        around = start.parent
        first = around.index(start) + 1
        rest = around.children[first:]
        last = next((at for at, node in enumerate(rest) if is_of(node, END)), None)
        barrier = any(isinstance(node, nodes.section) or is_of(node, START) for node in rest[:last])
        if last is None or barrier:
            message = "prediction: its end is missing, or a heading stands before it"
            logger.warning(message, location=start)
            continue
        for node in rest[: last + 1]:
            around.remove(node)
        summary = tag("summary", FOLD)
        start += tag("details", summary, *rest[:last], classes=["prediction-rest"], open="open")
    for end in of_class(doctree, END):
        logger.warning("prediction-end: it ends no prediction", location=end)
