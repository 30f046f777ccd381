"""The pins, and what the set-up hands to uv; what make says of a set-up is in test_makefile.py."""

import os
import re
import sys
from importlib import metadata
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from claimbook import install

ROOT = Path(__file__).resolve().parents[2]
FLOOR = re.findall(r">=([\d.]+),", install.PYTHON)[0]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf8")


def pins() -> dict[str, Requirement]:
    """Return the lines of the lock by name."""
    lines = read("requirements.lock").replace("\\\n", "").splitlines()
    found = [Requirement(line.partition(" --hash")[0]) for line in lines]
    return {canonicalize_name(one.name): one for one in found}


def test_what_is_installed_is_the_lock_and_allows_the_oldest_python():
    for name, pin in pins().items():
        if not pin.marker or pin.marker.evaluate():
            found = metadata.distribution(name)
            assert f"=={found.version}" == str(pin.specifier), name
            assert FLOOR in SpecifierSet(found.metadata.get("Requires-Python") or ""), name


def test_the_lock_holds_each_direct_requirement_and_none_of_pytorchs_builds():
    locked = pins()
    lines = [line.partition("#")[0].strip() for line in read("requirements.in").splitlines()]
    for requirement in (Requirement(line) for line in lines if line):
        if requirement.name != "torch":
            assert str(locked[requirement.name.lower()].specifier)[2:] in requirement.specifier
    assert not [name for name in locked if re.match(r"torch$|triton$|nvidia|cuda", name)]
    assert not [pin for pin in locked.values() if not str(pin.specifier).startswith("==")]


def test_the_builds_of_pytorch_are_cut_out_of_a_lock():
    lock = "tornado==6 \\\n    --hash=sha256:a\n"
    builds = "torch==2 \\\n    --hash=sha256:b \\\n    --hash=sha256:c\ncuda-x==1 ; a \\\n  d\n"
    assert install.BUILDS.sub("", builds + lock + builds) == lock


def test_conda_brings_the_tools_and_a_python_for_the_lock_and_the_oldest_is_said():
    tools = yaml.safe_load(read("environment.yml"))["dependencies"]
    assert {f"python{install.PYTHON}", f"uv={install.UV_VERSION}"} <= set(tools)
    assert {re.split("[>=]", tool)[0] for tool in tools} == {"python", "uv", "make", "git"}
    for name in ("README.md", "claimbook/site/templates/README.txt"):
        assert FLOOR in read(name)


def test_what_pip_is_told_uv_is_told_unless_it_was_told_itself(monkeypatch):
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(install, "OWN_UV", Path("none"))
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    monkeypatch.setattr(install.sys, "executable", str(base))
    for name, said in {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "https://one.example/simple",
        "PIP_EXTRA_INDEX_URL": "https://two.example/a https://three.example/b",
        "PIP_FIND_LINKS": "/one /two",
        "UV_DEFAULT_INDEX": "https://own.example/simple",
    }.items():
        monkeypatch.setenv(name, said)
    found = install.environment()
    assert found["UV_DEFAULT_INDEX"] == "https://own.example/simple"
    assert found["UV_INDEX"] == "https://two.example/a https://three.example/b"
    assert found["UV_FIND_LINKS"] == "/one,/two"
