r"""Formulas, typeset when the book is built: pages carry them finished and need no script for them.

KaTeX 0.19.1 (folder ``katex``, the files of the npm package unchanged) runs once for each different
formula, which becomes HTML for the eye and MathML for a screen reader. Its TeX stays in the MathML,
and ``copy-tex.min.js`` puts that on the clipboard. A formula that KaTeX cannot read is a warning of
its page and line. ``katex.min.js`` is used here alone; what is in ``static`` goes to the site.
"""

import json
import re
from functools import cache
from html import escape
from pathlib import Path

from docutils import nodes
from py_mini_racer import MiniRacer
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

KATEX = Path(__file__).with_name("katex")
CLASSES = "math notranslate nohighlight"
LIST = re.compile(r"(?<=\),)(?=\s*\()")  # between the items of (1, 2), (3, 4)
BREAK = r"\allowbreak "
TOGETHER = "kept"  # the class of what stands on one line
PIECE = '<span class="katex-base">'
OPENING = re.compile(r"[(\[“‘\"']+\Z")
CLOSING = re.compile(r"-|[\w.,;:!?)\]”’\"']+")
WORD, NOTHING = re.compile(r"\S+$"), re.compile(r"(?!)")
# what KaTeX writes and MathML has not: one child too many of a script, an empty attribute
EXTRA = re.compile(
    r'<mo>\u2061</mo>(?=(?:<m\w>[^<]*</m\w>)?</m(?:sub|sup|subsup)>)| columnspacing=""'
)
TYPESET = """
let unknown = [];
console.warn = message => unknown.push(message);
function typeset(tex, displayMode) {
  unknown = [];
  try {
    const html = katex.renderToString(tex, {displayMode, output: "htmlAndMathml", strict: "error"});
    return JSON.stringify({html, fault: unknown.join("; ")});
  } catch (error) {
    return JSON.stringify({html: "", fault: error.message});
  }
}
"""


class FormulaError(ValueError):
    """TeX that KaTeX cannot typeset, in KaTeX's words."""


@cache
def engine() -> MiniRacer:
    """Start the engine that runs KaTeX; :func:`close_engine` ends it."""
    started = MiniRacer()
    started.eval((KATEX / "katex.min.js").read_text(encoding="utf8"))
    started.eval(TYPESET)
    return started


def close_engine() -> None:
    """End the engine: left open, it can keep the interpreter from ending."""
    if engine.cache_info().currsize:
        engine().close()
        engine.cache_clear()


@cache
def formula_html(tex: str, display: bool = False) -> str:
    """Typeset TeX without its delimiters; ``display`` for a line of its own.

    Raises :class:`FormulaError` where KaTeX does not know the TeX, or its fonts lack a letter.
    """
    answer = json.loads(str(engine().call("typeset", tex, display)))
    if answer["fault"]:
        raise FormulaError(answer["fault"])
    return EXTRA.sub("", str(answer["html"]))


def on_page(tex: str, node: nodes.Element, display: bool) -> str:
    """Typeset a page's formula; one with a fault is shown as its TeX, and warned of."""
    try:
        return formula_html(tex, display)
    except FormulaError as fault:
        logger.warning("formula %r: %s", tex, fault, location=node, type="formula")
        return f'<code class="katex-error">{escape(tex)}</code>'


def write_inline(page: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a sentence."""
    page.body.append(page.starttag(node, "span", "", CLASS=CLASSES))
    html = on_page(LIST.sub(lambda between: BREAK, node.astext()), node, display=False)
    # KaTeX's pieces, between which a line may end, also where the text around is kept in one
    before, *pieces = html.replace(BREAK, "").split(PIECE)
    page.body.append(before + f"<wbr>{PIECE}".join(["", *pieces]).removeprefix("<wbr>"))
    page.body.append("</span>")
    raise nodes.SkipNode


def write_block(page: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own: a box that scrolls (by keyboard too), its number."""
    name = "Equation"
    page.body.append(page.starttag(node, "div", "", CLASS=CLASSES))
    if node.get("number"):
        number = get_node_equation_number(page, node)
        name = f"Equation {number}"
        page.body.append(f'<span class="eqno">({number})')
        page.add_permalink_ref(node, "Link to this equation")
        page.body.append("</span>")
    page.body.append(f'<div class="formula" role="group" tabindex="0" aria-label="{name}">')
    page.body.append(f"{on_page(one_formula(node.astext()), node, display=True)}</div></div>\n")
    raise nodes.SkipNode


def one_formula(text: str) -> str:
    r"""Make one piece of TeX of a displayed formula, by Sphinx's rules.

    A blank line begins a further equation below the first, and ``\\`` breaks a line also where no
    environment stands around it.
    """
    parts = [part.strip() for part in text.split("\n\n") if part.strip()]
    parts = [rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part for part in parts]
    whole = r"\\".join(parts)
    return whole if len(parts) == 1 else rf"\begin{{aligned}}{whole}\end{{aligned}}"


class KeepTogether(SphinxPostTransform):
    """Holds on one line a formula and what touches it, as in ``($x$),``, a mark and its word.

    Browsers break lines between a formula, which is a box to them, and the comma behind it. A mark
    is a piece of HTML with the attribute ``mark``.
    """

    default_priority = 900  # when nothing else looks at the neighbours of a formula
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        for formula in list(self.document.findall(nodes.math)):
            hold(formula, OPENING, CLOSING)
        for mark in [node for node in self.document.findall(nodes.raw) if "mark" in node]:
            at = mark.parent.index(mark)
            before = mark.parent[at - 1] if at else None
            if isinstance(before, nodes.inline) and TOGETHER in before["classes"]:
                mark.parent.remove(mark)
                before += mark
            else:
                hold(mark, WORD, NOTHING)


def hold(node: nodes.Node, opening: re.Pattern[str], closing: re.Pattern[str]) -> None:
    """Put a node into one box with the end of the text before it and the start of the text after.

    How such an end and such a start look the two patterns say; without either there is no box.
    """
    around = node.parent
    at = around.index(node)
    before, after = around[at - 1 : at], around[at + 1 : at + 2]
    box = [node]
    if before and isinstance(before[0], nodes.Text) and (end := opening.search(before[0])):
        around[at - 1] = nodes.Text(before[0][: end.start()])
        box.insert(0, nodes.Text(end[0]))
    if after and isinstance(after[0], nodes.Text) and (start := closing.match(after[0])):
        rest = after[0][start.end() :]
        around[at + 1 : at + 2] = [nodes.Text(rest)] if rest else []
        box.append(nodes.Text(start[0]))
    if len(box) > 1:
        around[at] = nodes.inline("", "", *box, classes=[TOGETHER])


def add_files(app: Sphinx, config: Config) -> None:
    """Ship KaTeX's style and fonts."""
    config.html_static_path.append(str(KATEX / "static"))
    app.add_css_file("katex/katex.min.css", priority=400)  # before the book's own
    app.add_js_file("katex/copy-tex.min.js", loading_method="defer")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Offer the renderer ``katex``; ``html_math_renderer: katex`` chooses it."""
    app.add_html_math_renderer("katex", (write_inline, None), (write_block, None))
    app.add_post_transform(KeepTogether)
    app.connect("config-inited", add_files)
    app.connect("build-finished", lambda app, exception: close_engine())
    # an engine does not survive a fork, so pages are written by one process
    return {"parallel_read_safe": True, "parallel_write_safe": False, "version": "1"}
