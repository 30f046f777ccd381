"""Networks on lists of tasks: shapes, the same training on every path, and a constant rate."""

import pytest
import torch

from iclutils.regression import diversity
from iclutils.regression.transformer_training import train
from iclutils.regression.transformers import Architecture, losses

COMMON = {"d": 3, "alpha": 2, "tau": 4, "tasks": 2, "sets": 2, "rho": 0.01, "seed": 0}
TRAINING = {"width": 12, "blocks": 2, "batch": 8, "rate": 1e-3}


def test_layers_on_lists_have_three_errors_and_say_whether_they_converged():
    found = diversity.layers_on_lists(**COMMON, softmax=False, iterations=100)
    assert set(found) == {"train", "icl", "idg", "converged"}
    assert all(len(values) == 2 for values in found.values())
    assert set(found["converged"]) <= {0.0, 1.0}


def test_a_shorter_training_is_the_start_of_a_longer_one():
    long = diversity.transformers_on_lists(**COMMON, **TRAINING, steps=80)
    short = diversity.transformers_on_lists(**COMMON, **TRAINING, steps=20)
    assert set(long) == {"train", "icl", "idg"}
    assert torch.tensor(long["icl"]).shape == (3, 2)
    assert long["icl"][1] == short["icl"][2]


def test_other_rounding_leads_to_the_same_training():
    # a device rounds in another order; single for double precision is rounding made coarser
    fleet = diversity._fleets(
        *(COMMON[name] for name in ("d", "alpha", "tau", "tasks", "sets", "rho", "seed"))
    )["train"]
    architecture = Architecture(3, 2, 1, 12)
    errors = [
        losses(
            architecture,
            train(architecture, fleet, 0, [40], cooldown=0, batch=8, dtype=dtype)[0],
            fleet,
        )
        for dtype in (torch.float32, torch.float64)
    ]
    # single precision is 6e-8, and 40 steps of Adam, which divides by small gradients,
    # amplify it by less than 10⁴
    assert errors[0].tolist() == pytest.approx(errors[1].tolist(), rel=6e-4)
