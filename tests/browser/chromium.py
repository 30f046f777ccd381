"""The site at an address of this machine, and Chromium to open it."""

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# the first is the second without windows, which every page costs time
PROGRAMS = ("chromium-headless-shell", "chromium")
FLAGS = [  # beside Playwright's own
    "--disable-gpu",
    "--disable-quic",
    # every window loads two hidden pages of an address bar, which nobody sees: half a second each.
    # The last list counts, so it names again what of Playwright's a page's first frames need
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,PaintHolding",
]


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server that reports neither a request nor who left before the answer."""

    def handle(self) -> None:
        """Answer whoever still listens: a page that closes does not wait for its files."""
        with suppress(ConnectionError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def served(site: Path, answer: type[Quiet] = Quiet) -> Iterator[str]:
    """The address of the site, which ends with a slash, while ``answer`` serves it."""
    handler = functools.partial(answer, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def opened() -> Iterator["Browser"]:
    """A headless Chromium; raises ``FileNotFoundError`` where this machine has none."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise FileNotFoundError("Chromium is not here: install the package chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
