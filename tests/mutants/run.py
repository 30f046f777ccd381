"""Plant faults drawn at random, one at a time, and say which of them no test notices.

    make mutants SEED=5             150 faults; N=40 draws fewer, and AREAS="package pages" of some
    make mutants SEED=5 MINUTES=60  what can be judged in an hour, in the order of the draw
    make mutants AREAS=scripts      the faults of the pages' scripts, listed in scripts.yml

A fault is planted in a copy of the tree, never in the tree. It meets the test files that execute
its lines, then others that execute its module, the nearest first, as many as take a minute; of a
page, the page's own run. What was judged is kept under ``_build/mutants`` for as long as the fault,
its file and its tests are the same, so that a run that was interrupted goes on where it stopped;
so is what each test file executes. ``survivors.yml`` says why a survivor is no other program.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import yaml
from coverage import CoverageData
from scipy.stats import binomtest

from claimbook.files import read_json, write_atomically
from tests.mutants import draw
from tests.mutants.draw import CLAIMS, MACHINERY, PACKAGE, Mutant
from tests.towers import ROOMS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KEPT = ROOT / "_build" / "mutants"
TABLE = HERE / "table.md"
HTML = Path("_build") / "html"
SCRIPTS = "scripts"
APART = ("tests/browser/", "tests/mutants/", "tests/test_lint.py")  # the built site, the tools
UNREAD = (".*", "_build", "__pycache__")
MINUTE = 60.0  # processor seconds of tests, as many as they take without a fault
PATIENCE = 600.0  # seconds by the clock beyond ten times that: who hangs is noticed
PYTEST = ("pytest", "-q", "-x", "-p", "no:cacheprovider", "--assert=plain")
NBVAL = ("--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout", "600")
KILLED, LIVED, UNJUDGED = "killed", "lived", "not judged"
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class Judgement(NamedTuple):
    """What became of a fault, and which test noticed it."""

    verdict: str
    by: str = ""

    @property
    def told(self) -> str:
        """In words, as short as a table wants them."""
        files = self.by.split()
        many = self.verdict == LIVED and len(files) > 1 and files[0].startswith("tests/")
        return f"({self.verdict}: {f'{len(files)} test files' if many else self.by})"


class Run(NamedTuple):
    """How tests ended (None: they did not), after so many processor seconds."""

    code: int | None
    said: str
    seconds: float


def scratch(name: str) -> Path:
    """A fresh copy of the tree, which may be worked on meanwhile; what pages keep stays there."""
    tree = KEPT / "scratch" / name
    for old in tree.glob("*"):
        if old.is_dir() and not old.is_symlink() and old.name != "_build":
            shutil.rmtree(old)
    ignore = shutil.ignore_patterns(*UNREAD)
    shutil.copytree(ROOT, tree, ignore=ignore, dirs_exist_ok=True)
    (tree / ".venv").unlink(missing_ok=True)
    (tree / ".venv").symlink_to(ROOT / ".venv")
    return tree


def run(tree: Path, arguments: Sequence[str], patience: float) -> Run:
    """Run a module of Python in the tree, and end whatever it leaves running."""
    settings = {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=tree,
            env=os.environ | settings,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        late = threading.Timer(patience, os.killpg, (process.pid, signal.SIGKILL))
        late.start()
        _, status, used = os.wait4(process.pid, 0)  # its own seconds, whatever runs beside it
        late.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        said.seek(0)
        text = said.read()
    ended = None if process.returncode == -signal.SIGKILL else process.returncode
    return Run(ended, text, used.ru_utime + used.ru_stime)


class Judge:
    """A copy of the tree, in which one fault is planted at a time."""

    def __init__(self, tree: Path, reach: dict[str, dict[str, Any]]) -> None:
        self.tree = tree
        self.reach = reach
        self.green: dict[str, bool] = {}

    def text(self, name: str) -> bytes:
        return (self.tree / name).read_bytes()

    @cached_property
    def package(self) -> bytes:
        """What all tests rest on."""
        paths = [*self.tree.glob("iclutils/**/*.py"), *self.tree.glob("tests/**/*.py")]
        shared = [path for path in sorted(paths) if not path.name.startswith("test_")]
        names = [path.relative_to(self.tree).as_posix() for path in shared]
        return b"".join(self.text(name) for name in names if not name.startswith(APART))

    def measured(self, file: str) -> dict[str, Any]:
        """What a test file executes; kept for as long as it and the package are the same."""
        digest = hashlib.sha256(self.package + file.encode() + self.text(file)).hexdigest()
        kept = KEPT / "reach" / f"{digest[:24]}.json"
        if not kept.exists():
            found = self.executed(file)
            write_atomically(kept, json.dumps(found))
            state = "" if found["green"] else ", left out: it is red without any fault"
            print(f"{file}: {found['seconds']:.0f} s{state}", flush=True)
        measured: dict[str, Any] = read_json(kept)
        return measured

    def executed(self, file: str) -> dict[str, Any]:
        """The lines of the package that a test file executes, in whatever copy of it."""
        lines: dict[str, set[int]] = defaultdict(set)
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            done = run(
                self.tree,
                ["coverage", "run", f"--data-file={data}", "-m", *PYTEST, file],
                PATIENCE + 10 * MINUTE,
            )
            for part in Path(folder).iterdir():
                found = CoverageData(str(part))
                found.read()
                for path in found.measured_files():
                    name = f"iclutils/{path.rpartition('/iclutils/')[2]}"
                    lines[name].update(found.lines(path) or ())
        listed = {name: sorted(numbers) for name, numbers in lines.items()}
        return {"green": done.code == 0, "seconds": done.seconds, "lines": listed}

    def chosen(self, mutant: Mutant) -> tuple[str, ...]:
        """The test files, or the page, that a fault meets."""
        if mutant.file.endswith(".md"):
            return (mutant.file,)
        if mutant.file == CLAIMS:
            return ("tests/test_claims.py",)
        words = set(Path(mutant.file).with_suffix("").parts)
        ranked = []
        for file, found in self.reach.items():
            executed = found["lines"].get(mutant.file)
            if executed and found["green"]:
                meets = any(mutant.first <= line <= mutant.last for line in executed)
                near = words & {part.removeprefix("test_") for part in file[:-3].split("/")}
                ranked.append((not meets, -len(near), found["seconds"], file))
        tests: list[str] = []
        total = 0.0
        for _, _, seconds, file in sorted(ranked):
            if not tests or total + seconds <= MINUTE:
                tests.append(file)
                total += seconds
        return tuple(tests)

    def judge(self, mutant: Mutant, given: Sequence[str] = ()) -> Judgement:
        """Whether the tests notice; as it was found before, where nothing has changed."""
        text = self.text(mutant.file)
        tests = tuple(given) or self.chosen(mutant)
        rests = repr((mutant, tests)).encode() + text + b"".join(map(self.text, tests))
        kept = KEPT / "results" / f"{hashlib.sha256(rests).hexdigest()[:24]}.json"
        if kept.exists():
            return Judgement(*read_json(kept))
        places = [self.tree / mutant.file]
        if given:  # the built site has the script, too
            places.append(self.tree / HTML / Path(mutant.file).relative_to("book"))
        found = self.met(mutant, text, tests, places)
        write_atomically(kept, json.dumps(found))
        return found

    def met(
        self, mutant: Mutant, text: bytes, tests: Sequence[str], places: list[Path]
    ) -> Judgement:
        """Let a fault meet its tests."""
        if not tests:
            return Judgement(LIVED, "no test executes it")
        command = [*PYTEST, *tests]
        if mutant.file.endswith(".md"):
            command += NBVAL
            if mutant.file not in self.green:
                self.green[mutant.file] = run(self.tree, command, PATIENCE).code == 0
            if not self.green[mutant.file]:
                return Judgement(UNJUDGED, "the page is red, or slow, without any fault")
        for place in places:
            place.write_bytes(mutant.planted(text))
        done = run(self.tree, command, PATIENCE + 10 * MINUTE)
        for place in places:
            place.write_bytes(text)
        if done.code is None:
            return Judgement(KILLED, "time")
        killer = FAILED.search(done.said)
        by = killer[1] if killer else f"exit status {done.code}"
        return Judgement(KILLED, by) if done.code else Judgement(LIVED, " ".join(tests))


class Court:
    """Judges side by side, who share what the test files execute."""

    def __init__(self, name: str, jobs: int) -> None:
        self.reach: dict[str, dict[str, Any]] = {}
        self.idle: SimpleQueue[Judge] = SimpleQueue()
        self.jobs = jobs
        self.trees = [scratch(f"{name}-{number}") for number in range(jobs)]
        for tree in self.trees:
            self.idle.put(Judge(tree, self.reach))

    def each(self, ask: Callable[[Judge, Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """What whichever judge is idle answers to each, in their order."""

        def one(item: Any) -> Any:
            judge = self.idle.get()
            try:
                return ask(judge, item)
            finally:
                self.idle.put(judge)

        with ThreadPoolExecutor(self.jobs) as pool:
            yield from pool.map(one, items)

    def measure(self, *, science: bool) -> None:
        """Run each test file that has not run as it is; those of the science where it is asked for.

        The science's own tests execute nothing of the book, which no tower imports.
        """
        tree = self.trees[0]
        files = [path.relative_to(tree).as_posix() for path in tree.glob("tests/**/test_*.py")]
        left = APART if science else (*APART, *(f"tests/{room}/" for room in ROOMS))
        files = sorted(file for file in files if not file.startswith(left))
        self.reach.update(zip(files, self.each(Judge.measured, files), strict=True))


def listed_scripts(root: Path) -> dict[Mutant, tuple[str, ...]]:
    """The faults of ``scripts.yml`` with their tests; raises ``ValueError`` where one is gone."""
    found = {}
    for group in yaml.safe_load((HERE / "scripts.yml").read_text(encoding="utf8")):
        for file, pairs in group["faults"].items():
            text = (root / file).read_bytes()
            for old, new in pairs.items():
                if text.count(old.encode()) != 1:
                    raise ValueError(f"{file}: found {text.count(old.encode())} times: {old}")
                start = text.index(old.encode())
                line = text[:start].count(b"\n") + 1
                mutant = Mutant(file, start, start + len(old.encode()), new, line, line)
                found[mutant] = tuple(group["tests"])
    return found


def table(seed: int, found: dict[str, list[tuple[str, Judgement]]], reasons: dict[str, str]) -> str:
    """The shares by area, and every survivor with the reason why it is the same program."""

    def known(said: str) -> str:
        return reasons.get(re.sub(r":\d+: ", ": ", said, count=1), "")

    lines = [
        f"# Mutants drawn from seed {seed}, {time.strftime('%Y-%m-%d', time.gmtime())}",
        "",
        "Written by `make mutants`. The interval is Wilson's, at 95 %; the last column leaves out",
        "the survivors that are the same program (`survivors.yml`).",
        "",
        "| area | drawn | judged | killed | the same | lived | killed of the judged | of others |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for area, some in found.items():
        verdicts = [judgement.verdict for _, judgement in some]
        killed, lived = verdicts.count(KILLED), verdicts.count(LIVED)
        same = sum(one.verdict == LIVED and bool(known(said)) for said, one in some)
        shares = "| |"
        if killed + lived:
            of_all = binomtest(killed, killed + lived).proportion_ci(method="wilson")
            shares = (
                f"{killed / (killed + lived):.0%} ({of_all.low:.0%} to {of_all.high:.0%}) | "
                f"{killed / max(killed + lived - same, 1):.0%} |"
            )
        counts = (len(some), killed + lived, killed, same, lived - same)
        lines.append(f"| {area} | {' | '.join(map(str, counts))} | {shares}")
    left = [one for some in found.values() for one in some if one[1].verdict != KILLED]
    if left:
        lines += ["", "What lived, or was not judged:", ""]
    for said, judgement in left:
        lines.append(f"- `{said}` {judgement.told} {known(said)}".rstrip())
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=sum(draw.SHARES.values()))
    parser.add_argument("--minutes", type=float, default=600.0, help="draw no more after these")
    parser.add_argument("--jobs", type=int, default=1, help="so many side by side")
    parser.add_argument("--areas", default=" ".join(draw.SHARES), help="some of these, or scripts")
    given = parser.parse_args()
    areas = given.areas.split()
    end = time.monotonic() + 60 * given.minutes
    court = Court("-".join(areas), given.jobs)
    tree = court.trees[0]
    if {PACKAGE, MACHINERY} & set(areas):
        court.measure(science=PACKAGE in areas)
    reasons: dict[str, str] = yaml.safe_load((HERE / "survivors.yml").read_text("utf8")) or {}
    found: dict[str, list[tuple[str, Judgement]]] = {}

    def judged(judge: Judge, fault: tuple[Mutant, Sequence[str]]) -> tuple[str, Judgement] | None:
        if time.monotonic() > end:
            return None
        said = fault[0].said(judge.text(fault[0].file))
        return said, judge.judge(*fault)

    for area in areas:
        if area == SCRIPTS:
            if not (ROOT / HTML / "index.html").exists():
                raise SystemExit("The scripts' tests open the built site: make book first")
            for one in court.trees:
                shutil.copytree(ROOT / HTML, one / HTML, dirs_exist_ok=True)
            drawn = listed_scripts(tree)
        else:
            drawn = dict.fromkeys(draw.draw(tree, area, given.seed, given.count), ())
        found[area] = []
        # up to the first for which no time was left: what comes first was drawn as fairly as all
        for said, judgement in takewhile(bool, court.each(judged, drawn.items())):
            found[area].append((said, judgement))
            where = f"{area} {len(found[area])} of {len(drawn)}"
            print(f"{where}: {judgement.verdict} ({judgement.by})  {said}", flush=True)
    said = table(given.seed, found, reasons)
    print(said)
    if areas == list(draw.SHARES):
        TABLE.write_text(said, encoding="utf8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
