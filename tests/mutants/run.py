"""Draws small faults at random, plants them one by one and says which of them no test notices.

    make mutants SEED=…             75 of the package, 75 of the machinery, pages and conditions
    make mutants SEED=… N=300       so many instead
    make mutants SEED=… AREAS=…     these areas alone
    make mutants SEED=… MINUTES=60  those that can be judged in an hour, in the order of the draw
    make mutants AREAS=scripts      the faults of the pages' scripts, listed in scripts.yml

A fault is planted in a copy of the tree, never in the tree. It meets the tests that execute its
line, as many as take a minute; of a page, the page's own run. What was judged is kept under
``_build/mutants`` for as long as the fault, its file and its tests are the same, so that a run that
was interrupted goes on where it stopped. ``survivors.yml`` says why a survivor is no other program.
"""

import argparse
import hashlib
import json
import re
import shutil
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import yaml
from scipy.stats import binomtest

from tests.mutants import draw
from tests.mutants.draw import CLAIMS, MACHINERY, PACKAGE, Mutant
from tests.mutants.reach import KEPT, ROOT, Chosen, Reach, forked, preload, run, scratch, write

HERE = Path(__file__).resolve().parent
TABLE = HERE / "table.md"
SCRIPTS = "scripts"
HTML = Path("_build") / "html"
MINUTE = 60.0  # processor seconds of tests, as many as they take without a fault
MANY = 400  # tests, most of which then take no time
PATIENCE = 60.0  # processor seconds beyond three times that: who hangs is noticed
PAGE = 400.0  # processor seconds for a page's run
END = 10**6  # a line behind the last
USAGE = 4  # pytest's exit status where a test is not found: its name may hang on the fault
NBVAL = ("--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout", "600")
KILLED, LIVED, UNJUDGED = "killed", "lived", "not judged"


class Judgement(NamedTuple):
    """What became of a fault, and which test noticed it."""

    verdict: str
    by: str = ""


def met(tests: Sequence[str]) -> int:
    """Run tests here, up to the first that is red."""
    return run(["-x", *tests], [])


class Judge:
    """A copy of the tree, in which one fault is planted at a time."""

    def __init__(self, tree: Path, reach: Reach) -> None:
        self.tree = tree
        self.reach = reach
        self.green: dict[str, bool] = {}

    def judge(self, mutant: Mutant, given: Sequence[str] = ()) -> Judgement:
        """Whether the tests notice; as it was found before, where nothing has changed."""
        text = (self.tree / mutant.file).read_bytes()
        chosen = Chosen(tuple(given), MINUTE) if given else self.chosen(mutant)
        kept = KEPT / "results" / f"{self.digest(mutant, text, chosen.tests)}.json"
        if kept.exists():
            return Judgement(*json.loads(kept.read_text(encoding="utf8")))
        places = [self.tree / mutant.file]
        if given:  # the built site has the script, too
            places.append(self.tree / HTML / Path(mutant.file).relative_to("book"))
        found = self.planted(mutant, text, chosen, places)
        write(kept, found)
        return found

    def planted(self, mutant: Mutant, text: bytes, chosen: Chosen, places: list[Path]) -> Judgement:
        """Let a fault meet its tests, without those that are red alone."""
        tests = list(chosen.tests)
        patience = PATIENCE + 3 * chosen.seconds
        if mutant.file.endswith(".md"):
            tests += NBVAL
            patience = PAGE
            if not self.is_green(tests, patience):
                return Judgement(UNJUDGED, "the page is red, or slow, without any fault")
        while chosen.tests:
            for place in places:
                place.write_bytes(mutant.planted(text))
            code = forked(self.tree, partial(met, tests), patience)
            if code == USAGE:
                tests = list(dict.fromkeys(test.partition("::")[0] for test in tests))
                code = forked(self.tree, partial(met, tests), PATIENCE + 3 * patience)
            for place in places:
                place.write_bytes(text)
            if code is None:
                return Judgement(KILLED, "time")
            if code == 0:
                return Judgement(LIVED, f"{len(tests)} tests")
            killer = self.killer()
            if killer not in tests or self.is_green([killer], patience):
                return Judgement(KILLED, killer or f"exit status {code}")
            tests.remove(killer)
        return Judgement(LIVED, "no test executes it")

    def is_green(self, tests: list[str], patience: float) -> bool:
        """Whether tests pass without a fault."""
        name = " ".join(tests)
        if name not in self.green:
            self.green[name] = forked(self.tree, partial(met, tests), patience) == 0
        return self.green[name]

    def killer(self) -> str:
        """The test that was red first."""
        for line in (self.tree / "said").read_text(encoding="utf8", errors="replace").splitlines():
            if line.startswith(("FAILED ", "ERROR ")):
                return line.partition(" ")[2].partition(" - ")[0]
        return ""

    def chosen(self, mutant: Mutant) -> Chosen:
        """The tests that a fault meets."""
        if mutant.file.endswith(".md"):
            return Chosen((mutant.file,), PAGE)
        if mutant.file == CLAIMS:
            return Chosen(("tests/test_claims.py",), MINUTE)
        found = self.reach.choose(mutant.file, mutant.first, mutant.last, MINUTE, MANY)
        # a line that is seen by no test may run in a copy of the package that a test makes
        return found if found.tests else self.reach.choose(mutant.file, 1, END, MINUTE, MANY)

    def digest(self, mutant: Mutant, text: bytes, tests: Sequence[str]) -> str:
        """What a judgement rests on."""
        found = hashlib.sha256(repr((mutant, tests)).encode() + text)
        for file in sorted({test.partition("::")[0] for test in tests}):
            found.update((self.tree / file).read_bytes())
        return found.hexdigest()[:24]


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
                mutant = Mutant(file, start, start + len(old.encode()), new, 1, 1)
                found[mutant] = tuple(group["tests"])
    return found


def known(said: str, reasons: dict[str, str]) -> str:
    """Why a survivor is the same program, whatever the number of its line; empty: it is not."""
    return reasons.get(re.sub(r":\d+: ", ": ", said, count=1), "")


def share(name: str, verdicts: Sequence[str], same: int) -> str:
    """A row of the table: what was drawn and killed, and the share with its interval."""
    killed = verdicts.count(KILLED)
    judged = killed + verdicts.count(LIVED)
    if not judged:
        return f"| {name} | {len(verdicts)} | 0 | 0 | 0 | 0 | | |"
    range_ = binomtest(killed, judged).proportion_ci(method="wilson")
    without = f"{killed / max(judged - same, 1):.0%}"
    return (
        f"| {name} | {len(verdicts)} | {judged} | {killed} | {same} | {judged - killed - same} | "
        f"{killed / judged:.0%} ({range_.low:.0%} to {range_.high:.0%}) | {without} |"
    )


def table(seed: int, found: dict[str, list[tuple[str, Judgement]]], reasons: dict[str, str]) -> str:
    """The shares by area, and every survivor."""
    lines = [
        f"# Mutants drawn from seed {seed}, {time.strftime('%Y-%m-%d', time.gmtime())}",
        "",
        "Written by `make mutants`. The interval is Wilson's, at 95 %; the last column leaves out",
        "the survivors that are the same program (`survivors.yml`).",
        "",
        "| area | drawn | judged | killed | the same | lived | killed of the judged | of others |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    rest = [area for area in found if area not in (PACKAGE, SCRIPTS)]
    groups = [(area, [area]) for area in found]
    if len(rest) > 1:
        groups.append(("all but the package", rest))
    for name, areas in groups:
        some = [one for area in areas for one in found[area]]
        verdicts = [judgement.verdict for _, judgement in some]
        same = [
            said for said, judgement in some if judgement.verdict == LIVED and known(said, reasons)
        ]
        lines.append(share(name, verdicts, len(same)))
    left = [one for some in found.values() for one in some if one[1].verdict != KILLED]
    if left:
        lines += ["", "What lived, or was not judged:", ""]
        lines += [
            f"- `{said}` ({judgement.verdict}: {judgement.by}) {known(said, reasons)}".rstrip()
            for said, judgement in left
        ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=sum(draw.SHARES.values()))
    parser.add_argument("--minutes", type=float, default=600.0, help="draw no more after these")
    parser.add_argument("--areas", default=" ".join(draw.SHARES), help="some of these, or scripts")
    given = parser.parse_args()
    areas = given.areas.split()
    end = time.monotonic() + 60 * given.minutes
    tree = scratch("-".join(areas))
    preload()
    reach = Reach(tree)
    if {PACKAGE, MACHINERY} & set(areas):
        reach.load(science=PACKAGE in areas)
    judge = Judge(tree, reach)
    reasons: dict[str, str] = yaml.safe_load((HERE / "survivors.yml").read_text("utf8")) or {}
    found: dict[str, list[tuple[str, Judgement]]] = {}
    for area in areas:
        if area == SCRIPTS:
            if not (ROOT / HTML / "index.html").exists():
                raise SystemExit("The scripts' tests open the built site: make book first")
            shutil.copytree(ROOT / HTML, tree / HTML, dirs_exist_ok=True)
            drawn = listed_scripts(tree)
        else:
            drawn = dict.fromkeys(draw.draw(tree, area, given.seed, given.count), ())
        found[area] = []
        for number, (mutant, tests) in enumerate(drawn.items(), 1):
            if time.monotonic() > end:
                break  # what comes first was drawn as fairly as all
            said = mutant.said((tree / mutant.file).read_bytes())
            judgement = judge.judge(mutant, tests)
            found[area].append((said, judgement))
            where = f"{area} {number} of {len(drawn)}"
            print(f"{where}: {judgement.verdict} ({judgement.by})  {said}", flush=True)
    said = table(given.seed, found, reasons)
    print(said)
    if areas == list(draw.SHARES):
        TABLE.write_text(said, encoding="utf8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
