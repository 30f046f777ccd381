"""Where a run comes from: commit, environment, and whether it was compared with its reference.

And the stamp: one sentence that says so and no more. The checker keeps an *origin* beside every run
in the cache; the site reads it when it is built.

    python -m claimbook.runs.origin      what a run made now would be stamped with
"""

import hashlib
import platform
import subprocess
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from claimbook.files import ROOT
from claimbook.runs import code

AGREES, DISAGREES = "agrees", "disagrees"
GIT_TIMEOUT = 60.0  # seconds

# The states of a run, as its stamp words them.
COMPARED = "run and compared with the reference values"
DIFFERS = "run; found to differ from the reference values"
OUTDATED = "run; the reference values were changed after the comparison with them"
OWN_SETTINGS = "run at other settings than the book's, compared with nothing"
ONLY_RUN = (
    "run by make book and shown as it came out "
    "(make check also compares a run with the reference values)"
)
NOT_RUN = "not run"


class Origin(TypedDict, total=False):
    """What is kept about a run; ``outcome`` and ``reference`` where it was compared."""

    commit: str | None
    clean: bool | None
    environment: str
    python: str
    date: str
    outcome: str | None
    reference: str | None


class Commit(NamedTuple):
    """The checked-out commit and whether the tree is just that; both None where there is none."""

    name: str | None
    clean: bool | None


NO_COMMIT = Commit(None, None)


def git(root: Path, *arguments: str) -> str | None:
    """What git says about ``root``, or None where there is no git or it refuses."""
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=GIT_TIMEOUT)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit(root: Path = ROOT) -> Commit:
    """The commit of ``root``, which must be a checkout of its own and not lie inside another."""
    top = git(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != root.resolve():
        return NO_COMMIT
    head = git(root, "rev-parse", "--short=10", "HEAD")
    changes = git(root, "status", "--porcelain")
    return Commit(head, changes == "") if head else NO_COMMIT


def environment(root: Path = ROOT) -> str:
    """A digest of what the code ran on, as far as the book pins it: interpreter and lock."""
    return code.digest([], root)[:8]


def reference(name: str, root: Path = ROOT) -> str | None:
    """A digest of the chapter's reference values, or None where it has none."""
    path = root / "tests" / "expected" / f"{name}.yml"
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else None


def now(root: Path = ROOT) -> Origin:
    """The origin of a run that starts now."""
    head, clean = commit(root)
    return Origin(
        commit=head,
        clean=clean,
        environment=environment(root),
        python=platform.python_version(),
        date=datetime.now(UTC).date().isoformat(),
    )


class Run(NamedTuple):
    """What the stamp needs of one chapter's run; all empty where there is none.

    ``seconds`` is processor time, ``seed`` the master seed.
    """

    state: str = NOT_RUN
    seconds: float | None = None
    seed: Any = None
    origin: Origin = Origin()


def state(origin: Origin, reference_now: str | None, default_settings: bool) -> str:
    """The words for a run with this origin, beside the reference values as they are now."""
    if not default_settings:
        return OWN_SETTINGS
    if origin.get("outcome") not in (AGREES, DISAGREES):
        return ONLY_RUN
    if origin["reference"] != reference_now:
        return OUTDATED
    return COMPARED if origin["outcome"] == AGREES else DIFFERS


def commit_words(origin: Origin) -> str:
    """The commit of a run, and whether the tree was clean."""
    if "commit" not in origin:
        return "commit not recorded"
    if origin["commit"] is None:
        return "no commit (not a git checkout)"
    tree = "clean" if origin["clean"] else "with uncommitted changes"
    return f"commit {origin['commit']} ({tree})"


def details(runs: Sequence[Run]) -> list[str]:
    """Commit, environment, seed, runtime and date of some runs: each once, in the book's order.

    The date is left out where no run has one.
    """
    environments = [run.origin.get("environment", "not recorded") for run in runs]
    dates = [run.origin["date"] for run in runs if "date" in run.origin]
    found = [
        _each([commit_words(run.origin) for run in runs]),
        "environment " + _each(environments),
        "master seed " + _each([str(run.seed) for run in runs]),
        _timed(runs),
    ]
    return [*found, _each(dates)] if dates else found


def _each(words: Sequence[str]) -> str:
    """Every one of some words once."""
    return " and ".join(dict.fromkeys(words))


def _timed(runs: Sequence[Run]) -> str:
    seconds = [run.seconds for run in runs if run.seconds is not None]
    if not seconds:
        return "not timed"
    missing = len(runs) - len(seconds)
    rest = f" ({missing} not timed)" if missing else ""
    return f"{sum(seconds):.0f} s on one core{rest}"


def sentence(run: Run) -> str:
    """The stamp of a chapter."""
    if run.state == NOT_RUN:
        return "The code of this page was not run."
    return f"The code of this page: {run.state}; {', '.join(details([run]))}."


def summary(runs: Sequence[Run]) -> str:
    """The stamp of a page without code of its own: all chapters together."""
    if not runs:
        return "The book has no chapters yet."
    counts = Counter(run.state for run in runs)
    what = "; ".join(f"{number} {state}" for state, number in counts.items())
    if len(counts) == 1 and len(runs) > 1:
        what = f"all {what}"
    made = [run for run in runs if run.state != NOT_RUN]
    origins = f"; {', '.join(details(made))}" if made else ""
    return f"The chapters' code: {what}{origins}."


if __name__ == "__main__":
    for field, value in now().items():
        print(f"{field:12} {value}")
