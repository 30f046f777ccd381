"""What only reads, checks or builds starts without the libraries that compute."""

import subprocess
import sys

import pytest

HEAVY = {"torch", "scipy"}  # a second and a half of a process, and a quarter
LIGHT = ("claimbook.ledger", "claimbook.check.plugin", "claimbook.site")
SAYS = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
    print(name, *sorted(set(sys.modules) & {heavy}))
"""


@pytest.fixture(scope="module")
def loaded():
    """Which of the heavy libraries are there after each import, one after the other."""
    script = SAYS.format(heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", script, *LIGHT, "scipy"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.partition(" ")[::2] for line in done.stdout.splitlines())


@pytest.mark.parametrize("name", LIGHT)
def test_who_only_reads_loads_nothing_that_computes(loaded, name):
    assert loaded[name] == "", f"{name} or what it imports loads {loaded[name]}"


def test_one_of_them_would_be_seen(loaded):
    assert loaded["scipy"] == "scipy"
