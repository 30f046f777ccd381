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


class Prediction(SphinxDirective):
    """``{prediction} QUESTION`` with a list of two to four answers."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return question and answers; what follows is folded by :func:`fold_predictions`."""
        found = self.parse_content_to_nodes()
        if [type(one) for one in found] != [nodes.bullet_list] or len(found[0]) not in ANSWERS:
            raise self.error("prediction: it must have one list of two to four answers")
        found[0]["classes"].append("prediction-answers")
        question, messages = self.parse_inline(self.arguments[0])
        asked = nodes.paragraph("", "", *question, classes=["prediction-question"])
        place = tag("div", asked, *found, classes=[START])
        self.set_source_info(place)
        return [place, *messages]


class PredictionEnd(SphinxDirective):
    """``{prediction-end}``: what is folded ends here."""

    def run(self) -> list[nodes.Node]:
        """Return the place of the end."""
        place = tag("div", classes=[END])
        self.set_source_info(place)
        return [place]


def is_place(node: nodes.Node, *kinds: str) -> bool:
    """Return whether a node is the start or the end of a prediction."""
    return isinstance(node, html_tag) and bool(set(kinds) & set(node["classes"]))


def fold_predictions(doctree: nodes.document) -> None:
    """Fold what stands between each prediction and its end; warn where the end is not there."""
    for start in [node for node in doctree.findall() if is_place(node, START)]:
        around = start.parent
        rest = around[around.index(start) + 1 :]
        stops = (isinstance(node, nodes.section) or is_place(node, START, END) for node in rest)
        last = next((at for at, stop in enumerate(stops) if stop), None)
        if last is None or not is_place(rest[last], END):
            message = "prediction: its end is missing, or a heading stands before it"
            logger.warning(message, location=start)
            continue
        for node in rest[: last + 1]:
            around.remove(node)
        summary = tag("summary", "What happens")
        start += tag("details", summary, *rest[:last], classes=["prediction-rest"], open="open")
    for end in [node for node in doctree.findall() if is_place(node, END)]:
        logger.warning("prediction-end: it ends no prediction", location=end)
