"""The package by itself: a wheel that holds what it needs, and imports that bring no machinery."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

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


def run(command, folder, **environment):
    how = {"capture_output": True, "text": True, "timeout": 120}
    done = subprocess.run(command, cwd=folder, env=os.environ | environment, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_wheel_holds_what_it_needs_and_the_towers_no_repository_and_no_machinery(tmp_path):
    """What makes a book of it is an extra."""
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*")]
    names = {path.relative_to(ROOT).as_posix() for path in files if path.is_file()}
    for name in ("pyproject.toml", "requirements.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("*.pyc"))
    wheel = tmp_path / "dist" / run([sys.executable, "-c", BUILD], tmp_path)[-1]
    archive = zipfile.ZipFile(wheel)
    missing = names - set(archive.namelist())
    assert [name for name in missing if "__pycache__" not in name] == []
    (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
    needs = re.findall("^Requires-Dist: (.*)$", archive.read(metadata).decode(), re.MULTILINE)
    always = {need.partition("==")[0] for need in needs if "extra ==" not in need}
    assert always == {"torch", "numpy", "scipy", "jaxtyping"}
    assert any(need.startswith("jupyter-book") and 'extra == "book"' in need for need in needs)
    archive.extractall(tmp_path / "site")
    imports = [sys.executable, "-c", IMPORTS, *TOWERS, "stats"]
    file, machinery = run(imports, tmp_path / "dist", PYTHONPATH=str(tmp_path / "site"))
    assert Path(file).is_relative_to(tmp_path / "site")
    assert machinery == "[]"
