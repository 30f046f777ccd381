"""Processes that are started to be killed, as a terminal or the system does."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

SIGNALS = (signal.SIGTERM, signal.SIGKILL, signal.SIGINT)


def heed_interrupts() -> None:
    """As in a terminal: what a shell starts in the background ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def started(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """A session of processes in a folder; what it says goes to the file ``log``."""
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=(folder / "log").open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )


def end(process: subprocess.Popen[bytes], number: int) -> None:
    """End a session of processes; wait until it is gone."""
    if process.poll() is None:
        os.killpg(process.pid, number)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:  # it took the signal and lives on
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
