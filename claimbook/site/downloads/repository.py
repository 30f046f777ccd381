"""Where the book's repository is, if it is public: ``repository: {url: …}`` in ``_config.yml``.

Jupyter Book stops where a button of the repository is on and the address is empty, so the buttons
are off there, and switched on here once there is an address.
"""

from sphinx.application import Sphinx
from sphinx.config import Config

BUTTONS = ("use_repository_button", "use_issues_button", "use_edit_page_button")


def address(app: Sphinx) -> str:
    """The address of the repository, without a slash at its end; empty where there is none."""
    return str(app.config.html_theme_options.get("repository_url") or "").rstrip("/")


def switch_buttons(app: Sphinx, config: Config) -> None:
    """Show the links to the repository, to its issues and to a page's source, if it has an address.

    Raises ``ValueError`` for an address that is none of the web.
    """
    told = address(app)
    if told and not told.startswith("https://"):
        raise ValueError(f"repository url of _config.yml must begin with https://; got {told!r}")
    options = config.html_theme_options
    options.update(dict.fromkeys(BUTTONS, bool(told)))
    if told:
        options.update(repository_url=told, path_to_docs="")


def linked(app: Sphinx) -> str:
    """*the book's repository* in Markdown: a link, where one can lead somewhere."""
    told = address(app)
    return f"[the book's repository]({told})" if told else "the book's repository"
