"""The command line of the recorded sweeps: run one, or say what it will cost."""

import argparse
from collections.abc import Mapping

from claimbook.runs import sweeps
from claimbook.runs.sweeps import Sweep
from iclutils.ground import arguments


def main(known: Mapping[str, Sweep], words: list[str] | None = None) -> None:
    """Run one of the ``known`` sweeps as the ``words`` say, or else those of the process."""
    parser = argparse.ArgumentParser(
        description="Run a recorded sweep, resuming where it stopped."
    )
    parser.add_argument("name", choices=sorted(known))
    parser.add_argument("--workers", type=int, default=1, help="processes on this machine")
    parser.add_argument("--dask", help="address of a Dask scheduler")
    parser.add_argument("--device", default="cpu", help="where to train: cpu, cuda, cuda:1 …")
    again = "run jobs again that an existing record holds"
    parser.add_argument("--fresh", action="store_true", help=again)
    parser.add_argument(
        "--plan", action="store_true", help="run the first job only, and say what all will cost"
    )
    given = parser.parse_args(words)
    try:
        arguments.whole("workers", given.workers)
        sweep = known[given.name].on(given.device)
    except ValueError as error:
        parser.error(str(error))
    if given.plan:
        print(sweeps.plan(given.name, sweep, fresh=given.fresh))
        return
    print(
        sweeps.run(given.name, sweep, workers=given.workers, dask=given.dask, fresh=given.fresh)
    )
