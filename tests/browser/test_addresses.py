"""Every address that the site ever had still leads to what stood there."""

import pytest
from addresses import addresses, read
from built_site import SITE

from claimbook.site.aids.moved import moved

ROADS = {
    f"{page}.html#{place}": target.replace("#", ".html#", 1)
    for page, places in moved().items()
    for place, target in places.items()
}


@pytest.fixture(scope="module")
def now():
    """The pages with their places, as the site has them."""
    return addresses(SITE)


def leads_somewhere(address, now):
    """Whether a page has the place, or the way to a page that has it."""
    page, _, place = ROADS.get(address, address).partition("#")
    return page in now and (not place or place in now[page])


@pytest.mark.parametrize("page", sorted({address.partition("#")[0] for address in read()}))
def test_old_addresses_of_a_page_lead_to_their_content(now, page):
    own = [address for address in sorted(read()) if address.partition("#")[0] == page]
    lost = [address for address in own if not leads_somewhere(address, now)]
    assert not lost, f"name where they stand now in book/moved.yml: {lost}"


def test_whoever_comes_by_an_old_link_is_led_on(browser, address):
    page = browser.new_page()
    page.goto(f"{address}/book/sources.html#src-d1")
    page.wait_for_url("**/book/sources_readings.html#src-d1")
    page.goto(f"{address}/book/sources.html#src-a1")
    page.wait_for_load_state()
    assert page.url.endswith("/book/sources.html#src-a1")
    page.close()
