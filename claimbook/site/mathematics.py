r"""Formulas, typeset when the book is built: pages carry them finished and need no script for them.

KaTeX 0.19.1 (folder ``katex``) runs in an engine of its own, once for each different formula. A
formula becomes HTML for the eye and MathML for a screen reader. Its TeX stays in the MathML, and
``copy-tex.min.js`` puts that on the clipboard where formulas are copied. A formula that KaTeX
cannot read is a warning of its page and line, so the strict build fails.

Of the folder, ``katex.min.js`` is used here alone; ``static`` (style, fonts, licence, copying) goes
to the site. The files are those of the npm package ``katex``, unchanged: a newer version is taken
by copying the same files again.
"""

import json
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

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
NUMBERING = re.compile(r"\\(begin|end)\{(equation|align|alignat|gather)\}")
LIST = re.compile(r"(?<=\),)(?=\s*\()")  # between the items of (1, 2), (3, 4)
BREAK = r"\allowbreak "
PIECE = '<span class="katex-base">'
OPENING = re.compile(r"[(\[“‘\"']+\Z")
CLOSING = re.compile(r"-|[\w.,;:!?)\]”’\"']+")
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


class Formula(NamedTuple):
    """TeX without its delimiters, and whether it stands on a line of its own."""

    tex: str
    display: bool


class FormulaError(ValueError):
    """TeX that KaTeX cannot typeset, in KaTeX's words."""


class Typesetter:
    """Writes the formulas of a build into its pages: HTML with MathML, each different one once.

    It has to be closed.

    >>> typesetter = Typesetter()
    >>> "<msup><mi>x</mi><mn>2</mn></msup>" in typesetter.html(Formula("x^2", display=False))
    True
    >>> typesetter.close()
    """

    def __init__(self) -> None:
        self._engine: MiniRacer | None = None
        self._finished: dict[Formula, str] = {}

    def html(self, formula: Formula) -> str:
        """The formula as HTML.

        :raises FormulaError: where KaTeX does not know the TeX, or its fonts lack a letter.
        """
        if formula not in self._finished:
            self._finished[formula] = self._run(formula)
        return self._finished[formula]

    def _run(self, formula: Formula) -> str:
        if self._engine is None:
            self._engine = MiniRacer()
            self._engine.eval((KATEX / "katex.min.js").read_text(encoding="utf8"))
            self._engine.eval(TYPESET)
        answer = json.loads(str(self._engine.call("typeset", formula.tex, formula.display)))
        if answer["fault"]:
            raise FormulaError(answer["fault"])
        return EXTRA.sub("", str(answer["html"]))

    def close(self) -> None:
        """End the engine: left open, it can keep the interpreter from ending."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def typeset(self, tex: str, node: nodes.Element, display: bool) -> str:
        """The formula as HTML; one with a fault is shown as its TeX, and warned of."""
        try:
            return self.html(Formula(tex, display))
        except FormulaError as fault:
            logger.warning("formula %r: %s", tex, fault, location=node, type="formula")
            return f'<code class="katex-error">{escape(tex)}</code>'

    def inline(self, page: HTML5Translator, node: nodes.math) -> None:
        """A formula in a sentence."""
        page.body.append(page.starttag(node, "span", "", CLASS=CLASSES))
        tex = LIST.sub(lambda between: BREAK, node.astext())
        finished = self.typeset(tex, node, display=False)
        # KaTeX's pieces, between which a line may end, also where the text around is kept in one
        before, *pieces = finished.replace(BREAK, "").split(PIECE)
        page.body.append(before + f"<wbr>{PIECE}".join(["", *pieces]).removeprefix("<wbr>"))
        page.body.append("</span>")
        raise nodes.SkipNode

    def block(self, page: HTML5Translator, node: nodes.math_block) -> None:
        """A formula on a line of its own: a box that scrolls (by keyboard too), and its number."""
        whole = bool(node.get("nowrap")) or "amsmath" in node["classes"]
        tex = unnumbered(node.astext()) if whole else one_formula(node.astext())
        name = "Equation"
        page.body.append(page.starttag(node, "div", "", CLASS=CLASSES))
        if node.get("number"):
            number = get_node_equation_number(page, node)
            name = f"Equation {number}"
            page.body.append(f'<span class="eqno">({number})')
            page.add_permalink_ref(node, "Link to this equation")
            page.body.append("</span>")
        page.body.append(f'<div class="formula" role="group" tabindex="0" aria-label="{name}">')
        page.body.append(self.typeset(tex, node, display=True))
        page.body.append("</div></div>\n")
        raise nodes.SkipNode


@cache
def typesetter() -> Typesetter:
    """Return the one typesetter of a build: of its pages, and of the rows' words."""
    return Typesetter()


def one_formula(text: str) -> str:
    r"""A displayed formula as one piece of TeX, by Sphinx's rules.

    A blank line begins a further equation below the first, and ``\\`` breaks a line also where no
    environment stands around it.
    """
    parts = [part.strip() for part in text.split("\n\n") if part.strip()]
    parts = [rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part for part in parts]
    if len(parts) == 1:
        return parts[0]
    return r"\begin{aligned}" + r"\\".join(parts) + r"\end{aligned}"


def unnumbered(text: str) -> str:
    r"""An environment of amsmath in its form without numbers: Sphinx counts the equations.

    >>> unnumbered(r"\begin{align}a &= b\end{align}")
    '\\begin{align*}a &= b\\end{align*}'
    """
    return NUMBERING.sub(r"\\\1{\2*}", text.strip())


class KeepTogether(SphinxPostTransform):
    """Holds a formula and the marks that touch it, as in ``($x$),``, on one line.

    Browsers break lines between a formula, which is a box to them, and the comma behind it.
    """

    default_priority = 900  # when nothing else looks at the neighbours of a formula
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for formula in list(self.document.findall(nodes.math)):
            hold(formula, OPENING, CLOSING)


def hold(node: nodes.Node, opening: re.Pattern[str], closing: re.Pattern[str]) -> None:
    """Put a node into one box with the end of the text before it and the start of the text after.

    How such an end and such a start look the two patterns say; without either there is no box.
    """
    around = node.parent
    at = around.index(node)
    before, after = around[at - 1 : at], around[at + 1 : at + 2]
    kept = [node]
    if before and isinstance(before[0], nodes.Text) and (found := opening.search(before[0])):
        around[at - 1] = nodes.Text(before[0][: found.start()])
        kept.insert(0, nodes.Text(found[0]))
    if after and isinstance(after[0], nodes.Text) and (found := closing.match(after[0])):
        around[at + 1] = nodes.Text(after[0][found.end() :])
        kept.append(nodes.Text(found[0]))
    if len(kept) > 1:
        around[at] = nodes.inline("", "", *kept, classes=["kept"])


def add_files(app: Sphinx, config: Config) -> None:
    """Ship KaTeX's style and fonts."""
    config.html_static_path.append(str(KATEX / "static"))
    app.add_css_file("katex/katex.min.css", priority=400)  # before the book's own
    app.add_js_file("katex/copy-tex.min.js", loading_method="defer")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Offer the renderer ``katex``; ``html_math_renderer: katex`` chooses it."""
    shared = typesetter()
    app.add_html_math_renderer("katex", (shared.inline, None), (shared.block, None))
    app.add_post_transform(KeepTogether)
    app.connect("config-inited", add_files)
    app.connect("build-finished", lambda app, exception: shared.close())
    # an engine does not survive a fork, so pages are written by one process
    return {"parallel_read_safe": True, "parallel_write_safe": False, "version": "1"}
