"""The package as a wheel that carries the ledger and the records: what a notebook taken home needs.

A wheel is a ZIP archive of the modules with four files that say what it is (PEP 427). Written here
and not by a build tool, because the build of the site has no network and the same book gives the
same bytes. Outside of a checkout the ledger and the recorded results are found under
:data:`iclutils.book.runs.files.CARRIED`.
"""

import base64
import hashlib
import io
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iclutils.book.runs.files import CARRIED, ROOT, files_under, write_zip

LEDGER = ("_toc.yml", "book/claims.yml")
RECORDED = Path("book") / "recorded"


def name(root: Path = ROOT) -> str:
    """The file's name, which installers read: ``iclutils-0.1.0-py3-none-any.whl``."""
    project = _project(root)
    return f"{project['name']}-{project['version']}-py3-none-any.whl"


def wheel(root: Path = ROOT) -> bytes:
    """The wheel of a checkout; raises ``FileNotFoundError`` where one of its files is missing."""
    package = root / "iclutils"
    held = {path.relative_to(root).as_posix(): path.read_bytes() for path in _modules(package)}
    for path in [*(root / one for one in LEDGER), *files_under(root / RECORDED)]:
        place = f"iclutils/{CARRIED}/{path.relative_to(root).as_posix()}"
        held[place] = path.read_bytes()
    project = _project(root)
    about = f"{project['name']}-{project['version']}.dist-info"
    held[f"{about}/METADATA"] = _metadata(project).encode()
    held[f"{about}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: the book\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    held[f"{about}/RECORD"] = _record(held, f"{about}/RECORD").encode()
    file = io.BytesIO()
    write_zip(file, held)
    return file.getvalue()


def _modules(package: Path) -> list[Path]:
    return [path for path in files_under(package) if path.suffix == ".py"]


def _project(root: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text("utf8"))["project"]
    return project


def _metadata(project: Mapping[str, Any]) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {one}" for one in project["dependencies"]),
    ]
    return "\n".join(lines) + "\n"


def _record(held: dict[str, bytes], itself: str) -> str:
    """Each file with its digest and size, and the list itself without."""
    lines = []
    for place, content in sorted(held.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{place},sha256={digest},{len(content)}")
    return "\n".join([*lines, f"{itself},,"]) + "\n"
