"""Each fast way against the plain way on the same work: ``make bench``, ``make bench NAME=topic``.

Every file ``tests/bench/bench_<topic>.py`` holds functions named ``bench_*``. Each takes nothing
and returns rows ``(what, plain seconds, our seconds)``; :func:`seconds` times a call. Nothing
here is asserted: a time is not a test.
"""

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def seconds(call: Callable[[], Any], *, repeat: int = 1) -> float:
    """Measure the shortest processor time of ``repeat`` calls, in seconds; others do not count."""
    found = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def benches(topics: list[str]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every ``bench_*`` function of the chosen topics (all of them where none is chosen)."""
    for path in sorted(HERE.glob("bench_*.py")):
        topic = path.stem.removeprefix("bench_")
        if topics and topic not in topics:
            continue
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None, path
        assert spec.loader is not None, path
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name in sorted(vars(module)):
            if name.startswith("bench_"):
                yield topic, getattr(module, name)


def main(topics: list[str]) -> int:
    known = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    for topic in topics:
        if topic not in known:
            print(f"NAME must be one of {known}; got {topic!r}")
            return 2
    import torch  # after what can be refused without it

    torch.set_num_threads(1)
    head = f"{'what':<72}{'plain':>10}{'ours':>10}{'ratio':>9}"
    print(f"Processor seconds on one core, torch {torch.__version__}.\n{head}\n{'-' * len(head)}")
    for _, bench in benches(topics):
        for what, plain, ours, *_ in bench():
            print(
                f"{what:<72}{plain:>10.3f}{ours:>10.3f}{plain / max(ours, 1e-9):>8.1f}x", flush=True
            )
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.exit(main(sys.argv[1:]))
