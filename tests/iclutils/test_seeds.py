"""Whatever is drawn hangs on the seed that was given: no stream of numbers has one of its own."""

import math
import re
import sys

import pytest
from towers import PACKAGE

from iclutils import randomness
from iclutils.perturbation import Perturbation
from iclutils.regression import (
    dmmse,
    experiment,
    layers,
    levenberg_marquardt,
    sweep_jobs,
    transformers,
)
from iclutils.regression.samplers import Context
from iclutils.regression.theory.equivalents import layer_errors
from iclutils.regression.training_sets import draw_fleet
from iclutils.transformer.letters import Letters, draw_test_letters
from iclutils.transformer.models import Architecture
from iclutils.window import label_statistics, low_rank_benefit, pretraining
from iclutils.window.covariates import Sphere, StretchedAnew
from iclutils.window.function_classes import Affine
from iclutils.window.theory.low_rank_problem import Case

SEED = 7919
FLEET = {"d": 2, "n": 5, "sets": 2, "rho": 0.01, "seed": SEED}
POINT = {"d": 4, "alpha": 3, "kappa": 0.5, "tau": 0.5, "rho": 0.1, "ridge": 0.1, "trial": 0}
CURRICULUM = {"network": 0, "first": 2, "stage": 1, "last": 3, "batch": 4, "cooldown": 0.3}
WIDE = {"d": 3, "width": 6, "blocks": 1, "alpha": 2, "tau": 2.0, "tasks": 3, "rho": 0.01}


def pretrain(covariates):
    setting = pretraining.Setting(function=Affine(3), covariates=covariates, n=6, sigma=0.1)
    return pretraining.pretrain([setting], trials=2, steps=2, seed=SEED)


CALLS = [
    lambda: sweep_jobs.transformer_by_curriculum(**WIDE, **CURRICULUM, rate=1e-3, seed=SEED),
    lambda: dmmse.mean_errors(2, Context(d=3, ell=6, rho=0.1), SEED, 1, 100, fresh=True),
    lambda: layer_errors(Context(d=4, ell=12, rho=0.1), 2.0, [3], SEED, 1),
    lambda: sweep_jobs.reduced_and_dmmse_errors(**POINT, seed=SEED, contexts=200),
    lambda: experiment.Setting(d=4, alpha=3, kappa=math.inf, tau=0.5, rho=0.1).other_prompts(
        SEED, 0, 3
    ),
    lambda: sweep_jobs.trained_layer_errors(**FLEET),
    lambda: sweep_jobs.trained_transformer_errors(
        **FLEET, blocks=1, dense=0, steps=60, rate=1e-3, tasks=2
    ),
    lambda: levenberg_marquardt.train(draw_fleet([5], 2, 2, 0.1, SEED), SEED, [2]),
    lambda: layers.identifiable_parameters(2, SEED),
    lambda: transformers.identifiable_parameters(transformers.Architecture(3, 1), SEED),
    lambda: pretrain(Sphere(3)),
    lambda: pretrain(StretchedAnew(3)),
    lambda: Case(link="linear", d=4, k=2, n=5, sigma=0.1).contexts(50, SEED),
    lambda: label_statistics.mean_labels(SEED),
    lambda: label_statistics.value_slopes(SEED),
    lambda: label_statistics.weight_changes(SEED),
    lambda: low_rank_benefit.at_dimension(
        4, 5, noise=0.1, rates=(0.1,), trials=2, steps=2, tokens=100, seed=SEED
    ),
    lambda: Architecture(2).initial_weights(SEED, [0]),
    lambda: draw_test_letters(Letters(4, 8), 2, SEED, [0]),
]
OWN = {"perturbation"}  # it moves what the others drew
ROLE = re.compile(r'^(?!\s*>>>).*[^`]stream\(\w+, "([^"]+)"', re.MULTILINE)


@pytest.fixture
def streams(monkeypatch):
    """Return a function: (seed, role, …) of every stream that the calls ask for, by call."""
    seen = []
    monkeypatch.setattr(label_statistics, "PROMPTS", 1000)
    whole = randomness.stream

    def stream(seed, *role):
        seen.append((seed, *role))
        return whole(seed, *role)

    for name, module in list(sys.modules.items()):
        if name.startswith("iclutils.") and getattr(module, "stream", None) is whole:
            monkeypatch.setattr(module, "stream", stream)

    def streams():
        experiment._other_prompts.cache_clear()  # it would ask for nothing
        for call in CALLS:
            call()
            yield [name for name in seen if name[1] not in OWN]
            seen.clear()

    return streams


def test_every_stream_hangs_on_the_seed_and_on_no_computed_number(streams):
    """Draws that are moved by rounding ask for the same streams."""
    plain = list(streams())
    assert all(plain)
    asked = [name for names in plain for name in names]
    assert {seed for seed, *_ in asked} == {SEED}
    text = "".join(path.read_text(encoding="utf8") for path in PACKAGE.rglob("*.py"))
    assert set(ROLE.findall(text)) - OWN <= {role for _, role, *_ in asked}
    with Perturbation(1):
        assert list(streams()) == plain
