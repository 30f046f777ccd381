"""One set of pins: the lock, what is installed from it, and what conda users get."""

import re
import sys
from importlib import metadata
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, str]:
    text = (ROOT / "requirements.lock").read_text(encoding="utf8")
    return {canonical(m[1]): m[2] for m in re.finditer(r"^([A-Za-z0-9._-]+)==(\S+)$", text, re.MULTILINE)}


def test_environment_yml_installs_the_lock_on_this_python():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf8"))
    conda = [d for d in environment["dependencies"] if isinstance(d, str)]
    pip = next(d["pip"] for d in environment["dependencies"] if isinstance(d, dict))
    assert f"python={sys.version_info.major}.{sys.version_info.minor}" in conda
    assert pip == ["-r requirements.lock", "-e ."]


def test_every_line_of_the_lock_is_an_exact_pin():
    lines = [line for line in (ROOT / "requirements.lock").read_text(encoding="utf8").splitlines() if line and line[0] != "#"]
    assert len(lines) == len(locked())


def test_direct_requirements_are_locked():
    for line in (ROOT / "requirements.in").read_text(encoding="utf8").splitlines():
        if line.strip() and not line.startswith("#"):
            name = canonical(re.split(r"[<>=!~ ]", line)[0])
            assert name in locked(), line
            for pin in re.findall(r"==(\S+)", line):
                assert locked()[name] == pin, line


def test_what_is_installed_is_the_lock():
    wrong = {name: metadata.version(name) for name, pin in locked().items() if metadata.version(name).split("+")[0] != pin}
    assert not wrong
