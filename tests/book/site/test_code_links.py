"""Names in a chapter's code as links: what its imports bind, and which tokens carry the link."""

from iclutils.book.site.aids.code_links import imported, linked, target

OBJECTS = {"iclutils.window.theory.isotropic": 0, "iclutils.window.theory.isotropic.sampled": 1}
NAMES = {"isotropic": "iclutils.window.theory.isotropic"}


def test_imports_bind_names_of_the_package_alone():
    sources = [
        "import torch\nfrom iclutils.window.theory import isotropic as exact, linear",
        "%matplotlib inline",
        "linear = 3",
        "def f(x):\n    return x",
    ]
    assert imported(sources) == {"exact": "iclutils.window.theory.isotropic"}


def test_the_longest_documented_part_is_the_target():
    found = target("isotropic.sampled.at", NAMES, OBJECTS)
    assert found == ("iclutils.window.theory.isotropic.sampled", 2)
    assert target("isotropic.unknown", NAMES, OBJECTS)[1] == 1
    assert target("torch.ones", NAMES, OBJECTS) == ("", 0)


def test_tokens_become_a_link():
    dot = '<span class="o">.</span>'
    chain = f'<span class="n">isotropic</span>{dot}<span class="n">sampled</span>'
    other = f'<span class="n">loss</span>{dot}<span class="n">isotropic</span>'
    text = linked(f"{chain} {other}", NAMES, OBJECTS, lambda path: f"#{path}")
    start = f'<a class="code-link" href="#{NAMES["isotropic"]}.sampled"'
    assert text.startswith(start)
    assert text.count("<a ") == 1
    assert text.endswith(other)
