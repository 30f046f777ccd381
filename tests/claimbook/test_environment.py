"""One set of pins: the lock, what is installed from it, and what conda users get."""

import re
import sys
from importlib import metadata
from pathlib import Path

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, str]:
    text = (ROOT / "requirements.lock").read_text(encoding="utf8")
    found = re.finditer(r"^([A-Za-z0-9._-]+)==(\S+)(.*)$", text, re.MULTILINE)
    return {canonical(m[1]): m[2] for m in found}


def asked() -> dict[str, str]:
    """What the book asks for directly: each name with the rest of its line."""
    text = (ROOT / "requirements.in").read_text(encoding="utf8")
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    return {canonical(re.split(r"[<>=!~ ]", line)[0]): line for line in lines if line}


def test_environment_yml_has_the_direct_requirements_at_the_versions_of_the_lock():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf8"))
    conda = [d for d in environment["dependencies"] if isinstance(d, str)]
    pip = next(d["pip"] for d in environment["dependencies"] if isinstance(d, dict))
    assert f"python={sys.version_info.major}.{sys.version_info.minor}" in conda
    pins = dict(line.split("==") for line in pip[:-1])
    versions = locked() | {"torch": asked()["torch"].removeprefix("torch==")}
    assert {canonical(name): pin for name, pin in pins.items()} == {n: versions[n] for n in asked()}
    assert pip[-1] == "-e ."


def test_every_line_of_the_lock_is_an_exact_pin_with_hashes_or_a_hash():
    text = (ROOT / "requirements.lock").read_text(encoding="utf8")
    assert set(text.replace("\\\n", "").splitlines()) == {
        line for line in text.replace("\\\n", "").splitlines() if re.match(r"\S+==.* --hash=", line)
    }


def test_the_lock_leaves_pytorchs_builds_to_the_machine():
    assert not [name for name in locked() if re.match(r"torch$|triton$|nvidia|cuda", name)]


def test_direct_requirements_are_locked():
    for name, line in asked().items():
        if name != "torch":
            assert name in locked(), line
            for pin in re.findall(r"==(\S+)", line):
                assert locked()[name] == pin, line


def for_this_machine() -> dict[str, str]:
    """The pins whose marker holds here."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf8").replace("\\\n", "")
    lines = [Requirement(line.partition(" --hash")[0]) for line in text.splitlines()]
    here = [line for line in lines if line.marker is None or line.marker.evaluate()]
    return {canonical(line.name): str(line.specifier).removeprefix("==") for line in here}


def test_what_is_installed_is_the_lock():
    pins = for_this_machine() | {"torch": asked()["torch"].removeprefix("torch==")}
    found = {name: metadata.version(name).split("+")[0] for name in pins}
    assert found == pins
