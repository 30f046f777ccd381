"""The pages of disagreements: their Python prints what it says, entries are whole and listed."""

import doctest
import re

import pytest

from claimbook.files import ROOT
from claimbook.ledger import load
from claimbook.pages import chapter_path, first_page

PAGE_OF = {row.id: chapter for chapter, block in load().chapters.items() for row in block.claims}
NAMES = ("sources", "sources_readings", "sources_small")
PAGES = [ROOT / "book" / f"{name}.md" for name in NAMES]
NETWORKS = chapter_path("05b_trained_transformers_specialist")  # has two entries
ENTRY = re.compile(r"^\((src-\w+)\)=\n### (\w+)\. [^\n]*\n(.*?)(?=^\(src-|^## |\Z)", re.M | re.S)
LISTED = re.compile(r"^\| \{ref\}`(\w\d+) <([\w-]+)>` \|", re.M)


def entries(page):
    """Return the entries of a page: label, number, words."""
    return ENTRY.findall(page.read_text(encoding="utf8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_prints_what_it_says(page):
    found = doctest.testfile(str(page), module_relative=False, encoding="utf8")
    assert found.attempted > 4
    assert found.failed == 0


def test_every_entry_is_listed_once_on_the_first_page():
    listed = LISTED.findall(PAGES[0].read_text(encoding="utf8"))
    found = [(number, label) for page in (*PAGES, NETWORKS) for label, number, _ in entries(page)]
    assert sorted(listed) == sorted(found)


@pytest.mark.parametrize("page", [*PAGES, NETWORKS], ids=lambda page: page.stem)
def test_every_entry_says_how_to_check_it(page):
    for label, number, words in entries(page):
        assert label == f"src-{number.lower()}"
        if number[0] == "D":  # readings that our copy leaves open
            continue
        (named,) = re.findall(r"\*\*Check\*\*: [^`]*`make chapter NAME='?(0[\w ]+)'?`", words)
        pages = {PAGE_OF[claim] for claim in re.findall(r"\{claim-\w+\}`([\w-]+)", words)}
        chapter = first_page(named.split()[0])
        assert {page for page in pages if first_page(page) == chapter} <= set(named.split()), label
        # a fault is found only after the kinder reading was tried
        assert number[0] not in "ABC" or "**Kinder reading" in words, label
