"""The trainings that run in the page: their numerics against the package's, and their controls.

Two comparisons for each of the four. From the same arrays, drawn in Python and handed over, the
page takes the same steps as the package: what differs is the order of sums and the last digit of
exponentials, which 500 steps carry to far below SAME. From the page's own seeds the trainings have
the package's distribution: means over independent runs differ by less than four standard errors.
"""

import base64
import math

import numpy as np
import pytest
import torch

from iclutils.ground.randomness import stream
from iclutils.regression import setting as regression
from iclutils.regression.solver import solve_dense
from iclutils.stages import training as stages
from iclutils.stages.prompts import probabilities
from iclutils.window import alignment, functions, subspaces
from iclutils.window.covariates import Sphere, Stretched
from iclutils.window.links import LowRankLink
from iclutils.window.pretraining import BLOCK, Schedule, Setting, pretrain
from iclutils.window.theory import lowrank, lowrank_linear, matrix
from iclutils.window.theory.contexts import Case, Contexts

SAME = 1e-9
STEPS = 500
# Steps a training from handed draws; the records after every tenth step come back.
FOLLOW = """([name, settings, packed, given]) => {
  const {N} = iclExplorers.training;
  const numbers = text => new Float64Array(
    Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
  const draws = packed.map(numbers), row = [], out = [];
  const scene = given && Object.fromEntries(
    Object.entries(given).map(([key, text]) => [key, numbers(text)]));
  const run = N.models[name].start(settings, 0, scene), size = draws[0].length / STEPS;
  const record = new Float64Array(run.size);
  for (let step = 0; step < STEPS; step++) {
    run.take(draws[0].slice(step * size, (step + 1) * size));
    if ((step + 1) % 10 === 0) {
      run.record(record, 0);
      out.push([...record]);
    }
  }
  return out;
}""".replace("STEPS", str(STEPS))
# Many runs from the page's own seeds; their records after `steps` steps.
OWN = """([name, settings, steps, runs]) => Array.from({length: runs}, (_, seed) => {
  const run = iclExplorers.training.N.models[name].start(settings, seed);
  const record = new Float64Array(run.size);
  for (let step = 0; step < steps; step++) run.take(run.draw(step));
  run.record(record, 0);
  return [...record];
})"""


def packed(array):
    """An array as the page reads it: its bytes in base64."""
    raw = np.ascontiguousarray(array, dtype=np.float64).tobytes()
    return base64.b64encode(raw).decode("ascii")


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
def test_window_takes_the_package_s_steps(page, family, d, n, sigma, L):
    function = functions.by_name(family, d, L)
    setting = Setting(function, Sphere(d), n, sigma)
    draws = prompts_of(function, setting, slopes)
    settings = {"d": d, "n": n, "sigma": sigma, "L": L, "family": family}
    found = torch.tensor(
        page.evaluate(FOLLOW, ["window", settings, [packed(draws)], None]), dtype=torch.float64
    )
    softmax, linear = found[:, 2:].unflatten(1, (2, d * d)).unbind(1)
    for seen, M in zip((softmax, linear), trained(setting), strict=True):
        assert relative(seen.tolist(), M.flatten(1)) < SAME


@pytest.mark.parametrize(("link", "stretched"), [("quadratic", True), ("cosine", False)])
def test_low_rank_takes_the_package_s_steps(page, link, stretched):
    d, k, n, sigma = 6, 2, 30, 0.01
    B = subspaces.random_subspaces(1, d, k, stream(0, "training", "B"))
    J = subspaces.gram_roots(1, d, stream(0, "training", "J"))
    function = LowRankLink(B, link)
    setting = Setting(function, Stretched(J) if stretched else Sphere(d), n, sigma)
    frame = torch.cat([B[0], subspaces.complement(B)[0]], 1)
    settings = {"d": d, "k": k, "n": n, "sigma": sigma, "link": link}
    settings["J"] = "yes" if stretched else "no"
    draws = prompts_of(function, setting, lambda task: task["a"])
    scene = {"frame": packed(frame), "J": packed(J[0])}
    found = torch.tensor(
        page.evaluate(FOLLOW, ["lowrank", settings, [packed(draws)], scene]),
        dtype=torch.float64,
    )
    softmax, linear = found[:, 2:].unflatten(1, (2, d * d)).unbind(1)
    heads = trained(setting)
    for seen, M in zip((softmax, linear), heads, strict=True):
        assert relative(seen.tolist(), (frame.T @ M @ frame).flatten(1)) < SAME
    last = heads[0][-1]
    measured = page.evaluate(
        "([M, d, k]) => iclExplorers.training.N.models.lowrank.alignment("
        "Float64Array.from(M), d, k)",
        [softmax[-1].tolist(), d, k],
    )
    mass = alignment.masses(last, B[0])
    expected = {
        "relevant": float(mass.relevant),
        "spurious": float(mass.spurious),
        "overlap": float(alignment.overlap(last, B[0])),
        "rho": float(alignment.rho(last, B[0])),
    }
    assert measured == pytest.approx(expected, rel=1e-8)


BEST = """([settings, seed]) => {
  const {N} = iclExplorers.training, {lowrank: model} = N.models, {d, n} = settings;
  const scene = model.scene(settings, N.random(seed, "scene"));
  const of = one => Array.from({length: model.CONTEXTS}, (_, i) => [...one(i)]);
  const tokens = of(i => model.contextOf(i, settings, scene)), count = tokens[0].length;
  return {tokens, best: model.lowrankBest(settings, scene), frame: [...scene.frame],
    J: [...scene.J], z: of(i => {
      const {normal} = N.random("low-rank contexts", d, i);
      return Float64Array.from({length: count}, normal);
    }), at: [[3, 1], [12, 8]].map(([c, e]) =>
      [c, e, model.lowrankLoss(model.lowrankSample(settings, scene), c, e, settings.sigma).loss])};
}"""


@pytest.mark.parametrize(
    ("link", "d", "k", "stretched"),
    [
        ("quadratic", 10, 2, True),  # the five presets
        ("cosine", 10, 2, True),
        ("affine", 10, 2, True),
        ("quadratic", 10, 2, False),
        ("quadratic", 4, 2, False),
        ("cosine", 10, 3, True),
        ("affine", 6, 1, True),  # the least loss has no mass outside
        ("linear", 4, 3, False),
    ],
)
def test_the_best_heads_are_the_package_s(page, link, d, k, stretched):
    """The lines beside the low-rank training, on the page's own contexts."""
    n, sigma = 50, 0.01
    settings = {"d": d, "k": k, "n": n, "sigma": sigma, "link": link}
    settings["J"] = "yes" if stretched else "no"
    seen = page.evaluate(BEST, [settings, 0])
    arrays = {
        name: torch.tensor(seen[name], dtype=torch.float64)
        for name in ("frame", "J", "tokens", "z")
    }
    frame, J = (arrays[name].view(d, d) for name in ("frame", "J"))
    tokens, z = (arrays[name].unflatten(1, (-1, d)) for name in ("tokens", "z"))
    law = Stretched(J) if stretched else Sphere(d)
    drawn = law.from_gaussian(z) @ frame if stretched else law.from_gaussian(z)
    assert relative(tokens.flatten(1).tolist(), drawn.flatten(1)) < SAME

    case = Case(link, d, k, n, sigma)
    task = LowRankLink(case.B, link)
    x, query = tokens[:, :n], tokens[:, n:]

    def inner(a, b):
        return task.kernel(a @ case.B, b @ case.B)

    def loss(c, e):
        """By the kernel of the tasks; the page's own way is the same, its code is not."""
        M = c * case.family[0] + e * case.family[1]
        gamma = torch.softmax(x @ M @ query.mT, -2)
        found = matrix.context_loss(
            lambda a, b: task.kernel(a @ case.B, b @ case.B), x, query, gamma
        )
        return float((found.signal + sigma**2 * found.concentration).mean())

    for c, e, value in seen["at"]:
        assert value == pytest.approx(loss(c, e), rel=SAME)
    best, linear = seen["best"]["softmax"], seen["best"]["linear"]
    assert best["loss"] == pytest.approx(loss(best["c"], best["e"]), rel=SAME)
    around = [(best["c"] * f, best["e"] * g) for f in (0.5, 1, 2) for g in (0.5, 1, 2)]
    assert min(loss(*place) for place in around) >= best["loss"] * (1 - SAME)
    if k == 3 and link in ("quadratic", "cosine"):
        return  # the package has no finite set of tasks for them
    value = task.of_latent(task.cubature() @ (tokens @ case.B).mT)
    queries = query.shape[1]
    sample = Contexts(
        x.repeat_interleave(queries, 0),
        query.flatten(0, 1),
        value[..., :n].repeat_interleave(queries, 0),
        value[..., n:].mT.flatten(0, 1),
        sigma,
    )
    theta = torch.tensor([best["c"], best["e"]], dtype=torch.float64)
    inside = case.family[: 1 + (best["e"] > 0)]
    found = lowrank.minimise(sample, inside, theta[: len(inside)] * 0.9, tolerance=1e-14)
    # the page's last Newton step promises 1e-12 of the loss: a place is known to its root
    near = pytest.approx(found.theta.tolist(), abs=1e-5 * best["c"])
    assert theta[: len(inside)].tolist() == near
    expected = lowrank_linear.linear_minimum(sample, case.family)
    assert [linear["c"], linear["e"]] == pytest.approx(expected.theta.tolist(), rel=1e-8)
    assert linear["loss"] == pytest.approx(expected.loss, rel=1e-8)


def test_stages_takes_the_package_s_steps(page):
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
    found = page.evaluate(FOLLOW, ["stages", settings, [packed(draws)], None])
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
JUDGE = """([settings, size, set]) => {
  const {models: {prompts}} = iclExplorers.training.N;
  const numbers = text => new Float64Array(
    Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
  const arrays = Object.fromEntries(Object.entries(set).map(([key, text]) => [key, numbers(text)]));
  settings.kappa ??= Infinity;
  return [prompts.judge(arrays, settings, size), prompts.sizes(settings, size.tau)];
}"""


@pytest.mark.parametrize(("d", "alpha", "kappa", "tau", "lam"), SETS)
def test_the_same_sets_give_the_same_errors(page, d, alpha, kappa, tau, lam):
    rho = 0.1
    setting = regression.Setting(d, alpha, kappa, tau, rho)
    drawn, tasks = setting.prompts(0, 0), setting.tasks(0, 0)
    own, fresh = setting.moments(0, 0)
    if setting.n < d * (d + 1):
        features = (drawn.x[:, :, None] * drawn.v[:, None, :]).flatten(1)
        kernel = features @ features.T + setting.n * lam / d * torch.eye(setting.n).double()
        gamma = (features.T @ torch.linalg.solve(kernel, drawn.y)).reshape(d, d + 1)
    else:
        gamma = solve_dense(drawn, lam)
    settings = {"d": d, "alpha": alpha, "rho": rho, "lambda": lam}
    settings["kappa"] = None if kappa == math.inf else kappa
    size = {"n": setting.n, "ell": setting.ell, "k": setting.k}
    arrays = {"tasks": tasks, "x": drawn.x, "v": drawn.v, "y": drawn.y}
    found, sizes = page.evaluate(
        JUDGE,
        [settings, size | {"tau": tau}, {name: packed(value) for name, value in arrays.items()}],
    )
    assert sizes == size
    expected = {"icl": fresh.error(gamma, rho), "idg": own.error(gamma, rho)}
    assert found == pytest.approx(expected, rel=SAME)


def alike(seen, expected):
    """Means and second moments of independent runs differ by less than four standard errors."""
    for name, theirs in expected.items():
        ours = torch.tensor(seen[name], dtype=torch.float64)
        for power in (1, 2):
            a, b = ours**power, theirs.double() ** power
            error = (a.var() / len(a) + b.var() / len(b)).sqrt()
            assert abs(float(a.mean() - b.mean())) < 4 * float(error), (name, power)


def heads_of(found, d):
    """The softmax and the linear head's matrices of many runs' records."""
    M = torch.tensor(found, dtype=torch.float64)[:, 2:].unflatten(1, (2, d, d))
    return dict(zip(("softmax", "linear"), M.unbind(1), strict=True))


@pytest.mark.parametrize("family", ["relu", "affine", "cosine"])
def test_window_has_the_package_s_distribution(page, family):
    d, n, sigma, L, steps, runs = 3, 20, 0.3, 2.0, 60, 200
    settings = {"d": d, "n": n, "sigma": sigma, "L": L, "family": family}
    ours = heads_of(page.evaluate(OWN, ["window", settings, steps, runs]), d)
    setting = Setting(functions.by_name(family, d, L), Sphere(d), n, sigma)
    for unit, rate in (("softmax", 0.1), ("linear", 0.01)):
        theirs = pretrain(
            [setting], trials=runs, steps=steps, unit=unit, schedule=Schedule(rate), seed=1
        ).M[0, :, -1]

        def summary(M):
            return {"w": M.diagonal(dim1=-2, dim2=-1).mean(-1), "aside": M[:, 0, 1]}

        seen = {name: value.tolist() for name, value in summary(ours[unit]).items()}
        alike(seen, summary(theirs))


def test_low_rank_has_the_package_s_distribution(page):
    d, k, n, sigma, steps, runs = 4, 1, 20, 0.1, 60, 200
    settings = {"d": d, "k": k, "n": n, "sigma": sigma, "link": "quadratic", "J": "yes"}
    ours = heads_of(page.evaluate(OWN, ["lowrank", settings, steps, runs]), d)["softmax"]
    B = subspaces.random_subspaces(runs, d, k, stream(1, "training", "B"))
    J = subspaces.gram_roots(runs, d, stream(1, "training", "J"))
    setting = Setting(LowRankLink(B, "quadratic"), Stretched(J), n, sigma)
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


def test_stages_have_the_package_s_distribution(page):
    K, p1, tokens, prompts, steps, runs = 6, 0.5, 60, 2, 80, 100
    settings = {"K": K, "p1": p1, "N": tokens, "prompts": prompts, "rate": 1.0}
    found = torch.tensor(page.evaluate(OWN, ["stages", settings, steps, runs]), dtype=torch.float64)
    trained = stages.train_reduced(
        probabilities(K, p1),
        tokens,
        torch.arange(K).repeat(runs),
        learning_rate=1.0,
        steps=steps,
        prompts=prompts,
        generator=stream(1, "training", "stages"),
        points=4,
    )
    theta = trained.theta[-1].unflatten(0, (runs, K))

    def summary(theta):
        diagonal = theta.diagonal(dim1=-2, dim2=-1)
        return {
            "A": diagonal[:, 1:].mean(-1),
            "B1": theta[:, 1:, 0].mean(-1),
            "first": diagonal[:, 0],
        }

    ours = summary(found[:, : K * K].unflatten(1, (K, K)))
    alike({name: value.tolist() for name, value in ours.items()}, summary(theta))


DRAWN = """([settings, tau, sets]) => {
  const {N} = iclExplorers.training, {prompts} = N.models, size = prompts.sizes(settings, tau);
  return Array.from({length: sets}, (_, seed) =>
    prompts.judge(prompts.draw(settings, size, N.random(seed)), settings, size));
}"""


@pytest.mark.parametrize(("alpha", "tau"), [(0.2, 0.6), (2.0, 3.0)])
def test_sets_have_the_package_s_distribution(page, alpha, tau):
    d, kappa, rho, lam, sets = 5, 1.0, 0.1, 0.01, 300
    settings = {"d": d, "alpha": alpha, "kappa": kappa, "rho": rho, "lambda": lam}
    found = page.evaluate(DRAWN, [settings, tau, sets])
    setting = regression.Setting(d, alpha, kappa, tau, rho)
    theirs = torch.stack([regression.errors(setting, [lam], 1, t)[0] for t in range(sets)]).log()
    seen = {name: [math.log(each[name]) for each in found] for name in ("icl", "idg")}
    alike(seen, {"icl": theirs[:, 0], "idg": theirs[:, 1]})
