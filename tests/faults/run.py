"""Plants faults, one line each, and says which of them nothing notices.

    make faults                      all of faults.yml, two at a time, an hour at most
    make faults ONLY="site figures"  these kinds, or the files whose name holds a word

Each fault is planted in a scratch copy of the tree and never in the tree itself. First come the
tests that cover the file. What lives through them, and what is planted in a chapter or a reference,
is then judged by running chapters: all faults of a page at once, each of which has to turn its own
check red. What was judged is kept under ``_build/faults`` and is not run again while the fault, the
file (of a chapter, its code) and its tests are as they were; so an interrupted or too long run goes
on where it stopped.
"""

import argparse
import gc
import hashlib
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests" / "faults" / "faults.yml"
TABLE = ROOT / "tests" / "faults" / "table.md"
KEPT = ROOT / "_build" / "faults"
SCRATCH = ROOT / "_build" / "scratch" / str(os.getpid())
CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.MULTILINE | re.DOTALL)
PATIENCE = 900.0  # seconds for one fault's tests; a fault that hangs them is noticed
HEAVY = (
    "beartype",
    "bs4",
    "hypothesis.strategies",
    "jaxtyping",
    "matplotlib.pyplot",
    "nbval.plugin",
    "pandas",
    "pytest",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.optimize",
    "scipy.stats",
    "sphinx",
    "torch.distributed.tensor",  # torch.testing asks for it
    "torch.func",
)
SLOW = ("test_checker.py", "test_interrupted.py", "test_stamp.py")  # they start processes
BUILT = "explorer"  # planted in the built site too
BROWSER = "tests/browser/"  # these tests open the built site
HTML = Path("_build") / "html"
KILLED, EXPLAINED, LIVED, UNJUDGED = COLUMNS = "killed", "explained", "lived", "unjudged"


@dataclass(frozen=True)
class Fault:
    """One line of a file, changed.

    ``tests`` cover the file, ``wider`` are the others that import it; ``page`` is a chapter's, on
    which the check ``tells`` must turn red and say ``says``.
    """

    kind: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    wider: tuple[str, ...] = field(default=(), repr=False)
    page: str = ""
    tells: str = ""
    says: str = ""
    excuse: str = field(default="", repr=False)

    def plant(self, tree: Path) -> None:
        """Change the line in a scratch tree; raises ``ValueError`` where it is not there once."""
        path = tree / self.file
        text = path.read_text(encoding="utf8")
        if text.count(self.old) != 1 or self.old == self.new:
            raise ValueError(f"{self.file}: found {text.count(self.old)} times: {self.old}")
        planted = text.replace(self.old, self.new)
        path.write_text(planted, encoding="utf8")
        if self.kind == BUILT:
            (tree / self.in_site).write_text(planted, encoding="utf8")

    def heal(self, tree: Path) -> None:
        """The file as it is."""
        (tree / self.file).write_text(self.text, encoding="utf8")
        if self.kind == BUILT:
            (tree / self.in_site).write_text(self.text, encoding="utf8")

    @cached_property
    def text(self) -> str:
        """The file as it was when the run began: the tree may be worked on meanwhile."""
        return (ROOT / self.file).read_text(encoding="utf8")

    @property
    def run_text(self) -> str:
        """What a judgement rests on: of a chapter its code, whose prose may be written again."""
        code = "\n".join(CELL.findall(self.text))
        return code if self.old in code else self.text

    @property
    def in_site(self) -> Path:
        """Where the built site has the file."""
        return HTML / Path(self.file).relative_to("book")

    @cached_property
    def notes(self) -> tuple[Path, Path]:
        """Where a judgement is kept, under the digest of all that it rests on.

        The first is that of the tests that cover the file, the second that of all.
        """
        parts = [repr(self), self.run_text]
        found = []
        for tests in (self.tests, self.wider):
            parts += [(ROOT / name).read_text(encoding="utf8") for name in tests]
            digest = hashlib.sha256("\0".join([*parts, str(len(found))]).encode())
            found.append(KEPT / digest.hexdigest()[:24])
        return found[0], found[1]

    def __str__(self) -> str:
        return f"{self.file}: {self.old.strip()}  →  {self.new.strip()}"


def faults() -> list[Fault]:
    """The list, each fault with the tests that cover its file."""
    found = []
    for kind, files in yaml.safe_load(LIST.read_text(encoding="utf8")).items():
        for file, entries in files.items():
            for entry in entries:
                given = entry.pop("tests", None)
                tests = tuple(given or mirror(file))
                wider = () if given else tuple(one for one in importers(file) if one not in tests)
                found.append(Fault(kind, file, tests=tests, wider=wider, **entry))
    return found


def importers(file: str) -> list[str]:
    """The test files that import a module of the package."""
    if not file.startswith("iclutils/") or not file.endswith(".py"):
        return []
    room, _, name = file.removesuffix(".py").replace("/", ".").rpartition(".")
    pattern = re.compile(rf"from {re.escape(room)}(\.{name} import| import .*\b{name}\b)")
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    found = [path for path in paths if pattern.search(path.read_text(encoding="utf8"))]
    found.sort(key=lambda path: len(path.parts))  # those of all towers first: they are general
    return [path.relative_to(ROOT).as_posix() for path in found if "browser" not in path.parts]


def mirror(file: str) -> list[str]:
    """The test file that mirrors a module of the package."""
    parts = Path(file).with_suffix("").parts
    if parts[0] != "iclutils":
        return []
    rooms = [part for part in parts[1:-1] if part != "theory"]
    name = f"test_{parts[-1]}.py"
    places = [ROOT / "tests" / Path(*rooms) / name, ROOT / "tests" / rooms[0] / name]
    return [path.relative_to(ROOT).as_posix() for path in places if path.exists()][:1]


# ------------------------------------------------------------------ scratch trees


def scratch(number: int) -> Path:
    """A fresh copy of what git knows of the tree, and of what is new in it."""
    tree = SCRATCH / str(number)
    shutil.rmtree(tree, ignore_errors=True)
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tree / name)
    return tree


def preload() -> None:
    """Import once what every test imports, but nothing of the book: it is forked for each fault."""
    for name in HEAVY:
        importlib.import_module(name)
    gc.freeze()
    assert not any(name.startswith("iclutils") for name in sys.modules)


def tested(tree: Path, tests: Sequence[str]) -> int:
    """Start the tests in a process of their own; returns its id."""
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    os.chdir(tree)
    sys.path[:] = [str(tree), *(path for path in sys.path if path not in ("", str(ROOT)))]
    os.environ["PYTHONPATH"] = str(tree)
    sys.dont_write_bytecode = True
    sink = os.open(tree / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(sink, stream)
    import pytest

    code = 70
    try:
        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", *tests]))
    finally:
        os._exit(code)


class Slots:
    """So many scratch trees, in each of which one fault is judged at a time."""

    def __init__(self, count: int) -> None:
        self.trees = [scratch(number) for number in range(count)]
        self.busy: dict[int, tuple[Path, Fault | None, tuple[str, ...], float]] = {}

    def start(self, fault: Fault | None, tests: tuple[str, ...]) -> None:
        tree = self.trees.pop()
        if any(name.startswith(BROWSER) for name in tests) and not (tree / HTML).exists():
            shutil.copytree(ROOT / HTML, tree / HTML)
        if fault is not None:
            fault.plant(tree)
        self.busy[tested(tree, tests)] = (tree, fault, tests, time.monotonic())

    def ended(self) -> Iterator[tuple[Fault | None, tuple[str, ...], bool]]:
        """What has ended since the last look: the fault, its tests, whether they were green."""
        for pid, (tree, fault, tests, begun) in list(self.busy.items()):
            found, status = os.waitpid(pid, os.WNOHANG)
            if not found and time.monotonic() - begun < PATIENCE:
                continue
            if not found:
                os.killpg(pid, signal.SIGKILL)
                _, status = os.waitpid(pid, 0)
            del self.busy[pid]
            if fault is not None:
                fault.heal(tree)
            self.trees.append(tree)
            yield fault, tests, os.waitstatus_to_exitcode(status) == 0


def by_tests(
    todo: Sequence[Fault], workers: int, deadline: float, *, wider: int | None = None
) -> dict[Fault, str]:
    """Judge faults by their tests, or by one of the ``wider`` ones.

    Each set is first run without a fault.
    """
    slots = Slots(workers)
    green: dict[tuple[str, ...], bool | None] = {}
    verdicts: dict[Fault, str] = {}
    waiting = sorted(todo, key=lambda one: any(name.endswith(SLOW) for name in one.tests))
    begun = time.monotonic()

    def of(fault: Fault) -> tuple[str, ...]:
        return fault.tests if wider is None else fault.wider[wider : wider + 1]

    while (waiting and time.monotonic() < deadline) or slots.busy:
        while slots.trees and waiting and time.monotonic() < deadline:
            ready = [one for one in waiting if of(one) not in green or green[of(one)]]
            if not ready:
                break
            fault = ready[0]
            if of(fault) not in green:
                green[of(fault)] = None
                slots.start(None, of(fault))
                continue
            waiting.remove(fault)
            slots.start(fault, of(fault))
        for fault, tests, passed in slots.ended():
            if fault is None:
                green[tests] = passed
                if not passed:
                    print(f"red without any fault: {' '.join(tests)}", flush=True)
                    waiting = [one for one in waiting if of(one) != tests]
                continue
            verdicts[fault] = LIVED if passed else KILLED
            last = len(fault.wider) == (0 if wider is None else wider + 1)
            if last or not passed:
                keep(fault, verdicts[fault], wide=passed or wider is not None)
            seconds = time.monotonic() - begun
            count = f"{len(verdicts)} of {len(todo)}"
            print(f"{count}, {seconds:.0f} s: {verdicts[fault]}  {fault}", flush=True)
        time.sleep(0.05)
    return verdicts


def judged(todo: Sequence[Fault], workers: int, deadline: float) -> dict[Fault, str]:
    """By the tests that cover the files, then what lived by the others that import them."""
    verdicts = by_tests(todo, workers, deadline)
    wider = 0
    while again := [
        one for one, verdict in verdicts.items() if verdict == LIVED and len(one.wider) > wider
    ]:
        print(f"{len(again)} lived, and are judged by more tests that import their files")
        verdicts |= dict.fromkeys(again, UNJUDGED)
        verdicts |= by_tests(again, workers, deadline, wider=wider)
        wider += 1
    return verdicts


# ------------------------------------------------------------------ chapters


def by_page(page: str, group: Sequence[Fault], tree: Path) -> dict[Fault, str]:
    """Plant all faults of a page, run it once, and see which of their checks turn red."""
    for fault in group:
        fault.plant(tree)
    red = red_checks(page, tree)
    for fault in group:
        fault.heal(tree)
    if any(name.startswith("cell") for name in red):
        print(f"{page}: a cell failed; its faults cannot be told apart", flush=True)
        return dict.fromkeys(group, KILLED if len(group) == 1 else UNJUDGED)
    return {
        fault: KILLED if fault.says in red.get(fault.tells, "\0") else LIVED for fault in group
    }


def red_checks(page: str, tree: Path) -> dict[str, str]:
    """Run a page; the names of the checks that are red, with what they say."""
    report = tree / "report.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval-lax"]
    command += ["--nbval-current-env", "--nbval-cell-timeout", "3000"]
    command += [f"book/chapters/{page}.md", f"--junitxml={report}"]
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    with (tree / "said").open("w") as said:
        subprocess.run(command, cwd=tree, env=environment, stdout=said, stderr=said, check=False)
    return dict(failures(report))


def failures(report: Path) -> Iterator[tuple[str, str]]:
    """The names of the checks that are red, with what they say."""
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        for child in case:
            if child.tag in ("failure", "error"):
                yield case.get("name") or "", f"{child.get('message', '')}\n{child.text or ''}"


def by_pages(todo: Sequence[Fault], deadline: float) -> dict[Fault, str]:
    """Judge chapters' and references' faults, page by page."""
    verdicts: dict[Fault, str] = {}
    pages = sorted({fault.page for fault in todo})
    tree = scratch(9) if pages else SCRATCH
    for page in pages:
        if time.monotonic() > deadline:
            break
        group = [fault for fault in todo if fault.page == page]
        print(f"{page}: {len(group)} faults in one run …", flush=True)
        for fault, verdict in by_page(page, group, tree).items():
            verdicts[fault] = verdict
            keep(fault, verdict, wide=True)
            print(f"  {verdict}  {fault}", flush=True)
    return verdicts


# ------------------------------------------------------------------ what is kept and said


def keep(fault: Fault, verdict: str, *, wide: bool) -> None:
    """Note a judgement for the next run; a ``wide`` one rests on more tests than the file's own."""
    if verdict != UNJUDGED:
        note = fault.notes[wide]
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps({"verdict": verdict, "fault": str(fault)}))


def known(fault: Fault) -> str | None:
    """What an earlier run found."""
    for note in fault.notes:
        if note.exists():
            verdict: str = json.loads(note.read_text(encoding="utf8"))["verdict"]
            return verdict
    return None


def table(verdicts: dict[Fault, str], planted: Iterable[Fault]) -> str:
    """The result by area, and every survivor."""
    counts: Counter[tuple[str, str]] = Counter()
    for fault in planted:
        verdict = verdicts.get(fault, UNJUDGED)
        counts[fault.kind, EXPLAINED if verdict == LIVED and fault.excuse else verdict] += 1
    kinds = list(dict.fromkeys(kind for kind, _ in counts))
    date = time.strftime("%Y-%m-%d", time.gmtime())
    lines = [
        f"# Planted faults, {date}",
        "",
        "Written by `make faults`; the faults are those of `faults.yml`.",
        "",
        "| area | planted | killed | lived, explained | lived | not judged |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for kind in kinds:
        found = [counts[kind, column] for column in COLUMNS]
        lines.append(f"| {kind} | {sum(found)} | " + " | ".join(map(str, found)) + " |")
    found = [sum(counts[kind, column] for kind in kinds) for column in COLUMNS]
    lines.append(f"| all | {sum(found)} | " + " | ".join(map(str, found)) + " |")
    lived = [fault for fault in planted if verdicts.get(fault) == LIVED]
    if lived:
        lines += ["", "What lived:", ""]
        lines += [f"- `{fault}` {fault.excuse}".rstrip() for fault in lived]
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Plant faults and say which nothing notices.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--only", default="", help="kinds, or words of the files' names")
    parser.add_argument("--no-pages", action="store_true", help="leave the chapters out")
    given = parser.parse_args()
    planted = [fault for fault in faults() if chosen(fault, given.only.split())]
    gone = [fault for fault in planted if not applies(fault)]
    planted = [fault for fault in planted if fault not in gone]
    verdicts = {fault: verdict for fault in planted if (verdict := known(fault))}
    todo = [fault for fault in planted if fault not in verdicts]
    if not (ROOT / HTML / "index.html").exists():
        print("no built site: the explorers' faults are left out; make book first")
        todo = [fault for fault in todo if fault.kind != BUILT]
    units = [fault for fault in todo if not fault.page]
    pages = [] if given.no_pages else [fault for fault in todo if fault.page]
    kinds = Counter(fault.kind for fault in planted)
    print(f"{len(planted)} faults: " + ", ".join(f"{kinds[kind]} {kind}" for kind in kinds))
    names = len({fault.page for fault in pages})
    print(f"{len(verdicts)} judged before; now {len(units)} by tests, ", end="")
    print(f"{len(pages)} by {names} chapter runs, {given.minutes:g} minutes at most", flush=True)
    for fault in gone:
        print(f"no longer there: {fault}")
    deadline = time.monotonic() + 60 * given.minutes
    if units:
        preload()
        verdicts |= judged(units, given.workers, deadline)
    verdicts |= by_pages(pages, deadline)
    shutil.rmtree(SCRATCH, ignore_errors=True)
    said = table(verdicts, planted)
    print(said)
    if not given.only:
        TABLE.write_text(said, encoding="utf8")
    return 1 if gone else 0


def chosen(fault: Fault, words: Sequence[str]) -> bool:
    """Whether the fault is of a kind that is named, or its file's name holds a word."""
    return not words or any(word == fault.kind or word in fault.file for word in words)


def applies(fault: Fault) -> bool:
    """Whether the line is there, once."""
    return (ROOT / fault.file).read_text(encoding="utf8").count(fault.old) == 1


if __name__ == "__main__":
    sys.exit(main())
