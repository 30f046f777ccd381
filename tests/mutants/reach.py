"""Which tests execute a line: each test file runs once under coverage, in a scratch copy.

What was found is kept under the digest of the package and of the tests, so that a changed test
file runs alone again. Every process is forked from one that has imported what all tests import,
and nothing of the book.
"""

import gc
import hashlib
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "_build" / "mutants"
APART = ("tests/browser/", "tests/mutants/", "tests/test_lint.py")  # the built site, the tools
PATIENCE = 600.0  # processor seconds for one test file: some start many processes
ASLEEP = 5  # so many times the patience, on the clock, for one that waits and does not compute
HEAVY = (
    "beartype",
    "bs4",
    "coverage",
    "hypothesis.strategies",
    "jaxtyping",
    "matplotlib.pyplot",
    "nbval.plugin",
    "pandas",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.optimize",
    "scipy.stats",
    "sphinx",
    "torch.distributed.tensor",  # torch.testing asks for it
    "torch.func",
)


def listed() -> list[str]:
    """What git knows of the tree, and what is new in it."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(name for name in found.stdout.split("\0") if (ROOT / name).is_file())


def scratch(name: str) -> Path:
    """A fresh copy of the tree, which may be worked on meanwhile; what pages keep stays there."""
    tree = KEPT / "scratch" / name
    for old in tree.glob("*"):
        if old.is_dir() and old.name != "_build":
            shutil.rmtree(old)
    for name in listed():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tree / name)
    return tree


def write(path: Path, value: object) -> None:
    """Keep a value, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(f".{os.getpid()}")
    half.write_text(json.dumps(value), encoding="utf8")
    half.replace(path)


def preload() -> None:
    """Import once what every test imports, but nothing of the book."""
    for name in HEAVY:
        importlib.import_module(name)
    gc.freeze()
    assert not any(name.startswith("iclutils") for name in sys.modules)


def computed(pid: int) -> float:
    """The processor seconds of a process and of those that it has started."""
    total = 0.0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in [process, *process.children(recursive=True)]:
            total += sum(one.cpu_times()[:4])
    return total


def forked(tree: Path, work: Callable[[], int], patience: float) -> int | None:
    """The exit status of ``work``, done in a process of its own in ``tree``; None: no patience."""
    pid = os.fork()
    if not pid:
        code = 70
        try:
            os.setsid()
            os.chdir(tree)
            sys.path[:] = [str(tree), *(one for one in sys.path if one not in ("", str(ROOT)))]
            for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
                del sys.modules[name]
            os.environ["PYTHONPATH"] = str(tree)
            sys.dont_write_bytecode = True
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
            said = os.open(tree / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for stream in (1, 2):
                os.dup2(said, stream)
            code = work()
        finally:
            os._exit(code)
    end = time.monotonic() + ASLEEP * patience
    status = None
    while status is None and time.monotonic() < end and computed(pid) < patience:
        found, ended = os.waitpid(pid, os.WNOHANG)
        status = ended if found else None
        time.sleep(0.05)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # what a test has left running goes, too
    if status is None:
        os.waitpid(pid, 0)
        return None
    return os.waitstatus_to_exitcode(status)


def run(tests: Iterable[str], plugins: Sequence[object]) -> int:
    """Run tests here; the exit status."""
    options = ["-q", "-p", "no:cacheprovider", "--assert=plain"]
    return int(pytest.main([*options, *tests], plugins=[*plugins]))


class Watch:
    """A plugin that names to coverage the test that runs, here and in the processes it starts."""

    def __init__(self, measured: Any) -> None:
        self.measured = measured
        self.begun = 0.0
        self.seconds: dict[str, float] = {}  # of the processor
        self.red: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        self.begun = sum(os.times()[:4])
        os.environ["MUTANTS_TEST"] = item.nodeid
        self.measured.switch_context(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = sum(os.times()[:4]) - self.begun
        if report.failed:
            self.red.add(report.nodeid)


def watched(tree: Path, test: str) -> int:
    """Run a test file here; leave in ``reach.json`` what it executes."""
    import coverage

    data = tree / "covered" / "data"
    shutil.rmtree(data.parent, ignore_errors=True)
    data.parent.mkdir()
    settings = tree / "coverage.ini"
    settings.write_text(
        f"[run]\ncontext = ${{MUTANTS_TEST}}\nparallel = true\nsigterm = true\n"
        f"data_file = {data}\ninclude = {tree}/iclutils/*\n"
    )
    measured = coverage.Coverage(config_file=str(settings))
    os.environ["COVERAGE_PROCESS_START"] = str(settings)
    measured.start()
    watch = Watch(measured)
    code = run([test], [watch])
    measured.stop()
    measured.save()
    measured.combine()
    found = measured.get_data()
    names = sorted(watch.seconds)
    number = {name: i for i, name in enumerate(names)}
    lines: dict[str, dict[int, list[int]]] = {}
    for path in found.measured_files():
        file = Path(path).relative_to(tree).as_posix()
        for line, contexts in found.contexts_by_lineno(path).items():
            tests = {number[name] for one in contexts for name in one.split("|") if name in number}
            if tests:
                lines.setdefault(file, {})[line] = sorted(tests)
    seconds = [watch.seconds[name] for name in names]
    write(tree / "reach.json", [names, seconds, sorted(watch.red), lines])
    return 0 if code in (0, 1) else code


class Chosen(NamedTuple):
    """Tests for a line, and how long they take without a fault."""

    tests: tuple[str, ...]
    seconds: float


def nearness(file: str, test: str) -> int:
    """How many of its folders and its name a test file shares with a module."""
    words = {part.removeprefix("test_") for part in Path(test).with_suffix("").parts}
    return len(words & set(Path(file).with_suffix("").parts))


class Reach:
    """Which tests execute a line, of all test files but the browser's."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.found: dict[str, list[Any]] = {}

    @cached_property
    def package(self) -> str:
        """The digest of what all tests rest on."""
        texts = [
            hashlib.sha256((self.tree / name).read_bytes()).digest()
            for name in listed()
            if name.startswith(("iclutils/", "tests/"))
            and name.endswith(".py")
            and "/test_" not in name
            and not name.startswith(APART)
        ]
        return hashlib.sha256(b"".join(texts)).hexdigest()

    def load(self, *, science: bool = True) -> None:
        """Run each test file that has not run as it is; those of the science where it is asked for.

        Its own tests execute nothing of the book, which no tower imports.
        """
        paths = sorted((self.tree / "tests").rglob("test_*.py"))
        files = [path.relative_to(self.tree).as_posix() for path in paths]
        for file in files:
            own = (self.tree / "iclutils" / file.split("/")[1]).is_dir() and "/book/" not in file
            if file.startswith(APART) or (own and not science):
                continue
            text = self.package + (self.tree / file).read_text(encoding="utf8") + file
            kept = KEPT / "reach" / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"
            if not kept.exists():
                begun = time.monotonic()
                code = forked(self.tree, lambda file=file: watched(self.tree, file), PATIENCE)
                spent = f"{time.monotonic() - begun:.0f} s"
                if code == 0:
                    write(kept, json.loads((self.tree / "reach.json").read_text(encoding="utf8")))
                print(f"{file}: {spent}{'' if code == 0 else f', left out: {code}'}", flush=True)
            if kept.exists():
                self.found[file] = json.loads(kept.read_text(encoding="utf8"))

    def ordered(self, file: str, first: int, last: int) -> Iterator[tuple[str, float]]:
        """The tests that execute one of the lines; then the others of the same test files.

        For what a test finds in a fixture that another has made counts to that other one. Of each,
        those come first whose file is named after the module or lies near it, then the quick ones.
        """
        direct: list[tuple[int, float, str]] = []
        beside: list[tuple[int, float, str]] = []
        for test, (names, seconds, red, lines) in self.found.items():
            executed = lines.get(file, {})
            numbers = {
                i for line, some in executed.items() if first <= int(line) <= last for i in some
            }
            for i, name in enumerate(names):
                if numbers and name not in red:
                    one = (-nearness(file, test), seconds[i], name)
                    (direct if i in numbers else beside).append(one)
        for _, spent, name in [*sorted(direct), *sorted(beside)]:
            yield name, spent

    def choose(self, file: str, first: int, last: int, limit: float, most: int) -> Chosen:
        """The first ``most`` tests of :meth:`ordered` that fit into the limit, in seconds."""
        tests: list[str] = []
        total = 0.0
        for name, spent in self.ordered(file, first, last):
            if len(tests) == most or (tests and total + spent > limit):
                continue
            tests.append(name)
            total += spent
        return Chosen(tuple(tests), total)
