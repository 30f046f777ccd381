"""Formulas are typeset when the book is built; one that cannot be is reported with its place."""

import io
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from claimbook.site import mathematics
from claimbook.site.mathematics import Formula


@pytest.fixture(scope="module")
def typesetter():
    typesetter = mathematics.Typesetter()
    yield typesetter
    typesetter.close()


def test_a_formula_has_glyphs_mathml_and_its_tex(typesetter):
    html = typesetter.html(Formula(r"w^*\sim\Lambda^{2/(d+3)}", display=False))
    assert 'class="katex-html" aria-hidden="true"' in html
    assert "<msup><mi>w</mi><mo>∗</mo></msup>" in html
    assert r'<annotation encoding="application/x-tex">w^*\sim\Lambda^{2/(d+3)}</annotation>' in html
    assert "katex-display" not in html
    assert "katex-display" in typesetter.html(Formula("x", display=True))


@pytest.mark.parametrize("tex", [r"\sigma_{\min}", r"F^{\cos}_L", r"K_{\max}^{2}", r"\cos^2 x"])
def test_a_script_has_as_many_children_as_mathml_allows(typesetter, tex):
    html = typesetter.html(Formula(tex, display=False))
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
def test_a_fault_is_said_in_the_words_of_katex(typesetter, tex, said):
    with pytest.raises(mathematics.FormulaError, match=re.escape(said)):
        typesetter.html(Formula(tex, display=False))


def test_an_engine_left_open_does_not_keep_python_from_ending():
    program = (
        "from claimbook.site.mathematics import Formula, Typesetter\n"
        "typesetter = Typesetter()\n"
        "print(len(typesetter.html(Formula('x', display=False))))\n"
        "typesetter.close()\n"
        "typesetter.close()\n"
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
def test_displayed_formulas_follow_the_rules_of_sphinx(typesetter, text, tex):
    assert mathematics.one_formula(text) == tex
    assert "katex-display" in typesetter.html(Formula(tex, display=True))


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

Pairs $(1,2),(3,4)$.
"""


class Book:
    """A book of one page, built by Sphinx alone."""

    def __init__(self, folder, text):
        self.warnings = io.StringIO()
        (folder / "index.md").write_text(text, encoding="utf8")
        settings = {
            "extensions": ["myst_parser", "sphinx.ext.mathjax", "claimbook.site.mathematics"],
            "html_math_renderer": "katex",
            "html_theme": "basic",
            "myst_enable_extensions": ["dollarmath", "amsmath"],
            "myst_update_mathjax": False,
        }
        self.out = folder / "out"
        # in a world of its own: what a builder of before had registered would be a warning here
        with patch_docutils(folder), docutils_namespace():
            app = Sphinx(
                folder,
                None,
                self.out,
                folder / "doctrees",
                "html",
                confoverrides=settings,
                status=None,
                warning=self.warnings,
            )
            app.build()
        self.html = (self.out / "index.html").read_text(encoding="utf8")


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return Book(tmp_path_factory.mktemp("book"), PAGE)


def test_every_formula_of_a_page_is_typeset_and_no_script_is_asked_for_it(book):
    assert book.warnings.getvalue() == ""
    assert book.html.count('<span class="katex">') == 9
    assert book.html.count("<math ") == 9
    assert "mathjax" not in book.html.lower()
    assert not re.search(r"\\\(|\\\[", book.html)


def test_equations_are_numbered_linked_and_reached_by_keyboard(book):
    assert '<span class="eqno">(1)' in book.html
    assert 'href="#equation-eq-one"' in book.html
    assert 'id="equation-eq-one"' in book.html
    assert book.html.count('role="group" tabindex="0" aria-label="Equation') == 2
    assert r"\begin{align*}" in book.html


def test_marks_stay_with_the_formula_that_they_touch(book):
    assert book.html.count('<span class="kept">') == 4
    assert '<span class="kept">(<span class="math' in book.html
    for after in ("), and ", "-fold, ", "; plain ", ".</p>"):
        mark = re.match(r"[^\w\s<]+", after)[0]
        assert f"</span>{mark}</span>{after.removeprefix(mark)}" in book.html
    assert "-fold" not in book.html
    assert "fold" in book.html


def test_a_list_of_pairs_may_break_and_copies_as_it_was_written(book):
    assert ">(1,2),(3,4)</annotation>" in book.html
    assert r"\allowbreak" not in book.html
    assert "<wbr>" in book.html


def test_style_and_fonts_are_shipped_and_the_engine_is_not(book):
    shipped = book.out / "_static" / "katex"
    style = (shipped / "katex.min.css").read_text(encoding="utf8")
    for font in set(re.findall(r"url\((fonts/[^)]*\.woff2)\)", style)):
        assert (shipped / font).exists(), font
    assert (shipped / "LICENSE").exists()
    assert not list(book.out.rglob("katex.min.js"))


def test_a_fault_names_the_page_and_the_line(tmp_path):
    book = Book(tmp_path, "# Page\n\nGood.\n\nThis is $\\frac{a}{$ bad.\n")
    assert re.search(
        r"index\.md:5: WARNING: formula '\\\\frac\{a\}\{': KaTeX parse error",
        book.warnings.getvalue(),
    )
    assert r'<code class="katex-error">\frac{a}{</code>' in book.html
