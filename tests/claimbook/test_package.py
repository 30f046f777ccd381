"""The package by itself: a wheel that holds what it needs, and imports that bring no machinery."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from towers import TOWERS

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("iclutils", "claimbook")
BUILD = "from setuptools import build_meta; print(build_meta.build_wheel('dist'))"
IMPORTS = """
import importlib, pkgutil, sys
import iclutils
for room in sys.argv[1:]:
    package = importlib.import_module(f"iclutils.{room}")
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
machinery = {"sphinx", "pytest", "nbval", "myst_nb", "matplotlib", "joblib", "yaml", "IPython"}
print(iclutils.__file__)
print(sorted(machinery & set(sys.modules)))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy of what git tracks of the package."""
    folder = tmp_path_factory.mktemp("wheel")
    ignore = shutil.ignore_patterns("__pycache__")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=ignore)
    for name in ("pyproject.toml", "requirements.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    command = [sys.executable, "-c", BUILD]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder / "dist" / done.stdout.split()[-1]


def test_the_wheel_holds_every_module_and_its_data(wheel):
    there = set(zipfile.ZipFile(wheel).namelist())
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*")]
    files = [path for path in paths if path.is_file()]
    names = {p.relative_to(ROOT).as_posix() for p in files if "__pycache__" not in p.parts}
    missing = names - there
    assert not missing


def test_its_requirements_are_few_and_the_books_are_an_extra(wheel):
    archive = zipfile.ZipFile(wheel)
    name = next(n for n in archive.namelist() if n.endswith("METADATA"))
    lines = archive.read(name).decode().splitlines()
    needed = {line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires")}
    always = {line.split("==")[0] for line in needed if "extra ==" not in line}
    assert {"torch", "numpy", "scipy", "jaxtyping"} == {n for n in always if "Python" not in n}
    assert any(line.startswith("jupyter-book") and 'extra == "book"' in line for line in needed)


def test_elsewhere_the_towers_need_no_repository_and_no_machinery(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-c", IMPORTS, *TOWERS, "stats"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    place, machinery = done.stdout.splitlines()
    assert Path(place).is_relative_to(tmp_path)
    assert machinery == "[]"
