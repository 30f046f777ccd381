"""No cell may ask to be skipped, to fail, or not to be looked at."""

import pytest
from small_book import MINI, SOUND

from iclutils.book.checker import chapters

PLAIN = ":tags: [hide-input]"


@pytest.fixture
def chapter(tmp_path, monkeypatch):
    """Write the sound chapter with one text in the place of another; returns its path."""
    monkeypatch.setattr(chapters.cache, "toc_chapters", lambda root: [SOUND])

    def write(old, new):
        text = (MINI / "chapters" / f"{SOUND}.md").read_text(encoding="utf8")
        assert old in text
        path = tmp_path / f"{SOUND}.md"
        path.write_text(text.replace(old, new), encoding="utf8")
        return path

    return write


@pytest.mark.parametrize(
    "tag",
    [
        "skip-execution",
        "raises-exception",
        "nbval-skip",
        "nbval-raises-exception",
        "nbval-ignore-output",
        "NBVAL-Skip",
    ],
)
def test_a_tag_that_would_hide_a_cell_is_refused(chapter, tag):
    with pytest.raises(ValueError, match=r"code cell 1 of 5: every cell is run and may not fail"):
        chapters.readable_chapter(chapter(PLAIN, f":tags: [hide-input, {tag}]"))


def test_a_misspelt_code_cell_is_named_with_its_line(chapter):
    path = chapter("```{code-cell} ipython3\nseed", "```{code-cel} ipython3\nseed")
    line = path.read_text(encoding="utf8").splitlines().index("```{code-cel} ipython3") + 1
    with pytest.raises(ValueError, match=rf"{SOUND}.md, line {line}: {{code-cel}} must be"):
        chapters.readable_chapter(path)


def test_nbvals_comments_are_refused_too(chapter):
    with pytest.raises(ValueError, match="its nbval comment"):
        chapters.readable_chapter(chapter("count = int(", "# NBVAL_IGNORE_OUTPUT\ncount = int("))


def test_other_tags_are_not(chapter):
    assert chapters.readable_chapter(chapter(PLAIN, ":tags: [remove-input]"))
