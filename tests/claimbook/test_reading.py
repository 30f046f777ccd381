"""A main page is a lecture, as long as its idea; what is for the specialist stands on the next.

The rules stand in :mod:`tests.reading`.
"""

import pytest

from claimbook.pages import SPECIALIST, toc_chapters
from tests import reading

MAIN = reading.main_pages()


@pytest.mark.parametrize("name", MAIN)
def test_a_main_page_keeps_the_rules(name):
    broken = list(reading.complaints(name))
    assert not broken, f"{name}.md: {'; '.join(broken)}"


@pytest.mark.parametrize("name", [name for name in MAIN[1:] if name not in reading.SHARED])
def test_every_chapter_has_its_page_for_the_specialist(name):
    second = name + SPECIALIST
    assert second in toc_chapters(), f"{second} stands in no line of _toc.yml"
    text = (reading.CHAPTERS / f"{second}.md").read_text(encoding="utf8")
    assert f"```{{verdicts}} {second}\n" in text, f"{second}.md has no {{verdicts}}"


SAMPLE = """\
# A title

Two words and $x = 3$, then a [link](elsewhere.md) of 10 000 from May 2024, Result 1.{judged}`a-row`

```{explorer} window
:alt: Unsaid.
Turn it.
```

## A heading

The loss is {glue:text}`x_loss`, and `d2` has 3.5.

```{dropdown} A fold
All of $c$ is hidden.
```

```{code-cell} ipython3
:tags: [setup]
seed = 0
```

```{code-cell} ipython3
import torch

torch.manual_seed(0)
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

## Exercises

Nothing counts here, not even 7.

```{solution} ex-x
:class: dropdown
Nor here.
```

## Whose is what

```{chapter-card} 01_x
:paper: a paper
Claim.
```
"""


@pytest.fixture
def seen():
    seen = reading.Open()
    reading.collect(SAMPLE, seen)
    return seen


def test_words_and_numerals_are_those_in_sight(seen):
    first_screen = 2 + 14 + 2  # title, text, caption of the explorer
    # heading, text, name of the fold, caption of the figure
    assert seen.words == first_screen + 2 + 9 + 2 + 2
    assert seen.first_screen == first_screen
    assert seen.numerals == 3  # 10 000, a number of the run, 3.5
    assert seen.folded == 4


def test_pictures_code_and_cards_are_found(seen):
    assert (seen.alive, seen.opens_alive, seen.figures) == (["window"], True, ["fig-x"])
    assert seen.code == ["import torch\n\ntorch.manual_seed(0)"]
    assert seen.code_lines == 2
    assert seen.cards == [reading.CREDITS]


ALIVE = "\n```{explorer} window\n```\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Two words", "Two words " * 1000, "words in sight"),
        ("Two words", "Two words " * 120, "above the first heading"),
        ("The loss", "The loss 1 2 3", "numerals in 1000 words"),
        ("is hidden", "is hidden " * 200, "folded words"),
        ("```{explorer} window", "```{note} window", "no {explorer}"),
        ("Turn it.\n```\n", "Turn it.\n```\n" + 3 * ALIVE, "explorers"),
        ("torch.manual_seed(0)", "torch.rand(1)\n" * 31, "lines of code in sight"),
        ("## Whose is what", "## The claim", "its place is '## Whose is what'"),
        ("## Exercises", "```{verdicts} x\n```\n\n## Exercises", "ledger's cards"),
    ],
)
def test_each_limit_is_held(tmp_path, monkeypatch, old, new, said):
    monkeypatch.setattr(reading, "CHAPTERS", tmp_path)
    monkeypatch.setattr(reading, "NUMERALS", 120)  # of so few words three are many
    (tmp_path / "01_x_specialist.md").write_text("")
    page = tmp_path / "01_x.md"
    page.write_text(SAMPLE)
    assert list(reading.complaints("01_x")) == []
    assert old in SAMPLE
    page.write_text(SAMPLE.replace(old, new))
    assert said in "; ".join(reading.complaints("01_x"))
