r"""A page's nodes as plain words, formulas as one would type them: ``\hat w^*`` is ``w*``."""

import re
from collections import deque
from collections.abc import Callable

from docutils import nodes
from matplotlib.mathtext import get_unicode_index

from claimbook.site.nodes import INLINE

SIGNS = {  # where one types another sign than TeX prints, or Matplotlib does not know the name
    "le": "≤",
    "ge": "≥",
    "cdot": "·",
    "cdots": "…",
    "lVert": "‖",
    "rVert": "‖",
    "lvert": "|",
    "rvert": "|",
    "top": "ᵀ",
    "perp": "⊥",
    "phi": "φ",
    "dot": "dot ",  # Unicode's stands behind its letter
}
NAMES = {"log", "min", "max", "lim", "exp", "sin", "cos", "tan", "tr", "det", "Pr", "sup", "inf"}
SPACES = {",", ";", ":", " ", "quad", "qquad"}
FRACTIONS = {"frac", "tfrac", "dfrac"}
DRESS = {  # what changes the look of a letter, or the size of a bracket, and not which one it is
    *("hat", "bar", "tilde", "widehat", "widetilde", "overline", "underline", "vec", "boldsymbol"),
    *("mathcal", "mathrm", "mathbf", "mathbb", "mathtt", "mathsf", "operatorname", "text", "rm"),
    *("textstyle", "displaystyle", "left", "right", "middle", "big", "Big", "bigg", "Bigg"),
    *("bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr", "Biggl", "Biggr", "!"),
    *("limits", "nonumber", "underbrace", "overbrace"),
}
HIGH = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
UPRIGHT = {"*", "ᵀ", "⊥", "∘", "'"}  # what is read as raised, or lowered, without a sign for it
OPERATORS = set(" +-−±=<>≤≥≈∼∝,")
INDEX = re.compile(r"_(?:[^\W_]+|\([^()]*\))")
FORMULA = re.compile(r"\$([^$]+)\$")
PIECE = re.compile(r"\\[a-zA-Z]+|\\.|\s+|.", re.DOTALL)


def letter(name: str) -> str:
    """The sign that a command of TeX stands for, or its name."""
    if name in SIGNS:
        return SIGNS[name]
    try:
        return chr(get_unicode_index(f"\\{name}"))
    except ValueError:
        return f"{name} " if name.isalpha() else name


def plain_mathematics(tex: str) -> str:
    r"""A formula as one would type it, with brackets where its layout had them.

    >>> plain_mathematics(r"\hat w^*\propto\Lambda^{\frac{2}{d+3}}")
    'w*∝Λ^(2/(d+3))'
    """
    flat = flattened(deque(PIECE.findall(tex)))
    return " ".join(flat.split())


def flattened(pieces: deque[str]) -> str:
    """The pieces up to the end of their group, as one would type them; they are used up."""
    words: list[str] = []
    while pieces:
        piece = pieces.popleft()
        if piece == "}":
            break
        words.append(typed(piece, pieces))
    return "".join(words)


def typed(piece: str, pieces: deque[str]) -> str:
    """One piece, with those that it takes as its arguments."""
    if piece == "{":
        return flattened(pieces)
    if piece == "^":
        return raised(argument(pieces))
    if piece == "_":
        return lowered(argument(pieces))
    if piece in ("&", "~") or piece.isspace():
        return " "
    if not piece.startswith("\\"):
        return piece
    name = piece[1:]
    while name.isalpha() and pieces and pieces[0].isspace():
        pieces.popleft()
    if name in SPACES:
        return " "
    if name == "\\":  # the end of a line, and how far it is to the next
        space = re.match(r"\[[^]]*\]", "".join(pieces))
        for _ in range(space.end() if space else 0):
            pieces.popleft()
        return " "
    if name in FRACTIONS:
        above = argument(pieces)
        return f"{bracketed(above)}/{bracketed(argument(pieces), factors=True)}"
    if name == "sqrt":
        return f"√{bracketed(argument(pieces), factors=True)}"
    if name in ("begin", "end"):
        argument(pieces)
        return " "
    if name in NAMES:
        return f" {name} "
    return "" if name in DRESS else letter(name)


def argument(pieces: deque[str]) -> str:
    """What a command, or a raised or lowered place, takes: a group or the next piece."""
    while pieces and pieces[0].isspace():
        pieces.popleft()
    found = typed(pieces.popleft(), pieces) if pieces else ""
    return (found or argument(pieces)).strip() if pieces else found.strip()


def raised(exponent: str) -> str:
    """An exponent: digits as Unicode has them, brackets around more than one sign."""
    if exponent.isdigit():
        return exponent.translate(HIGH)
    if exponent in UPRIGHT:
        return exponent
    return f"^{exponent}" if len(exponent) == 1 else f"^{bracketed(exponent, factors=True)}"


def lowered(index: str) -> str:
    """An index: digits as Unicode has them, brackets around what holds an operator."""
    if index in UPRIGHT:
        return index
    return index.translate(LOW) if index.isdigit() else f"_{bracketed(index)}"


def bracketed(text: str, factors: bool = False) -> str:
    """Text in brackets where it holds an operator; with ``factors``, where it has several."""
    letters = re.findall(r"\w", INDEX.sub("", text))
    several = len(letters) > 1 and not text.isdigit()
    if set(text) & OPERATORS or "/" in text or (factors and several):
        return f"({text})"
    return text


def plain_markdown(text: str) -> str:
    """A line of Markdown with its formulas as one would type them."""
    return FORMULA.sub(lambda found: plain_mathematics(found[1]), text)


def plain_text(node: nodes.Node, leave: Callable[[nodes.Node], bool] = lambda node: False) -> str:
    """The words of a node on one line; nodes for which ``leave`` is true are left out."""
    return " ".join("".join(words_of(node, leave)).split())


def words_of(node: nodes.Node, leave: Callable[[nodes.Node], bool]) -> list[str]:
    """The words of a node and of what is in it, with a space after each block."""
    if leave(node) or isinstance(node, nodes.image):
        return []
    if isinstance(node, (nodes.math, nodes.math_block)):
        return [plain_mathematics(node.astext()), " " * isinstance(node, nodes.math_block)]
    if isinstance(node, nodes.Text):
        return [node.astext()]
    found = [word for child in node.children for word in words_of(child, leave)]
    inline = isinstance(node, nodes.Inline) or getattr(node, "attributes", {}).get("tag") in INLINE
    return found if inline else [*found, " "]
