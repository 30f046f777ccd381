"""Where a run comes from: the commit, the environment, and whether it was held against its reference. And the stamp:
one sentence that says so and no more.

The checker (``conftest.py``) keeps an *origin* beside every run in the cache; the site reads it when it is built.

    python book/_ext/bookorigin.py      what a run made now would be stamped with
"""

import hashlib
import platform
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
AGREES, DISAGREES = "agrees", "disagrees"

# The states of a run, as its stamp words them.
COMPARED = "run and compared with its reference values"
DIFFERS = "run; it differs from its reference values"
OUTDATED = "run; its reference values were changed after it was compared with them"
OWN_SETTINGS = "run at other settings than the book's, compared with nothing"
ONLY_RUN = "run, not compared with its reference values"
NOT_RUN = "not run"


def git(root: Path, *arguments: str) -> str | None:
    """What git says about ``root``, or None where there is no git or it refuses."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit(root: Path = ROOT) -> tuple[str | None, bool | None]:
    """The checked-out commit and whether the tree is just that; (None, None) where ``root`` is no checkout of its own."""
    top = git(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != root.resolve():
        return None, None
    head, changes = git(root, "rev-parse", "--short=10", "HEAD"), git(root, "status", "--porcelain")
    return (head, changes == "") if head else (None, None)


def environment(root: Path = ROOT) -> str:
    """A digest of the interpreter's version and the lock: what the code ran on, as far as the book pins it."""
    digest = hashlib.sha256(f"{platform.python_implementation()} {platform.python_version()}\n".encode())
    lock = root / "requirements.lock"
    digest.update(lock.read_bytes() if lock.exists() else b"")
    return digest.hexdigest()[:8]


def reference(name: str, root: Path = ROOT) -> str | None:
    """A digest of the chapter's reference values, or None where it has none."""
    path = root / "tests" / "expected" / f"{name}.yml"
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else None


def now(root: Path = ROOT) -> dict[str, Any]:
    """The origin of a run that starts now; ``outcome`` and ``reference`` join it when the run was compared."""
    head, clean = commit(root)
    return {"commit": head, "clean": clean, "environment": environment(root), "python": platform.python_version(),
            "date": datetime.now(UTC).date().isoformat()}


class Run(NamedTuple):
    """What the stamp needs of one chapter's run; all empty where there is none."""

    state: str = NOT_RUN
    seconds: float | None = None
    seed: Any = None
    origin: Mapping[str, Any] = {}


def state(origin: Mapping[str, Any], reference_now: str | None, default_settings: bool) -> str:
    """The words for a run with this origin, beside the reference values as they are now."""
    if not default_settings:
        return OWN_SETTINGS
    if origin.get("outcome") not in (AGREES, DISAGREES):
        return ONLY_RUN
    if origin["reference"] != reference_now:
        return OUTDATED
    return COMPARED if origin["outcome"] == AGREES else DIFFERS


def commit_words(origin: Mapping[str, Any]) -> str:
    if "commit" not in origin:
        return "commit not recorded"
    if origin["commit"] is None:
        return "no commit (not a git checkout)"
    return f"commit {origin['commit']} ({'clean' if origin['clean'] else 'with uncommitted changes'})"


def details(runs: Sequence[Run]) -> list[str]:
    """Commit, environment, seed, runtime and date of some runs: each once, in the order of the book."""
    def each(words: Sequence[str]) -> str:
        return " and ".join(dict.fromkeys(words))

    seconds = [run.seconds for run in runs if run.seconds is not None]
    timed = f"{sum(seconds):.0f} s on one core" if seconds else "not timed"
    missing = len(runs) - len(seconds)
    dates = [run.origin["date"] for run in runs if "date" in run.origin]
    return [each([commit_words(run.origin) for run in runs]),
            "environment " + each([run.origin.get("environment", "not recorded") for run in runs]),
            "master seed " + each([str(run.seed) for run in runs]),
            timed + (f" ({missing} not timed)" if seconds and missing else ""),
            *([each(dates)] if dates else [])]


def sentence(run: Run) -> str:
    """The stamp of a chapter."""
    if run.state == NOT_RUN:
        return "The code of this page was not run."
    return f"The code of this page: {run.state}; {', '.join(details([run]))}."


def plural(words: str) -> str:
    return words.replace("its ", "their ").replace("it was", "they were").replace("it differs", "they differ")


def summary(runs: Sequence[Run]) -> str:
    """The stamp of a page without code of its own: all chapters together."""
    if not runs:
        return "The book has no chapters yet."
    counts = Counter(run.state for run in runs)
    groups = [f"{number} {words if number == 1 else plural(words)}" for words, number in counts.items()]
    what = "all " * (len(counts) == 1 and len(runs) > 1) + "; ".join(groups)
    made = [run for run in runs if run.state != NOT_RUN]
    return f"The chapters' code: {what}" + (f"; {', '.join(details(made))}." if made else ".")


if __name__ == "__main__":
    for field, value in now().items():
        print(f"{field:12} {value}")
