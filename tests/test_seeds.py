"""Whatever is drawn hangs on the seed that was given: no stream of numbers has one of its own."""

import math
import re
import sys
from pathlib import Path

import pytest

import iclutils
from iclutils import randomness
from iclutils.perturbation import Perturbation
from iclutils.regression import dmmse, layers, levenberg_marquardt, sweep_jobs, transformers
from iclutils.regression.experiment import Setting
from iclutils.regression.samplers import Context
from iclutils.regression.theory.equivalents import layer_errors
from iclutils.regression.training_sets import draw_fleet
from iclutils.transformer.models import Architecture
from iclutils.window import (
    covariates,
    function_classes,
    label_statistics,
    low_rank_benefit,
    pretraining,
)
from iclutils.window.theory.low_rank_problem import Case

SEED = 7919
FLEET = {"d": 2, "n": 5, "sets": 2, "rho": 0.01, "seed": SEED}
POINT = {"d": 4, "alpha": 3, "kappa": 0.5, "tau": 0.5, "rho": 0.1, "ridge": 0.1, "trial": 0}
CURRICULUM = {"network": 0, "first": 2, "stage": 1, "last": 3, "batch": 4, "cooldown": 0.3}
WIDE = {"d": 3, "width": 6, "blocks": 1, "alpha": 2, "tau": 2.0, "tasks": 3, "rho": 0.01}
CALLS = [
    lambda: sweep_jobs.transformer_by_curriculum(**WIDE, **CURRICULUM, rate=1e-3, seed=SEED),
    lambda: dmmse.mean_errors(2, Context(d=3, ell=6, rho=0.1), SEED, 1, 100, fresh=True),
    lambda: layer_errors(Context(d=4, ell=12, rho=0.1), 2.0, [3], SEED, 1),
    lambda: sweep_jobs.reduced_and_dmmse_errors(**POINT, seed=SEED, contexts=200),
    lambda: Setting(d=4, alpha=3, kappa=math.inf, tau=0.5, rho=0.1).other_prompts(SEED, 0, 3),
    lambda: sweep_jobs.trained_layer_errors(**FLEET),
    lambda: sweep_jobs.trained_transformer_errors(
        **FLEET, blocks=1, dense=0, steps=60, rate=1e-3, tasks=2
    ),
    lambda: levenberg_marquardt.train(draw_fleet([5], 2, 2, 0.1, SEED), SEED, [2]),
    lambda: layers.identifiable_parameters(2, SEED),
    lambda: transformers.identifiable_parameters(transformers.Architecture(3, 1), SEED),
    lambda: pretraining.pretrain(
        [
            pretraining.Setting(
                function=function_classes.Affine(3), covariates=covariates.Sphere(3), n=6, sigma=0.1
            )
        ],
        trials=2,
        steps=2,
        seed=SEED,
    ),
    lambda: pretraining.pretrain(
        [
            pretraining.Setting(
                function=function_classes.Affine(3),
                covariates=covariates.StretchedAnew(3),
                n=6,
                sigma=0.1,
            )
        ],
        trials=2,
        steps=2,
        seed=SEED,
    ),
    lambda: Case(link="linear", d=4, k=2, n=5, sigma=0.1).contexts(50, SEED),
    lambda: label_statistics.mean_labels(SEED),
    lambda: label_statistics.value_slopes(SEED),
    lambda: label_statistics.weight_changes(SEED),
    lambda: low_rank_benefit.at_dimension(
        4, 5, noise=0.1, rates=(0.1,), trials=2, steps=2, tokens=100, seed=SEED
    ),
    lambda: Architecture(2).initial_weights(SEED, [0]),
]
OWN = {"perturbation"}  # it moves what the others drew


@pytest.fixture
def streams(monkeypatch):
    """(seed, role, …) of every stream that is asked for."""
    seen = []
    monkeypatch.setattr(label_statistics, "PROMPTS", 1000)
    whole = randomness.stream

    def stream(seed, *role):
        seen.append((seed, *role))
        return whole(seed, *role)

    for name, module in list(sys.modules.items()):
        if name.startswith("iclutils.") and getattr(module, "stream", None) is whole:
            monkeypatch.setattr(module, "stream", stream)
    return seen


def roles():
    """The roles that are written in the package, but for the book's own."""
    folder = Path(iclutils.__file__).parent
    paths = [path for path in folder.rglob("*.py") if "book" not in path.parts[-3:]]
    text = "".join(path.read_text(encoding="utf8") for path in paths)
    return set(re.findall(r'^(?!\s*>>>).*[^`]stream\(\w+, "([^"]+)"', text, re.MULTILINE))


def test_every_stream_hangs_on_the_seed(streams):
    for call in CALLS:
        before = len(streams)
        call()
        assert len(streams) > before
    assert {seed for seed, *_ in streams} == {SEED}
    assert roles() - OWN <= {role for _, role, *_ in streams}


def test_no_computed_number_names_a_stream(streams):
    """Draws that are moved by rounding ask for the same streams, see also test_streams.py."""
    for call in CALLS:
        call()
    plain = [*streams]
    streams.clear()
    with Perturbation(1):
        for call in CALLS:
            call()
    moved = [name for name in streams if name[1] not in OWN]
    assert moved == plain
