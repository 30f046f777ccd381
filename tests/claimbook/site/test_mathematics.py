"""Formulas are typeset when the book is built; one that cannot be is reported with its place."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from claimbook.site import mathematics
from claimbook.site.mathematics import close_engine, formula_html

SETTINGS = {
    "extensions": ["myst_parser", "sphinx.ext.mathjax", "claimbook.site.mathematics"],
    "html_math_renderer": "katex",
    "myst_enable_extensions": ["dollarmath", "amsmath"],
    "myst_update_mathjax": False,
}


@pytest.fixture(autouse=True, scope="module")
def engine():
    yield
    close_engine()


def test_a_formula_has_glyphs_mathml_and_its_tex():
    html = formula_html(r"w^*\sim\Lambda^{2/(d+3)}")
    assert 'class="katex-html" aria-hidden="true"' in html
    assert "<msup><mi>w</mi><mo>∗</mo></msup>" in html
    assert r'<annotation encoding="application/x-tex">w^*\sim\Lambda^{2/(d+3)}</annotation>' in html
    assert "katex-display" not in html
    assert "katex-display" in formula_html("x", display=True)


@pytest.mark.parametrize("tex", [r"\sigma_{\min}", r"F^{\cos}_L", r"K_{\max}^{2}", r"\cos^2 x"])
def test_a_script_has_as_many_children_as_mathml_allows(tex):
    html = formula_html(tex)
    words = html[html.index("<math") : html.index("</math>") + 7]
    allowed = {"msub": 2, "msup": 2, "msubsup": 3}
    found = [(e.tag.rpartition("}")[2], len(e)) for e in ElementTree.fromstring(words).iter()]
    scripts = [(tag, children) for tag, children in found if tag in allowed]
    assert scripts
    assert all(children == allowed[tag] for tag, children in scripts)


@pytest.mark.parametrize(
    ("tex", "said"),
    [
        (r"\frac{a}{", "expected '}'"),
        (r"\nosuchcommand", "Undefined control sequence"),
        ("x^2^3", "Double superscript"),
        ("a & b", "Expected 'EOF'"),
        ("x = 语", "strict mode"),  # LaTeX has no such letter in a formula
        ("\N{SNOWMAN}", "Unrecognized Unicode character"),
    ],
)
def test_a_fault_is_said_in_the_words_of_katex(tex, said):
    with pytest.raises(mathematics.FormulaError, match=re.escape(said)):
        formula_html(tex)


def test_a_closed_engine_lets_python_end():
    program = (
        "from claimbook.site.mathematics import close_engine, formula_html\n"
        "close_engine()\n"
        "print(len(formula_html('x')))\n"
        "close_engine()\n"
        "close_engine()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("\na = b\n", "a = b"),
        (r"a \\ b", r"\begin{split}a \\ b\end{split}"),
        ("a = b\n\nc = d", r"\begin{aligned}a = b\\c = d\end{aligned}"),
    ],
)
def test_displayed_formulas_follow_the_rules_of_sphinx(text, tex):
    assert mathematics.one_formula(text) == tex
    assert "katex-display" in formula_html(tex, display=True)


PAGE = r"""# Page

In a sentence ($x^2$), and $k$-fold, $n$; plain $y$ here.

```{math}
:label: eq-one
a = b
```

See {eq}`eq-one`.

\begin{align}
u &= v \\
w &= z
\end{align}

| head $h$ | b |
| --- | --- |
| $c_1$ | 2 |

Pairs $(1,2),(3,4)$. Bad: $\frac{a}{$.
"""


@pytest.fixture(scope="module")
def page(built, tmp_path_factory):
    """The built page, what was warned of, and the files that were shipped."""
    folder = tmp_path_factory.mktemp("book")
    return *built(folder, PAGE, **SETTINGS), folder / "out"


def test_every_formula_of_a_page_is_typeset_and_no_script_is_asked_for_it(page):
    html, said, _ = page
    assert html.count('<span class="katex">') == html.count("<math ") == 9
    assert "mathjax" not in html.lower()
    assert not re.search(r"\\\(|\\\[", html)
    # a fault names the page and the line
    assert re.search(r"index\.md:\d+: WARNING: formula '\\\\frac\{a\}\{': KaTeX parse error", said)
    assert len(said.splitlines()) == 1
    assert r'<code class="katex-error">\frac{a}{</code>' in html


def test_equations_are_numbered_linked_and_reached_by_keyboard(page):
    html, *_ = page
    assert '<span class="eqno">(1)' in html
    assert 'href="#equation-eq-one"' in html
    assert 'id="equation-eq-one"' in html
    assert html.count('role="group" tabindex="0" aria-label="Equation') == 2
    assert r"\begin{align*}" in html


def test_what_touches_a_formula_stays_with_it_and_a_list_may_break(page):
    html, *_ = page
    assert '<span class="kept">(<span class="math' in html
    for after in ("), and ", "-fold, ", "; plain "):
        mark = re.match(r"[^\w\s<]+", after)[0]
        assert f"</span>{mark}</span>{after.removeprefix(mark)}" in html
    assert ">(1,2),(3,4)</annotation>" in html  # and it is copied as it was written
    assert r"\allowbreak" not in html
    assert "<wbr>" in html


def test_style_and_fonts_are_shipped_and_the_engine_is_not(page):
    shipped = page[2] / "_static" / "katex"
    style = (shipped / "katex.min.css").read_text(encoding="utf8")
    for font in set(re.findall(r"url\((fonts/[^)]*\.woff2)\)", style)):
        assert (shipped / font).exists(), font
    assert (shipped / "LICENSE").exists()
    assert not list(page[2].rglob("katex.min.js"))
