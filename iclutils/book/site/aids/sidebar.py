"""The contents at the side of a page, without the copies that Sphinx would throw away again.

The theme asks for the titles of all pages, once for each page that is written. Sphinx copies the
headings of every page for it and then drops all but the titles; here that is done once a build.
"""

from functools import lru_cache
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


@lru_cache(maxsize=1)
def titles(env: BuildEnvironment) -> dict[str, nodes.bullet_list]:
    """The contents of each page as Sphinx leaves them where only titles are asked for."""
    found = {name: contents.deepcopy() for name, contents in env.tocs.items()}
    for contents in found.values():
        for entry in contents.children:
            if len(entry) > 1:
                below = list(entry.findall(addnodes.toctree))
                if below:
                    entry[1][:] = below
                else:
                    entry.pop(1)
    return found


def copy_titles_only(app: Sphinx, pagename: str, context: dict[str, Any], doctree: Any) -> None:
    """Let the theme's sidebar be made from the titles alone."""
    env = app.env
    of_sphinx = context["toctree"]

    def toctree(**options: Any) -> str:
        whole = env.tocs
        if options.get("titles_only"):
            env.tocs = titles(env)
        try:
            return str(of_sphinx(**options))
        finally:
            env.tocs = whole

    context["toctree"] = toctree
