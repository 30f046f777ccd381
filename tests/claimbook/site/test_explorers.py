"""Words of a sentence that set an explorer: what the page gets, and what is a warning."""

import io
import re

from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from claimbook.site import explorers
from claimbook.site.explorers import Explorer, SetRole
from claimbook.site.nodes import depart_tag, html_tag, skip_tag, visit_tag

PAGE = """# A page

See {set}`make it *steep*  <mismatch: ratio=5&sigma=0.1>`,
then {set}`train it <train_window: play=1>`.

%s

```{explorer} mismatch
:alt: A dip.
:settings: %s
:main: %s

Below it.
```

```{explorer} train_window
:alt: A head.
```
"""


def built(folder, *, more="", settings="ratio=2", main="d"):
    """A page of Sphinx's own looks, with these: its HTML, and the warnings."""
    (folder / "index.md").write_text(PAGE % (more, settings, main), encoding="utf8")
    said = io.StringIO()
    places = [str(folder), None, str(folder / "out"), str(folder / "trees"), "html"]
    settings = {"extensions": ["myst_parser"], "html_theme": "basic"}
    # in a world of its own: what a builder of before had registered would be a warning here
    with patch_docutils(folder), docutils_namespace():
        app = Sphinx(*places, confoverrides=settings, status=None, warning=said, freshenv=True)
        app.add_node(html_tag, html=(visit_tag, depart_tag), text=(skip_tag, skip_tag))
        app.add_directive("explorer", Explorer)
        app.add_role("set", SetRole())
        app.build()
    return (folder / "out" / "index.html").read_text(encoding="utf8"), said.getvalue()


def test_words_stand_in_the_sentence_and_name_what_they_set(tmp_path):
    page, said = built(tmp_path)
    assert '<span data-set="mismatch?ratio=5&amp;sigma=0.1">make it *steep*</span>' in page
    assert '<span data-set="train_window?play=1">train it</span>' in page
    assert not said


def test_the_page_s_own_settings_and_control(tmp_path):
    page, _ = built(tmp_path)
    (place,) = re.findall(r'<div[^>]*data-explorer="mismatch"[^>]*>', page)
    assert 'data-main="d"' in place
    assert 'data-settings="ratio=2"' in place
    assert page.count("data-main") == 1, "the first one, where the page names none"
    assert page.index(place) < page.index("Below it.")


def test_words_lead_to_the_explorer_of_another_page(tmp_path):
    (tmp_path / "other.md").write_text("---\norphan: true\n---\n\n# Another\n", encoding="utf8")
    page, said = built(tmp_path, more="{set}`the lake <other/hill: w=0&star=2>`")
    assert '<a href="other.html#explorer-hill?w=0&amp;star=2">the lake</a>' in page
    assert not said


def test_what_is_no_setting_is_a_warning_and_stays_words(tmp_path):
    page, said = built(tmp_path, more="{set}`steep`")
    assert "index.md:6" in said
    assert "must be: words" in said
    assert "steep" in page


def test_the_scripts_are_in_an_order_in_which_they_run(tmp_path):
    for name in ("start", "hill", "window_theory", "numbers", "train_frame"):
        (tmp_path / f"{name}.js").touch()
    names = [path.stem for path in explorers.scripts(tmp_path)]
    assert names == ["numbers", "train_frame", "window_theory", "hill", "start"]
