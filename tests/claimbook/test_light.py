"""What only reads, checks or builds starts without the libraries that compute."""

import subprocess
import sys

import pytest

LOADED = "import sys, {}; print(*{{'torch', 'scipy'}} & set(sys.modules))"


@pytest.mark.parametrize(
    ("name", "heavy"),
    [
        ("claimbook.ledger", ""),
        ("claimbook.check.plugin", ""),
        ("claimbook.site", ""),
        ("scipy", "scipy"),  # it would be seen
    ],
)
def test_who_only_reads_loads_nothing_that_computes(name, heavy):
    """Torch takes a second and a half of a process, scipy a quarter."""
    command = [sys.executable, "-c", LOADED.format(name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == heavy
