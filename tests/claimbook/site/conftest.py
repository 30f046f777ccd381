"""A ledger with a row of every verdict, reading and kind of control, and what a run found."""

import io

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from claimbook.files import ROOT, write_atomically
from claimbook.ledger import Ledger, load, plain
from claimbook.ledger.comparison import Measured
from claimbook.runs.notebooks import Run
from claimbook.site.content import Content
from claimbook.site.mathematics import close_engine
from claimbook.site.views import Views

CLAIMS = ROOT / "tests" / "fixtures" / "fair_claims.yml"
CHAPTER = "00_mini"
SETTINGS = {
    "extensions": ["myst_parser", "sphinx.ext.mathjax", "claimbook.site.mathematics"],
    "html_math_renderer": "katex",
    "html_theme": "basic",
    "myst_enable_extensions": ["dollarmath"],
    "myst_update_mathjax": False,
}
SEEDS = {
    "fair-holds": {"1": "holds", "2": "not holds"},
    "fair-part": {"1": "holds in part", "2": "holds in part"},
}


def checked():
    """Return the records of the rows of ``tests/fixtures/fair_claims.yml``, by their ids."""
    ledger = Ledger(CHAPTER, path=CLAIMS, seed=0, trials=400)
    up, down, noisy = (Measured(value, 0.05 * 6.62, 9) for value in (1.02, -1.07, 0.01))
    slope = Measured(0.43, 0.02, 9)
    ledger.check("fair-holds", up, controls={"reversed": down, "other-draws": noisy})
    parts = {"affine": up, "ReLU": down, "cosine": noisy}
    ledger.check("fair-part", parts, controls={"reversed": down}, value=up)
    ledger.check("fair-fails", slope, controls={"flat": slope, "corrected": slope})
    wide = Measured(0.05, 0.5, 9)
    ledger.check("fair-undecided", wide, controls={"shifted": wide})
    ledger.check("fair-blunt", Measured(-1.02, 0.3, 9), controls={"smaller": noisy})
    turned = Ledger(CHAPTER, path=CLAIMS, seed=0, trials=300)  # a run with a turned knob
    turned.check("fair-ours", 1.02, controls={"other": 1.02})
    return {**ledger.records, **turned.records}


@pytest.fixture(scope="session")
def content():
    """Make the content of a site with this one chapter."""
    provenance = {"commit": "abc1234567", "clean": True, "environment": "e1", "python": "3.11"}
    run = Run(None, "key", {**provenance, "date": "2026-01-02", "seconds": 61.2})
    content = Content()
    vars(content).update(
        {
            "claims": plain(load(CLAIMS)),
            "chapters": [CHAPTER],
            "headings": {CHAPTER: "0. The mean of a sample"},
            "runs": {CHAPTER: run},
            "records": checked(),
            "seeds": SEEDS,
            "states": {CHAPTER: "agrees with its reference values"},
        }
    )
    return content


@pytest.fixture(scope="session")
def views(content):
    """Its views; the engine that typesets formulas is closed at the end."""
    yield Views(content)
    close_engine()


@pytest.fixture(scope="session")
def built():
    """Return a function: the page that Sphinx alone makes of a text, and the warnings."""

    def built(folder, text, prepare=lambda app: None, name="index"):
        write_atomically(folder / f"{name}.md", text)
        warnings = io.StringIO()
        paths = [str(folder), None, str(folder / "out"), str(folder / "trees"), "html"]
        config = {**SETTINGS, "root_doc": name}
        # in a world of its own: what a builder of before had registered would be a warning here
        with patch_docutils(folder), docutils_namespace():
            app = Sphinx(*paths, confoverrides=config, status=None, warning=warnings, freshenv=True)
            prepare(app)
            app.build()
        html = (folder / "out" / f"{name}.html").read_text(encoding="utf8")
        return html, warnings.getvalue()

    return built
