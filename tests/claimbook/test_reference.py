"""The reference on the site: every module has its place, and every example in it runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from towers import ROOMS

ROOT = Path(__file__).resolve().parents[2]


def modules(room: str) -> list[str]:
    """The dotted names of the modules of a package."""
    package = importlib.import_module(room)
    walk = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    return [module.name for module in walk if not module.ispkg]


def shown(room: str) -> list[str]:
    """The same; what offers another module's functions or classes as its own stands for it."""
    stands = {}
    inside = modules(f"iclutils.{room}")
    for name in {part for module in inside for part in (module, module.rpartition(".")[0])}:
        found = importlib.import_module(name)
        for offered in getattr(found, "__all__", ()):
            stands[getattr(getattr(found, offered), "__module__", name)] = name
    return sorted({stands.get(name, name) for name in inside})


PACKAGES = (*(f"iclutils.{room}" for room in ROOMS), "claimbook")
MODULES = [name for package in PACKAGES for name in modules(package)]


@pytest.mark.parametrize("room", ROOMS)
def test_every_module_stands_on_its_page(room):
    page = ROOT / "book" / "reference" / f"{room}.md"
    assert page.exists(), f"book/reference/{room}.md is missing: a page like stages.md, in _toc.yml"
    found = sorted(re.findall(r"automodule:: (\S+)", page.read_text(encoding="utf8")))
    assert found == shown(room), f"what book/reference/{room}.md lists, and the modules there are"


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
