"""The package as a wheel that carries the ledger and the records: what a notebook taken home needs.

A wheel is a ZIP archive of the modules with three files that say what it is (PEP 427), of which two
are those of the installed package. Written here and not by a build tool, because the build of the
site has no network and the same book gives the same bytes. Outside of a checkout the ledger and the
recorded results are found under :data:`claimbook.files.CARRIED`.
"""

import base64
import hashlib
import io
from importlib.metadata import distribution
from pathlib import Path

from claimbook.files import CARRIED, ROOT, files_under, write_zip
from claimbook.runs.page_key import PACKAGES

LEDGER = ("_toc.yml", "pyproject.toml", "book/claims.yml")
RECORDED = Path("book") / "recorded"
PACKAGE = distribution("iclutils")
NAME = f"{PACKAGE.name}-{PACKAGE.version}-py3-none-any.whl"  # which installers read


def wheel(root: Path = ROOT) -> bytes:
    """The wheel of a checkout; raises ``FileNotFoundError`` where one of its files is missing."""
    files = [path for package in PACKAGES for path in files_under(root / package)]
    modules = [path for path in files if path.suffix == ".py"]
    held = {path.relative_to(root).as_posix(): path.read_bytes() for path in modules}
    for path in [*(root / one for one in LEDGER), *files_under(root / RECORDED)]:
        place = f"claimbook/{CARRIED}/{path.relative_to(root).as_posix()}"
        held[place] = path.read_bytes()
    about = f"{PACKAGE.name}-{PACKAGE.version}.dist-info"
    for what in ("METADATA", "WHEEL"):
        held[f"{about}/{what}"] = str(PACKAGE.read_text(what)).encode()
    held[f"{about}/RECORD"] = _record(held, f"{about}/RECORD").encode()
    file = io.BytesIO()
    write_zip(file, held)
    return file.getvalue()


def _record(held: dict[str, bytes], itself: str) -> str:
    """Each file with its digest and size, and the list itself without."""
    lines = []
    for place, content in sorted(held.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{place},sha256={digest},{len(content)}")
    return "\n".join([*lines, f"{itself},,"]) + "\n"
