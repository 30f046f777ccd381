"""The strict build of the site: one progress line, the whole story in a log, an end that says why.

    python -m iclutils.book.build            build the site into _build/html
    python -m iclutils.book.build --checked  the same; red if a chapter had to be run, since the
                                             site would show another run than the checked one
    python -m iclutils.book.build --all      write every page anew

Every warning is an error, and every reference has to lead somewhere (``-W --keep-going -n``).
"""

import re
import subprocess
import sys
import time
from pathlib import Path

from iclutils.book.runs.files import ROOT

LOG = ROOT / "_build" / "reports" / "build.log"
PHASE = re.compile(r"^(reading sources|writing output)\.\.\. *\[ *(\d+)%\]", re.MULTILINE)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
EVERY = 10.0  # seconds between two plain lines, where the output is no terminal


class Progress:
    """What the build does and how far it is: one line that changes, or plain ones in a log."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.terminal = sys.stdout.isatty()
        self.start = time.monotonic()
        self.said = self.start

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.start

    def show(self, state: str) -> None:
        line = f"{self.what}: {state}, {self.seconds:.0f} s"
        if self.terminal:
            print(f"\r\033[K{line}", end="", flush=True)
        elif time.monotonic() - self.said >= EVERY:
            print(line, flush=True)
            self.said = time.monotonic()

    def end(self, state: str) -> None:
        print(("\r\033[K" if self.terminal else "") + f"{self.what}: {state}", flush=True)


def build(*, everything: bool = False) -> int:
    """Run jupyter-book; returns its exit status, its words are in ``_build/reports/build.log``."""
    program = Path(sys.executable).with_name("jupyter-book")
    command = [str(program), "build", ".", "-W", "--keep-going", "-n"]
    command += ["--all"] if everything else []
    LOG.parent.mkdir(parents=True, exist_ok=True)
    progress = Progress("build")
    progress.end("the site …")
    with LOG.open("w", encoding="utf8") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
        while process.poll() is None:
            text = LOG.read_text(encoding="utf8", errors="replace")
            found = PHASE.findall(COLOURS.sub("", text.replace("\r", "\n")))
            if found:
                phase, percent = found[-1]
                progress.show(f"{phase} {percent} %")
            else:
                progress.show("starting")
            time.sleep(0.5)
    ended = "done" if process.returncode == 0 else "failed"
    progress.end(f"{ended} in {progress.seconds:.0f} s")
    return process.returncode


def main(arguments: list[str]) -> int:
    """The command line."""
    unknown = set(arguments) - {"--checked", "--all"}
    if unknown:
        sys.exit(__doc__)
    status = build(everything="--all" in arguments)
    text = LOG.read_text(encoding="utf8", errors="replace")
    if status:
        troubles = [line for line in text.splitlines() if re.search(r"WARNING|ERROR|Error", line)]
        print("\n".join(troubles[-40:] or text.splitlines()[-40:]))
        print(f"The whole story is in {LOG.relative_to(ROOT)}.")
    elif "--checked" in arguments and "Executing notebook" in text:
        print("The build ran a chapter again: its cache and the checker's disagree.")
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
