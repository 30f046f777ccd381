"""What a page does while it teaches: marks open their lines, predictions wait for a choice."""

import pytest
from built_site import PAGES, text_of

MARKED = [page for page in PAGES if 'hidden="hidden" id="line-' in text_of(page)]
PREDICTING = [page for page in PAGES if "prediction-rest" in text_of(page)]
ROWLESS = """marks => marks.map(e => e.getAttribute('href'))
  .filter(row => document.querySelectorAll(`table.checked tr${row}`).length !== 1)"""
TARGET = 24  # pixels that a finger hits


@pytest.fixture(scope="module")
def opened(browser, address):
    """A function: a page of the site, loaded at a place, with scripts or without."""
    tabs = {scripts: browser.new_page(java_script_enabled=scripts) for scripts in (True, False)}

    def opened(page, place="", scripts=True):
        tab = tabs[scripts]
        tab.goto("about:blank")  # from a page to a place on it is no load
        tab.goto(f"{address}{page}{place}")
        return tab

    yield opened
    for tab in tabs.values():
        tab.close()


@pytest.mark.parametrize("page", MARKED[:3])
def test_a_mark_opens_its_line_and_escape_closes_it(opened, page):
    tab = opened(page)
    tab.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    mark = tab.locator("a.judged[aria-expanded]").first
    line = tab.locator(f"#{mark.get_attribute('data-line')}")
    box = mark.bounding_box()
    assert min(box["width"], box["height"]) >= TARGET
    for open_it in (mark.click, lambda: mark.press("Enter"), lambda: mark.press(" ")):
        assert not line.is_visible()
        open_it()
        assert line.is_visible()
        assert mark.get_attribute("aria-expanded") == "true"
        tab.keyboard.press("Escape")
        assert mark.get_attribute("aria-expanded") == "false"


@pytest.mark.parametrize("page", MARKED[:3])
def test_without_scripts_a_mark_leads_to_its_row_of_the_table(opened, page):
    tab = opened(page, scripts=False)
    assert tab.locator("a.judged[data-line]").count()
    assert not tab.eval_on_selector_all("a.judged[data-line]", ROWLESS)


@pytest.mark.parametrize("page", MARKED[:3])
def test_without_scripts_links_have_their_colour(opened, page):
    """Colours hang on an attribute of the page."""
    tab = opened(page, scripts=False)
    text, link = (
        tab.locator(f"article {which}").first.evaluate("e => getComputedStyle(e).color")
        for which in ("h1", "p.source-line a, p > a.reference")
    )
    assert text != link


@pytest.mark.parametrize("page", PREDICTING[:3])
def test_a_prediction_is_open_where_nobody_chooses(opened, page):
    assert opened(page, scripts=False).locator("details.prediction-rest:not([open])").count() == 0
    tab = opened(page)
    assert tab.locator("details.prediction-rest[open]").count() == 0
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("details.prediction-rest:not([open])").count() == 0
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.locator("details.prediction-rest[open]").count() == 0
    inside = tab.locator("details.prediction-rest [id]").first.get_attribute("id")
    led = opened(page, f"#{inside}")
    assert led.locator(f"details.prediction-rest[open] [id='{inside}']").count() == 1


@pytest.mark.parametrize("page", PREDICTING[:3])
def test_a_choice_opens_the_answer_and_is_said(opened, page):
    tab = opened(page)
    prediction = tab.locator(".prediction").first
    answer = prediction.locator(".prediction-answers button").nth(1)
    answer.press("Enter")
    assert prediction.locator("details[open]").count() == 1
    assert prediction.locator(".prediction-said").inner_text().startswith("You said: ")
    assert answer.get_attribute("aria-pressed") == "true"
    tab.reload()
    assert tab.locator(".prediction-answers [aria-pressed=true]").count() == 0
