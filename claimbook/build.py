"""The strict build of the site: what it does, the whole story in a log, an end that says why.

    python -m claimbook.build            build the site into _build/html
    python -m claimbook.build --checked  the same; red if a chapter had to be run, since the
                                             site would show another run than the checked one
    python -m claimbook.build --all      write every page anew
    python -m claimbook.build --current  only say whether the site that stands is of these files

Every warning is an error, and every reference has to lead somewhere (``-W --keep-going -n``).
"""

import re
import subprocess
import sys
import time
from pathlib import Path

from pybtex.database import parse_file
from pybtex.exceptions import PybtexError

from claimbook.files import ROOT, files_under, read_yaml, write_atomically
from claimbook.runs.page_key import digest

LOG = ROOT / "_build" / "reports" / "build.log"
BUILT = ROOT / "_build" / "built"  # the note of the last build that ended well
READ = ("book", "claimbook", "iclutils", "tests/expected")  # folders that the site is made from
ALSO_READ = ("_config.yml", "_toc.yml", "CITATION.cff", "LICENSE")
MADE = ("html", "cache")  # the site itself and the runs that it shows


def build(*, everything: bool = False) -> int:
    """Run jupyter-book; returns its exit status, its words are in ``_build/reports/build.log``."""
    program = Path(sys.executable).with_name("jupyter-book")
    command = [str(program), "build", ".", "-W", "--keep-going", "-n"]
    command += ["--all"] if everything else []
    LOG.parent.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    print(f"build: begun; its story goes to {LOG.relative_to(ROOT)} …", flush=True)
    with LOG.open("wb") as log:
        status = subprocess.run(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        ).returncode
    ended = "failed" if status else "done"
    print(f"build: {ended} in {time.monotonic() - start:.0f} s", flush=True)
    return status


def state() -> str:
    """The digest of all that the site is made from, and of the looks of what was made.

    What is read counts by its content; what was made by sizes and times, so that a page that
    somebody deleted is made again.
    """
    files = [path for folder in READ for path in files_under(ROOT / folder)]
    made = sorted(path for folder in MADE for path in files_under(ROOT / "_build" / folder))
    stats = [(path.relative_to(ROOT), path.stat()) for path in made]
    looks = [f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in stats]
    return digest([*sorted(files), *(ROOT / name for name in ALSO_READ)], ROOT, *looks)


def note_state() -> None:
    """Note that the site that stands is of the files as they are."""
    write_atomically(BUILT, state())


def is_current() -> bool:
    """Whether the last build ended well and nothing has changed since."""
    return BUILT.exists() and BUILT.read_text(encoding="utf8") == state()


def source_trouble() -> str:
    """What is wrong with the settings or the bibliography, with the file; empty where nothing is.

    Those who read them in the build leave the file out of their messages.
    """
    path = ROOT / "book" / "references.bib"
    try:
        for name in ("_config.yml", "_toc.yml"):
            if (ROOT / name).exists():
                read_yaml(ROOT / name)
        if path.exists():
            parse_file(str(path), bib_format="bibtex")
    except (PybtexError, UnicodeDecodeError) as error:
        return f"{path.relative_to(ROOT)}: {error}"
    except ValueError as error:
        return str(error)
    return ""


def main(arguments: list[str]) -> int:
    """The command line."""
    unknown = set(arguments) - {"--checked", "--all", "--current"}
    if unknown:
        sys.exit(__doc__)
    if "--current" in arguments:
        return 0 if is_current() else 1
    trouble = source_trouble()
    if trouble:
        print(trouble)
        return 1
    BUILT.unlink(missing_ok=True)
    status = build(everything="--all" in arguments)
    text = LOG.read_text(encoding="utf8", errors="replace")
    if status:
        troubles = [line for line in text.splitlines() if re.search(r"WARNING|ERROR|Error", line)]
        print("\n".join(troubles[-40:] or text.splitlines()[-40:]))
        print(f"The whole story is in {LOG.relative_to(ROOT)}.")
    elif "--checked" in arguments and "Executing notebook" in text:
        print("The build ran a chapter again: its cache and the checker's disagree.")
        return 1
    if not status:
        note_state()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
