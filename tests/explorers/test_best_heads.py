"""The level lines beside the low-rank training: the best heads at its presets, by the package.

They stand in the table of ``train_lowrank_view.js``; where one is wrong, the test says what it is.
"""

import pytest
import torch

from iclutils.randomness import normal, stream
from iclutils.window.covariates import Stretched
from iclutils.window.theory import low_rank
from iclutils.window.theory.low_rank_problem import Case
from tests.explorers import package

CONTEXTS = 2000
STARTS = ((12.0, 6.0), (10.0, 0.5))  # a loss may have a valley near e = c and one near e = 0
DIGITS = 4  # of the table
PRESETS = """() => { const spec = iclExplorers.explorers.train_lowrank;
  return spec.presets.map(preset => ({...iclExplorers.initial(spec), ...preset.settings})); }"""
SCENE = """settings => { const {N} = iclExplorers.training;
  return N.models.lowrank.scene(settings, N.random(0, 'scene')); }"""
SHOWN = "(settings, seed) => iclExplorers.bestHeads(settings, seed) ?? null"


def best_heads(settings, scene):
    """Find the heads cBBᵀ + eB⊥B⊥ᵀ of least loss, (c, e, loss) each; e ≥ 0, as in trained M."""
    link, d, k, points = (settings[name] for name in ("link", "d", "k", "J"))
    length = 1.0 if points == "apart" else None
    case = Case(link=link, d=d, k=k, n=50, sigma=0.01, c_v=length)
    frame, J = (torch.tensor(scene[key]).double().view(case.d, case.d) for key in ("frame", "J"))
    z = normal(CONTEXTS, case.n + 1, case.d, generator=stream(0, "best heads", case.d))
    x = case.covariates.from_gaussian(z)
    if points == "yes":
        x = Stretched(J).from_gaussian(z) @ frame  # in the basis [B, B⊥]
    sample = package.sample_of(case, x)
    starts = torch.tensor(STARTS, dtype=torch.float64)
    valleys = [low_rank.minimise(sample, case.family, start) for start in starts]
    valleys = [valley for valley in valleys if valley.theta[1] >= 0]
    valleys.append(low_rank.minimise(sample, case.family[:1], starts[1, :1]))
    heads = {"softmax": min(valleys, key=lambda valley: valley.loss)}
    heads["linear"] = low_rank.linear_minimum(sample, case.family)
    for name, head in heads.items():
        c, e = [*head.theta.tolist(), 0.0][:2]
        yield name, {"c": c, "e": e, "loss": head.loss}


@pytest.mark.parametrize("preset", range(8))
def test_the_best_heads_are_the_package_s(v8, preset):
    presets = v8(PRESETS)
    assert len(presets) == 8
    at = presets[preset]
    shown = v8(SHOWN, at, 0)
    for name, head in best_heads(at, v8(SCENE, at)):
        assert shown[name] == pytest.approx(head, rel=10.0 ** (1 - DIGITS), abs=1e-9), name
