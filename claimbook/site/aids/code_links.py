"""Names in the chapters' visible code lead to the reference pages.

A chapter imports what it uses, so its import lines say what a name is. A page is mended as it is
written: in its highlighted code, the tokens of an imported name (``isotropic.sampled``, or
``Setting`` imported by itself) become a link where the reference has that object.
sphinx-codeautolink does the same and more by parsing every finished page again, which doubles the
time of a build.
"""

import ast
import re
from collections.abc import Mapping
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

PACKAGE = ("iclutils", "claimbook")
_BLOCK = re.compile(
    r'(<div class="highlight-(?:i?python3?)[^>]*>\s*<div class="highlight"><pre>)(.*?)(</pre>)',
    re.DOTALL,
)
_TOKEN = r'<span class="n[a-z]?">(?:\w+)</span>'
_DOT = r'<span class="o">\.</span>'
_NAME = re.compile(rf"(?<!{_DOT}){_TOKEN}(?:{_DOT}{_TOKEN})*")
_TAG = re.compile(r"<[^>]+>")


def imported(sources: list[str]) -> dict[str, str]:
    """What the page's import lines bind: each name with the dotted path of the package's object.

    A name that the page binds again in another way is left out, since it may be something else.
    """
    names: dict[str, str] = {}
    bound: set[str] = set()
    for source in sources:
        try:
            tree = ast.parse(source)
        except SyntaxError:  # a shell line or a magic command
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
                for alias in node.names:
                    names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.add(node.id)
            elif isinstance(node, ast.FunctionDef | ast.arg):
                bound.add(node.name if isinstance(node, ast.FunctionDef) else node.arg)
    return {name: path for name, path in names.items() if name not in bound}


def linked(
    highlighted: str, names: Mapping[str, str], objects: Mapping[str, Any], address: Any
) -> str:
    """Highlighted code with its imported names as links; ``address(path)`` is where one leads.

    It is the documented object that a dotted name begins with, as many of its parts as name one.
    """

    def link(match: re.Match[str]) -> str:
        first, *rest = _TAG.sub("", match[0]).split(".")
        tokens = re.findall(rf"(?:{_DOT})?{_TOKEN}", match[0])
        for parts in range(len(tokens), 0, -1):
            path = ".".join([names.get(first, ""), *rest[: parts - 1]])
            if path in objects:
                inside, after = "".join(tokens[:parts]), "".join(tokens[parts:])
                where = f'href="{address(path)}" title="{path}"'
                return f'<a class="code-link" {where}>{inside}</a>{after}'
        return match[0]

    return _NAME.sub(link, highlighted)


def link_code(app: Sphinx, pagename: str, context: dict[str, Any], doctree: Any) -> None:
    """Mend the body of a page that is about to be written."""
    if doctree is None or "body" not in context:
        return
    blocks = doctree.findall(nodes.literal_block)
    names = imported([block.astext() for block in blocks])
    objects = app.env.domaindata["py"]["objects"]
    if not names:
        return

    def address(path: str) -> str:
        entry = objects[path]
        return f"{app.builder.get_relative_uri(pagename, entry.docname)}#{entry.node_id}"

    def mend(match: re.Match[str]) -> str:
        return match[1] + linked(match[2], names, objects, address) + match[3]

    context["body"] = _BLOCK.sub(mend, context["body"])
