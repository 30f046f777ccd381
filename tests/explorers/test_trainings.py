"""The numerics of the trainings against the package's.

Two comparisons for each of the four. From the same arrays, drawn in Python and handed over, the
scripts take the same steps as the package: what differs is the order of sums and the last digit of
exponentials, which 500 steps carry to far below SAME. From their own seeds they draw by the
package's laws: means over independent runs differ by less than four standard errors.
"""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.regression import experiment as regression
from iclutils.regression.ridge import solve_dense
from iclutils.stages import training as stages
from iclutils.stages.prompts import probabilities
from iclutils.window import alignment, function_classes, low_rank_tasks
from iclutils.window.covariates import Sphere, Stretched
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
# Many runs from the scripts' own seeds; their records after `steps` steps.
OWN = """(name, settings, steps, runs) => Array.from({length: runs}, (_, seed) => {
  const run = iclExplorers.training.N.models[name].start(settings, seed);
  const record = new Float64Array(run.size);
  for (let step = 0; step < steps; step++) run.take(run.draw(step));
  run.record(record, 0);
  return record;
})"""


def relative(found, expected):
    """The largest difference, relative to the largest entry of each record."""
    found = torch.tensor(found, dtype=torch.float64)
    scale = expected.abs().amax(-1, keepdim=True)
    return float(((found - expected).abs() / scale).max())


def prompts_of(function, setting, role_task):
    """The raw draws of the package's prompts of one trial, a row a step, as the page takes them."""
    n, d = setting.n, setting.covariates.d
    q = math.isqrt(n)
    rows = []
    for block in range(STEPS // BLOCK):

        def opened(what, block=block):
            return stream(0, "pretraining", what, n, q, 0, block)

        z = torch.randn(BLOCK, n + q, d, generator=opened("covariates"), dtype=torch.float64)
        noise = torch.randn(BLOCK, n, generator=opened("noise"), dtype=torch.float64)
        task = role_task(function.sample((BLOCK,), opened("tasks")))
        rows.append(torch.cat([z.flatten(1), task, noise], 1))
    return torch.cat(rows)


def slopes(task):
    """A task of a class on the sphere: direction, l1, l2, b, with zeros for what it has not."""
    none = torch.zeros(len(task["w"]), dtype=torch.float64)
    first = task.get("l", task.get("l1", none))
    rest = [first, task.get("l2", none), task.get("b", none)]
    return torch.cat([task["w"], torch.stack(rest, 1)], 1)


def trained(setting):
    """M of the softmax and of the linear head after every tenth step, side by side."""
    heads = []
    for unit, rate in (("softmax", 0.1), ("linear", 0.01)):
        run = pretrain(
            [setting], trials=1, steps=STEPS, unit=unit, schedule=Schedule(rate), record_every=10
        )
        heads.append(run.M[0, 0, 1:])
    return heads


@pytest.mark.parametrize(
    ("family", "d", "n", "sigma", "L"),
    [("relu", 2, 50, 0.1, 1.0), ("affine", 3, 40, 0.5, 2.0), ("cosine", 5, 30, 0.1, 4.0)],
)
def test_window_takes_the_package_s_steps(v8, family, d, n, sigma, L):
    function = function_classes.by_name(family, d, L)
    setting = Setting(function=function, covariates=Sphere(d), n=n, sigma=sigma)
    draws = prompts_of(function, setting, slopes)
    settings = {"d": d, "n": n, "sigma": sigma, "L": L, "family": family}
    found = torch.tensor(v8(FOLLOW, "window", settings, draws.tolist(), None), dtype=torch.float64)
    softmax, linear = found[:, 2:].unflatten(1, (2, d * d)).unbind(1)
    for seen, M in zip((softmax, linear), trained(setting), strict=True):
        assert relative(seen.tolist(), M.flatten(1)) < SAME


ALIGNED = """(M, d, k) =>
  iclExplorers.training.N.models.lowrank.alignment(Float64Array.from(M), d, k)"""


@pytest.mark.parametrize(("link", "stretched"), [("quadratic", True), ("cosine", False)])
def test_low_rank_takes_the_package_s_steps(v8, link, stretched):
    d, k, n, sigma = 6, 2, 30, 0.01
    B = low_rank_tasks.random_subspaces(1, d, k, stream(0, "training", "B"))
    J = low_rank_tasks.gram_roots(1, d, stream(0, "training", "J"))
    function = LowRankLink(B, link)
    setting = Setting(
        function=function, covariates=Stretched(J) if stretched else Sphere(d), n=n, sigma=sigma
    )
    frame = torch.cat([B[0], low_rank_tasks.complement(B)[0]], 1)
    settings = {"d": d, "k": k, "n": n, "sigma": sigma, "link": link}
    settings["J"] = "yes" if stretched else "no"
    draws = prompts_of(function, setting, lambda task: task["a"])
    scene = {"frame": frame.flatten().tolist(), "J": J[0].flatten().tolist()}
    found = torch.tensor(
        v8(FOLLOW, "lowrank", settings, draws.tolist(), scene),
        dtype=torch.float64,
    )
    softmax, linear = found[:, 2:].unflatten(1, (2, d * d)).unbind(1)
    heads = trained(setting)
    for seen, M in zip((softmax, linear), heads, strict=True):
        assert relative(seen.tolist(), (frame.T @ M @ frame).flatten(1)) < SAME
    last = heads[0][-1]
    measured = v8(ALIGNED, softmax[-1].tolist(), d, k)
    mass = alignment.masses(last, B[0])
    expected = {
        "relevant": float(mass.relevant),
        "spurious": float(mass.spurious),
        "overlap": float(alignment.overlap(last, B[0])),
        "rho": float(alignment.rho(last, B[0])),
    }
    assert measured == pytest.approx(expected, rel=1e-8)


def test_stages_takes_the_package_s_steps(v8):
    K, p1, tokens, prompts, rate = 8, 0.5, 200, 4, 1.0
    p, targets = probabilities(K, p1), torch.arange(K)
    run = stages.train_reduced(
        p,
        tokens,
        targets,
        learning_rate=rate,
        steps=STEPS,
        prompts=prompts,
        generator=torch.Generator().manual_seed(0),
        points=2 * STEPS,
    )
    kept = (run.t % 10 == 0) & (run.t > 0)  # a few steps of the grid are rounded to a neighbour
    batches = stages._count_batches(p, tokens, K, prompts, torch.Generator().manual_seed(0))
    draws = torch.stack([next(batches).flatten() for _ in range(STEPS)])
    settings = {"K": K, "p1": p1, "N": tokens, "prompts": prompts, "rate": rate}
    found = v8(FOLLOW, "stages", settings, draws.tolist(), None)
    expected = run.theta[kept].flatten(1)
    assert len(expected) > STEPS // 11
    assert run.t[kept][-1] == STEPS
    seen = [found[int(t) // 10 - 1][: K * K] for t in run.t[kept]]
    assert relative(seen, expected) < SAME


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


@pytest.mark.parametrize(("d", "alpha", "kappa", "tau", "lam"), SETS)
def test_the_same_sets_give_the_same_errors(v8, d, alpha, kappa, tau, lam):
    rho = 0.1
    setting = regression.Setting(d=d, alpha=alpha, kappa=kappa, tau=tau, rho=rho)
    drawn, tasks = setting.prompts(0, 0), setting.tasks(0, 0)
    own, fresh = setting.moments(0, 0)
    if setting.n < d * (d + 1):
        features = (drawn.x[:, :, None] * drawn.v[:, None, :]).flatten(1)
        kernel = features @ features.T + setting.n * lam / d * torch.eye(setting.n).double()
        gamma = (features.T @ torch.linalg.solve(kernel, drawn.y)).reshape(d, d + 1)
    else:
        gamma = solve_dense(drawn, lam)
    settings = {"d": d, "alpha": alpha, "kappa": kappa, "rho": rho, "lambda": lam}
    size = {"n": setting.n, "ell": setting.ell, "k": setting.k}
    arrays = {"tasks": tasks, "x": drawn.x, "v": drawn.v, "y": drawn.y}
    handed = {name: value.flatten().tolist() for name, value in arrays.items()}
    found, sizes = v8(JUDGE, settings, size | {"tau": tau}, handed)
    assert sizes == size
    expected = {"icl": fresh.error(gamma, rho), "idg": own.error(gamma, rho)}
    assert found == pytest.approx(expected, rel=SAME)


def alike(seen, expected):
    """Means and second moments of independent runs differ by less than four standard errors."""
    for name, theirs in expected.items():
        ours = torch.as_tensor(seen[name], dtype=torch.float64)
        for power in (1, 2):
            a, b = ours**power, theirs.double() ** power
            error = (a.var() / len(a) + b.var() / len(b)).sqrt()
            assert abs(float(a.mean() - b.mean())) < 4 * float(error), (name, power)


DRAWS = """(name, settings, runs) => Array.from({length: runs}, (_, seed) =>
  iclExplorers.training.N.models[name].start(settings, seed).draw(0))"""


def columns(rows):
    """Each number of a step's draws by its place."""
    return dict(enumerate(torch.as_tensor(rows, dtype=torch.float64).T))


@pytest.mark.parametrize("family", ["relu", "affine", "cosine"])
def test_window_draws_by_the_package_s_law(v8, family):
    """What is made of the draws, its steps show."""
    d, n, sigma, L = 3, 20, 0.3, 2.0
    settings = {"d": d, "n": n, "sigma": sigma, "L": L, "family": family}
    function = function_classes.by_name(family, d, L)
    setting = Setting(function=function, covariates=Sphere(d), n=n, sigma=sigma)
    theirs = prompts_of(function, setting, slopes)
    ours = torch.tensor(v8(DRAWS, "window", settings, STEPS), dtype=torch.float64)
    direction = slice((n + math.isqrt(n)) * d, (n + math.isqrt(n) + 1) * d)
    ours[:, direction] /= ours[:, direction].norm(dim=1, keepdim=True)  # a step's first work
    drawn = theirs.std(0) > 0  # the page draws for every class what one of them needs
    alike(columns(ours[:, drawn]), columns(theirs[:, drawn]))


def test_low_rank_has_the_package_s_distribution(v8):
    d, k, n, sigma, steps, runs = 4, 1, 20, 0.1, 60, 200
    settings = {"d": d, "k": k, "n": n, "sigma": sigma, "link": "quadratic", "J": "yes"}
    found = torch.tensor(v8(OWN, "lowrank", settings, steps, runs), dtype=torch.float64)
    ours = found[:, 2 : 2 + d * d].unflatten(1, (d, d))
    B = low_rank_tasks.random_subspaces(runs, d, k, stream(1, "training", "B"))
    J = low_rank_tasks.gram_roots(runs, d, stream(1, "training", "J"))
    setting = Setting(
        function=LowRankLink(B, "quadratic"), covariates=Stretched(J), n=n, sigma=sigma
    )
    M = pretrain([setting], trials=runs, steps=steps, seed=1).M[0, :, -1]
    frame = torch.eye(d, dtype=torch.float64)[:, :k]  # the page records M in the basis [B, B⊥]

    def summary(M, B):
        mass = alignment.masses(M, B)
        return {
            "relevant": mass.relevant,
            "spurious": mass.spurious,
            "overlap": alignment.overlap(M, B),
        }

    seen = {name: value.tolist() for name, value in summary(ours, frame).items()}
    alike(seen, summary(M, B))


def test_stages_draw_by_the_package_s_law(v8):
    K, p1, tokens, prompts = 6, 0.5, 60, 2
    settings = {"K": K, "p1": p1, "N": tokens, "prompts": prompts, "rate": 1.0}
    opened = stream(1, "training", "stages")
    batches = stages._count_batches(probabilities(K, p1), tokens, K, prompts, opened)
    theirs = torch.stack([next(batches).flatten() for _ in range(STEPS)])
    alike(columns(v8(DRAWS, "stages", settings, STEPS)), columns(theirs))


DRAWN = """(settings, tau, sets) => {
  const {N} = iclExplorers.training, {prompts} = N.models, size = prompts.sizes(settings, tau);
  return Array.from({length: sets}, (_, seed) =>
    prompts.judge(prompts.draw(settings, size, N.random(seed)), settings, size));
}"""


@pytest.mark.parametrize(("alpha", "tau"), [(0.2, 0.6), (2.0, 3.0)])
def test_sets_have_the_package_s_distribution(v8, alpha, tau):
    d, kappa, rho, lam, sets = 5, 1.0, 0.1, 0.01, 300
    settings = {"d": d, "alpha": alpha, "kappa": kappa, "rho": rho, "lambda": lam}
    found = v8(DRAWN, settings, tau, sets)
    setting = regression.Setting(d=d, alpha=alpha, kappa=kappa, tau=tau, rho=rho)
    theirs = torch.stack([regression.errors(setting, [lam], 1, t)[0] for t in range(sets)]).log()
    seen = {name: [math.log(each[name]) for each in found] for name in ("icl", "idg")}
    alike(seen, {"icl": theirs[:, 0], "idg": theirs[:, 1]})
