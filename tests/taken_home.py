"""A notebook of the archive run outside a checkout, and what it then says against the book.

    python tests/taken_home.py ARCHIVE.zip

unpacks the archive into an empty folder, runs the lines that its README.txt gives for running a
chapter, everything downloaded, and compares. The weekly workflow does that; ``test_downloads.py``
does the same with the packages that are there already. It needs none of them itself.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LINE = re.compile(r"^ {4}(\S.*)$", re.MULTILINE)  # of README.txt: a command
RUN = re.compile(r"\S+\.ipynb")
VERDICT = "application/vnd.iclutils.verdict+json"

Notebook = dict[str, Any]


def unpack(archive: Path, into: Path) -> Path:
    """The one folder that the archive holds, unpacked."""
    with zipfile.ZipFile(archive) as held:
        held.extractall(into)
    [folder] = into.iterdir()
    return folder


def commands(folder: Path) -> list[str]:
    """The lines of README.txt that one types to run a chapter."""
    return LINE.findall((folder / "README.txt").read_text(encoding="utf8"))


def outside() -> dict[str, str]:
    """The environment of a process that finds no checkout."""
    return {name: said for name, said in os.environ.items() if name != "PYTHONPATH"}


def outputs(notebook: Notebook) -> Iterator[dict[str, Any]]:
    """What the cells left, in their order."""
    for cell in notebook["cells"]:
        yield from cell.get("outputs", [])


def printed(notebook: Notebook) -> list[str]:
    """What the code in sight prints or shows as text, cell by cell."""
    said = []
    for output in outputs(notebook):
        if output["output_type"] == "stream" and output["name"] == "stdout":
            said.append("".join(output["text"]))
        elif output["output_type"] == "execute_result":
            said.append("".join(output["data"]["text/plain"]))
    return said


def verdicts(notebook: Notebook) -> dict[str, str]:
    """The verdict on each claim that the notebook judges."""
    shown = [one["data"] for one in outputs(notebook) if VERDICT in one.get("data", {})]
    lines = ["".join(data["text/plain"]).split(" · ") for data in shown]
    return {line[0]: line[1] for line in lines}


def differences(ran: Notebook, offered: Notebook, ledger: list[dict[str, Any]]) -> list[str]:
    """Where a run elsewhere prints or finds anything else than the book shows."""
    known = {row["id"]: row["verdict"] for row in ledger}
    found = verdicts(ran)
    wrong = [f"{id}: {one}; the book: {known[id]}" for id, one in found.items() if one != known[id]]
    if not found:
        wrong.append("no claim was judged")
    there, here = printed(ran), printed(offered)
    if there != here:
        wrong.append(f"it prints {there}; the book shows {here}")
    return wrong


def read(path: Path) -> Any:
    """A notebook, or the ledger as data."""
    return json.loads(path.read_text(encoding="utf8"))


def main(archive: Path) -> int:
    """Follow README.txt, and compare; 1 where anything differs."""
    with tempfile.TemporaryDirectory() as empty:
        folder = unpack(archive, Path(empty))
        lines = commands(folder)
        notebook = folder / RUN.findall(lines[-1])[0]
        offered = read(notebook)
        for line in lines:
            print(f"$ {line}", flush=True)
            subprocess.run(line, shell=True, cwd=folder, check=True, env=outside())
        wrong = differences(read(notebook), offered, read(folder / "book" / "ledger.json"))
    print("\n".join(wrong) or f"{notebook.name} prints and finds what the book shows")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
