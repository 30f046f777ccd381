"""The package by itself: a wheel that holds and asks for what it needs."""

import io
import re
import zipfile

from towers import LIBRARIES, ROOT

from claimbook.site import downloads

PACKAGES = ("iclutils", "claimbook")


def test_the_wheel_holds_what_it_needs():
    """It bears no date, so the same files give the same bytes; what makes a book is an extra."""
    archive = zipfile.ZipFile(io.BytesIO(downloads.wheel()))
    assert {file.date_time for file in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    files = {path for package in PACKAGES for path in (ROOT / package).rglob("*.*")}
    names = {path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc"}
    names |= {f"claimbook/carried/{name}" for name in ("_toc.yml", "book/claims.yml")}
    assert names - set(archive.namelist()) == set()
    (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
    needs = re.findall("^Requires-Dist: (.*)$", archive.read(metadata).decode(), re.MULTILINE)
    always = {need.partition("==")[0] for need in needs if "extra ==" not in need}
    assert always == LIBRARIES
    assert any(need.startswith("jupyter-book") and 'extra == "book"' in need for need in needs)
