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

from claimbook.files import ROOT, files_under, write_atomically
from claimbook.runs.page_key import digest

OPTIONS = ("-W", "--keep-going", "-n", "--all")
READ = ("book", "claimbook", "iclutils", "tests/expected")  # folders that the site is made from
ALSO_READ = ("_config.yml", "_toc.yml", "CITATION.cff", "LICENSE")
WARNING = re.compile(r"WARNING|ERROR|Error")


def inputs(root: Path = ROOT) -> str:
    """Digest what the site is made from: files by their content, runs by their sizes and times."""
    files = sorted(path for folder in READ for path in files_under(root / folder))
    runs = [(path.name, path.stat()) for path in sorted((root / "_build/runs").glob("*.ipynb"))]
    marks = [f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in runs]
    return digest([*files, *(root / name for name in ALSO_READ)], root, *marks)


def is_current(root: Path = ROOT) -> bool:
    """Tell whether the site that stands was made from the present inputs."""
    made_from = root / "_build/html/.inputs"
    return made_from.exists() and made_from.read_text(encoding="utf8") == inputs(root)


def build(root: Path = ROOT) -> int:
    """Run jupyter-book; print its last warnings where it fails, and return its exit status."""
    log = root / "_build" / "reports" / "build.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    made_from, start = inputs(root), time.monotonic()
    print(f"build started; log: {log.relative_to(root)}", flush=True)
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", *OPTIONS]
    with log.open("wb") as file:
        done = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    if done.returncode == 0:
        write_atomically(root / "_build/html/.inputs", made_from)
        print(f"build done in {time.monotonic() - start:.0f} s")
        return 0
    lines = log.read_text(encoding="utf8", errors="replace").splitlines()
    print("\n".join([line for line in lines if WARNING.search(line)][-40:] or lines[-40:]))
    print(f"build failed; full log: {log.relative_to(root)}")
    return done.returncode


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Run the command line."""
    if arguments not in ([], ["--current"]):
        sys.exit(__doc__)
    if arguments or is_current(root):
        return 0 if is_current(root) else 1
    (root / "_build/html/.inputs").unlink(missing_ok=True)
    return build(root)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
