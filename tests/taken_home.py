"""Run a notebook of the archive outside a checkout, by the lines of its README.txt.

    python tests/taken_home.py ARCHIVE.zip

ends with 1 where a verdict differs from the book's. The weekly workflow runs it with everything
downloaded, ``test_downloads.py`` with the packages that are installed already.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

LINE = re.compile(r"^ {4}(\S.*)$", re.MULTILINE)  # of README.txt: a command
VERDICT = "application/vnd.claimbook.record+json"


def commands(folder: Path) -> list[str]:
    """Read the lines of README.txt that one types to run a chapter."""
    return LINE.findall((folder / "README.txt").read_text(encoding="utf8"))


def outside() -> dict[str, str]:
    """Return an environment in which a process finds no checkout."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def read(path: Path) -> Any:
    """Read a notebook, or the ledger as data."""
    return json.loads(path.read_text(encoding="utf8"))


def shown(notebook: dict[str, Any]) -> list[list[str]]:
    """Collect what the cells print or show as text; of a claim its id and its verdict."""
    found = []
    for output in (output for cell in notebook["cells"] for output in cell.get("outputs", [])):
        data = output.get("data", {})
        text = "".join(data.get("text/plain", output.get("text", [])))
        if VERDICT in data:
            found.append(text.split(" · ")[:2])
        elif output["output_type"] == "execute_result" or output.get("name") == "stdout":
            found.append([text])
    return found


def verdicts(notebook: dict[str, Any]) -> dict[str, str]:
    """Collect the verdict on each claim that the notebook judges."""
    return dict(pair for pair in shown(notebook) if len(pair) == 2)


def differences(ran: dict[str, Any], offered: dict[str, Any], ledger: list[Any]) -> list[str]:
    """Say where a run elsewhere shows or finds something else than the book."""
    known = {row["id"]: row["verdict"] for row in ledger}
    found = verdicts(ran)
    wrong = [f"{id}: {one}; the book: {known[id]}" for id, one in found.items() if one != known[id]]
    # a kernel sends the lines of one cell in as many messages as it likes
    prints = ["".join(pair[0] for pair in shown(one) if len(pair) == 1) for one in (ran, offered)]
    if prints[0] != prints[1] or not found:
        wrong.append(f"it prints {prints[0]!r}; the book shows {prints[1]!r}")
    return wrong


if __name__ == "__main__":
    zipfile.ZipFile(sys.argv[1]).extractall(into := tempfile.mkdtemp())
    [folder] = Path(into).iterdir()
    where = folder / "book" / "downloads"
    notebook = where / re.findall(r"\S+\.ipynb", commands(folder)[-1])[0]
    offered = read(notebook)
    for line in commands(folder):
        print(f"$ {line}", flush=True)
        subprocess.run(line, shell=True, cwd=where, check=True, env=outside())
    ledger = read(folder / "book" / "ledger.json")
    sys.exit("\n".join(differences(read(notebook), offered, ledger)) or 0)
