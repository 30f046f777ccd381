"""The whole book as one HTML page: a title page with the contents, then every page's article."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

CONTENTS_DEPTH = 2  # levels of headings in the contents
UNFOLDED = (
    "What the site folds away is unfolded here, with two exceptions. Code that only imports, plots "
    "or judges is left out: each chapter's notebook has it. How a row is judged stands in the "
    "ledger alone."
)


class Heading(NamedTuple):
    """A heading; its anchor is unique in the whole book."""

    level: int
    anchor: str
    text: str


@dataclass(frozen=True)
class Fragment:
    """One page of the site as ``print.js`` made it ready for paper."""

    name: str  # as _toc.yml names it
    html: str
    title: str
    stamp: str
    headings: Sequence[Heading]
    sheets: Sequence[str]  # links to style sheets
    styles: Sequence[str]  # the rules of the page's own
    cut: Sequence[str]  # what is wider than the paper, in words


def fragment(name: str, found: Mapping[str, Any]) -> Fragment:
    """What ``print.js`` answered, as a :class:`Fragment`."""
    headings = [Heading(*heading) for heading in found["headings"]]
    return Fragment(name=name, **{**found, "headings": headings})


def contents(fragments: Sequence[Fragment]) -> str:
    """The title page with the contents, their page numbers still open."""
    first = fragments[0]
    lines = [
        f'<li class="level{heading.level}"><a href="#{heading.anchor}">'
        f'<span>{escape(heading.text)}</span><span class="leader"></span>'
        '<span class="number"></span></a></li>'
        for page in fragments
        for heading in page.headings
        if heading.level <= CONTENTS_DEPTH
    ]
    return (
        '<section class="title-page">'
        f'<p class="book-title">{escape(first.title)}</p>'
        f'<p class="book-stamp">{escape(first.stamp)}</p>'
        f'<p class="book-stamp">{UNFOLDED}</p>'
        f'<p class="contents-title">Contents</p><ul class="contents">{"".join(lines)}</ul>'
        "</section>"
    )


def whole(fragments: Sequence[Fragment]) -> str:
    """One HTML page that holds the whole book."""
    sheets = dict.fromkeys(sheet for page in fragments for sheet in page.sheets)
    styles = [f"<style>{style}</style>" for page in fragments for style in page.styles]
    head = "".join([*sheets, *styles])
    articles = [
        f'<article class="bd-article" data-page="{page.name}">{page.html}</article>'
        for page in fragments
    ]
    return (
        '<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head>'
        f'<meta charset="utf-8"><title>{escape(fragments[0].title)}</title>{head}</head>'
        f'<body class="on-paper whole-book">{contents(fragments)}{"".join(articles)}</body></html>'
    )
