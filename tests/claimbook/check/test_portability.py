"""A run as another machine computes it: what it is told, what it names, what it leaves alone."""

import os

import pytest
from small_book import SOUND, Book

from claimbook.check import portability
from claimbook.check.portability import Variant
from claimbook.pages import chapter_path, read_chapter, toc_chapters
from claimbook.runs import memo
from claimbook.runs.processor import ARITHMETIC, THREADS, VARIANT

# 60 steps of the logistic map: each doubles a change, 10⁻¹³ at the start is all of it at the end
CHAOS = """\
import torch
x = torch.rand((), dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
for _ in range(60):
    x = 4 * x * (1 - x)
[round(float(x), 3)]"""


def chaos(seed=0):
    scope = {"seed": seed}
    exec(CHAOS.rpartition("\n")[0], scope)
    return [round(float(scope["x"]), 3)]


@pytest.fixture(scope="module")
def perturbed(tmp_path_factory):
    """A sound chapter and one that shows a chaotic number, both under one ξ."""
    book = Book(tmp_path_factory.mktemp("perturbed")).chapter(SOUND)
    shown = [("[len(draws) % 393]", CHAOS)]
    book.chapter("06_chaos", text=shown, expected=[("['[7]']", f"['{chaos()}']")])
    found, code, output = book.run("--variants=perturbed:2")
    return book, {name.partition("@")[0]: tests for name, tests in found.items()}, code, output


def test_a_perturbed_run_names_what_is_chaotic(perturbed):
    _, found, code, output = perturbed
    assert code == 1, output
    red = {f"{page}, {test}" for page, tests in found.items() for test in tests if tests[test]}
    assert red == {"06_chaos.md, compared"}
    assert "output 1, line 1" in found["06_chaos.md"]["compared"]
    said = output[output.index("what moved, in units of how far it may") :].splitlines()
    page = next(i for i, line in enumerate(said) if line.startswith("06_chaos, perturbed:2: "))
    assert said[page].startswith("06_chaos, perturbed:2: 1 of ")
    assert said[page + 1].endswith("  page, output 1, line 1")
    assert any(line.startswith("00_mini, perturbed:2: 0 of ") for line in said)


def test_nothing_of_a_perturbed_run_is_kept_as_a_run(perturbed):
    book, *_ = perturbed
    assert not (book.root / "_build" / "runs").exists()
    assert {path.name for path in (book.root / "_build" / "portability").iterdir()} == {
        "00_mini@perturbed:2.yml",
        "06_chaos@perturbed:2.yml",
    }
    assert len(book.stale()) == 2


@pytest.mark.parametrize("before", [None, "avx512", "1"])
def test_kernels_are_told_whatever_the_shell_had_said_and_the_shell_is_left_alone(
    monkeypatch, before
):
    names = (ARITHMETIC, *THREADS)
    shell = {} if before is None else dict.fromkeys(names, before)
    monkeypatch.setattr(os, "environ", {**shell})  # not the one that later tests hand on
    with portability.told(Variant("default")):
        assert os.environ[ARITHMETIC] == "default"
        assert memo.folder().name == os.environ[VARIANT] == "default"
    with portability.told(Variant("threads")):
        assert {os.environ[name] for name in THREADS} == {"2"}
    assert os.environ == shell


def test_all_variants_are_those_of_this_machine(monkeypatch):
    monkeypatch.setattr(portability, "instructions", lambda: {"avx2", "sse4_2"})
    names = [str(one) for one in portability.variants("all")]
    assert names == ["default", "avx2", "blas", "threads", "perturbed:1"]
    monkeypatch.setattr(portability, "instructions", set)
    names = [str(one) for one in portability.variants("all")]
    assert names == ["default", "threads", "perturbed:1"]


@pytest.mark.parametrize("word", ["sse", "avx2:2", "perturbed:x", "perturbed:-1"])
def test_another_word_is_refused(word):
    with pytest.raises(ValueError, match=f"a variant must be one of .*; got '{word}'"):
        portability.variants(f"avx2 {word}")


@pytest.mark.parametrize("settings", ["", "[tool.claimbook]\npackages = []\n"])
def test_a_book_without_the_function_is_told_what_to_name(tmp_path, settings):
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf8")
    with pytest.raises(ValueError, match="must name 'perturb'"):
        portability.perturbing(tmp_path)


@pytest.mark.parametrize("chapter", toc_chapters())
def test_every_chapter_can_be_given_two_threads(chapter):
    notebook = read_chapter(chapter_path(chapter))
    portability.give_threads(notebook)
    with pytest.raises(ValueError, match="must have one line"):
        portability.give_threads(notebook)
