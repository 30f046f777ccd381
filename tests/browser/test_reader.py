"""What helps a reader: search, notes, the lost page as files; marks and predictions on a page."""

import pytest

from tests.browser import chromium
from tests.built_site import SITE

FILES = SITE.as_uri() + "/"
NOTES = [  # a page, a link on it, words of its note
    ("01_attention_window", "a:has(> .std-term)", "average of the labels"),
    ("02_generalization_mismatch", "a.reference[href='#equation-eq-ch2-loss']", "the noise"),
    ("03_linear_attention", "a[href*='#thm-ch3-closed']", "Theorem"),
    ("07_synthesis", "p a[href*='#ch-window']", "How far to look"),
]
LONG = 5000  # milliseconds: a note comes and goes sooner


@pytest.fixture(scope="module")
def page(fresh):
    """A window without a network: only the site's own files are read. Its clock can be put on."""
    with fresh(inside=("file:",)) as (opened, wrong):
        opened.clock.install()
        yield opened
        assert not wrong


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
    page.goto(f"{FILES}book/chapters/{name}.html")
    place = page.locator(f".bd-article {link}").first
    place.scroll_into_view_if_needed()
    place.hover()
    page.clock.fast_forward(LONG)
    note = page.locator(".tippy-box")
    assert said in note.inner_text().replace("\xa0", " ")
    box = note.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1280
    page.keyboard.press("Escape")
    note.wait_for(state="detached")


def test_a_note_comes_by_keyboard_passes_axe_and_goes_with_escape(page, findings):
    page.goto(f"{FILES}book/chapters/01_attention_window.html")
    page.locator(".bd-article a:has(> .std-term)").first.focus()
    page.clock.fast_forward(LONG)
    assert page.locator("main .tippy-box[role=tooltip]").count() == 1  # in a landmark
    assert not findings(page, {"include": [".tippy-box", "[aria-describedby^=tippy]"]})
    page.keyboard.press("Escape")
    page.locator(".tippy-box").wait_for(state="detached")


class AsPages(chromium.Quiet):
    """Serves a site below a folder, and 404.html for what is not there, as GitHub Pages does."""

    def translate_path(self, path):
        return super().translate_path(path.removeprefix("/project"))

    def send_error(self, code, message=None, explain=None):
        body = (SITE / "404.html").read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body)


def test_what_is_not_found_leads_back_from_any_depth_and_as_a_file(browser):
    page = browser.new_page()
    with chromium.served(SITE, AsPages) as root:
        for lost in (f"{root}lost.html", f"{root}project/book/deep/er/lost", f"{FILES}404.html"):
            page.goto(lost)
            assert page.locator("h1").inner_text() == "There is no such page"
            assert "Source Sans" in page.evaluate("getComputedStyle(document.body).fontFamily")
            page.locator(".not-found a").first.click()
            page.wait_for_url("**/book/intro.html")
    page.close()


# ------------------------------------------------------------------ while it teaches

MARKED = "book/chapters/01_attention_window.html"
PREDICTING = "book/chapters/02_generalization_mismatch.html"
ROWLESS = """marks => marks.map(e => e.getAttribute('href'))
  .filter(row => document.querySelectorAll(`table.checked tr${row}`).length !== 1)"""
TARGET = 24  # pixels that a finger hits


@pytest.fixture(scope="module")
def plain(browser):
    """A page without scripts."""
    opened = browser.new_page(java_script_enabled=False)
    yield opened
    opened.close()


def test_a_mark_opens_its_line_and_escape_closes_it(page):
    page.goto(FILES + MARKED)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
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
    plain.goto(FILES + MARKED)
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
    plain.goto(FILES + PREDICTING)
    assert plain.locator("details.prediction-rest:not([open])").count() == 0
    page.goto(FILES + PREDICTING)
    rest = page.locator("details.prediction-rest[open]")
    assert rest.count() == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.prediction-rest:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert rest.count() == 0
    inside = page.locator("details.prediction-rest [id]").first.get_attribute("id")
    page.goto("about:blank")  # from a page to a place on it is no load
    page.goto(f"{FILES}{PREDICTING}#{inside}")
    assert rest.locator(f"[id='{inside}']").count() == 1


def test_a_choice_opens_the_answer_and_is_said(page):
    page.goto("about:blank")
    page.goto(FILES + PREDICTING)
    prediction = page.locator(".prediction").first
    answer = prediction.locator(".prediction-answers button").nth(1)
    answer.press("Enter")
    assert prediction.locator("details[open]").count() == 1
    assert prediction.locator(".prediction-said").inner_text().startswith("You said: ")
    assert answer.get_attribute("aria-pressed") == "true"
    page.reload()
    assert page.locator(".prediction-answers [aria-pressed=true]").count() == 0
