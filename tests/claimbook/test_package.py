"""The package by itself: a wheel that holds what it needs, and imports that bring no machinery."""

import os
import re
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


def test_the_wheel_holds_every_module_and_its_data_and_asks_for_little(wheel):
    """What makes a book of it is an extra."""
    archive = zipfile.ZipFile(wheel)
    there = archive.namelist()
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*")]
    names = {path.relative_to(ROOT).as_posix() for path in files if path.is_file()}
    assert not [name for name in names - set(there) if "__pycache__" not in name]
    metadata = archive.read(next(name for name in there if name.endswith("METADATA"))).decode()
    needed = re.findall("^Requires-Dist: (.*)$", metadata, re.MULTILINE)
    always = {one.partition("==")[0] for one in needed if "extra ==" not in one}
    assert always == {"torch", "numpy", "scipy", "jaxtyping"}
    assert any(one.startswith("jupyter-book") and 'extra == "book"' in one for one in needed)


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
