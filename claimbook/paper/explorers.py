"""A picture of each explorer at its first settings, for those whose browser runs no scripts.

    python -m claimbook.paper.explorers    draw them from the site that was built last

A picture is the explorer's own first drawing: its SVG as Chromium shows it, with the looks that
the style sheet gives written into it. Of a training that opens a page it is the last one, when it
was played to its end; paper shows that too.
"""

import sys
from typing import TYPE_CHECKING

from claimbook.files import ROOT, write_atomically
from claimbook.paper import chromium
from claimbook.site.pictures.explorers import EXACT

if TYPE_CHECKING:
    from playwright.sync_api import Page

SITE = ROOT / "_build" / "html"
FOLDER = ROOT / "book" / "_static" / "explorers" / "pictures"
PAGES = {  # of the explorers that stand alone
    "diversity": "book/chapters/05c_task_diversity.html",
    "glimpse": "book/intro.html",
    "hill": "book/chapters/01_attention_window.html",
    "plateau": "book/chapters/06_stagewise_dynamics.html",
}
PLAYED = {  # trainings that open a page, by the names of their pictures: the page, whose run it is
    "practice_d6": "book/chapters/05b_trained_transformers.html",
    "practice_d8": "book/chapters/05_double_descent.html",
}
OPENS = "train_prompts"
COLLECTION = "book/explorers.html"
WIDTH = 720  # CSS pixels of an explorer
STROKE = ("stroke", "stroke-width", "stroke-dasharray", "stroke-linecap")
LOOKS = [*STROKE, "fill", "opacity", "font-size", "text-anchor", "font-style"]
DRAWN = """([name, width, looks]) => new Promise(done => {
  const root = document.querySelector(`.explorer[data-explorer=${name}]`);
  root.style.width = `${width}px`;
  const taken = () => {
    const svg = root.querySelector('.x-plot svg');
    const copy = svg.cloneNode(true);
    const [from, to] = [svg, copy].map(e => [...e.querySelectorAll('*')]);
    from.forEach((e, i) => {
      if (e.closest('defs')) return;
      const style = getComputedStyle(e);
      for (const look of looks) {
        const value = style.getPropertyValue(look);
        const said = value && !['none', 'butt'].includes(value);
        if (said || look === 'fill') to[i].setAttribute(look, value);
      }
      to[i].removeAttribute('class');
      to[i].removeAttribute('data-name');
    });
    copy.querySelectorAll('[clip-path]').forEach(e => e.setAttribute('clip-path', 'url(#frame)'));
    copy.querySelector('clipPath').id = 'frame';
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    copy.setAttribute('font-family', 'sans-serif');
    copy.removeAttribute('role');
    copy.insertAdjacentHTML('afterbegin', '<rect width="100%" height="100%" fill="white"/>');
    done(new XMLSerializer().serializeToString(copy));
  };
  setTimeout(taken, 500); })"""  # the explorer draws itself anew when its width changes


def page_of(name: str) -> str:
    """The page of the site that an explorer is drawn from."""
    return (PAGES | PLAYED).get(name, COLLECTION)


def picture(page: "Page", name: str) -> str:
    """The explorer on an opened page as an SVG file, when it is drawn."""
    page.wait_for_selector(f'.explorer[data-explorer="{name}"][data-drawn]')
    svg: str = page.evaluate(DRAWN, [name, WIDTH, LOOKS])
    return svg.replace("><", ">\n<") + "\n"


def played(page: "Page") -> str:
    """The training that opens a page, as an SVG file, when it is played to its end."""
    root = f'.explorer[data-explorer="{OPENS}"]'
    page.wait_for_selector(f"{root}[data-drawn]")
    play = page.locator(f"{root} .x-player button").first
    fastest = "e => { e.value = e.max; e.dispatchEvent(new Event('input')); }"
    page.locator(f"#explorer-{OPENS}-speed").evaluate(fastest)
    play.evaluate("e => e.click()")
    page.wait_for_function(
        f"document.querySelector('{root} .x-player button').textContent === 'Play'"
    )
    return picture(page, OPENS)


def main() -> None:
    """Write every picture."""
    if not (SITE / COLLECTION).exists():
        sys.exit("There is no site yet: build the book first, with make book.")
    with chromium.served(SITE) as address, chromium.opened() as browser:
        for name in (*EXACT, *PLAYED):
            context = browser.new_context(
                viewport={"width": 1366, "height": 900},
                color_scheme="light",
                reduced_motion="reduce",
            )
            page = context.new_page()
            page.goto(address + page_of(name))
            drawn = played(page) if name in PLAYED else picture(page, name)
            write_atomically(FOLDER / f"{name}.svg", drawn)
            context.close()
            print(f"book/_static/explorers/pictures/{name}.svg")


if __name__ == "__main__":
    main()
