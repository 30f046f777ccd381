"""What the package says at an explorer's settings: the numbers that its page has to show.

Both sides evaluate the same formulas in double precision: the browser by continued fractions,
bisection and an explicit Runge-Kutta method, the package by SciPy's Bessel functions, Brent's
method and LSODA. What differs is the package's cubic spline through its grid of w, the page's
search for the lowest place of a curve, and the steps of the flow (1e-8 each).
"""

import functools
import math

import torch

from iclutils.regression.phase import Phase
from iclutils.regression.theory import asymptotics
from iclutils.stages.theory import meanfield
from iclutils.window import functions
from iclutils.window.theory import curves, isotropic
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
    found = isotropic._given_products(contexts, d, w, degrees)
    parts = (found.parts / len(contexts)).unsqueeze(0)
    spread = (found.concentration / len(contexts)).unsqueeze(0)
    return PopulationLoss(d, n, w, degrees, parts, spread, 1 + spread)


def split(loss, task, sigma, w, d, n):
    """The parts of a loss at one window: bias² is the closed form's without a finite context."""
    bias = float(closed(d, n, sampling=False).at(task, 0.0, w)[0])
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


def descent(_, alpha, kappa, rho, tau, **ridge):
    """The double descent explorer's numbers."""
    found = asymptotics.errors(Phase(alpha, kappa, tau, rho), ridge["lambda"])
    gap = found.gap if math.isfinite(found.icl) else math.nan
    return {"icl": found.icl, "idg": found.idg, "gap": gap, "nu": found.nu}


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


EXPLORERS = {"window": window, "mismatch": mismatch, "descent": descent, "phases": phases}
