"""Where a run comes from: commit, date, versions, machine.

python -m claimbook.runs.provenance      print the provenance of a run made now
"""

import importlib.metadata
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from claimbook.files import ROOT
from claimbook.runs.page_key import digest

PACKAGES = ("torch", "numpy", "joblib")  # whose versions can change a number


def here(root: Path = ROOT) -> dict[str, Any]:
    """Describe a run that starts now: commit, environment, versions, machine and date.

    ``commit`` is None outside of a checkout; ``clean`` tells whether the tree is just that commit.
    ``environment`` is a digest of the interpreter and the lock.
    """
    name, clean = commit(root)
    return {
        "commit": name,
        "clean": clean,
        "environment": digest([], root)[:8],
        "python": platform.python_version(),
        "versions": {package: version(package) for package in PACKAGES},
        "machine": processor(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def commit(root: Path = ROOT) -> tuple[str | None, bool | None]:
    """Ask git for the commit of ``root``, and whether the tree is clean.

    Both are None where ``root`` is no checkout of its own.
    """
    top = git(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != root.resolve():
        return None, None
    head = git(root, "rev-parse", "--short=10", "HEAD")
    return (head, git(root, "status", "--porcelain") == "") if head else (None, None)


def git(root: Path, *arguments: str) -> str | None:
    """Ask git about ``root``; None where there is no git or it refuses."""
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def version(package: str) -> str:
    """Look up the version of a package; empty where it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def processor() -> str:
    """Name the processor where Linux tells it, else the architecture."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


if __name__ == "__main__":
    for field, value in here().items():
        print(f"{field:12} {value}")
