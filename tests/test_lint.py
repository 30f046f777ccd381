"""What `make lint` finds is a test like the others, so that it is looked for beside them."""

import os
import subprocess

from claimbook.files import ROOT


def test_style_and_types_are_clean():
    """All tools report; the environment is there, since this runs in it."""
    done = subprocess.run(
        ["make", "--no-print-directory", "-o", ".venv/.installed", "lint"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"MAKEFLAGS": "", "MAKELEVEL": ""},
    )
    assert done.returncode == 0, done.stdout + done.stderr
