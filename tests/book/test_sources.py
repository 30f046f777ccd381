"""The page of disagreements: its Python gives what it prints, each entry is complete and listed."""

import doctest
import re
from pathlib import Path

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
        assert re.search(r"`make chapter NAME=0\w+`", words), label
        assert "**Found" in words, label
        if number[0] in "ABC":  # a fault is found only after the kinder reading was tried
            assert "**Kinder reading" in words, label
            assert "{claim-verdict}" in words, label
