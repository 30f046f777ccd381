"""Processes that are started to be killed, as a terminal or the system does."""

import os
import signal
import subprocess


def heed_interrupts():
    """As in a terminal: what a shell starts in the background ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def started(command, folder, environment):
    """Start a session of processes in a folder; what it says goes to the file ``log``."""
    how = {"stdout": (folder / "log").open("w"), "stderr": subprocess.STDOUT}
    how |= {"start_new_session": True, "preexec_fn": heed_interrupts}
    return subprocess.Popen(command, cwd=folder, env=environment, **how)


def end(process, number):
    """End a session of processes; wait until it is gone."""
    if process.poll() is None:
        os.killpg(process.pid, number)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:  # it took the signal and lives on
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
