"""The command line of the sweeps: what it hands on, and what it prints."""

import pytest

from iclutils.book.runs import command, sweeps


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
