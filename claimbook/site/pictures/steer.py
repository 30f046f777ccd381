"""``{set}`` in a sentence: words that set an explorer of the same page, or open another page's.

A browser with scripts shows those of the same page as a button (``_static/explorers/start.js``);
without scripts, in print and in notebooks they are words.
"""

import posixpath
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from claimbook.site.nodes import html_tag, tag
from claimbook.site.pictures.explorers import SETTINGS, settings_of

FORM = re.compile(r"(?s)(.+?)\s*<(?:([\w/]+)/)?(\w+):\s*([^<>\s]+)>")
logger = logging.getLogger(__name__)


class SetRole(SphinxRole):
    """``{set}`words <NAME: setting=value&setting=value>```, names as in the explorer's link.

    The other settings become those that the page starts with, so that what the sentence goes on to
    say is true whatever was turned before. A training plays with ``play=1``.

    ``<PAGE/NAME: …>`` is a link to the explorer of another page, such as
    ``chapters/01_attention_window/hill``, from the folder of this one.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The words; a warning where there is no such page, explorer or setting."""
        found = FORM.fullmatch(self.text)
        if not found:
            return [nodes.Text(self.text)], [self.trouble("must be: words <NAME: setting=value>")]
        words, page, name, query = found.groups()
        if name not in SETTINGS:
            return [nodes.Text(words)], [self.trouble(f"explorer must be one of {[*SETTINGS]}")]
        if unknown := set(settings_of(query)) - set(SETTINGS[name]):
            said = f"explorer {name} has the settings {SETTINGS[name]}; got {sorted(unknown)}"
            return [nodes.Text(words)], [self.trouble(said)]
        if not page:
            return [tag("span", words, data_set=f"{name}?{query}")], []
        to = posixpath.join(posixpath.dirname(self.env.docname), page)
        if not self.shows(to, name):
            said = f"there is no page {to} with the explorer {name}"
            return [nodes.Text(words)], [self.trouble(said)]
        address = self.env.app.builder.get_relative_uri(self.env.docname, to)
        return [tag("a", words, href=f"{address}#explorer-{name}?{query}")], []

    def shows(self, page: str, name: str) -> bool:
        """Whether a page of the book has an explorer, by what is written in its file."""
        if page not in self.env.found_docs:
            return False
        path = self.env.doc2path(page)
        self.env.note_dependency(path)
        wanted = rf"^`{{3,}}\{{explorer\}} {name}$"
        return bool(re.search(wanted, Path(path).read_text(encoding="utf8"), re.MULTILINE))

    def trouble(self, text: str) -> nodes.system_message:
        """A warning at this place, which the strict build does not let pass."""
        return self.inliner.reporter.warning(f"set: {text}", line=self.lineno)


def check_places(app: Sphinx, doctree: nodes.document) -> None:
    """Warn of words that set an explorer which their page has not."""
    tags = [node["attributes"] for node in doctree.findall(html_tag)]
    there = {each.get("data-explorer") for each in tags}
    for each in tags:
        name = each.get("data-set", "").partition("?")[0]
        if name and name not in there:
            logger.warning("set: this page has no explorer %s", name, location=doctree)
