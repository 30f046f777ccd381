"""The numerics of the trainings against the package's.

Two comparisons for each of the four. From the same arrays, drawn in Python and handed over, the
scripts take the same steps as the package: what differs is the order of sums and the last digit of
exponentials, which 500 steps carry to far below SAME. From their own seeds they draw by the
package's laws: means over independent runs differ by less than four standard errors.
"""

import math

import pytest
import torch

from iclutils.randomness import normal, stream
from iclutils.regression import experiment as regression
from iclutils.stages import training as stages
from iclutils.stages.prompts import probabilities
from iclutils.window import alignment, function_classes, low_rank_tasks
from iclutils.window.covariates import Sphere, Stretched, TwoSubspaces
from iclutils.window.low_rank_tasks import LowRankLink
from iclutils.window.pretraining import BLOCK, Schedule, Setting, pretrain

SAME = 1e-9
STEPS = 500
# Steps a training from handed draws; the records after every tenth step come back.
FOLLOW = """(name, settings, draws, scene) => {
  const run = iclExplorers.training.N.models[name].start(settings, 0, scene), out = [];
  draws.forEach((each, step) => {
    const record = new Float64Array(run.size);
    run.take(Float64Array.from(each));
    run.record(record, 0);
    if ((step + 1) % 10 === 0) out.push(record);
  });
  return out;
}"""
# What a training draws for its first step, from many seeds.
DRAWS = """(name, settings, runs) => Array.from({length: runs}, (_, seed) =>
  iclExplorers.training.N.models[name].start(settings, seed).draw(0))"""
SCENES = """(settings, runs) => { const {N} = iclExplorers.training;
  return Array.from({length: runs}, (_, seed) =>
    Object.values(N.models.lowrank.scene(settings, N.random(seed, "scene"))).map(x => [...x])); }"""


def relative(found, expected):
    """Return the largest difference, relative to the largest entry of each record."""
    scale = expected.abs().amax(-1, keepdim=True)
    return float(((found - expected).abs() / scale).max())


def alike(ours, theirs):
    """Means and second moments of independent columns differ by less than four standard errors."""
    ours = torch.as_tensor(ours, dtype=torch.float64)
    for power in (1, 2):
        a, b = ours**power, theirs.double() ** power
        error = (a.var(0) / len(a) + b.var(0) / len(b)).sqrt()
        assert bool(((a.mean(0) - b.mean(0)).abs() < 4 * error).all()), power


# ------------------------------------------------------------------ heads: window and low rank


def prompts_of(setting):
    """Return the package's raw draws of a trial's prompts, a row a step, as the page takes them."""
    n, d = setting.n, setting.covariates.d
    q = math.isqrt(n)
    rows = []
    for block in range(STEPS // BLOCK):
        tokens, labels, tasks = (
            stream(0, "pretraining", what, n, q, 0, block)
            for what in ("covariates", "noise", "tasks")
        )
        task = setting.function.sample((BLOCK,), tasks)
        drawn = task["a"] if "a" in task else slopes(task)
        z = normal(BLOCK, (n + q) * d, generator=tokens)
        rows.append(torch.cat([z, drawn, normal(BLOCK, n, generator=labels)], 1))
    return torch.cat(rows)


def slopes(task):
    """Write a task of a class on the sphere: direction, l1, l2, b, zero for what it has not."""
    none = torch.zeros(len(task["w"]), dtype=torch.float64)
    rest = [task.get("l", task.get("l1", none)), task.get("l2", none), task.get("b", none)]
    return torch.cat([task["w"], torch.stack(rest, 1)], 1)


def window(family, d, n, sigma, L):
    """Return the package's setting, the page's, its scene, and the basis in which it records."""
    function = function_classes.by_name(family, d, L)
    settings = {"d": d, "n": n, "sigma": sigma, "L": L, "family": family}
    setting = Setting(function=function, covariates=Sphere(d), n=n, sigma=sigma)
    return setting, settings, None, torch.eye(d, dtype=torch.float64)


def lowrank(link, stretched):
    """Return the same for the training of low rank."""
    d, k, n, sigma = 6, 2, 30, 0.01
    B = low_rank_tasks.random_subspaces(1, d, k, stream(0, "training", "B"))
    J = low_rank_tasks.gram_roots(1, d, stream(0, "training", "J"))
    laws = {"yes": Stretched(J), "no": Sphere(d)}
    laws["apart"] = TwoSubspaces(B, low_rank_tasks.complement(B))
    settings = {"d": d, "k": k, "n": n, "sigma": sigma, "link": link, "J": stretched}
    frame = torch.cat([B[0], low_rank_tasks.complement(B)[0]], 1)
    scene = {"frame": frame.flatten().tolist(), "J": J[0].flatten().tolist()}
    setting = Setting(function=LowRankLink(B, link), covariates=laws[stretched], n=n, sigma=sigma)
    return setting, settings, scene, frame


HEADS = [
    (window, ("relu", 2, 50, 0.1, 1.0)),
    (window, ("affine", 3, 40, 0.5, 2.0)),
    (window, ("cosine", 5, 30, 0.1, 4.0)),
    (lowrank, ("quadratic", "yes")),
    (lowrank, ("cosine", "no")),
    (lowrank, ("linear", "apart")),
]


@pytest.mark.parametrize(("case", "numbers"), HEADS)
def test_heads_take_the_package_s_steps_and_draw_by_its_law(v8, case, numbers):
    """What is made of the draws, its steps show."""
    setting, settings, scene, frame = case(*numbers)
    draws, d = prompts_of(setting), settings["d"]
    found = v8(FOLLOW, case.__name__, settings, draws.tolist(), scene)
    heads = torch.tensor(found, dtype=torch.float64)[:, 2:].unflatten(1, (2, d, d)).unbind(1)
    for seen, (unit, rate) in zip(heads, (("softmax", 0.1), ("linear", 0.01)), strict=True):
        schedule = {"schedule": Schedule(rate), "record_every": 10}
        run = pretrain([setting], trials=1, steps=STEPS, unit=unit, **schedule)
        M = frame.T @ run.M[0, 0, 1:] @ frame
        assert relative(seen.flatten(1), M.flatten(1)) < SAME
    ours = torch.tensor(v8(DRAWS, case.__name__, settings, STEPS), dtype=torch.float64)
    first = (setting.n + math.isqrt(setting.n)) * d  # of the task's direction, a unit vector
    direction = ours[:, first : first + settings.get("k", d)]
    direction /= direction.norm(dim=1, keepdim=True)  # a step's first work
    drawn = draws.std(0) > 0  # the page draws for every class what one of them needs
    alike(ours[:, drawn], draws[:, drawn])


def test_low_rank_scenes_are_of_the_package_s_law_and_so_is_their_alignment(v8):
    """A frame's first columns span the tasks; the covariates are stretched by a Gram matrix."""
    d, k, runs = 4, 1, 400
    frames, stretches = zip(*v8(SCENES, {"d": d, "k": k, "J": "yes"}, runs), strict=True)
    b = torch.tensor(frames, dtype=torch.float64)[:, ::d, None]
    B = low_rank_tasks.random_subspaces(runs, d, k, stream(1, "training", "B"))
    alike((b @ b.mT).flatten(1), (B @ B.mT).flatten(1))
    J = low_rank_tasks.gram_roots(runs, d, stream(1, "training", "J"))
    alike(stretches, J.flatten(1))
    A = normal(d, d, generator=stream(1, "training", "A"))
    M = A.T @ A
    aligned = "(M, d, k) => iclExplorers.training.N.models.lowrank.alignment(M, d, k)"
    B = torch.eye(d, dtype=torch.float64)[:, :k]
    relevant, spurious = map(float, alignment.masses(M, B))
    expected = {"overlap": float(alignment.overlap(M, B)), "rho": float(alignment.rho(M, B))}
    expected |= {"relevant": relevant, "spurious": spurious}
    assert v8(aligned, M.flatten().tolist(), d, k) == pytest.approx(expected, rel=1e-8)


# ------------------------------------------------------------------ stages


def test_stages_take_the_package_s_steps_and_draw_by_its_law(v8):
    K, tokens, prompts = 8, 200, 4
    p, seeds = probabilities(K, 0.5), torch.Generator().manual_seed
    settings = {"K": K, "p1": 0.5, "N": tokens, "prompts": prompts, "rate": 1.0}
    how = {"learning_rate": 1.0, "steps": STEPS, "prompts": prompts, "points": 2 * STEPS}
    run = stages.train_reduced(p, tokens, torch.arange(K), **how, generator=seeds(0))
    batches = stages._count_batches(p, tokens, K, prompts, seeds(0))
    draws = torch.stack([next(batches).flatten() for _ in range(STEPS)])
    found = torch.tensor(v8(FOLLOW, "stages", settings, draws.tolist(), None), dtype=torch.float64)
    kept = (run.t % 10 == 0) & (run.t > 0)  # a few steps of the grid are rounded to a neighbour
    assert int(kept.sum()) > STEPS // 11
    assert run.t[kept][-1] == STEPS
    seen = found[run.t[kept].long() // 10 - 1, : K * K]
    assert relative(seen, run.theta[kept].flatten(1)) < SAME
    alike(v8(DRAWS, "stages", settings, STEPS), draws)


# ------------------------------------------------------------------ sets of prompts

SETS = [
    (6, 0.5, 0.3, 0.5, 1e-3),
    (8, 10, 0.5, 0.5, 1e-5),
    (8, 10, 0.5, 0.7, 0.0),
    (10, 10, 2.0, 1.4, 1e-3),
    (10, 10, math.inf, 3.0, 0.0),
    (12, 5, 1.0, 1.0 + 1 / 12, 0.1),
]
JUDGE = """(settings, size, set) => {
  const {prompts} = iclExplorers.training.N.models;
  const arrays = Object.fromEntries(
    Object.entries(set).map(([key, list]) => [key, Float64Array.from(list)]));
  return [prompts.judge(arrays, settings, size), prompts.sizes(settings, size.tau)];
}"""
DRAWN = """(settings, tau, sets) => {
  const {N} = iclExplorers.training, {prompts} = N.models, size = prompts.sizes(settings, tau);
  return Array.from({length: sets}, (_, seed) =>
    prompts.judge(prompts.draw(settings, size, N.random(seed)), settings, size));
}"""


@pytest.mark.parametrize(("d", "alpha", "kappa", "tau", "lam"), SETS)
def test_the_same_sets_give_the_same_errors(v8, d, alpha, kappa, tau, lam):
    rho = 0.1
    setting = regression.Setting(d=d, alpha=alpha, kappa=kappa, tau=tau, rho=rho)
    drawn, tasks = setting.prompts(0, 0), setting.tasks(0, 0)
    settings = {"d": d, "alpha": alpha, "kappa": kappa, "rho": rho, "lambda": lam}
    size = {"n": setting.n, "ell": setting.ell, "k": setting.k}
    arrays = {"tasks": tasks, "x": drawn.x, "v": drawn.v, "y": drawn.y}
    handed = {name: value.flatten().tolist() for name, value in arrays.items()}
    found, sizes = v8(JUDGE, settings, size | {"tau": tau}, handed)
    assert sizes == size
    [expected] = regression.errors(setting, [lam], 0, 0, tol=1e-12).tolist()
    assert [found["icl"], found["idg"]] == pytest.approx(expected, rel=SAME)


@pytest.mark.parametrize(("alpha", "tau"), [(0.2, 0.6), (2.0, 3.0)])
def test_sets_have_the_package_s_distribution(v8, alpha, tau):
    d, kappa, rho, lam, sets = 5, 1.0, 0.1, 0.01, 300
    settings = {"d": d, "alpha": alpha, "kappa": kappa, "rho": rho, "lambda": lam}
    ours = [[each["icl"], each["idg"]] for each in v8(DRAWN, settings, tau, sets)]
    setting = regression.Setting(d=d, alpha=alpha, kappa=kappa, tau=tau, rho=rho)
    theirs = torch.stack([regression.errors(setting, [lam], 1, t)[0] for t in range(sets)])
    alike(torch.tensor(ours).double().log(), theirs.log())
