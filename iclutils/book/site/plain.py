r"""A page's nodes as plain words, formulas as one would type them: ``\hat w^*`` is ``w*``."""

import re
import unicodedata
from collections.abc import Callable

from docutils import nodes

from iclutils.book.site.nodes import INLINE

SIGNS = {
    "infty": "∞",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "to": "→",
    "approx": "≈",
    "times": "×",
    "cdot": "·",
    "pm": "±",
    "propto": "∝",
    "in": "∈",
    "sum": "∑",
    "sim": "∼",
    "ne": "≠",
    "ell": "ℓ",
    "lambda": "λ",  # Unicode's name of it lacks the b
    "Lambda": "Λ",
    "dots": "…",
    "langle": "⟨",
    "rangle": "⟩",
    "lVert": "‖",
    "rVert": "‖",
    "|": "‖",
    "top": "ᵀ",
    "perp": "⊥",
    "varepsilon": "ε",
    "log": "log ",
    "min": "min ",
    "max": "max ",
    "lim": "lim ",
    "exp": "exp ",
    "sqrt": "√",
    "simeq": "≃",
    "frac": "",
    "tfrac": "",
    "dfrac": "",
}
DRESS = re.compile(  # what changes the look of a letter and not which one it is
    r"\\(?:hat|bar|tilde|mathcal|mathrm|mathbf|mathbb|mathtt|operatorname|text|rm|displaystyle"
    r"|left|right|[bB]igg?[lr]?|begin\{\w+\*?\}|end\{\w+\*?\}|[,;:!]|quad|qquad)(?![a-zA-Z])"
)
FRACTION = re.compile(r"\\[td]?frac\s*(\{[^{}]*\}|\w)\s*(\{[^{}]*\}|\w)")
RAISED = re.compile(r"\^\{?(\d)\b\}?")
HIGH = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
FORMULA = re.compile(r"\$([^$]+)\$")
COMMAND = re.compile(r"\\([a-zA-Z]+|.)")


def letter(command: re.Match[str]) -> str:
    """The sign that a command of TeX stands for, or its name."""
    name = command[1]
    if name in SIGNS:
        return SIGNS[name]
    size = "CAPITAL" if name[:1].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name.upper()}")
    except KeyError:
        return f"{name} " if name.isalpha() else name


def plain_mathematics(tex: str) -> str:
    r"""A formula as one would type it.

    >>> plain_mathematics(r"\hat w^*\propto\Lambda^{\frac{2}{d+3}}")
    'w*∝Λ2/d+3'
    """
    text = FRACTION.sub(r"\1/\2", DRESS.sub("", tex))
    text = COMMAND.sub(letter, text)
    text = RAISED.sub(lambda found: found[1].translate(HIGH), text)
    return " ".join(re.sub(r"[{}^_&]", "", text).split())


def plain_markdown(text: str) -> str:
    """A line of Markdown with its formulas as one would type them."""
    return FORMULA.sub(lambda found: plain_mathematics(found[1]), text)


def nothing_left_out(node: nodes.Node) -> bool:
    """Leave nothing out."""
    return False


def plain_text(
    node: nodes.Node | None, leave: Callable[[nodes.Node], bool] = nothing_left_out
) -> str:
    """The words of a node on one line; nodes for which ``leave`` is true are left out."""
    if node is None or leave(node):
        return ""
    return " ".join("".join(words_of(node, leave)).split())


def words_of(node: nodes.Node, leave: Callable[[nodes.Node], bool]) -> list[str]:
    """The words of a node and of what is in it, with a space after each block."""
    if leave(node):
        return []
    if isinstance(node, (nodes.math, nodes.math_block)):
        return [plain_mathematics(node.astext()), " " * isinstance(node, nodes.math_block)]
    if isinstance(node, nodes.Text):
        return [node.astext()]
    if isinstance(node, nodes.image):
        return []
    found = [word for child in node.children for word in words_of(child, leave)]
    inline = isinstance(node, nodes.Inline) or getattr(node, "attributes", {}).get("tag") in INLINE
    return found if inline else [*found, " "]
