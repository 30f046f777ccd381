"""The level lines beside the low-rank training: the best heads at its presets, by the package.

``python -m tests.explorers.test_best_heads`` prints the table in ``train_lowrank_view.js``.
"""

import pytest
import torch

from iclutils.randomness import normal, stream
from iclutils.window.covariates import Sphere, Stretched
from iclutils.window.low_rank_tasks import LowRankLink
from iclutils.window.theory import low_rank
from iclutils.window.theory.low_rank_problem import Case, Contexts
from tests.explorers.conftest import V8

CONTEXTS = 2000
STARTS = ((12.0, 6.0), (10.0, 0.5))  # a loss may have a valley near e = c and one near e = 0
DIGITS = 4  # of the table
PRESETS = """() => { const spec = iclExplorers.explorers.train_lowrank;
  return spec.presets.map(preset => ({...iclExplorers.initial(spec), ...preset.settings})); }"""
SCENE = """settings => { const {N} = iclExplorers.training;
  return N.models.lowrank.scene(settings, N.random(0, 'scene')); }"""
SHOWN = "settings => iclExplorers.bestHeads(settings, 0)"


def tokens(case, scene, stretched):
    """Contexts and one query each, in the basis [B, B⊥] of the page's frame."""
    opened = stream(0, "best heads", case.d)
    z = normal(CONTEXTS, case.n + 1, case.d, generator=opened)
    frame, J = (torch.tensor(scene[key]).double().view(case.d, case.d) for key in ("frame", "J"))
    return Stretched(J).from_gaussian(z) @ frame if stretched else Sphere(case.d).from_gaussian(z)


def best_heads(settings, scene):
    """The heads cBBᵀ + eB⊥B⊥ᵀ, e ≥ 0, of least loss: (c, e, loss) each; a trained M is positive."""
    case = Case(link=settings["link"], d=settings["d"], k=settings["k"], n=50, sigma=0.01)
    x = tokens(case, scene, settings["J"] == "yes")
    task = LowRankLink(case.B, case.link)
    value = task.of_latent(task.cubature() @ (x @ case.B).mT)
    sample = Contexts(x[:, :-1], x[:, -1], value[..., :-1], value[..., -1], case.sigma)
    starts = torch.tensor(STARTS, dtype=torch.float64)
    valleys = [low_rank.minimise(sample, case.family, start) for start in starts]
    valleys = [valley for valley in valleys if valley.theta[1] >= 0]
    valleys.append(low_rank.minimise(sample, case.family[:1], starts[1, :1]))
    found = min(valleys, key=lambda valley: valley.loss)
    linear = low_rank.linear_minimum(sample, case.family)
    heads = {"softmax": found, "linear": linear}
    return {
        name: dict(zip("ce", [*head.theta.tolist(), 0.0][:2], strict=True)) | {"loss": head.loss}
        for name, head in heads.items()
    }


@pytest.mark.parametrize("preset", range(5))
def test_the_best_heads_are_the_package_s(v8, preset):
    presets = v8(PRESETS)
    assert len(presets) == 5
    expected = best_heads(presets[preset], v8(SCENE, presets[preset]))
    shown = v8(SHOWN, presets[preset])
    for name, head in expected.items():
        assert shown[name] == pytest.approx(head, rel=10.0 ** (1 - DIGITS), abs=1e-9), name


def test_other_settings_and_seeds_have_no_line(v8):
    start, *_ = v8(PRESETS)
    assert v8("at => iclExplorers.bestHeads(at, 1) ?? null", start) is None
    assert v8("at => iclExplorers.bestHeads({...at, k: 3}, 0) ?? null", start) is None
    without = start | {"J": "no"}
    assert v8("at => iclExplorers.bestHeads(at, 1)", without) == v8(SHOWN, without)


def main():
    """Print the table."""
    scripts = V8()
    for at in scripts(PRESETS):
        heads = best_heads(at, scripts(SCENE, at)).values()
        numbers = [[float(f"{value:.{DIGITS}g}") for value in head.values()] for head in heads]
        print(f'    "{at["link"]} {at["J"]} {at["d"]} {at["k"]}": {numbers},')
    scripts.engine.close()


if __name__ == "__main__":
    main()
