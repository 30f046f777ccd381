"""What helps a reader to find things: search, notes at cross-references, the page for what is lost.

All of it has to work where the site is opened as files, too, so most of this does that.
"""

from urllib.parse import quote

import pytest
from built_site import SITE

from tests.browser import chromium

FILES = SITE.as_uri() + "/"
FOUND = [  # what a reader asks for, and where one of the first results leads
    ("overfitting", "book/chapters/05_double_descent.html"),
    ("double descent", "book/chapters/05_double_descent.html"),
    ("memorization", "book/chapters/05c_task_diversity.html"),
    ("Lipschitz", "book/chapters/01_attention_window.html"),
    ("teaching", "book/lessons.html"),
    ("error report", "book/maintaining.html"),
    ("one slider mends it", "book/chapters/05_double_descent.html#one-slider-mends-it"),
    ("how far to look", "book/chapters/01_attention_window.html"),
]
FIRST = 10
NOTES = [  # a page, a link on it, words of its note
    ("01_attention_window", "a:has(> .std-term)", "average of the labels"),
    ("01_attention_window", "a.reference[href='#fig-ch1-window']", "The steeper the hill"),
    ("02_generalization_mismatch", "a.reference[href='#equation-eq-ch2-loss']", "the noise"),
    ("03_linear_attention", "a[href*='#thm-ch3-closed']", "Theorem"),
    ("04_low_rank", "p a[href*='bibliography.html#']", "Liam Collins"),
    ("07_synthesis", "p a[href*='#ch-window']", "How far to look"),
]
LONG = 5000  # milliseconds: a note comes and goes sooner

@pytest.fixture(scope="module")
def files(browser):
    """A window without a network: only the site's own files are read. Its clock can be put on."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    opened = context.new_page()
    wrong = []

    def on_request(asked):
        if not asked.url.startswith(("file:", "data:", "blob:")):
            wrong.append(asked.url)

    opened.on("request", on_request)
    opened.on("pageerror", lambda error: wrong.append(str(error)[:200]))
    opened.clock.install()
    yield opened, wrong
    context.close()


@pytest.fixture
def page(files):
    opened, wrong = files
    wrong.clear()
    yield opened
    assert not wrong


@pytest.mark.parametrize(("query", "place"), FOUND, ids=[query for query, _ in FOUND])
def test_a_search_leads_to_the_section(page, query, place):
    page.goto(f"{FILES}search.html?q={quote(query)}")
    page.clock.fast_forward(LONG)  # Sphinx shows one result after the other
    links = page.locator("#search-results li > a")
    links.first.wait_for()
    found = [link.get_attribute("href") for link in links.all()[:FIRST]]
    assert [address for address in found if address.startswith(place)], found


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


def test_a_note_comes_by_keyboard_and_goes_with_escape(page):
    page.goto(f"{FILES}book/chapters/01_attention_window.html")
    page.locator(".bd-article a:has(> .std-term)").first.focus()
    page.clock.fast_forward(LONG)
    assert page.locator(".tippy-box[role=tooltip]").count() == 1
    page.keyboard.press("Escape")
    page.locator(".tippy-box").wait_for(state="detached")


def test_a_note_passes_axe(window, address, findings):
    """With the link that it explains; that of the page is test_site.py's."""
    page, wrong = window
    wrong.clear()
    page.goto(f"{address}book/chapters/01_attention_window.html")
    link = page.locator(".bd-article a.reference[href='#fig-ch1-window']").first
    link.scroll_into_view_if_needed()
    link.hover()
    page.wait_for_selector("main .tippy-box")  # in a landmark
    assert not findings(page, {"include": [".tippy-box", "[aria-describedby^=tippy]"]})
    assert not wrong


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


@pytest.mark.parametrize(
    "lost", ["book/chapters/99_lost.html", "project/book/deep/er/lost", "lost.html"]
)
def test_what_is_not_found_leads_back_from_any_depth(browser, lost):
    page = browser.new_page()
    with chromium.served(SITE, AsPages) as root:
        page.goto(root + lost)
        assert page.locator("h1").inner_text() == "There is no such page"
        assert page.evaluate("getComputedStyle(document.body).fontFamily").startswith(
            '"Source Sans'
        )
        page.locator(".not-found a").first.click()
        page.wait_for_url("**/book/intro.html")
        assert page.locator("h1").first.inner_text().startswith("In-Context Learning, Reproduced")
    page.close()


def test_the_page_for_what_is_lost_works_as_a_file(page):
    page.goto(f"{FILES}404.html")
    page.locator(".not-found a").first.click()
    page.wait_for_url("**/book/intro.html")
