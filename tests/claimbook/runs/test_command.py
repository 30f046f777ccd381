"""The command line of the sweeps: what it hands on, and what it prints."""

import pytest

from claimbook.runs import command, sweeps


def _half(*, x: int, device: str = "cpu") -> dict[str, float]:
    return {"y": x / 2}


KNOWN = {"halves": sweeps.Sweep(_half, [{"x": 1}])}


def test_the_command_runs_or_plans_a_sweep(monkeypatch, capsys):
    asked = []

    def note(kind):
        return lambda name, sweep, **options: asked.append((kind, name, sweep, options)) or kind

    monkeypatch.setattr(sweeps, "run", note("run"))
    monkeypatch.setattr(sweeps, "plan", note("plan"))
    command.main(KNOWN, ["halves", "--workers", "2", "--fresh"])
    command.main(KNOWN, ["halves", "--plan", "--device", "cuda"])
    assert capsys.readouterr().out.split() == ["run", "plan"]
    assert asked[0] == (
        "run", "halves", KNOWN["halves"], {"workers": 2, "dask": None, "fresh": True}
    )
    assert asked[1][0] == "plan"
    assert asked[1][2].function.keywords == {"device": "cuda"}
    with pytest.raises(SystemExit):
        command.main(KNOWN, ["circles"])


@pytest.mark.parametrize(("arguments", "words"), [
    (["halves", "--workers", "0"], "workers must be at least 1; got 0"),
    (["halves", "--workers", "x"], "argument --workers: invalid int value: 'x'"),
    (["halves", "--plan", "--device", "gpu"], "device must be cpu, cuda, cuda:1 …; got 'gpu'"),
    (["cpus", "--device", "cuda"], "device must be 'cpu' for this sweep; got 'cuda'"),
])
def test_a_bad_argument_is_the_last_line_and_no_traceback(arguments, words, capsys):
    known = KNOWN | {"cpus": sweeps.Sweep(abs, [{"x": 1}])}
    with pytest.raises(SystemExit) as ended:
        command.main(known, arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith(words)
