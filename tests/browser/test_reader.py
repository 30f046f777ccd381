"""What helps a reader: search, notes, the lost page as files; marks and predictions on a page."""

import pytest

from tests.browser.conftest import WIDE, findings, unfold, visit
from tests.built_site import SITE

FILES = SITE.as_uri() + "/"
CHAPTER = FILES + "book/chapters/{}.html"
MARKED = CHAPTER.format("01_attention_window")
PREDICTING = CHAPTER.format("02_generalization_mismatch")
NOTES = [  # a page, a link on it, words of its note
    ("01_attention_window", "a:has(> .std-term)", "average of the labels"),
    ("06_stagewise_dynamics", "a.reference[href='#equation-eq-stagewise-speed']", "p"),
    ("03_linear_attention", "a[href*='#thm-ch3-closed']", "Theorem"),
    ("07_synthesis", "p a[href*='#ch-window']", "How far to look"),
]
NOTE = {"include": [".tippy-box", "[aria-describedby^=tippy]"]}
LONG = 5000  # milliseconds: a note comes and goes sooner
ROWLESS = """marks => marks.map(e => e.getAttribute('href'))
  .filter(row => document.querySelectorAll(`table.checked tr${row}`).length !== 1)"""
TARGET = 24  # pixels that a finger hits


@pytest.fixture(scope="module")
def page(fresh):
    """Open a window without a network: it reads only the site's files. Its clock can be put on."""
    with fresh(inside=("file:",)) as opened:
        opened.clock.install()
        yield opened


@pytest.fixture(scope="module")
def plain(browser):
    """Open a page without scripts."""
    opened = browser.new_page(java_script_enabled=False)
    yield opened
    opened.close()


def test_a_search_without_a_network_leads_to_sections_and_to_the_ledger(page):
    """What is found, and in which order, tests/book/test_search.py tells."""
    page.goto(f"{FILES}search.html?q=low-rank")
    page.clock.fast_forward(LONG)  # Sphinx shows one result after the other
    page.locator("#search-results a[href^='book/chapters/04_low_rank']").first.wait_for()
    page.get_by_text("Claims with these words").click()
    page.wait_for_url("**/book/ledger.html#claims?words=low-rank")
    assert 0 < page.locator("details.claim:visible").count() < 100


@pytest.mark.parametrize(("name", "link", "said"), NOTES, ids=[name + at for name, at, _ in NOTES])
def test_what_a_reference_leads_to_is_shown_beside_it(page, name, link, said):
    """By pointer and by keyboard, in a landmark, until Escape; axe reads the first."""
    page.goto(CHAPTER.format(name))
    place, note = page.locator(f".bd-article {link}").first, page.locator(".tippy-box")
    place.scroll_into_view_if_needed()
    for come in (place.hover, place.focus):
        come()
        page.clock.fast_forward(LONG)
        if name == NOTES[0][0] and come == place.focus:
            assert not list(findings(page, NOTE))
        assert said in note.inner_text().replace("\xa0", " ")
        box = note.bounding_box()
        assert 0 <= box["x"] <= WIDE[0] - box["width"]
        assert page.locator("main .tippy-box[role=tooltip]").count() == 1
        page.keyboard.press("Escape")
        note.wait_for(state="detached")
        page.mouse.move(0, 0)


def test_what_is_not_found_leads_back_from_any_depth_and_as_a_file(browser, address):
    page = browser.new_page()
    for lost in (f"{address}lost.html", f"{address}project/book/deep/er/lost", f"{FILES}404.html"):
        page.goto(lost)
        assert page.locator("h1").inner_text() == "There is no such page"
        assert "Source Sans" in page.evaluate("getComputedStyle(document.body).fontFamily")
        page.locator(".not-found a").first.click()
        page.wait_for_url("**/book/intro.html")
    page.close()


# ------------------------------------------------------------------ while it teaches


def test_a_mark_opens_its_line_and_escape_closes_it(page):
    page.goto(MARKED)
    unfold(page, "details")
    mark = page.locator("a.judged[aria-expanded]").first
    line = page.locator(f"#{mark.get_attribute('data-line')}")
    box = mark.bounding_box()
    assert min(box["width"], box["height"]) >= TARGET
    for open_it in (mark.click, lambda: mark.press("Enter"), lambda: mark.press(" ")):
        assert not line.is_visible()
        open_it()
        assert line.is_visible()
        assert mark.get_attribute("aria-expanded") == "true"
        page.keyboard.press("Escape")
        assert mark.get_attribute("aria-expanded") == "false"


def test_without_scripts_a_mark_leads_to_its_row_and_links_have_their_colour(plain):
    """Colours hang on an attribute of the page."""
    plain.goto(MARKED)
    assert plain.locator("a.judged[data-line]").count()
    assert not plain.eval_on_selector_all("a.judged[data-line]", ROWLESS)
    text, link = (
        plain.locator(f"article {which}").first.evaluate("e => getComputedStyle(e).color")
        for which in ("h1", "p.source-line a, p > a.reference")
    )
    assert text != link
    assert plain.locator("span.screen-only").count()
    assert not any(one.is_visible() for one in plain.locator("span.screen-only").all())


def test_a_prediction_is_open_where_nobody_chooses(page, plain):
    plain.goto(PREDICTING)
    assert plain.locator("details.prediction-rest:not([open])").count() == 0
    page.goto(PREDICTING)
    rest = page.locator("details.prediction-rest[open]")
    assert rest.count() == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.prediction-rest:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert rest.count() == 0
    page.locator("details.prediction-rest p").first.evaluate("inside => inside.id = 'inside'")
    page.evaluate("location.hash = 'inside'")
    rest.locator("#inside").wait_for()


def test_a_choice_opens_the_answer_and_is_said(page):
    visit(page, PREDICTING)
    prediction = page.locator(".prediction").first
    answer = prediction.locator(".prediction-answers button").nth(1)
    answer.press("Enter")
    assert prediction.locator("details[open]").count() == 1
    assert prediction.locator(".prediction-said").inner_text().startswith("You said: ")
    assert answer.get_attribute("aria-pressed") == "true"
    page.reload()
    assert page.locator(".prediction-answers [aria-pressed=true]").count() == 0
