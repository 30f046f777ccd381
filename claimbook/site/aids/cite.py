"""How to cite the book: ``{cite-the-book}`` shows ``CITATION.cff`` as a sentence and as BibTeX.

Where the file names no address, that of the site is cited, or of the repository, if there is one.
"""

from collections.abc import Mapping
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from claimbook.files import ROOT, read_yaml
from claimbook.site.nodes import tag

FILE = ROOT / "CITATION.cff"


def citation(app: Sphinx) -> dict[str, Any]:
    """What ``CITATION.cff`` says, with the address at which the book is to be found."""
    entry: dict[str, Any] = read_yaml(FILE)
    found = app.config.html_baseurl or app.config.html_theme_options.get("repository_url")
    return {**({"url": found} if found else {}), **entry}


def authors(entry: Mapping[str, Any]) -> str:
    """The authors as a sentence lists them."""
    names = [
        person.get("name") or f"{person['given-names']} {person['family-names']}"
        for person in entry["authors"]
    ]
    if len(names) == 1:
        return str(names[0])
    return ", ".join(names[:-1]) + f" and {names[-1]}"


def bibtex_author(person: Mapping[str, str]) -> str:
    """One author as BibTeX wants it; the name of a group is kept together by braces."""
    if "name" in person:
        return "{" + person["name"] + "}"
    return f"{person['family-names']}, {person['given-names']}"


def bibtex(entry: Mapping[str, Any]) -> str:
    """The entry for BibTeX."""
    fields = {
        "author": " and ".join(bibtex_author(person) for person in entry["authors"]),
        "title": "{" + entry["title"] + "}",
        "version": entry["version"],
    }
    if "date-released" in entry:
        fields["year"] = str(entry["date-released"])[:4]
    for key in ("url", "doi"):
        if entry.get(key):
            fields[key] = entry[key]
    lines = ",\n".join(f"  {key} = {{{value}}}" for key, value in fields.items())
    return f"@software{{icl_reproduced,\n{lines}\n}}"


def sentence(entry: Mapping[str, Any]) -> str:
    """The sentence for a list of references."""
    parts = [f"{authors(entry)}: {entry['title']}", f"version {entry['version']}"]
    parts += [str(entry[key]) for key in ("date-released", "url", "doi") if entry.get(key)]
    return ", ".join(parts) + "."


class CiteTheBook(SphinxDirective):
    """The citation in both forms, each with a copy button; ``{cite-the-book} row`` cites a row."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Two blocks of literal text; of a row the words to which scorecard.js adds its name."""
        self.env.note_dependency(str(FILE))
        entry = citation(self.env.app)
        if self.arguments:
            words = tag("span", sentence({**entry, "url": "", "doi": ""}).rstrip("., "))
            row = tag("code", "its-name")
            return [tag("p", "To cite a row: ", words, ", row ", row, ".", classes=["cite-row"])]
        shown = {"text": sentence(entry), "bibtex": bibtex(entry)}
        return [
            nodes.literal_block(text, text, language=language) for language, text in shown.items()
        ]
