"""The page of disagreements: its Python gives what it prints, each entry is complete and listed."""

import doctest
import re
from pathlib import Path

from iclutils.book.ledger import load
from iclutils.book.runs import cache

PAGE_OF = {
    row["id"]: chapter
    for chapter, block in load()["chapters"].items()
    for row in block["claims"]
}
PAGE = Path(__file__).resolve().parents[2] / "book" / "sources.md"


def test_every_block_prints_what_it_says():
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf8")
    assert found.attempted > 10
    assert found.failed == 0


def test_every_entry_is_listed_and_says_how_to_check_it():
    text = PAGE.read_text(encoding="utf8")
    entries = re.findall(
        r"^\((src-\w+)\)=\n### (\w+)\. [^\n]*\n(.*?)(?=^\(src-|^## |\Z)", text, re.M | re.S
    )
    listed = re.findall(r"^\| \[(\w\d+)\]\(#(src-\w+)\) \|", text, re.M)
    assert [(number, label) for label, number, _ in entries] == listed
    assert {number[0] for _, number, _ in entries} == set("ABCDEF")
    for label, number, words in entries:
        if number[0] == "D":  # readings that our copy leaves open
            continue
        assert "**Printed**" in words, label
        assert "**Check**: " in words, label
        (named,) = re.findall(r"`make chapter NAME='?(0[\w ]+)'?`", words)
        claims = set(re.findall(r"\{claim-\w+\}`([\w-]+)", words))
        pages = {PAGE_OF[claim] for claim in claims}
        chapter = cache.first_page(named.split()[0])
        own = {page for page in pages if cache.first_page(page) == chapter}
        assert own <= set(named.split()), label
        assert "**Found" in words, label
        if number[0] in "ABC":  # a fault is found only after the kinder reading was tried
            assert "**Kinder reading" in words, label
            assert "{claim-verdict}" in words, label
