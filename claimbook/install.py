"""Set the book up in ``.venv`` by uv, from its pins: a script for any Python 3.

    python3 claimbook/install.py         the environment of the book
    python3 claimbook/install.py lab     JupyterLab beside it, which leaves the pins as they are
    python3 claimbook/install.py newest  the newest versions that requirements.in allows
    python3 claimbook/install.py lock    write requirements.lock anew from requirements.in

PyTorch comes first, by version, from whatever index or folder pip is told to look in, since its
builds differ by machine; all the rest comes from one lock for all platforms, with hashes. uv
brings Python 3.11 where it is missing.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List, Mapping, Optional, Sequence  # any Python 3 runs this file

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
OWN_UV = ROOT / ".uv"  # where uv goes if there is none
UV_VERSION = "0.13.9"
PYTHON = "3.11"
BUILDS = re.compile(r"torch$|triton$|nvidia-|cuda-")  # PyTorch and what comes with its builds
NO_INDEX = "Is the package index within reach?"


class Trouble(Exception):
    """Something that the reader of one line can mend."""


def run(
    command: Sequence[object],
    what: str,
    log: Optional[Path] = None,
    environment: Optional[Mapping[str, str]] = None,
) -> str:
    """Run ``command``; its words go to the log, and the last of them into the error's message."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=str(ROOT),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf8",
            errors="replace",
        )
    except OSError as error:
        raise Trouble(f"{what}: {error}") from None
    if log is not None:
        with log.open("a", encoding="utf8") as file:
            file.write(done.stdout)
    if done.returncode:
        place = f" The whole story is in {log.relative_to(ROOT)}." if log is not None else ""
        last = [line.strip() for line in done.stdout.splitlines() if line.strip()][-1:]
        raise Trouble(f"{what} {' '.join(last)[:200]}{place} Run the same command again.")
    return done.stdout


# ------------------------------------------------------------------ what is there


def pip_settings() -> Dict[str, str]:
    """What the user has told pip, as uv's variables; one of uv's that is set already wins."""
    asked = [sys.executable, "-m", "pip", "config", "list"]
    try:
        text = subprocess.run(asked, capture_output=True, encoding="utf8", check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        text = ""
    found = {}
    for section in ("global", "install", ":env:"):  # as pip reads them: the later one wins
        for line in text.splitlines():
            name, _, value = line.partition("=")
            if name.startswith(section + "."):
                found[name[len(section) + 1 :]] = value.strip().strip("'\"").replace("\\n", " ")
    settings = {}
    if found.get("index-url"):
        settings["UV_DEFAULT_INDEX"] = found["index-url"]
    if found.get("extra-index-url"):
        settings["UV_INDEX"] = " ".join(found["extra-index-url"].split())
        settings["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # as pip looks: in all of them
    if found.get("find-links"):
        settings["UV_FIND_LINKS"] = ",".join(found["find-links"].split())
    if found.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        settings["UV_NO_INDEX"] = "1"
    if found.get("cert"):
        settings["SSL_CERT_FILE"] = found["cert"]
    return {**settings, **os.environ}


def find_uv() -> str:
    """uv on the path, or our own in a folder of the book, which any Python 3 can bring."""
    there = shutil.which("uv")
    if there:
        return there
    own = OWN_UV / "bin" / "uv"
    if own.exists():
        return str(own)
    say(f"bringing uv {UV_VERSION}, which sets the book up, into {OWN_UV.name}")
    wanted = f"uv=={UV_VERSION}"
    python = sys.executable
    help_line = (
        "uv sets the book up, and neither it nor a Python with pip is here. "
        "Install uv (docs.astral.sh/uv) or the package python3-venv."
    )
    part = OWN_UV.with_name(".uv.part")
    shutil.rmtree(part, ignore_errors=True)
    if subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode:
        try:
            run([sys.executable, "-m", "venv", part / "venv"], "")
        except Trouble:
            shutil.rmtree(part, ignore_errors=True)
            raise Trouble(help_line) from None
        python = str(part / "venv" / "bin" / "python")
    fetch = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    run([*fetch, "--target", part, wanted], f"uv could not be brought. {NO_INDEX}")
    part.replace(OWN_UV)
    return str(own)


def say(text: str) -> None:
    print(f"set-up: {text}", flush=True)


# ------------------------------------------------------------------ what is done


def torch_pin() -> str:
    text = (ROOT / "requirements.in").read_text(encoding="utf8")
    line = next(line for line in text.splitlines() if line.startswith("torch=="))
    return line.partition("#")[0].strip()


def install(newest: bool = False) -> None:
    """The environment, in four steps; a broken one is begun again from nothing the next time."""
    environment = pip_settings()
    uv = find_uv()
    marker = VENV / ".installing"
    asked = os.environ.get("PY") or PYTHON
    if marker.exists() or newest or not (VENV / "bin" / "python").exists():
        say(f"Python {PYTHON}")
        command = [uv, "venv", "--quiet", "--clear", "--python", asked, VENV]
        run(command, f"This book needs Python {PYTHON}.", environment=environment)
    log = VENV / "install.log"
    log.write_text("")
    marker.touch()
    # compiled once here, or each of some hundred processes does it where Python may write nothing
    install_here = [uv, "pip", "install", "--compile-bytecode", "--python", VENV]
    pinned = ["--no-deps", "--require-hashes", "-r", "requirements.lock"]
    steps = [
        ("PyTorch, the largest part", [torch_pin()]),
        ("all other packages", ["--upgrade", "-r", "requirements.in"] if newest else pinned),
        ("the book's own package", ["--no-deps", "--no-build-isolation", "-e", "."]),
    ]
    for number, (what, arguments) in enumerate(steps, 1):
        start = time.monotonic()
        say(f"{number} of {len(steps)}: {what} …")
        trouble = f"The packages could not be installed. {NO_INDEX}"
        run([*install_here, *arguments], trouble, log, environment)
        say(f"{number} of {len(steps)}: done in {time.monotonic() - start:.0f} s")
    marker.unlink()
    (VENV / ".installed").touch()


def lab() -> None:
    """JupyterLab, with .md files opened as notebooks; what the book pins stays as it is."""
    environment = pip_settings()
    uv = find_uv()
    log = VENV / "install.log"
    pins = VENV / "pins.txt"
    frozen = run([uv, "pip", "freeze", "--exclude-editable", "--python", VENV], "uv:")
    pins.write_text(frozen, encoding="utf8")
    command = [uv, "pip", "install", "--python", VENV, "-c", pins, "-r", "requirements-lab.txt"]
    say("JupyterLab, this once …")
    run(command, f"JupyterLab could not be installed. {NO_INDEX}", log, environment)
    folder = VENV / "etc" / "jupyter" / "labconfig"
    folder.mkdir(parents=True, exist_ok=True)
    viewers = '{"defaultViewers": {"markdown": "Jupytext Notebook"}}'
    setting = '{"@jupyterlab/docmanager-extension:plugin": ' + viewers + "}\n"
    (folder / "default_setting_overrides.json").write_text(setting, encoding="utf8")
    (VENV / ".lab").touch()


def lock() -> None:
    """``requirements.lock``: all platforms, with hashes, without PyTorch and what it brings."""
    environment = pip_settings()
    command = [find_uv(), "pip", "compile", "requirements.in", "--universal", "--generate-hashes"]
    command += ["--python-version", "3.11.5", "--quiet", "--no-header", "--no-annotate"]
    command += ["--no-emit-index-url", "--no-emit-find-links"]
    trouble = f"The versions could not be resolved. {NO_INDEX}"
    text = run(command, trouble, environment=environment)
    names = [name for name in re.findall(r"^([\w.-]+)==", text, re.MULTILINE) if BUILDS.match(name)]
    left_out = [part for name in names for part in ("--no-emit-package", name)]
    run([*command, *left_out, "-o", "requirements.lock"], trouble, environment=environment)
    say("requirements.lock is written")


TASKS = {"": install, "newest": lambda: install(newest=True), "lab": lab, "lock": lock}


def main(arguments: List[str]) -> None:
    task = TASKS.get(arguments[0] if arguments else "")
    if task is None or len(arguments) > 1:
        sys.exit(__doc__)
    if not os.access(str(ROOT), os.W_OK):
        sys.exit(f"{ROOT} cannot be written to; the book is set up in its own folder: copy it.")
    try:
        task()
    except Trouble as trouble:
        sys.exit(str(trouble))
    except OSError as error:
        sys.exit(f"The book could not be set up: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
