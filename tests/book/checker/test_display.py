"""What is seen while chapters run, on a terminal and in a log, among the reporter's dots."""

import io
import json
import re
from dataclasses import asdict, replace

import pytest

from iclutils.book.checker.display import LOG_EVERY, Display
from iclutils.book.checker.progress import DONE, FAILED, RUNNING, State, read

START = State("06_stages", RUNNING, 1, 47, since=100.0, now=100.0, last_seconds=70.0)


class Terminal(io.StringIO):
    """A terminal that understands what the display and the reporter write."""

    def isatty(self):
        return True

    def screen(self):
        lines = [""]
        row = column = 0
        for part in re.findall(r"\x1b\[\d+[KAC]|[\r\n]|[^\x1b\r\n]+", self.getvalue()):
            if part == "\r":
                column = 0
            elif part == "\n":
                row += 1
                column = 0
                lines += [""] * (row + 1 - len(lines))
            elif part == "\x1b[2K":
                lines[row] = ""
            elif part.endswith("A") and part.startswith("\x1b"):
                row -= int(part[2:-1])
            elif part.endswith("C") and part.startswith("\x1b"):
                column += int(part[2:-1])
            else:
                line = lines[row].ljust(column)
                lines[row] = line[:column] + part + line[column + len(part) :]
                column += len(part)
        return lines


class Reporter:
    """Writes dots, and knows how long its line is, as pytest's own does."""

    def __init__(self, stream, folder):
        self.stream = stream
        self.width = 0
        self.display = Display(stream, folder, lambda: self.width)

    def dots(self, number):
        with self.display.paused():
            self.stream.write("." * number)
            self.width += number


@pytest.fixture
def write(tmp_path):
    """Put the state of a chapter where the display reads it."""

    def write(state):
        (tmp_path / f"{state.label}.json").write_text(json.dumps(asdict(state)), encoding="utf8")

    return write


def test_a_terminal_shows_a_line_a_chapter_that_is_updated(tmp_path, write):
    reporter = Reporter(Terminal(), tmp_path)
    terminal = reporter.stream
    write(START)
    write(replace(START, label="07_synthesis", cell=2, last_seconds=None))
    reporter.dots(3)
    reporter.display.tick(110.0)
    assert terminal.screen() == [
        "...",
        "06_stages: cell 1 of 47, 10 s so far, about 60 s left",
        "07_synthesis: cell 2 of 47, 10 s so far",
    ]
    reporter.dots(2)
    write(replace(START, cell=9))
    reporter.display.tick(180.0)
    assert terminal.screen() == [
        ".....",
        "06_stages: cell 9 of 47, 80 s so far (the last run took 70 s)",
        "07_synthesis: cell 2 of 47, 80 s so far",
    ]


def test_a_line_that_stays_stands_above_the_updated_ones(tmp_path, write):
    reporter = Reporter(Terminal(), tmp_path)
    write(START)
    reporter.dots(3)
    reporter.display.tick(110.0)
    reporter.display.line("07_synthesis, cell 3 failed")
    write(replace(START, label="07_synthesis", state=DONE, now=112.0))
    reporter.display.tick(112.0)
    reporter.dots(1)
    reporter.display.tick(113.0)
    assert reporter.stream.screen() == [
        "...",
        "07_synthesis, cell 3 failed",
        "07_synthesis: all 47 cells ran, in 12 s",
        ".",
        "06_stages: cell 1 of 47, 13 s so far, about 57 s left",
    ]
    reporter.display.stop()
    assert [line for line in reporter.stream.screen() if line][-1] == "."


def test_a_log_gets_whole_lines_and_not_too_many(tmp_path, write):
    reporter = Reporter(io.StringIO(), tmp_path)
    write(START)
    reporter.dots(2)
    for second in range(40):
        reporter.display.tick(100.0 + second)
    write(replace(START, state=FAILED, cell=9, now=140.0))
    for second in range(40, 60):
        reporter.display.tick(100.0 + second)
    lines = reporter.stream.getvalue().splitlines()
    times = [0, *(round(LOG_EVERY * number) for number in (1, 2, 3))]
    assert lines == [
        "..",
        *(f"06_stages: cell 1 of 47, {t} s so far, about {70 - t} s left" for t in times),
        "06_stages: broken off at cell 9 of 47, after 40 s",
    ]


def test_trouble_with_a_state_or_the_stream_breaks_nothing(tmp_path, write):
    (tmp_path / "a.json").write_text('{"label": "a"')
    (tmp_path / "b.json").write_text('{"label": "b"}')
    write(START)
    assert read(tmp_path) == [START]
    assert read(tmp_path / "absent") == []
    stream = io.StringIO()
    display = Display(stream, tmp_path, lambda: 0)
    stream.close()
    display.tick(100.0)
    display.start()
    display.stop()
