"""What the package says at an explorer's settings: the numbers that its page has to show.

Both sides evaluate the same formulas in double precision: the browser by continued fractions,
bisection and an explicit Runge-Kutta method, the package by SciPy's Bessel functions, Brent's
method and LSODA. What differs is the package's cubic spline through its grid of w, the page's
search for the lowest place of a curve, and the steps of the flow (1e-8 each).
"""

import bisect
import functools
import math

import torch

from iclutils.regression.phase import Phase
from iclutils.regression.theory import asymptotics
from iclutils.stages.theory import meanfield
from iclutils.stages.theory.lookup import Lookup, limit_window
from iclutils.window import attention, functions
from iclutils.window.functions import CLASSES
from iclutils.window.links import LowRankLink
from iclutils.window.theory import batches, curves, isotropic, linear, lowrank
from iclutils.window.theory.contexts import Case, Contexts
from iclutils.window.theory.isotropic import PopulationLoss

GRID = curves.grid(1e5, 481)
DRAWN_GRID = curves.grid(1e5, 181)


@functools.cache
def closed(d, n, sampling=True):
    """The closed form for long contexts, in all its degrees."""
    return isotropic.limit(d, n, w=GRID, sampling=sampling)


@functools.cache
def drawn(d, n, t, grid=None, last=64):
    """The loss averaged over the page's own contexts, each n of its numbers ``t``."""
    degrees = isotropic.even_degrees(last)
    w = DRAWN_GRID if grid is None else torch.tensor(grid, dtype=torch.float64)
    contexts = torch.tensor(t, dtype=torch.float64).view(-1, n)
    found = batches.given_products(contexts, d, w, degrees)
    parts = (found.parts / len(contexts)).unsqueeze(0)
    spread = (found.concentration / len(contexts)).unsqueeze(0)
    return PopulationLoss(d, n, w, degrees, parts, spread, 1 + spread)


def split(loss, task, sigma, w, d, n):
    """The parts of a loss at one window: bias² is the closed form's without a finite context."""
    bias = float(closed(d, 1, sampling=False).at(task, 0.0, w)[0])  # no n is left in it
    signal = float(loss.at(task, 0.0, w)[0])
    spread = float(loss.at(task, 1.0, w)[0]) - signal
    noise = sigma**2 * spread
    return {
        "loss": signal + noise,
        "bias": bias,
        "scatter": signal - bias,
        "noise": noise,
        "effective": 1 / spread,
    }


def window(page_t, family, n, sigma, L, d, **_):
    """The window explorer's numbers; ``page_t`` are its drawn contexts, or none."""
    task = functions.by_name(family, d, L)
    loss = drawn(d, n, page_t) if page_t else closed(d, n)
    best = loss.best_window(task, sigma)
    return {"w": best.w} | split(loss, task, sigma, best.w, d, n)


def one_context(t, w):
    """How many tokens one drawn context averages over, and where half of their weight lies.

    ``t`` are the cosines of its tokens' angles to the query, and w is the page's window.
    """
    x = torch.stack([torch.tensor(t, dtype=torch.float64), torch.zeros(len(t)).double()], 1)
    x[:, 1] = (1 - x[:, 0].square()).clamp(min=0).sqrt()
    query = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    gamma = torch.softmax(w * x @ query.mT, dim=-2)
    half = math.degrees(float(attention.half_mass_cap(gamma, x, query)))
    return {"drawn": float(attention.effective_number(gamma)), "half": half}


def window_at(page_t, w, family, n, sigma, L, d):
    """The loss at a window that the reader chose."""
    loss = drawn(d, n, page_t) if page_t else closed(d, n)
    return float(loss.at(functions.by_name(family, d, L), sigma, w)[0])


def mismatch(page_t, ratio, family, n, sigma, d):
    """The mismatch explorer's numbers."""
    loss = drawn(d, n, page_t) if page_t else closed(d, n)
    here = functions.by_name(family, d, 1.0)
    there = functions.by_name(family, d, ratio)
    trained = loss.best_window(here, sigma)
    best = loss.best_window(there, sigma)
    moved = float(loss.at(there, sigma, trained.w)[0])
    return {
        "pretrained": trained.w,
        "matched": best.w,
        "moved": moved,
        "best": best.loss,
        "worse": moved / best.loss,
    }


def descent(_, alpha, kappa, rho, tau, peak, **ridge):
    """The double descent explorer's numbers; the place of the ``peak`` is the page's."""

    def errors(at):
        return asymptotics.errors(Phase(alpha, kappa, at, rho), ridge["lambda"])

    found = errors(tau)
    gap = found.gap if math.isfinite(found.icl) else math.nan
    numbers = {"icl": found.icl, "idg": found.idg, "gap": gap, "nu": found.nu}
    if math.isnan(peak):
        return numbers | {"height": math.nan}
    height = errors(peak).icl
    assert max(errors(peak * factor).icl for factor in (0.999, 1.001)) < height
    return numbers | {"height": height}


@functools.cache
def phases(_, K, p1):
    """The phases explorer's numbers."""
    rare = meanfield.flow("rare", K, p1, errors=(0.1, 0.01))
    top = meanfield.flow("dominant", K, p1, errors=(0.01,))
    # a boundary that lies behind the start has t = 0 in the package and reads "none" on the page
    marks = {name: mark for name, mark in rare.boundaries.items() if mark.t > 0}
    log = math.log(K)
    numbers = {
        name: marks[name].t if name in marks else math.nan for name in ("lead", "overtake", "half")
    }
    numbers |= {
        "rare1": rare.times[0.1],
        "rare2": rare.times[0.01],
        "top2": top.times[0.01],
        "Ahalf": marks["half"].A / log,
    }
    numbers["B1lead"] = marks["lead"].B1 / log if "lead" in marks else math.nan
    return numbers | {"wait": marks["half"].t * (1 - p1) / K**2}


def offset(page_t, family, d, n, sigma, one, **constant):
    """The missing constant's numbers; the tasks' own constant is ``offset`` times the paper's."""
    without = linear.LinearUnit.of(CLASSES[family](d, offset=False))
    own = constant["offset"] ** 2 / 3
    unit = linear.LinearUnit(d, without.power + own, without.mean + own, without.linear)
    softmax = drawn(d, n, page_t) if page_t else closed(d, n)
    numbers = {
        "linear": unit.minimum(n, sigma),
        "constant": unit.minimum_with_constant(n, sigma),
        "softmax": softmax.best_window(CLASSES[family](d), sigma).loss,
        "floor": unit.floor,
    }
    if one == "no":
        numbers["apart"] = numbers["linear"] / numbers["softmax"]
        del numbers["constant"]
        return numbers
    numbers["gained"] = numbers["linear"] / numbers["constant"]
    return numbers | {"left": numbers["constant"] / numbers["softmax"]}


def lookup(_, c, rho, K):
    """The numbers of the letters."""
    N = max(1, math.floor(c * K + 0.5))
    head = Lookup(K, N)
    best = head.best_window(rho**0.5)
    unit = linear.LinearUnit(K, 1.0, 0.0, 1.0)

    def better(length):
        softmax = Lookup(K, length).best_window(rho**0.5).loss
        return softmax < unit.minimum(length, rho**0.5)

    longest = 64 * K
    crossing = math.nan
    if better(longest):
        crossing = bisect.bisect_left(range(1, longest), True, key=better) + 1
    return {
        "N": N,
        "w": best.w,
        "linear": unit.minimum(N, rho**0.5),
        "softmax": best.loss,
        "bayes": head.bayes(rho**0.5),
        "law": limit_window(N / rho),
        "crossing": crossing / K,
    }


def directions(page_contexts, link, where, d, n, sigma, cv, wv, noneW, yoursW):
    """The low-rank numbers at the page's best windows, which must be least among those near."""
    case = Case(link, d, 2, n, sigma, c_v=cv if where == "apart" else None)
    length = cv if where == "apart" else 1.0

    def placed(point):
        return [*point["u"], *(length * x for x in point["v"])]

    tokens = [[placed(x) for x in [*c["tokens"], c["query"]]] for c in page_contexts]
    x = torch.tensor(tokens, dtype=torch.float64)
    task = LowRankLink(case.B, link)
    value = task.of_latent(task.cubature() @ (x @ case.B).mT)
    sample = Contexts(x[:, :n], x[:, n], value[..., :n], value[..., n], sigma)

    def loss(wu, mass):
        M = wu * case.family[0] + mass * case.family[1]
        return float(lowrank.loss_at(sample, M).mean())

    numbers = {}
    for name, at, share in (("none", noneW, 0.0), ("yours", yoursW, wv)):
        numbers[name] = loss(at, share * at)
        for factor in (0.8, 1.25):
            assert loss(factor * at, share * factor * at) > numbers[name] * (1 - 1e-3)
    return numbers


def parallel(_, angle, noise, **ridge):
    """Two equations, 20 and 20 - angle degrees steep, through (1, 0.5); the second label errs."""
    slopes = torch.deg2rad(torch.tensor([20.0, 20.0 - angle], dtype=torch.float64))
    A = torch.stack([-slopes.sin(), slopes.cos()], dim=1)
    made = torch.tensor([1.0, 0.5], dtype=torch.float64)
    y = A @ made + torch.tensor([0.0, noise], dtype=torch.float64)
    eye = torch.eye(2, dtype=torch.float64)
    w = torch.linalg.solve(A.T @ A + ridge["lambda"] * eye, A.T @ y)
    numbers = {"w1": float(w[0]), "w2": float(w[1]), "size": float(w.norm())}
    return numbers | {"off": float((w - made).norm())}


EXPLORERS = {
    "window": window,
    "mismatch": mismatch,
    "descent": descent,
    "phases": phases,
    "offset": offset,
    "lookup": lookup,
    "directions": directions,
    "parallel": parallel,
}
