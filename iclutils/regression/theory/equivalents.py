r"""Deterministic equivalents at finite d, conditional on the drawn tasks (chapter 5).

The limits of :mod:`iclutils.regression.theory.asymptotics` know no d. Here stand the errors that a
training set of n prompts leaves at this d, given the exact moments
:math:`S = E\,vv^\top`, :math:`A = E\,wv^\top` of the drawn tasks: to leading order, and with the
spread of the leverages, the remaining deviation of order 1/d.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from scipy.sparse.linalg import LinearOperator, gmres
from torch import Tensor

from iclutils import validation
from iclutils.randomness import stream
from iclutils.regression.moments import Moments, fresh_moments, moments
from iclutils.regression.samplers import Context, Prompts, draw_tasks
from iclutils.regression.theory.asymptotics import Errors
from iclutils.regression.theory.roots import Array, fixed_point, newton


def _finite_ridge(eigen: Float[np.ndarray, " e"], ratio: float, lam: float) -> float:
    """Find the ν ≥ λ with ν = λ + ν (d/n) Σ s/(s + ν), s over ``eigen`` and ``ratio`` = d/n."""
    positive = eigen[eigen > 0]

    def residual(nu: Array) -> tuple[Array, Array]:
        shrink = 1 / (positive + nu)
        falling = lam / nu if lam > 0 else 0.0
        value = falling - 1 + ratio * (positive @ shrink)
        return value, -falling / nu - ratio * (positive @ shrink**2)

    start = lam if lam > 0 else 1e-12 * float(positive.min())
    return float(newton(residual, np.asarray(start), name="finite_equivalent"))


def finite_equivalent(train: Moments, fresh: Moments, n: int, rho: float, lam: float) -> Errors:
    r"""Deterministic equivalent at finite d, given the exact moments under the drawn tasks.

    .. math::
        \nu = \lambda + \nu\tfrac{d}{n}\,\mathrm{tr}\,S(S+\nu)^{-1}, \qquad
        \Gamma = A(S+\nu)^{-1}, \qquad
        e_{IDG} = \frac{e(\Gamma)}{1-\tfrac dn \mathrm{tr}\,S^2(S+\nu)^{-2}}, \qquad
        e_{ICL} = e_0(\Gamma) + e_{IDG}\,\tfrac dn\,\mathrm{tr}\,S_0S(S+\nu)^{-2}

    where e and e₀ are the exact errors of the deterministic Γ on the pretraining and on fresh
    tasks (moments :math:`S_0, A_0`). ``train``, ``fresh``: the moments on the pretraining and on
    fresh tasks. ``n``: training prompts, ≥ 1. ``rho``: label noise, ≥ 0. ``lam``: ridge, ≥ 0, and
    > 0 where n = d(d+1). Raises ``ValueError`` for a number out of its range and for moments of
    different d, ``RuntimeError`` where the equation for ν does not converge.
    """
    d = train.cross.shape[0]
    validation.shape("fresh.cross", fresh.cross, "d e", d=d)
    validation.whole("n", n)
    validation.nonnegative("lam", lam)
    validation.nonnegative("rho", rho)
    if lam == 0 and n == d * (d + 1):
        raise ValueError(
            f"lam must be positive where n = d(d+1) = {n}: the ridgeless error diverges there"
        )
    eigen, basis = torch.linalg.eigh(train.second)
    ridgeless = lam == 0 and n > d * (d + 1)
    nu = 0.0 if ridgeless else _finite_ridge(eigen.numpy(), d / n, lam)
    shrink = 1 / (eigen + nu)
    gamma = ((train.cross @ basis) * shrink) @ basis.T
    idg = train.error(gamma, rho) / (1 - d / n * float((eigen * shrink).square().sum()))
    turned = (basis.T @ fresh.second @ basis).diagonal()
    leak = d / n * float((turned * eigen * shrink**2).sum())
    return Errors(fresh.error(gamma, rho) + idg * leak, idg, nu)


@dataclass(frozen=True)
class _Sample:
    """Averages over one prompt: their bulk an exact moment, their rest the mean over a sample.

    The prompts lie along the last axis: what is done to each of them is then done to long rows.
    """

    w: Float[Tensor, "d m"]
    v: Float[Tensor, "e m"]
    power: Float[Tensor, " m"]  # ‖x‖²

    def average(
        self, weight: Float[Tensor, " m"], left: Float[Tensor, "a m"], exact: Float[Tensor, "a e"]
    ) -> Float[Tensor, "a e"]:
        """Compute the average of weight · left vᵀ; ``exact`` is that of left vᵀ."""
        mean = weight.mean()
        return mean * exact + (left * (weight - mean)) @ self.v.T / len(weight)

    def felt(self, covariance: Float[Tensor, "e e"]) -> Float[Tensor, " m"]:
        """Return what each prompt's residual gains by a covariance I ⊗ K of Γ: ‖x‖² vᵀKv."""
        return self.power * (covariance.T @ self.v).mul_(self.v).sum(0)


@dataclass(frozen=True)
class _Weights:
    """The fixed point for the weights: ν, :math:`1 + t` of each prompt, and the matrix B."""

    nu: float
    factor: Float[Tensor, " m"]
    b: Float[Tensor, "e e"]


def _ridge_of_sample(
    thin: Tensor,
    squares: Tensor,
    eigen: Tensor,
    ratio: float,
    lam: float,
    start: float,
    *,
    tol: float = 1e-7,
) -> tuple[float, Tensor]:
    """Find the ν at which the mean of the prompts' pulls (‖x‖²/(1+t) times ν/λ) is 1; ν, the pulls.

    ``thin``: 1/‖x‖² of each prompt; ``squares``: the squared components of its v in the eigenbasis,
    a column; ``ratio`` is d/n. The mean rises with ν and is concave, so that Newton's method is
    sure of its way from left of the root; from the right its first step leads there, too, unless
    it leaves the positive numbers. Its last step is below ``tol`` of ν, and the error left is of
    the order of its square.
    """

    @functools.lru_cache(maxsize=1)  # the start is looked at twice
    def pulled(nu: float) -> tuple[Tensor, Tensor]:
        shrink = 1 / (eigen + nu)
        leverage = torch.stack([shrink, shrink**2]).mul_(ratio) @ squares
        pulls = torch.add(leverage[0], thin, alpha=lam / nu).reciprocal_()
        return pulls, torch.add(leverage[1], thin, alpha=lam / nu**2)

    def residual(nu: Array) -> tuple[Array, Array]:
        pulls, slopes = pulled(float(nu))
        slope = slopes @ pulls.square() / len(pulls)
        return np.asarray(float(pulls.mean()) - 1), np.asarray(float(slope))

    while True:
        value, slope = residual(np.asarray(start))
        if value <= 0:
            break
        start = max(start - float(value / slope), start / 2)
    nu = newton(
        residual, np.asarray(start), name="leverage_equivalent, ν", tol=tol, max_iterations=50
    )
    return float(nu), pulled(float(nu))[0]


def _leverages(
    sample: _Sample, second: Tensor, ratio: float, lam: float, tol: float, max_rounds: int
) -> _Weights:
    """Solve for the weights ‖x‖²/(1+t) and B, which depend on each other.

    The iteration is on the logarithms of the weights, so that no step of it makes one negative.
    """
    nu = _finite_ridge(torch.linalg.eigvalsh(second).numpy(), ratio, lam)
    eigen = basis = torch.empty(0)
    thin = 1 / sample.power

    def update(logs: Array) -> Array:
        nonlocal nu, eigen, basis
        weighted = sample.average(torch.from_numpy(logs).exp(), sample.v, second)
        eigen, basis = torch.linalg.eigh((weighted + weighted.T) / 2)
        squares = (basis.T @ sample.v).square_()
        # near the fixed point ν hardly moves, and one step of Newton's is exact
        nu, pulls = _ridge_of_sample(thin, squares, eigen, ratio, lam, nu, tol=1e-4)
        changed: Array = pulls.log().numpy()
        return changed

    logs = fixed_point(
        update,
        np.zeros(len(sample.power)),
        name="leverage_equivalent, weights",
        tol=tol,
        max_rounds=max_rounds,
    )
    factor = sample.power / torch.from_numpy(logs).exp() * nu / lam
    b = (basis / (eigen + nu)) @ basis.T * (ratio * nu / lam)
    return _Weights(nu, factor, b)


def _fluctuation(
    sample: _Sample,
    second: Tensor,
    ratio: float,
    weights: _Weights,
    residual: Float[Tensor, " m"],
    tol: float,
    max_iterations: int,
) -> Float[Tensor, "e e"]:
    """Solve for the covariance K of Γ: linear in the squared residuals, which it raises itself."""
    second_order = sample.power / weights.factor**2

    def spread(squared: Tensor) -> Tensor:
        pull = sample.average(second_order * squared, sample.v, second)
        return weights.b @ pull @ weights.b / ratio

    own = spread(residual)

    def matvec(flat: Array) -> Array:
        covariance = torch.from_numpy(flat).view_as(own)
        raised: Array = (covariance - spread(sample.felt(covariance))).numpy().ravel()
        return raised

    size, start = own.numel(), own.numpy().ravel()
    system = LinearOperator((size, size), dtype=float, matvec=matvec)
    restart = min(30, max_iterations)
    rounds = -(-max_iterations // restart)
    solution, info = gmres(system, start, rtol=tol, restart=restart, maxiter=rounds)
    if info != 0:
        left = float(np.linalg.norm(matvec(solution) - start) / np.linalg.norm(start))
        raise RuntimeError(
            f"leverage_equivalent, residuals: the relative residual is {left:.1e} after "
            f"{rounds * restart} iterations of GMRES, wanted {tol:.0e}"
        )
    return torch.from_numpy(solution).view_as(own)


def leverage_equivalent(
    train: Moments,
    fresh: Moments,
    tasks: Float[Tensor, "k d"],
    sample: Prompts,
    n: int,
    rho: float,
    lam: float,
    *,
    tol: float = 1e-6,
    max_rounds: int = 50,
    max_iterations: int = 300,
) -> Errors:
    r"""Correct the equivalent at finite d by the spread of the leverages, of order 1/d.

    A prompt pulls on Γ by its leverage :math:`t = \|x\|^2v^\top Bv`, which differs from prompt to
    prompt by :math:`O(1/\sqrt d)` of itself. With averages over x, v, w and the prompt's residual
    :math:`r^2 = \|x\|^2\|w - \Gamma v\|^2/d + \rho`:

    .. math::
        B &= \bigl(\tfrac nd\,E\tfrac{\|x\|^2vv^\top}{1+t} + \tfrac nd\lambda\bigr)^{-1}, \qquad
        \Gamma = \tfrac nd\,E\tfrac{\|x\|^2wv^\top}{1+t}\,B, \\
        K &= \tfrac nd\,B\,E\frac{\|x\|^2vv^\top(r^2+\|x\|^2v^\top Kv)}{(1+t)^2}\,B, \qquad
        e = e_0(\Gamma) + \mathrm{tr}\,SK

    The averages' bulk is the exact S and A, their rest the mean over ``sample``, prompts that are
    not trained on, on ``tasks``, balanced. With t at its mean this is
    :func:`finite_equivalent`.
    ``n``: training prompts, ≥ 1. ``rho``: label noise, ≥ 0. ``lam``: ridge, > 0. Two iterations,
    for B and for K, stop at relative changes of ``tol``, or raise after ``max_rounds`` and
    ``max_iterations``. The default leaves a relative error of at most 2e-6 (against 1e-8, at d = 25
    to 100); a sample of thousands errs by a thousandth. Raises ``ValueError`` for a number out of
    its range and where a d differs, ``RuntimeError`` with the number that was reached where an
    iteration does not converge.
    """
    d = train.cross.shape[0]
    validation.shape("fresh.cross", fresh.cross, "d e", d=d)
    validation.shape("tasks", tasks, "k d", d=d)
    m = validation.shape("sample.v", sample.v, "m e", e=d + 1)["m"]
    validation.whole("n", n)
    validation.positive("lam", lam)
    validation.positive("tol", tol)
    validation.nonnegative("rho", rho)
    w = tasks.T[:, torch.arange(m) % len(tasks)]
    prompts = _Sample(w, sample.v.T.contiguous(), sample.x.square().sum(1))
    weights = _leverages(prompts, train.second, d / n, lam, tol, max_rounds)
    pull = prompts.average(prompts.power / weights.factor, w, train.cross)
    gamma = n / d * pull @ weights.b
    missed = (w - gamma @ prompts.v).square().sum(0)
    residual = prompts.power * missed / d + rho
    covariance = _fluctuation(prompts, train.second, d / n, weights, residual, tol, max_iterations)
    return Errors(
        fresh.error(gamma, rho) + float((fresh.second * covariance).sum()),
        train.error(gamma, rho) + float((train.second * covariance).sum()),
        weights.nu,
    )


def finite_margin(limit: float, share: float) -> float:
    """How far an error at finite d may be from its ``limit``: r + r² of it, for r = ``share``.

    ``share`` is the largest relative finite-size term of a curve, by an equivalent at that d; its
    square stands for the second order. Raises ``ValueError`` where one of the two is negative.

    >>> round(finite_margin(2.0, 0.1), 3)
    0.22
    """
    validation.nonnegative("limit", limit)
    validation.nonnegative("share", share)
    return (share + share**2) * limit


def half_way(formula: float, rival: float) -> float:
    """Half the distance of a formula from its nearest rival: a margin that tells the two apart.

    Raises ``ValueError`` where one of the two is not finite.

    >>> half_way(0.5, 0.75)
    0.125
    """
    for name, number in (("formula", formula), ("rival", rival)):
        validation.in_range(name, number, -math.inf, math.inf)
    return abs(rival - formula) / 2


def layer_errors(
    context: Context, tau: float, lists: Sequence[int], seed: int, draws: int
) -> Float[Tensor, "2 lists draws"]:
    r"""Decimal logarithms of :math:`e_{ICL}` and :math:`e_{IDG}` of the reduced layer, ridgeless.

    The deterministic equivalent at n = τd² prompts and the context's d, for ``draws`` lists of each
    of the lengths ``lists``. Raises ``ValueError`` where ``tau`` is not positive, a length or
    ``draws`` is below 1, and what :func:`finite_equivalent`
    raises.
    """
    validation.positive("tau", tau)
    validation.whole("draws", draws)
    d, n = context.d, round(tau * context.d**2)
    fresh = fresh_moments(context)
    logs = torch.empty(2, len(lists), draws, dtype=torch.float64)
    for i, k in enumerate(lists):
        for draw in range(draws):
            tasks = draw_tasks(k, d, stream(seed, "theory", d, k, draw))
            errors = finite_equivalent(moments(tasks, context), fresh, n, context.rho, 0.0)
            logs[0, i, draw] = math.log10(errors.icl)
            logs[1, i, draw] = math.log10(errors.idg)
    return logs
