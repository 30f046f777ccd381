"""The sidebar is made from the titles of the pages, which is all that it shows of them."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from sphinx import addnodes

from iclutils.book.site.aids import sidebar


def entry(title, *below):
    """A heading as Sphinx keeps it: a link, and a list of what is below it."""
    link = addnodes.compact_paragraph("", "", nodes.reference("", title, refuri="page"))
    return nodes.list_item("", link, *([nodes.bullet_list("", *below)] if below else []))


class Environment:
    """What Sphinx keeps of the pages."""

    def __init__(self, tocs):
        self.tocs = tocs


def environment():
    pages_below = addnodes.toctree(entries=[(None, "second")])
    contents = entry("Page", entry("Section", entry("Part")), entry("Last", pages_below))
    alone = entry("Other", entry("Section"))
    return Environment(
        {
            "page": nodes.bullet_list("", contents),
            "other": nodes.bullet_list("", alone),
            "empty": nodes.bullet_list("", entry("Empty")),
        }
    )


def test_titles_and_the_pages_below_them_are_kept():
    env = environment()
    before = {name: contents.pformat() for name, contents in env.tocs.items()}
    found = sidebar.titles(env)
    assert {name: contents.astext().strip() for name, contents in found.items()} == {
        "page": "Page",
        "other": "Other",
        "empty": "Empty",
    }
    [below] = found["page"].findall(addnodes.toctree)
    assert below["entries"] == [(None, "second")]
    assert {name: contents.pformat() for name, contents in env.tocs.items()} == before


@pytest.mark.parametrize("titles_only", [True, False])
def test_sphinx_has_its_own_contents_back(titles_only):
    env = environment()
    whole = env.tocs
    seen = []

    def toctree(**options):
        seen.append(env.tocs)
        raise LookupError("page")

    context = {"toctree": toctree}
    sidebar.copy_titles_only(SimpleNamespace(env=env), "page", context, None)
    with pytest.raises(LookupError):
        context["toctree"](titles_only=titles_only)
    assert (seen[0] is whole) != titles_only
    assert env.tocs is whole
