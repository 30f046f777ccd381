"""The package by itself: a wheel that holds what it needs, and imports that bring no machinery."""

import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from towers import ROOT, TOWERS

from claimbook.site import downloads

PACKAGES = ("iclutils", "claimbook")
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


def test_the_wheel_holds_what_it_needs_and_the_towers_no_repository_and_no_machinery(tmp_path):
    """The same files give the same bytes; what makes a book of it is an extra."""
    wheel = downloads.wheel()
    assert wheel == downloads.wheel()
    archive = zipfile.ZipFile(io.BytesIO(wheel))
    files = {path for package in PACKAGES for path in (ROOT / package).rglob("*.*")}
    names = {path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc"}
    names |= {f"claimbook/carried/{name}" for name in ("_toc.yml", "book/claims.yml")}
    assert names - set(archive.namelist()) == set()
    (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
    needs = re.findall("^Requires-Dist: (.*)$", archive.read(metadata).decode(), re.MULTILINE)
    always = {need.partition("==")[0] for need in needs if "extra ==" not in need}
    assert always == {"torch", "numpy", "scipy", "jaxtyping"}
    assert any(need.startswith("jupyter-book") and 'extra == "book"' in need for need in needs)
    archive.extractall(tmp_path / "site")
    command = [sys.executable, "-c", IMPORTS, *TOWERS, "stats"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    file, machinery = done.stdout.splitlines()
    assert Path(file).is_relative_to(tmp_path / "site")
    assert machinery == "[]"
