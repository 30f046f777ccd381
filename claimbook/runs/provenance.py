"""Where a row of a recorded sweep was made: machine, versions, date and commit."""

import functools
import importlib.metadata
import platform
import time
from pathlib import Path
from typing import Any

from claimbook.runs import origin

PACKAGES = ("torch", "numpy", "joblib")
FIELDS = ("machine", "versions", "python", "date", "commit")


def here(device: str = "cpu") -> dict[str, Any]:
    """The provenance of a row that is made now, on this machine and ``device``."""
    return {
        "machine": machine() if device == "cpu" else f"{machine()}, {device}",
        "versions": {package: importlib.metadata.version(package) for package in PACKAGES},
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": commit(),
    }


@functools.cache  # the code that runs is the one that was there at first
def commit() -> str:
    """The code's commit, marked where the working tree differs; empty where git cannot tell."""
    name, clean = origin.commit()
    if name is None:
        return ""
    return name if clean else f"{name}-dirty"


def machine() -> str:
    """The processor, and how much of it a job has."""
    return f"{processor()}, one core a job"


def processor() -> str:
    """The processor's name where Linux tells it, else the architecture's."""
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else []:
        field, _, value = line.partition(":")
        if field.strip() == "model name":
            return value.strip()
    return platform.machine()
