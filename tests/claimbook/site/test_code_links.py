"""Names in a chapter's code as links: what its imports bind, and which tokens carry the link."""

from claimbook.site.aids.code_links import imported, linked

OBJECTS = {"iclutils.window.theory.isotropic": 0, "iclutils.window.theory.isotropic.sampled": 1}
NAMES = {"isotropic": "iclutils.window.theory.isotropic"}


def test_imports_bind_names_of_the_package_alone():
    sources = [
        "import torch\nfrom iclutils.window.theory import isotropic as exact, linear",
        "%matplotlib inline",
        "linear = 3",
        "def f(x):\n    return x",
        "from iclutils.ground.statistics import line, mean_se",
        "def line(mean_se):\n    return mean_se",
    ]
    assert imported(sources) == {"exact": "iclutils.window.theory.isotropic"}


def chain(*words):
    """A dotted name as highlighted code."""
    return '<span class="o">.</span>'.join(f'<span class="n">{word}</span>' for word in words)


def link(words):
    return linked(words, NAMES, OBJECTS, lambda path: f"#{path}")


def test_the_longest_documented_part_is_the_target():
    found = link(chain("isotropic", "sampled", "at"))
    assert f'title="{NAMES["isotropic"]}.sampled">{chain("isotropic", "sampled")}</a>' in found
    found = link(chain("isotropic", "unknown"))
    assert f'title="{NAMES["isotropic"]}">{chain("isotropic")}</a>' in found
    assert link(chain("torch", "ones")) == chain("torch", "ones")


def test_tokens_become_a_link():
    other = chain("loss", "isotropic")
    text = link(f"{chain('isotropic', 'sampled')} {other}")
    start = f'<a class="code-link" href="#{NAMES["isotropic"]}.sampled"'
    assert text.startswith(start)
    assert text.count("<a ") == 1
    assert text.endswith(other)
