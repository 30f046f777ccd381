"""Words of a sentence that set an explorer: what the page gets, and what is a warning."""

import re

from claimbook.site.lecture import Explorer, SetRole
from claimbook.site.nodes import depart_tag, html_tag, visit_tag

PAGE = """# A page

See {set}`make it *steep*  <mismatch: ratio=5&sigma=0.1>`,
then {set}`the lake <other/hill: w=0&star=2>`, {set}`steep`.

```{explorer} mismatch
:alt: A dip.
:settings: ratio=2
:main: d

Below it.
```

```{explorer} train_window
:alt: A head.
```
"""


def prepare(app):
    app.add_node(html_tag, html=(visit_tag, depart_tag))
    app.add_directive("explorer", Explorer)
    app.add_role("set", SetRole())


def test_words_set_an_explorer_of_this_page_or_lead_to_another_s(built, tmp_path):
    (tmp_path / "other.md").write_text("---\norphan: true\n---\n\n# Another\n", encoding="utf8")
    page, warnings = built(tmp_path, PAGE, prepare)
    assert '<span data-set="mismatch?ratio=5&amp;sigma=0.1">make it *steep*</span>' in page
    assert '<a href="other.html#explorer-hill?w=0&amp;star=2">the lake</a>' in page
    (explorer,) = re.findall(r'<div[^>]*data-explorer="mismatch"[^>]*>', page)
    assert 'data-main="d"' in explorer
    assert 'data-settings="ratio=2"' in explorer
    assert page.count("data-main") == 1, "the first one, where the page names none"
    assert page.index(explorer) < page.index("Below it.")
    (warning,) = warnings.splitlines()
    assert "must be: words" in warning  # what is no setting stays words
    assert "steep." in page
