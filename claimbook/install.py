"""Set up the book in ``.venv`` with uv, from its lock. Any Python from 3.8 on runs this script.

    python3 claimbook/install.py         the book's environment
    python3 claimbook/install.py lab     JupyterLab beside it, without changing a pinned version
    python3 claimbook/install.py newest  the newest versions that requirements.in allows
    python3 claimbook/install.py lock    requirements.lock, keeping each version that still fits

PyTorch is installed first, by its version, from the index or folder that pip is told to use: its
builds differ by machine. All other packages come from one lock for all platforms, with hashes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
OWN_UV = ROOT / ".uv"  # uv goes there if there is none on the path
UV_VERSION = "0.13.9"
# PyTorch and what its builds bring, each with its hashes
BUILDS = re.compile(r"^(?:torch|triton|nvidia-\S+|cuda-\S+)==(?:.*\\\n)*.*\n", re.MULTILINE)
PIP_SETTINGS = {
    "UV_DEFAULT_INDEX": "index-url",
    "UV_INDEX": "extra-index-url",
    "UV_FIND_LINKS": "find-links",
    "UV_NO_INDEX": "no-index",
    "SSL_CERT_FILE": "cert",
}
CAUSE = re.compile(r"(?:╰─▶|error:)(.*)", re.DOTALL | re.IGNORECASE)  # in what uv and pip say
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf8")
PYTHON: str = re.findall(r'^requires-python = "(.+)"', PROJECT, re.MULTILINE)[0]


def run(command: Sequence[object], trouble: str) -> None:
    """Run ``command``; if it fails, end with ``trouble`` and the cause that it names."""
    words = [str(part) for part in command]
    done = subprocess.run(
        words, cwd=ROOT, env=environment(), capture_output=True, encoding="utf8", errors="replace"
    )
    output = done.stdout + done.stderr
    if VENV.is_dir():
        with (VENV / "install.log").open("a", encoding="utf8") as log:
            log.write(f"$ {' '.join(words)}\n{output}\n")
    if done.returncode:
        named = CAUSE.search(output)
        cause = " ".join((named[1] if named else output).split())
        sys.exit(f"{trouble} {cause[:500]}\nThen run the same command again.")


def environment() -> dict[str, str]:
    """Return this process's variables, with pip's settings as uv's where uv has none of its own."""
    own = OWN_UV / "bin" / "python"  # has pip, which Debian's python3 may lack
    command = [str(own) if own.exists() else sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, encoding="utf8").stdout or ""
    pip: dict[str, str] = {}
    for section in ("global", "install", ":env:"):  # pip lets the later one win
        for name, value in re.findall(rf"^{section}\.([\w-]+)=(.*)$", listed, re.MULTILINE):
            pip[name] = " ".join(value.strip("'\"").replace("\\n", " ").split())
    settings = {name: pip[option] for name, option in PIP_SETTINGS.items() if pip.get(option)}
    if "UV_FIND_LINKS" in settings:
        settings["UV_FIND_LINKS"] = settings["UV_FIND_LINKS"].replace(" ", ",")
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **settings, **os.environ}  # as pip looks


def find_uv() -> str:
    """Return the path of uv: the user's own, or one in a folder of the book."""
    own = OWN_UV / "bin" / "uv"
    if not shutil.which("uv") and not own.exists():
        print(f"set-up: downloading uv {UV_VERSION} into .uv", flush=True)
        command = [sys.executable, "-m", "venv", "--clear", OWN_UV]
        run(command, "Install the package python3-venv, or uv (docs.astral.sh/uv).")
        command = [OWN_UV / "bin" / "python", "-m", "pip", "install", f"uv=={UV_VERSION}"]
        run(command, "Could not download uv. Is the package index within reach?")
    return shutil.which("uv") or str(own)


def install(newest: bool = False) -> None:
    """Make the environment, or bring it up to date where an earlier call finished."""
    uv, stamp = find_uv(), VENV / ".installed"
    if newest or not (stamp.exists() and stamp.read_text(encoding="utf8")):
        python = os.environ.get("PY") or PYTHON
        command = [uv, "venv", "--clear", "--relocatable", "--python", python, VENV]
        run(command, f"The book needs Python {PYTHON}.")
    stamp.unlink(missing_ok=True)
    locked = ["--no-deps", "--require-hashes", "-r", "requirements.lock"]
    steps = {
        "1 of 3: PyTorch, the largest package": ["torch", "-c", "requirements.in"],
        "2 of 3: all other packages": ["--upgrade", "-r", "requirements.in"] if newest else locked,
        "3 of 3: the book's own packages": ["--no-deps", "--no-build-isolation", "-e", "."],
    }
    for step, arguments in steps.items():
        print(f"set-up: {step} …", flush=True)
        command = [uv, "pip", "install", "--python", VENV, *arguments]
        run(command, "The packages could not be installed.")
    stamp.write_text(f"{VENV.resolve()}\n", encoding="utf8")  # make compares: a folder may move


def lab() -> None:
    """Install JupyterLab; the versions that the book pins stay as they are."""
    print("set-up: JupyterLab …", flush=True)
    command = [find_uv(), "pip", "install", "--python", VENV, "-c", "requirements.lock"]
    run([*command, "-r", "requirements-lab.txt"], "JupyterLab could not be installed.")
    (VENV / ".lab").touch()


def lock() -> None:
    """Write the lock for the oldest Python that the book allows, without PyTorch's builds."""
    command = [find_uv(), "pip", "compile", "requirements.in", "--universal", "--generate-hashes"]
    command += ["--python-version", PYTHON[2:].split(",")[0], "--quiet", "--no-header"]
    command += ["--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    run([*command, "-o", "requirements.lock"], "The versions could not be resolved.")
    path = ROOT / "requirements.lock"
    path.write_text(BUILDS.sub("", path.read_text(encoding="utf8")), encoding="utf8")


if __name__ == "__main__":
    tasks = {"": install, "newest": lambda: install(newest=True), "lab": lab, "lock": lock}
    task = tasks.get(" ".join(sys.argv[1:]))
    if task is None:
        sys.exit(__doc__)
    task()
