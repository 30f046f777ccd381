"""The stamp of a page: one sentence that says which run it shows, and whether that was compared."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from claimbook.check.differences import differences
from claimbook.check.snapshot import Snapshot, expected_path, read_expected

# The states of a run, as its stamp words them.
COMPARED = "run and compared with the reference values"
DIFFERS = "run; found to differ from the reference values"
NO_REFERENCE = "run; it has no reference values yet"
OWN_SETTINGS = "run at other settings than the book's, compared with nothing"
NOT_RUN = "not run"


class Run(NamedTuple):
    """What the stamp needs of one chapter's run; all empty where there is none.

    ``seconds`` is processor time, ``seed`` the master seed.
    """

    state: str = NOT_RUN
    seconds: float | None = None
    seed: Any = None
    origin: Mapping[str, Any] = {}


def state(page: str, notebook: Any, default_settings: bool) -> str:
    """Compare a run with its reference values, and say in words how they agree."""
    if not default_settings:
        return OWN_SETTINGS
    if not expected_path(page).exists():
        return NO_REFERENCE
    return DIFFERS if differences(read_expected(page), Snapshot.of(notebook)) else COMPARED


def commit_words(origin: Mapping[str, Any]) -> str:
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

