"""The figures of the built site: their words, their files, and the numbers in them."""

import csv
from functools import lru_cache

import pytest

from claimbook.figures.svg import SMALLEST
from claimbook.pages import CHAPTERS, chapter_path, toc_chapters
from claimbook.runs.notebooks import current
from claimbook.site.figures import figures_in
from tests.built_site import SITE, text_of


@lru_cache
def figures_of(chapter):
    """Read the figures of a chapter's run where a test asks, not in every worker that collects."""
    return tuple(figures_in(chapter, current(chapter_path(chapter)).notebook))


def test_figures_have_names_of_their_own():
    names = [figure.name for chapter in toc_chapters() for figure in figures_of(chapter)]
    assert len(names) >= 40
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("chapter", toc_chapters())
def test_figures_have_words_and_files_and_can_be_read(chapter):
    for figure in figures_of(chapter):
        assert figure.name.startswith("fig-"), f"a figure of {figure.chapter} has no name"
        assert len(figure.caption.split()) >= 5, "no caption"
        assert len(figure.alt.split()) >= 5, "no alternative text"
        files = [SITE / "book" / "figures" / f"{figure.name}.{kind}" for kind in ("svg", "csv")]
        svg = files[0].read_text(encoding="utf8")
        rows = list(csv.DictReader(files[1].open(encoding="utf8")))
        assert "</svg>" in svg
        assert len(svg) < 400_000, "too heavy: draw fewer points, or see svg.is_dense"
        assert rows, "no data"
        assert all(row["series"] for row in rows), "a series without a name"
        lines = [row for row in rows if row["kind"] == "line"]
        nameless = [row for row in lines if not (row.get("x_axis") and row.get("y_axis"))]
        is_drawing = "tick" not in svg  # a schematic has no axes
        assert is_drawing or not nameless, "an axis without a name"
        page = text_of(f"{CHAPTERS}/{figure.chapter}.html")
        assert f'id="{figure.name}"' in page
        for file in files:
            assert f'href="../figures/{file.name}"' in page, "no link to its files"
        lettering = figure.with_it["lettering"]
        assert lettering["smallest"] >= SMALLEST, f"on a phone, in pixels: {lettering}"
        assert lettering["faults"] == []
