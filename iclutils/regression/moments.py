"""Second moments of the tokens of drawn prompts, of one set or of the fresh prompts of a test."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.randomness import normal
from iclutils.regression.samplers import LARGEST, Context


@dataclass(frozen=True)
class Moments:
    r"""Exact moments under a distribution of tasks.

    ``second``: :math:`S = E\,vv^\top`; ``cross``: :math:`A = E\,wv^\top`;
    ``power``: :math:`E\|w\|^2`. The axis e has d + 1 entries.
    """

    second: Float[Tensor, "e e"]
    cross: Float[Tensor, "d e"]
    power: float

    def error(self, gamma: Float[Tensor, "d d+1"], rho: float) -> float:
        r"""Compute the exact test error of the predictor :math:`x^\top\Gamma v`.

        .. math::
            E(y - x^\top\Gamma v)^2
            = \rho + \tfrac1d\bigl(E\|w\|^2 - 2\,\mathrm{tr}\,\Gamma^\top A
            + \mathrm{tr}\,\Gamma S\Gamma^\top\bigr)

        The query is integrated out, so there are no test prompts. ``rho`` ≥ 0: the label noise.
        Raises ``ValueError`` where ``gamma`` is not of shape (d, d+1) or not finite, and for a
        ``rho`` out of range.
        """
        d = self.cross.shape[0]
        validation.shape("gamma", validation.finite("gamma", gamma), "d e", d=d, e=d + 1)
        validation.in_range("rho", rho, 0.0, LARGEST)
        quadratic = ((gamma @ self.second) * gamma).sum() - 2 * (gamma * self.cross).sum()
        return rho + (self.power + float(quadratic)) / d


def moments(
    tasks: Float[Tensor, "k d"],
    context: Context,
    weights: Float[Tensor, " k"] | None = None,
) -> Moments:
    r"""Exact moments over prompts whose task is ``tasks[j]`` with probability ``weights[j]``.

    With :math:`r = \|w\|^2/d + \rho` (a label's variance given w), averaged over the tasks:

    .. math::
        S = \begin{pmatrix}
        \tfrac d\ell rI + (1+\tfrac1\ell)ww^\top & (1+\tfrac2\ell)\,rw\\
        \cdot & (1+\tfrac2\ell)\,r^2
        \end{pmatrix}, \qquad A = \begin{pmatrix} ww^\top & rw \end{pmatrix}

    ``weights`` (uniform if not given) need not sum to one. Raises ``ValueError`` where ``tasks`` is
    not (k, d) with the context's d or holds NaN or infinity, or ``weights`` is not (k), has a
    negative or infinite entry, or is zero throughout.
    """
    d, ell = context.d, context.ell
    k = validation.shape("tasks", tasks, "k d", d=d)["k"]
    tasks = validation.within("tasks", tasks, -LARGEST, LARGEST).double()
    if weights is None:
        p = torch.full((k,), 1 / k, dtype=torch.float64)
    else:
        validation.shape("weights", weights, "k", k=k)
        validation.within("weights", weights, 0.0, math.inf)
        if not float(weights.sum()) > 0:
            raise ValueError("weights must have a positive sum; all of them are 0")
        p = weights.double() / weights.sum()
    r = tasks.square().sum(1) / d + context.rho
    spread = (tasks.T * p) @ tasks
    mean = tasks.T @ (p * r)
    eye = torch.eye(d, dtype=torch.float64)
    second = torch.zeros(d + 1, d + 1, dtype=torch.float64)
    second[:d, :d] = (1 + 1 / ell) * spread + d / ell * float(p @ r) * eye
    second[:d, d] = (1 + 2 / ell) * mean
    second[d, :d] = second[:d, d]
    second[d, d] = (1 + 2 / ell) * float(p @ r**2)
    return Moments(second, torch.cat([spread, mean[:, None]], 1), float(spread.trace()))


def fresh_moments(context: Context, *, normalised: bool = False) -> Moments:
    r"""Exact moments for a fresh task in every prompt.

    The tasks are :math:`w \sim N(0, I_d)`, or of norm :math:`\sqrt d` exactly if ``normalised``.

    >>> fresh = fresh_moments(Context(d=2, ell=4, rho=0.5))
    >>> fresh.error(torch.zeros(2, 3, dtype=torch.float64), 0.5)  # the answer 0 errs by 1 + ρ
    1.5
    """
    d, ell, rho = context.d, context.ell, context.rho
    validation.flag("normalised", normalised)
    excess = 0.0 if normalised else 2 / d  # Var ‖w‖²/d, and the extra of E r w wᵀ
    eye = torch.eye(d, dtype=torch.float64)
    second = torch.zeros(d + 1, d + 1, dtype=torch.float64)
    second[:d, :d] = (1 + 1 / ell + d / ell * (1 + rho)) * eye
    second[d, d] = (1 + 2 / ell) * ((1 + rho) ** 2 + excess)
    cross = torch.cat([eye, torch.zeros(d, 1, dtype=torch.float64)], 1)
    return Moments(second, cross, float(d))


def orthonormal_error(
    gamma: Float[Tensor, "K K+1"], context: Context, n: int, generator: torch.Generator
) -> Float[Tensor, ""]:
    r"""Average the error of :math:`x^\top\Gamma v` over n fresh prompts of orthonormal tokens.

    They are those of :func:`iclutils.regression.samplers.sample_orthonormal`, K the context's d.
    Query and task are averaged exactly: with :math:`n_k` labels of feature k in the prompt and
    their sum :math:`Y_k`, the task's posterior is :math:`w_k \sim N(Y_k, \rho)/(n_k+\rho)`, and

    .. math:: \frac1K\sum_k\Big(e_k^\top\Gamma v - \frac{Y_k}{n_k+\rho}\Big)^2
              + \frac{\rho}{n_k+\rho}

    is the error on a label without noise (chapter 7). Raises ``ValueError`` where ``gamma`` is not
    of shape (K, K+1) or not finite, or ``n`` is below 1.
    """
    K, N, rho = context.d, context.ell, context.rho
    validation.shape("gamma", validation.finite("gamma", gamma), "d e", d=K, e=K + 1)
    validation.whole("n", n)
    index = torch.randint(K, (n, N), generator=generator)
    w = normal(n, K, generator=generator)
    y = w.gather(1, index) + math.sqrt(rho) * normal(n, N, generator=generator)
    zero = torch.zeros(n, K, dtype=torch.float64)
    counts = zero.scatter_add(1, index, torch.ones_like(y))
    sums = zero.scatter_add(1, index, y)
    v = torch.cat([K / N * sums, y.square().mean(1, keepdim=True)], 1)  # (n, K + 1)
    off = v @ gamma.T - sums / (counts + rho)  # from the posterior mean
    return (off.square() + rho / (counts + rho)).mean()


def without_corner(exact: Moments) -> Moments:
    r"""Compute the moments with the last entry of v, :math:`\frac1\ell\sum_i y_i^2`, held at zero.

    That leaves d² features of d(d+1).
    """
    d = exact.cross.shape[0]
    second = exact.second.clone()
    cross = exact.cross.clone()
    second[d] = 0
    second[:, d] = 0
    cross[:, d] = 0
    return Moments(second, cross, exact.power)
