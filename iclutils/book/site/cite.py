"""How to cite the book: ``{cite-the-book}`` shows ``CITATION.cff`` as a sentence and as BibTeX, each with a copy button."""

import yaml
from bookresults import ROOT
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

FILE = ROOT / "CITATION.cff"


def authors(entry):
    names = [person.get("name") or f"{person['given-names']} {person['family-names']}" for person in entry["authors"]]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"


def bibtex(entry):
    people = " and ".join("{" + person["name"] + "}" if "name" in person else f"{person['family-names']}, {person['given-names']}"
                          for person in entry["authors"])
    fields = {"author": people, "title": "{" + entry["title"] + "}", "version": entry["version"]}
    fields |= {"year": str(entry["date-released"])[:4]} if "date-released" in entry else {}
    fields |= {"url": entry["url"]} if "url" in entry else {}
    fields |= {"doi": entry["doi"]} if "doi" in entry else {}
    return "@software{icl_reproduced,\n" + ",\n".join(f"  {key} = {{{value}}}" for key, value in fields.items()) + "\n}"


def sentence(entry):
    parts = [f"{authors(entry)}: {entry['title']}", f"version {entry['version']}"]
    parts += [str(entry[key]) for key in ("date-released", "url", "doi") if key in entry]
    return ", ".join(parts) + "."


class CiteTheBook(SphinxDirective):
    def run(self):
        self.env.note_dependency(str(FILE))
        entry = yaml.safe_load(FILE.read_text(encoding="utf8"))
        shown = ((sentence(entry), "text"), (bibtex(entry), "bibtex"))
        return [nodes.literal_block(text, text, language=language) for text, language in shown]
