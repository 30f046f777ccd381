"""Build the site strictly, where it does not agree with what it is made from.

    python -m claimbook.build            build the site into _build/html
    python -m claimbook.build --current  only say by the exit status whether there is nothing to do

Every warning is an error, and every reference has to lead somewhere (``-W --keep-going -n``). Each
build begins without the memory of another one, and executes nothing.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

from claimbook.files import ROOT, write_atomically
from claimbook.runs.page_key import PACKAGES, digest

OPTIONS = ("-W", "--keep-going", "-n", "--all")
FOLDERS = ("book", *PACKAGES, "tests/expected")  # that the site is made from
FILES = ("_config.yml", "_toc.yml", "CITATION.cff", "LICENSE", "tests/rows.txt")
PASSING = re.compile(r"(^|/)(\.|#|__pycache__/)|(~|\.bak|\.orig)$")  # caches, editors' copies
STAMP = "_build/html/.inputs"  # what the site that stands was made from
WARNING = re.compile(r"WARNING|ERROR|Error")


def inputs(root: Path = ROOT) -> str:
    """Digest what the site is made from: files by their content, runs by their sizes and times."""
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))]
    lasting = [path for path in paths if not PASSING.search(str(path.relative_to(root)))]
    files = [path for path in lasting if path.is_file()] + [root / name for name in FILES]
    runs = [(path.name, path.stat()) for path in sorted((root / "_build/runs").glob("*.ipynb"))]
    marks = [f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in runs]
    return digest(files, root, *marks)


def build(root: Path = ROOT) -> int:
    """Run jupyter-book; print its last warnings where it fails, and return its exit status."""
    log, stamp = root / "_build/reports/build.log", root / STAMP
    log.parent.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    state, start = inputs(root), time.monotonic()
    print(f"build started; log: {log.relative_to(root)}", flush=True)
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", *OPTIONS]
    with log.open("wb") as file:
        done = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    if done.returncode == 0:
        write_atomically(stamp, state)
        print(f"build done in {time.monotonic() - start:.0f} s")
        return 0
    lines = log.read_text(encoding="utf8", errors="replace").splitlines()
    print("\n".join([line for line in lines if WARNING.search(line)][-40:] or lines[-40:]))
    print(f"build failed; full log: {log.relative_to(root)}")
    return done.returncode


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Run the command line."""
    stamp = root / STAMP
    is_current = stamp.exists() and stamp.read_text(encoding="utf8") == inputs(root)
    if arguments == ["--current"]:
        return 0 if is_current else 1
    return 0 if is_current else build(root)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
