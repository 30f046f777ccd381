"""The page of disagreements: its blocks of Python give what they print, and every entry is complete and listed."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "book" / "sources.md"


def test_every_block_prints_what_it_says():
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf8")
    assert found.attempted > 10
    assert found.failed == 0


def test_every_entry_is_listed_and_says_how_to_check_it():
    text = PAGE.read_text(encoding="utf8")
    entries = re.findall(r"^\((src-\w+)\)=\n### (\w+)\. [^\n]*\n(.*?)(?=^\(src-|^## |\Z)", text, re.M | re.S)
    listed = re.findall(r"^\| \[(\w+)\]\(#(src-\w+)\) \|", text, re.M)
    assert [(number, label) for label, number, _ in entries] == listed
    for label, number, words in entries:
        assert "{claim-verdict}" in words or number == "D3", label
        if number[0] in "ABC":
            assert "**Printed**" in words, label
            assert "**Check**: " in words, label
            assert re.search(r"`make chapter NAME=0\w+`", words), label
