"""Formulas are typeset when the book is built; one that cannot be is reported with its place."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from claimbook.site import mathematics
from claimbook.site.mathematics import close_engine, formula_html


@pytest.fixture(autouse=True, scope="module")
def engine():
    yield
    close_engine()


@pytest.mark.parametrize("tex", [r"\sigma_{\min}", r"F^{\cos}_L", r"K_{\max}^{2}", r"\cos^2 x"])
def test_a_script_has_as_many_children_as_mathml_allows(tex):
    html = formula_html(tex)
    tree = ElementTree.fromstring(html[html.index("<math") : html.index("</math>") + 7])
    allowed = {"msub": 2, "msup": 2, "msubsup": 3}
    counts = [(one.tag.rpartition("}")[2], len(one)) for one in tree.iter()]
    scripts = [(tag, count) for tag, count in counts if tag in allowed]
    assert scripts
    assert all(count == allowed[tag] for tag, count in scripts)


@pytest.mark.parametrize(
    ("tex", "fault"),
    [
        (r"\frac{a}{", "expected '}'"),
        ("x = 语", "strict mode"),  # LaTeX has no such letter in a formula
        ("\N{SNOWMAN}", "Unrecognized Unicode character"),
    ],
)
def test_a_fault_is_in_the_words_of_katex(tex, fault):
    with pytest.raises(mathematics.FormulaError, match=re.escape(fault)):
        formula_html(tex)


PAGE = r"""# Page

In a sentence ($x^2$), and $k$-fold, $n$; plain $y$ here.

```{math}
:label: eq-one
a &= b \\
c &= d
```

See {eq}`eq-one`.

| head $h$ | b |
| --- | --- |
| $c_1$ | 2 |

Pairs $(1,2),(3,4)$. Bad: $\frac{a}{$.
"""


@pytest.fixture(scope="module")
def page(built, tmp_path_factory):
    """Return the built page and its warnings."""
    return built(tmp_path_factory.mktemp("book"), PAGE)


def test_every_formula_of_a_page_is_typeset_and_no_script_is_loaded_for_it(page):
    html, warnings = page
    assert html.count('<span class="katex">') == html.count("<math ") == 8
    assert "mathjax" not in html.lower()
    assert not re.search(r"\\\(|\\\[", html)
    # a fault names the page and the line
    (warning,) = warnings.splitlines()
    fault = r"index\.md:\d+: WARNING: formula '\\\\frac\{a\}\{': KaTeX parse error"
    assert re.search(fault, warning)
    assert r'<code class="katex-error">\frac{a}{</code>' in html


@pytest.mark.parametrize(
    ("piece", "count"),
    [
        # equations are numbered, linked, and reached by keyboard; Sphinx's rules break their lines
        (r"\begin{split}a", 1),
        ('<span class="eqno">(1)', 1),
        ('href="#equation-eq-one"', 2),
        ('id="equation-eq-one"', 1),
        ('role="group" tabindex="0" aria-label="Equation', 1),
        # what touches a formula stays with it, and a list may break but is copied as it was written
        ('<span class="kept">(<span class="math', 1),
        ("</span>),</span> and ", 1),
        ("</span>-</span>fold, ", 1),
        ("</span>;</span> plain ", 1),
        (">(1,2),(3,4)</annotation>", 1),
        (r"\allowbreak", 0),
        ("<wbr>", 1),
    ],
)
def test_a_page_has_its_pieces(page, piece, count):
    assert page[0].count(piece) == count
