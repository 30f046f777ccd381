"""Every built page in headless Chromium, wide and narrow, light and dark.

No request leaves the site, no script error, no sideways overflow, all maths typeset, every figure
with alt text, no accessibility finding of any rule.
"""

import csv
import math
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from built_site import PAGES, SITE, Anchors, text_of

from iclutils.book.figures import legibility
from iclutils.book.runs import cache
from iclutils.book.site import dark
from iclutils.book.site.figures import chapter_figures
from iclutils.regression.phase import Phase
from iclutils.regression.theory import asymptotics

STATE = """() => {
  const root = document.documentElement;
  const all = selector => [...document.querySelectorAll(selector)];
  const boxes = '.formula, .katex-mathml, pre, .scorecard-frame, .cell_output, .sd-card';
  const wide = all('main *')
      .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(boxes))
      .slice(0, 3)
      .map(e => e.tagName + '.' + e.className);
  return {over: root.scrollWidth - innerWidth, wide,
    raw: all('.math').filter(e => !e.querySelector('.katex .katex-html')).length,
    mute: all('.katex').length - all('.katex math').length,
    bad: all('.katex-error').map(e => e.textContent),
    fixed: all('.formula').filter(e => getComputedStyle(e).overflowX !== 'auto').length,
    typeset: all('.katex').length,
    unsaid: all('main figure')
      .filter(e => e.checkVisibility()
        && ![...e.querySelectorAll('figcaption')].every(c => c.checkVisibility()))
      .map(e => e.id),
    shown: all('main figure:has(img)').filter(e => e.checkVisibility()
      && [...e.querySelectorAll('img')].filter(i => i.checkVisibility()).length !== 1)
      .map(e => e.id),
    images: all('main img')
      .map(e => [e.getAttribute('src'), e.getAttribute('alt'), e.naturalWidth])};
}"""


def test_the_site_is_built():
    assert len(PAGES) >= 6, f"{SITE} holds {PAGES}; build it with: make book"


def test_no_link_inside_the_site_is_dead():
    pages = {(SITE / name).resolve(): Anchors(SITE / name) for name in PAGES}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                dead.append(f"{path.name} -> {link}")
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].ids
            ):
                dead.append(f"{path.name} -> {link} (no such place on that page)")
    assert not dead


def test_a_shared_title_is_plain_text():
    pattern = re.compile(r'property="og:title" content="([^"]*)"')
    titles = {name: pattern.findall(text_of(name)) for name in PAGES}
    assert all(titles[f"book/chapters/{name}.html"] for name in cache.toc_chapters())
    assert not [name for name, found in titles.items() if "lt;" in "".join(found)]


def test_search_finds_something(browser, address):
    page = browser.new_page()
    page.goto(address + "search.html?q=attention")
    page.wait_for_selector("#search-results li a", timeout=15000)
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_page(window, findings, address, name):
    page, wrong = window
    wrong.clear()
    page.goto(address + name)
    page.add_style_tag(content="* { transition: none !important; animation: none !important }")
    page.evaluate("document.fonts.ready")
    state = page.evaluate(STATE)
    if state["over"] > 0:
        wrong.append(f"sideways overflow of {state['over']} px, for instance {state['wide']}")
    if state["raw"] or state["mute"] or state["bad"]:
        faults = f"{state['raw']} raw, {state['mute']} without MathML, faults {state['bad']}"
        wrong.append(f"formulas: {faults}")
    if state["unsaid"] or state["shown"]:
        wrong.append(f"figures without a caption {state['unsaid']}, not one image {state['shown']}")
    if state["fixed"]:
        wrong.append(f"{state['fixed']} displayed formulas would not scroll in their boxes")
    if name.startswith("book/chapters/") and not state["typeset"]:
        wrong.append("a chapter without formulas")
    for source, alt, width in state["images"]:
        if not alt or alt.lower().endswith((".png", ".svg", ".jpg")) or "/" in alt.split()[0]:
            wrong.append(f"figure without alt text: {source} (alt is {alt!r})")
        if width == 0:
            wrong.append(f"figure not shown: {source}")
    for finding in findings(page):
        nodes = [
            f"{node['html'][:160]} :: {node.get('failureSummary', '')[:200]}"
            for node in finding["nodes"][:3]
        ]
        what = f"{finding['impact']}: {finding['id']} ({len(finding['nodes'])}x)"
        wrong.append(f"accessibility, {what}: " + " | ".join(nodes))
    assert not wrong, f"{name}:\n  " + "\n  ".join(wrong)


def test_paper_is_light_whatever_the_screen_was(browser, address):
    page = browser.new_page(color_scheme="dark")
    page.goto(address + "book/chapters/01_attention_window.html")
    page.emulate_media(media="print")
    ink, shown = page.evaluate(
        """() => [getComputedStyle(document.querySelector('main p')).color,
          [...document.querySelectorAll('main figure img')].filter(e => e.checkVisibility())
            .map(e => e.currentSrc)]"""
    )
    page.close()
    assert max(int(part) for part in re.findall(r"\d+", ink)[:3]) < 100
    assert len(shown) > 3
    assert not [source for source in shown if source.endswith("-dark.svg")]


# ------------------------------------------------------------------ figures as files


WORDS = re.compile(r'-->\s*<g style="fill: (#\w+)')  # a word's outlines follow the word
FIGURES = [figure for chapter in cache.toc_chapters() for figure in chapter_figures(chapter)]


def test_figures_have_names_of_their_own():
    assert len(FIGURES) >= 40
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name or "nameless")
def test_a_figure_has_words_and_files_and_can_be_read(figure):
    assert figure.name.startswith("fig-"), f"a figure of {figure.chapter} has no name"
    assert len(figure.caption.split()) >= 5, "no caption"
    assert len(figure.alt.split()) >= 5, "no alternative text"
    svg = (SITE / figure.svg_file).read_text(encoding="utf8")
    rows = list(csv.DictReader((SITE / figure.csv_file).open(encoding="utf8")))
    assert "</svg>" in svg
    assert len(svg) < 400_000, (
        "too heavy: draw fewer points, or let legibility.dense make it a picture"
    )
    assert rows, "no data"
    nameless = [row for row in rows if not row["series"]]
    assert not nameless, "a series without a name: label it (a leading _: not in the legend)"
    drawn = [row for row in rows if row["kind"] == "line"]
    nameless = [row for row in drawn if not (row.get("x_axis") and row.get("y_axis"))]
    is_drawing = "tick" not in svg  # a schematic has no axes
    assert is_drawing or not nameless, "an axis without a name"
    page = text_of(f"{cache.CHAPTERS}/{figure.chapter}.html")
    assert f'id="{figure.name}"' in page
    weights = [figure.npz_file] if figure.npz else []
    for name in (figure.svg_file, figure.csv_file, *weights):
        assert (SITE / name).stat().st_size
        assert f'href="../figures/{Path(name).name}"' in page, "no link to its files"
    lettering = figure.with_it["lettering"]
    smallest = lettering["smallest"]
    assert smallest >= legibility.SMALLEST, f"lettering of {smallest} px on a phone"
    assert lettering["faults"] == []


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name or "nameless")
def test_a_figure_can_be_read_in_the_dark(figure):
    """Words stand out by 4.5; series by 3, or as in the light where a value is meant to be pale."""
    light = (SITE / figure.svg_file).read_text(encoding="utf8")
    svg = (SITE / figure.file(dark=True)).read_text(encoding="utf8")
    assert svg.count("<path") == light.count("<path")
    words = set(WORDS.findall(svg)) - {dark.GROUND}  # the ground's own: words on a filled mark
    assert not {word for word in words if dark.contrast(word, dark.GROUND) < 4.5}
    rows = csv.DictReader((SITE / figure.csv_file).open(encoding="utf8"))
    series = dark.partners_of(sorted({row.get("colour") or dark.BLACK for row in rows}))
    for before, after in series.items():
        wanted = min(3, 0.95 * dark.contrast(before, "#ffffff"))
        assert dark.contrast(after, dark.GROUND) >= wanted, before


def test_a_figures_data_are_the_numbers_of_the_package():
    """Errors against τ with ridge (chapter 5): each row of the curves is the formula's value.

    The table has 8 digits: 1e-6 leaves a hundred units of the last one.
    """
    rows = list(csv.DictReader((SITE / "book/figures/fig-ch5-ridge.csv").open(encoding="utf8")))
    lines = [row for row in rows if row["kind"] == "line"]
    curves = [row for row in lines if row["series"] in ("λ = 0.1", "λ = 1")]
    assert len(curves) > 100
    for row in curves[::10]:
        ridge = float(row["series"].removeprefix("λ = "))
        exact = asymptotics.errors(Phase(10, math.inf, float(row["x"]), 0.01), ridge).icl
        assert float(row["y"]) == pytest.approx(exact, rel=1e-6)
