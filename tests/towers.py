"""The towers of the science: the folders of ``iclutils``, so that a new one is listed nowhere.

What lies beside the towers is shared by all of them. What a theory may see of its own tower, beside
other theories, are its data: the modules that the tower's ``__init__`` names in ``DATA``.
Everything else may train or predict.
"""

import importlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "iclutils"
PRESS = ROOT / "claimbook"
LIBRARIES = {"torch", "numpy", "scipy", "jaxtyping"}  # all that the science needs
STATS = "stats"  # shared by the towers, and a folder for its size
SHARED = {STATS, *(path.stem for path in PACKAGE.glob("*.py"))} - {"__init__"}
TOWERS = tuple(sorted({path.parent.name for path in PACKAGE.glob("*/__init__.py")} - {STATS}))


def data(tower: str) -> set[str]:
    """Return the modules of a tower that its theory may see."""
    return set(getattr(importlib.import_module(f"iclutils.{tower}"), "DATA", ()))
