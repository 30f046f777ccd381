"""The reference on the site: every module has its place, and every example in it runs."""

import doctest
import importlib
import pkgutil
import re

import pytest
from towers import PACKAGE, PRESS, ROOT


def modules(name: str) -> list[str]:
    """Return the dotted names of the modules of a package."""
    package = importlib.import_module(name)
    walk = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    return [module.name for module in walk if not module.ispkg]


def shown() -> list[str]:
    """Return the science's modules; one that offers another's functions as its own replaces it."""
    stands = {}
    inside = modules(PACKAGE.name)
    for name in {part for module in inside for part in (module, module.rpartition(".")[0])}:
        found = importlib.import_module(name)
        for offered in getattr(found, "__all__", ()):
            stands[getattr(getattr(found, offered), "__module__", name)] = name
    return sorted({stands.get(name, name) for name in inside})


MODULES = [name for package in (PACKAGE, PRESS) for name in modules(package.name)]


def test_every_module_stands_on_a_page():
    pages = [path.read_text(encoding="utf8") for path in (ROOT / "book" / "reference").glob("*.md")]
    listed = sorted(name for page in pages for name in re.findall(r"automodule:: (\S+)", page))
    assert listed == shown()


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
