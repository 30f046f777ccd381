"""The book on paper: headless Chromium prints every page of ``_toc.yml``, each chapter by itself and all as one book.

    python book/_ext/bookpdf.py      print the site in _build/html into _build/pdf

The pages are opened as a reader opens them (scripts run, maths typeset); ``print.js`` then unfolds what is folded,
shrinks what is wider than the paper and mends the links, and ``print.css`` is the style. A print is offered on the
site only while the site is the one that was printed (``current``).
"""

import functools
import html
import http.server
import json
import logging
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BOOK = "in-context-learning-reproduced"  # the name of the whole book's file
HERE = Path(__file__).parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
MARGIN = {"top": "16mm", "bottom": "18mm", "left": "18mm", "right": "18mm"}
WIDTH = 658  # CSS pixels between the margins of A4
NUMBER = """numbers => document.querySelectorAll('.contents a')
                         .forEach(e => e.lastChild.textContent = numbers[e.hash.slice(1)] ?? '000')"""
FOOTER = ('<div style="font-size: 7.5px; font-family: sans-serif; color: #444; width: 100%; margin: 0 18mm; display: flex; '
          'justify-content: space-between"><span>{title}</span><span class="pageNumber"></span></div>')


def folder(root: Path = ROOT) -> Path:
    return root / "_build" / "pdf"


def current(site_key: str, root: Path = ROOT) -> bool:
    """Whether ``_build/pdf`` holds a whole print of the site with this key."""
    note = folder(root) / "site_key"
    return note.exists() and note.read_text(encoding="utf8") == site_key


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The site at an address of this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


def pages(root: Path = ROOT) -> list[str]:
    """The pages of the book in its order, ``book/intro`` first."""
    import yaml

    found: list[str] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            found.extend(node[name] for name in ("root", "file") if name in node)
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            walk(child)

    walk(yaml.safe_load((root / "_toc.yml").read_text(encoding="utf8")))
    return found


def paper(title: str, **more: Any) -> dict[str, Any]:
    """How Chromium prints."""
    return {"format": "A4", "margin": MARGIN, "print_background": True, "display_header_footer": True,
            "header_template": "<span></span>", "footer_template": FOOTER.format(title=html.escape(title)), **more}


def contents(fragments: list[dict[str, Any]]) -> str:
    """The title page with the table of contents, its page numbers still open."""
    first = fragments[0]
    lines = [f'<li class="level{level}"><a href="#{anchor}"><span>{html.escape(text)}</span>'
             f'<span class="leader"></span><span class="number"></span></a></li>'
             for fragment in fragments for level, anchor, text in fragment["headings"] if level <= 2]
    return (f'<section class="title-page"><p class="book-title">{html.escape(first["title"])}</p>'
            f'<p class="book-stamp">{html.escape(first["stamp"])}</p><p class="book-stamp">What the site folds away is unfolded '
            'here, with two exceptions. Code that only imports, plots or judges is left out: each chapter\'s notebook has it. '
            'How a row is judged stands in the ledger alone.</p>'
            f'<p class="contents-title">Contents</p><ul class="contents">{"".join(lines)}</ul></section>')


def whole(fragments: list[dict[str, Any]]) -> str:
    """One HTML page that holds the whole book."""
    sheets = "".join(dict.fromkeys(sheet for fragment in fragments for sheet in fragment["sheets"]))
    styles = "".join(f"<style>{style}</style>" for fragment in fragments for style in fragment["styles"])
    body = "".join(f'<article class="bd-article" data-page="{fragment["name"]}">{fragment["html"]}</article>'
                   for fragment in fragments)
    return (f'<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">'
            f'<title>{html.escape(fragments[0]["title"])}</title>{sheets}{styles}</head>'
            f'<body class="on-paper whole-book">{contents(fragments)}{body}</body></html>')


def finish(pdf: Path, headings: list[tuple[int, str, str]], title: str) -> dict[str, int]:
    """Give ``pdf`` its bookmarks, with the headings' own words (Chromium garbles them); returns each heading's page.

    A heading is found by the name under which the contents link to it.
    """
    from pypdf import PdfWriter
    from pypdf.generic import Fit

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns of a number in Chromium's trailer
    writer = PdfWriter(clone_from=pdf)
    named = {str(name).removeprefix("/"): place for name, place in writer.named_destinations.items()}
    missing = [text for _, anchor, text in headings if anchor not in named]
    if missing:
        raise RuntimeError(f"{pdf.name} has no page for {missing}")
    numbers, parents = {}, {0: None}
    for level, anchor, text in headings:
        place = named[anchor]
        number = writer.get_destination_page_number(place) or 0
        above = parents[max(depth for depth in parents if depth < level)]
        parents = {depth: mark for depth, mark in parents.items() if depth < level}
        fit = Fit.xyz(left=0, top=float(place["/Top"]))
        parents[level] = writer.add_outline_item(title=text, page_number=number, parent=above, fit=fit, is_open=False)  # type: ignore[assignment]
        numbers[anchor] = number + 1
    writer.page_mode = "/UseOutlines"
    writer.add_metadata({"/Title": title, "/Creator": "make pdf"})
    writer.write(pdf)
    return numbers


def print_all(root: Path = ROOT) -> dict[str, Any]:
    """Print everything; returns what was printed and what is wider than the paper, page by page."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("make pdf prints with Chromium, which is not here: install the package chromium.")
    site, out = root / "_build" / "html", folder(root)
    try:
        key = json.loads((root / "_build" / "site.json").read_text(encoding="utf8"))["key"]
    except (OSError, ValueError):
        raise SystemExit("There is no whole site in _build/html to print: run make book.") from None
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    names, fragments, cut = pages(root), [], {}
    with served(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        context = browser.new_context(viewport={"width": WIDTH, "height": 1000}, color_scheme="light", reduced_motion="reduce")
        context.set_default_timeout(300_000)  # a busy machine is no failure
        page = context.new_page()
        page.emulate_media(media="print")
        script = (HERE / "print.js").read_text(encoding="utf8")
        for name in names:
            page.goto(f"{address}{name}.html")
            page.evaluate("window.MathJax?.startup?.promise")
            fragment = page.evaluate(script, {"names": names, "name": name, "address": address, "width": WIDTH})
            fragments.append(fragment | {"name": name})
            cut[name] = fragment["cut"]
            if name.startswith("book/chapters/"):
                target, title = out / f"{Path(name).name}.pdf", f"{fragments[0]['title']} · {fragment['title']}"
                page.pdf(path=target, **paper(title))
                finish(target, fragment["headings"], title)
        book, title = out / f"{BOOK}.pdf", fragments[0]["title"]
        headings = [heading for fragment in fragments for heading in fragment["headings"]]
        page.route(f"{address}whole.html", lambda route: route.fulfill(body=whole(fragments), content_type="text/html"))
        numbers: dict[str, int] = {}
        for _ in range(3):  # once to learn the pages, once with their numbers in the contents, once more if these moved any
            page.goto(f"{address}whole.html")  # anew: a second print of an opened page may break it elsewhere
            page.evaluate(NUMBER, numbers)
            page.evaluate("document.fonts.ready")
            page.pdf(path=book, **paper(title))
            before, numbers = numbers, finish(book, headings, title)
            if numbers == before:
                break
        else:
            raise RuntimeError("the page numbers in the contents move the pages")
        browser.close()
    report = {"pages": names, "cut": cut, "headings": headings, "numbers": numbers}
    (out / "report.json").write_text(json.dumps(report, indent=1), encoding="utf8")
    (out / "site_key").write_text(key, encoding="utf8")  # last: a print that was interrupted is not offered
    return report


if __name__ == "__main__":
    report = print_all()
    wide = {name: found for name, found in report["cut"].items() if found}
    if wide:
        sys.exit("Wider than the paper: " + re.sub(r"[{}]", "", json.dumps(wide, ensure_ascii=False)))
    print(f"The book is on paper: {folder().relative_to(ROOT)}/{BOOK}.pdf, and its chapters beside it")
