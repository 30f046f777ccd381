"""A cell that nobody would run is named."""

import pytest
from small_book import MINI, SOUND

from claimbook.checker import chapters


@pytest.fixture
def chapter(tmp_path, monkeypatch):
    """Write the sound chapter with one text in the place of another; returns its path."""
    monkeypatch.setattr(chapters, "toc_chapters", lambda root: [SOUND])

    def write(old, new):
        text = (MINI / "chapters" / f"{SOUND}.md").read_text(encoding="utf8")
        assert old in text
        path = tmp_path / f"{SOUND}.md"
        path.write_text(text.replace(old, new), encoding="utf8")
        return path

    return write


def test_a_misspelt_code_cell_is_named_with_its_line(chapter):
    path = chapter("```{code-cell} ipython3\nseed", "```{code-cel} ipython3\nseed")
    line = path.read_text(encoding="utf8").splitlines().index("```{code-cel} ipython3") + 1
    with pytest.raises(ValueError, match=rf"{SOUND}.md, line {line}: {{code-cel}} must be"):
        chapters.readable_chapter(path)
