"""The package as a wheel that carries the ledger and the records: what a notebook taken home needs.

Outside of a checkout the book's own files are found under :data:`claimbook.files.CARRIED`.
"""

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from claimbook.files import CARRIED, ROOT

CARRIES = ("_toc.yml", "pyproject.toml", "book/claims.yml", "book/recorded")
PACKAGES = ("iclutils", "claimbook")
BUILT_FROM = ("pyproject.toml", "requirements.in", "LICENSE")
BUILD = "from setuptools import build_meta; build_meta.build_wheel('.')"
NAME = f"iclutils-{version('iclutils')}-py3-none-any.whl"  # which installers read


def wheel(root: Path = ROOT) -> bytes:
    """Build the wheel of a checkout; the same files give the same bytes."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        compiled = shutil.ignore_patterns("__pycache__")
        for name in PACKAGES:
            shutil.copytree(root / name, folder / name, ignore=compiled)
        for name in BUILT_FROM:
            shutil.copy(root / name, folder)
        for name in CARRIES:
            path, carried = root / name, folder / "claimbook" / CARRIED / name
            carried.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.copytree(path, carried)
            elif path.exists():
                shutil.copy(path, carried)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "315532800"}  # the oldest that ZIP knows
        command = [sys.executable, "-c", BUILD]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"The wheel could not be built: {done.stderr}")
        return (folder / NAME).read_bytes()
