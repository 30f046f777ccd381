"""The main page of a chapter is read in 25 minutes; what is for the specialist stands on the next.

The limits are the design's: words, formulas and figures in the open, and how code is folded.
"""

import pytest

from iclutils.book.runs import cache
from tests import reading

WORDS, FORMULAS, FIGURES = 2500, 60, 8
OPENING = 100  # words before the first code
MAIN = [name for name in cache.toc_chapters() if not cache.is_second(name)]


@pytest.fixture(scope="module", params=MAIN)
def page(request):
    return reading.read(reading.CHAPTERS / f"{request.param}.md")


def test_it_is_short_enough(page):
    limits = {"words": WORDS, "formulas": FORMULAS, "figures": FIGURES}
    found = {"words": page.words, "formulas": page.formulas, "figures": len(page.figures)}
    over = {name: found[name] for name, limit in limits.items() if found[name] > limit}
    assert not over, f"more than {limits}"


def test_it_opens_before_any_code(page):
    assert page.before_code >= OPENING


@pytest.mark.parametrize("name", MAIN)
def test_its_explorer_stands_directly_after_the_opening(name):
    """Before the first code and the first heading below the title."""
    text = (reading.CHAPTERS / f"{name}.md").read_text(encoding="utf8")
    opening = text[: text.index("```{code-cell}")].rstrip()
    last = opening[opening.rindex("\n\n```") :].strip()
    assert last.startswith("```{explorer} ")
    assert "\n## " not in opening


def test_its_folded_cells_are_named_and_never_two_in_a_row(page):
    assert page.unnamed == 0
    assert page.runs == 0


def test_cards_and_walls_of_numbers_stand_on_the_second_page(page):
    assert not page.cards
    assert page.tables <= 1


@pytest.mark.parametrize("name", MAIN)
def test_every_chapter_has_its_page_for_the_specialist(name):
    second = name + cache.SPECIALIST
    assert second in cache.toc_chapters()
    assert reading.read(reading.CHAPTERS / f"{second}.md").cards


SAMPLE = """\
Two words and $x$, then a [link](elsewhere.md).

```{prf:theorem} Of **names**
:label: thm-x
Hidden nowhere: $a$ and

$$
b
$$
```

```{dropdown} Fold
All of $c$ is hidden.
```

```{code-cell} ipython3
:tags: [hide-input]
1
```

```{code-cell} ipython3
---
tags: [hide-input]
mystnb:
  code_prompt_show: The figure
  figure:
    name: fig-x
    caption: |
      Said of $d$.
---
2
```
"""


def test_the_counting():
    seen = reading.Open()
    reading.collect(SAMPLE, seen)
    assert seen.words == 6 + 2 + 3 + 1 + 2  # text, title, theorem, the fold's name, caption
    assert seen.formulas == 4
    assert seen.figures == ["fig-x"]
    assert (seen.bars, seen.unnamed, seen.runs) == (["", "The figure"], 1, 1)
    assert seen.before_code == 12
