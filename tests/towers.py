"""The towers of the house: the package's own folders, so that a new one is listed nowhere.

A tower is a folder of ``iclutils`` that is not the ground. What a
theory may see of its own tower, beside other theories, are its data: the modules that the tower's
``__init__`` names in ``DATA``. Everything else may train or predict.
"""

import importlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "iclutils"
PRESS = ROOT / "claimbook"
GROUND = "ground"
FOLDERS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
TOWERS = tuple(sorted(FOLDERS - {GROUND}))
ROOMS = (GROUND, *TOWERS)


def data(tower: str) -> set[str]:
    """The modules of a tower that its theory may see."""
    return set(getattr(importlib.import_module(f"iclutils.{tower}"), "DATA", ()))
