"""Let nbval run the book's chapters, which are MyST notebooks, and hold their verdicts against ``tests/expected``.

Every code cell is a test that must run without an error. Then follows one test for each line of
``tests/expected/<chapter>.yml`` (``…::claim:<id>``: verdict exactly, value within the line's ±) and one called
``…::ledger`` (each row of the chapter's block checked once; nothing else printed; no warnings; default settings).
"""

import queue
import re
import sys
import time
from collections import defaultdict
from pathlib import Path

import nbformat
import nbval.plugin as nbv
import psutil
import pytest
import yaml

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import bookcache  # noqa: E402
import bookorigin  # noqa: E402

bookcache.prepare_environment(ROOT)
sys.path.insert(0, str(ROOT))
from iclutils import claims  # noqa: E402

MODES = {
    "compare": "run, and compare with tests/expected (default)",
    "try": "the same, but a chapter whose knobs are turned is not compared",
    "run": "run only, to fill the cache",
    "expected": "run, and rewrite tests/expected",
}
OUTPUT_WAIT = 60  # seconds for a cell's output after its reply; nbval's own 5 s are too few on busy cores
FORBIDDEN_TAGS = {"skip-execution", "raises-exception", "nbval-skip", "nbval-raises-exception", "nbval-ignore-output"}


def pytest_addoption(parser):
    group = parser.getgroup("chapters")
    group.addoption("--chapters", default="compare", choices=list(MODES), help="; ".join(f"{k}: {v}" for k, v in MODES.items()))
    group.addoption("--fill-cache", action="store_true", help="hand each chapter that ran through to the book build")
    group.addoption("--master-seeds", default="", help="run with these master seeds instead; compare and record verdicts only")


def pytest_collect_file(file_path, parent):
    option = parent.config.option
    if not (option.nbval or option.nbval_lax) or file_path.suffix != ".md" or file_path.parent != ROOT / bookcache.CHAPTERS:
        return None
    if option.master_seeds:
        return SeedsOfChapter.from_parent(parent, path=file_path)
    return ChapterFile.from_parent(parent, path=file_path)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Chapters first and the longest of them first, so that two processes end at about the same time."""
    def rank(item):
        chapter = item.getparent(ChapterFile)
        return (1, 0.0) if chapter is None else (0, -bookcache.last_seconds(chapter.path.stem, ROOT))
    items.sort(key=rank)


class SeedsOfChapter(pytest.Collector):
    """One chapter, once for each master seed."""

    def __init__(self, path, **kwargs):
        super().__init__(name=path.name, path=path, **kwargs)

    def collect(self):
        for seed in self.config.option.master_seeds.split():
            node_id = f"{self.path.relative_to(ROOT).as_posix()}@seed={seed}"
            chapter = ChapterFile.from_parent(self, path=self.path, name=node_id, nodeid=node_id)
            chapter.master_seed = int(seed)
            yield chapter


def with_master_seed(notebook, seed):
    """Turn the one knob ``seed = 0``, which every chapter has on a line of its own."""
    places = [(cell, i) for cell in notebook.cells if cell.cell_type == "code"
              for i, line in enumerate(cell.source.splitlines()) if line.strip() == "seed = 0"]
    if len(places) != 1:
        raise pytest.Collector.CollectError(f"a chapter needs exactly one line 'seed = 0'; found {len(places)}")
    cell, i = places[0]
    lines = cell.source.splitlines()
    lines[i] = f"seed = {seed}"
    cell.source = "\n".join(lines)


class ChapterFile(nbv.IPyNbFile):
    """One chapter: its kernel, its cells, its claims."""

    master_seed = None

    @property
    def chapter(self):
        return self.path.stem

    @property
    def expected_path(self):
        return ROOT / "tests" / "expected" / f"{self.chapter}.yml"

    def collect(self):
        refuse = self.CollectError
        if self.chapter not in bookcache.toc_chapters(ROOT):
            raise refuse(f"{self.path.name} stands in book/chapters but not in _toc.yml")
        if not self.path.read_text(encoding="utf8").startswith("---\njupytext:"):
            raise refuse(f"{self.path.name} has no jupytext header, so that neither nbval nor the book would run it")
        self.nb = bookcache.read_chapter(self.path)
        if self.master_seed is not None:
            with_master_seed(self.nb, self.master_seed)
        cells = [cell for cell in self.nb.cells if cell.cell_type == "code"]
        written = len(re.findall(r"^\s*[`~:]{3,}\s*\{code-cell\}", self.path.read_text(encoding="utf8"), re.MULTILINE))
        if written != len(cells):
            lost = written - len(cells)
            raise refuse(f"{self.path.name}: {lost} code cell(s) stand inside another block and would never be run")
        for number, cell in enumerate(cells):
            cell["outputs"], cell["execution_count"] = [], number + 1
            bad = FORBIDDEN_TAGS & {str(tag).lower() for tag in cell.metadata.get("tags", [])}
            if bad or dict(nbv.find_comment_markers(cell.source)):
                raise refuse(f"{self.path.name}, code cell {number}: every cell is run and may not fail; remove {sorted(bad)}")
        rows = claims.load(ROOT / "book" / "claims.yml")["chapters"].get(self.chapter, {}).get("claims")
        if not rows:
            raise refuse(f"{self.path.name} has no claim in book/claims.yml, so that nothing would be checked")
        self.rows = [row["id"] for row in rows]
        mode = self.config.option.chapters
        self.reference = bookorigin.reference(self.chapter, ROOT)
        self.expected = self.read_expected() if mode in ("compare", "try") else {}
        self.printed, self.stray, self.warned, self.passed, self.seconds = [], [], [], 0, 0.0
        self.judged = {}
        self.code_cells = len(cells)
        for number, cell in enumerate(cells):
            yield ChapterCell.from_parent(self, name=f"cell{number}", cell_num=number, cell=cell, options=defaultdict(bool))
        if mode != "run":
            for claim in self.expected:
                yield ClaimItem.from_parent(self, name=f"claim:{claim}")
            yield LedgerItem.from_parent(self, name="ledger")

    def read_expected(self):
        """The chapter's reference lines by claim id."""
        where = self.expected_path.relative_to(ROOT)
        if not self.expected_path.exists():
            raise self.CollectError(f"{where} is missing; write it with: make expected NAME={self.chapter}")
        lines = yaml.safe_load(self.expected_path.read_text(encoding="utf8"))
        if not isinstance(lines, list) or not lines:
            raise self.CollectError(f"{where} must be a list of lines 'id · verdict · value ± half-width'")
        try:
            parsed = [claims.parse_line(line) for line in lines]
        except ValueError as error:
            raise self.CollectError(f"{where}: {error}") from None
        ids = [line.id for line in parsed]
        if len(set(ids)) < len(ids):
            raise self.CollectError(f"{where}: a claim has two lines: {sorted({i for i in ids if ids.count(i) > 1})}")
        return dict(zip(ids, lines, strict=True))

    @property
    def whole(self):
        return self.passed == self.code_cells

    @property
    def at_own_settings(self):
        return any(line.startswith(claims.AT_YOUR_SETTINGS) for line in self.printed)

    def found(self):
        """The printed claims by id, without the prefix that marks turned knobs."""
        parsed = [claims.parse_line(line.removeprefix(claims.AT_YOUR_SETTINGS)) for line in self.printed]
        return {line.id: line for line in parsed}

    def setup(self):
        self.folder, self.origin = bookcache.cache_path(ROOT), bookorigin.now(ROOT)
        super().setup()
        kernel = self.kernel
        # nbval runs cells with store_history=False: IPython then does not see a trailing ';'
        kernel.execute_cell_input = lambda source, allow_stdin=None: kernel.kc.execute(
            source, store_history=True, allow_stdin=allow_stdin, stop_on_error=False)
        kernel.await_reply = self.await_reply

    def await_reply(self, msg_id, timeout=None):
        """nbval's own waits out the whole cell timeout when the kernel has died; this one looks every two seconds."""
        end = time.monotonic() + (timeout or 600)
        while True:
            try:
                message = self.kernel.get_message(stream="shell", timeout=max(0.0, min(2.0, end - time.monotonic())))
            except queue.Empty:
                if not self.kernel.is_alive():
                    raise RuntimeError("the kernel died (killed, or out of memory?)") from None
                if time.monotonic() >= end:
                    raise
                continue
            if message["parent_header"].get("msg_id") == msg_id:
                return

    def processor_seconds(self):
        """What the chapter's kernel has computed: on one thread this is its runtime on an idle core."""
        times = psutil.Process(self.kernel.km.provisioner.process.pid).cpu_times()
        return times.user + times.system

    def ran_through(self):
        """All cells passed: the run may be shown."""
        self.seconds = self.processor_seconds()
        self.keep_run()

    def keep_run(self):
        """For the site, unless the package or another input was edited meanwhile: then nobody knows what was run."""
        if self.config.option.fill_cache and self.master_seed is None and bookcache.cache_path(ROOT) == self.folder:
            bookcache.store_run(self.nb, self.path, self.folder, self.seconds, self.origin)

    def was_judged(self):
        """Note beside the kept run how the comparison went; one that left out a line is none."""
        names = {f"claim:{claim}" for claim in self.expected} | {"ledger"}
        if self.whole and set(self.judged) == names:
            outcome = bookorigin.AGREES if all(self.judged.values()) else bookorigin.DISAGREES
            self.origin |= {"outcome": outcome, "reference": self.reference}
            self.keep_run()

    def write_expected(self):
        lines = [str(line) for line in self.found().values()]
        head = f"# The verdicts of {self.chapter}, as it prints them. Rewrite with: make expected NAME={self.chapter}\n"
        text = yaml.safe_dump(lines, allow_unicode=True, width=1000, default_style="'")
        bookcache.write_atomically(self.expected_path, head + text)


class Finding(Exception):
    """A failed check, shown by its message alone."""


class ChapterCell(nbv.IPyNbCell):
    """One code cell: it must run without an error. What it printed is kept for the claims."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.output_timeout = OUTPUT_WAIT

    def reportinfo(self):
        return self.path, 0, f"{self.parent.nodeid}::{self.name}"

    def setup(self):
        """Not nbval's: after a timeout it marks the other cells as expected failures, which would look like success."""

    def repr_failure(self, excinfo):
        return str(excinfo.value) if isinstance(excinfo.value, Finding) else super().repr_failure(excinfo)

    def runtest(self):
        chapter = self.parent
        if chapter.passed < self.cell_num:
            raise Finding("not run: an earlier cell of this chapter failed")
        try:
            super().runtest()
        finally:
            self.keep_outputs()
        chapter.passed += 1
        if chapter.whole:
            chapter.ran_through()

    def keep_outputs(self):
        chapter, outputs = self.parent, []
        for output in self.test_outputs or []:
            node = nbformat.from_dict(dict(output))
            if node["output_type"] == "execute_result":
                node["execution_count"] = self.cell.execution_count
            outputs.append(node)
            if node["output_type"] == "stream" and node["name"] == "stderr":
                chapter.warned.append(f"cell{self.cell_num}: {node['text'].strip()}")
            elif node["output_type"] == "stream":
                for line in node["text"].splitlines():
                    self.sort_line(line)
        self.cell["outputs"] = outputs

    def sort_line(self, line):
        try:
            claims.parse_line(line.removeprefix(claims.AT_YOUR_SETTINGS))
        except ValueError:
            if line.strip():
                self.parent.stray.append(f"cell{self.cell_num}: {line}")
        else:
            self.parent.printed.append(line)


class AfterCells(pytest.Item):
    """A check of what the whole chapter printed."""

    def reportinfo(self):
        return self.path, 0, f"{self.parent.nodeid}::{self.name}"

    def repr_failure(self, excinfo):
        return str(excinfo.value) if isinstance(excinfo.value, Finding) else super().repr_failure(excinfo)

    def runtest(self):
        if not self.parent.whole:
            raise Finding(f"{self.parent.chapter} did not run through: one of its cells failed (see there)")
        if self.config.option.chapters == "try" and self.parent.at_own_settings:
            pytest.skip("at your settings: not compared")
        self.parent.judged[self.name] = False
        self.judge()
        self.parent.judged[self.name] = True


class ClaimItem(AfterCells):
    """One line of ``tests/expected``."""

    def judge(self):
        chapter = self.parent
        claim = self.name.removeprefix("claim:")
        expected, found = chapter.expected[claim], chapter.found().get(claim)
        if found is None:
            raise Finding(f"{claim}: the chapter did not print this claim\n  expected  {expected}")
        verdict_only = chapter.master_seed is not None
        finding = claims.disagreement(claims.parse_line(expected), found, verdict_only=verdict_only)
        if finding:
            raise Finding(f"{claim}: {finding}\n  expected  {expected}\n  found     {found}")


class LedgerItem(AfterCells):
    """The chapter's block of the ledger and what it printed match one to one; in mode 'expected', write the lines."""

    def runtest(self):
        if self.parent.whole:
            self.user_properties.append(("claims", list(self.parent.printed)))
            self.user_properties.append(("chapter", self.parent.chapter))
            self.user_properties.append(("master_seed", self.parent.master_seed))
            self.user_properties.append(("seconds", self.parent.seconds))
        try:
            super().runtest()
        finally:
            if self.config.option.chapters in ("compare", "try"):
                self.parent.was_judged()

    def judge(self):
        chapter, option = self.parent, self.config.option
        ids = [claims.parse_line(line.removeprefix(claims.AT_YOUR_SETTINGS)).id for line in chapter.printed]
        findings = [f"printed but not compared: {line}" for line in chapter.stray]
        findings += [f"a cell wrote to stderr: {line}" for line in chapter.warned]
        findings += [f"{row}: this row of book/claims.yml has no check in the chapter" for row in chapter.rows if row not in ids]
        findings += [f"{i}: checked, but has no row in book/claims.yml" for i in ids if i not in chapter.rows]
        findings += [f"{i}: printed more than once" for i in sorted(set(ids)) if ids.count(i) > 1]
        if chapter.master_seed is None and chapter.at_own_settings:
            findings.append("the chapter's knobs are not at the settings of its block in book/claims.yml ('at your settings')")
        if option.chapters != "expected":
            findings += [f"{i}: checked, but has no line in tests/expected" for i in ids if i not in chapter.expected]
        if findings:
            raise Finding(f"{chapter.chapter}:\n  " + "\n  ".join(findings))
        if option.chapters == "expected":
            chapter.write_expected()


def ledger_reports(terminalreporter):
    """What the chapters of this session printed: (chapter, master seed, lines)."""
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            found = dict(getattr(report, "user_properties", []))
            if "claims" in found and report.when == "call":
                yield found["chapter"], found["master_seed"], found["claims"], found["seconds"]


def pytest_terminal_summary(terminalreporter, config):
    reports = sorted(ledger_reports(terminalreporter), key=lambda r: (r[0], r[1] or 0))
    if config.option.master_seeds:
        record_seeds(terminalreporter, reports)
    elif config.option.chapters in ("try", "expected"):
        for chapter, _, lines, seconds in reports:
            terminalreporter.section(f"{chapter}: {len(lines)} claims, {seconds:.0f} s of one core")
            for line in lines:
                terminalreporter.line(line)


def record_seeds(terminalreporter, reports):
    """Merge this session's verdicts into ``book/recorded/seeds.json`` and print them as a table."""
    import json

    path = ROOT / bookcache.SEEDS_FILE
    record = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    table = defaultdict(dict)
    for _, seed, lines, _ in reports:
        for line in lines:
            claim = claims.parse_line(line.removeprefix(claims.AT_YOUR_SETTINGS))
            table[claim.id][str(seed)] = claim.verdict
            record.setdefault(claim.id, {})[str(seed)] = claim.verdict
    blocks = claims.load(ROOT / "book" / "claims.yml")["chapters"].values()
    known = sorted(row["id"] for block in blocks for row in block["claims"] if row["id"] in record)
    kept = {claim: dict(sorted(record[claim].items(), key=lambda seed: int(seed[0]))) for claim in known}
    bookcache.write_atomically(path, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    terminalreporter.section("verdicts by master seed")
    seeds = sorted({seed for found in table.values() for seed in found}, key=int)
    width = max([len(claim) for claim in table] or [5]) + 2
    terminalreporter.line("claim".ljust(width) + "".join(f"seed {seed}".ljust(16) for seed in seeds))
    for claim, found in table.items():
        mark = "" if len(set(found.values())) == 1 else "  <- differ"
        terminalreporter.line(claim.ljust(width) + "".join(found.get(seed, "-").ljust(16) for seed in seeds) + mark)

