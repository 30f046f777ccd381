"""A chapter that is killed at half its time is run again to the same numbers."""

import time
from typing import Any

from killed import SIGNALS, end, started
from small_book import SOUND, Book, environment

from claimbook.ledger import outputs
from claimbook.runs import notebooks


def records_of(book: Book) -> dict[str, dict[str, Any]] | None:
    """What the site would show of the chapter; None where it has no run that is current."""
    run = notebooks.current(book.path(SOUND), book.root)
    if run is None:
        return None
    return {name: record.to_json() for name, record in outputs.records(run.notebook).items()}


def test_a_chapter_that_is_killed_is_run_again_to_the_same_numbers(tmp_path):
    """The first time it is only run, and compared with nothing."""
    book = Book(tmp_path).chapter(SOUND)
    start = time.monotonic()
    found, code, output = book.run("--fill-cache", "--chapters=run")
    assert code == 0, output
    assert set(found[SOUND]) == {"cell1", "cell2", "cell3", "cell4", "cell5"}
    assert "all 5 cells ran" in output
    assert "outcome" not in notebooks.current(book.path(SOUND), book.root).provenance
    whole = time.monotonic() - start
    undisturbed = records_of(book)
    assert undisturbed
    touched = book.root / "iclutils" / "data.txt"
    for number in SIGNALS:
        touched.write_text(number.name)  # another key: nothing is run yet
        process = started(book.command("--fill-cache"), book.root, environment(book.root))
        time.sleep(whole / 2)
        end(process, number)
        assert records_of(book) in (None, undisturbed), "half a run"
    _, code, output = book.run("--fill-cache")
    assert code == 0, output
    assert records_of(book) == undisturbed
