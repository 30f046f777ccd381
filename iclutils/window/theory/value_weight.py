r"""The softmax unit's population loss when its value weight c is free too, M = w·I on the sphere.

With :math:`t_i=x_i^\top x`, weights :math:`\gamma_i\propto e^{wt_i}` and a task class of covariance
:math:`k(t)=\sum_kc_kP_k(t)`, tasks, noise *and* the directions of the tokens around the query are
integrated exactly:

.. math::

   B = \sum_i\gamma_ik(t_i),\qquad
   A = \sum_kc_k\Big(\sum_i\gamma_iP_k(t_i)\Big)^2
     + \sum_i\gamma_i^2\Big(k(1)-\sum_kc_kP_k(t_i)^2\Big),\qquad
   N = \sum_i\gamma_i^2,

.. math:: \mathcal L(w,c) = F - 2c\,E B + c^2(E A + \sigma^2E N)

(the addition theorem gives the average of :math:`k(x_i^\top x_j)` at fixed :math:`t_i, t_j`,
:math:`i\ne j`). Only the n numbers :math:`t_i` are sampled. Collins et al. fix c = 1, where this is
the loss of :mod:`iclutils.window.theory.population_loss`, kept there by degree; the best is
:math:`c^*=EB/(EA+\sigma^2EN)`. Chapter 3 uses this.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from scipy import optimize
from torch import Tensor

from iclutils import sphere, validation
from iclutils.randomness import normal
from iclutils.stats import Estimate, estimate, jackknife
from iclutils.window.covariates import LARGEST
from iclutils.window.theory import best_window
from iclutils.window.theory.best_window import Window
from iclutils.window.theory.linear_attention import LinearUnit
from iclutils.window.theory.population_loss import Isotropic, pooled

GROUPS = 16  # jackknife groups of contexts, for the standard error of w*


@dataclass(frozen=True)
class Windows:
    """The moments A, B and N of one task class in each context at each window; ``power`` is F."""

    w: Float[Tensor, " windows"]
    B: Float[Tensor, "contexts windows"]
    A: Float[Tensor, "contexts windows"]
    N: Float[Tensor, "contexts windows"]
    power: float

    def scaled(self, L: float) -> "Windows":
        """Return the same class with labels times L (for affine and ReLU: Lipschitz constant L).

        Raises ``ValueError`` for an L that is not positive or above 1e100.
        """
        validation.in_range("L", L, 0.0, LARGEST, open_low=True)
        return replace(self, B=L**2 * self.B, A=L**2 * self.A, power=L**2 * self.power)

    def loss(
        self,
        sigma: float,
        c: float | Float[Tensor, " windows"] = 1.0,
    ) -> Float[Tensor, "contexts windows"]:
        """Compute the loss in each context at each window, for one value weight or one a window.

        Raises ``ValueError`` for a negative ``sigma``.
        """
        noise = validation.noise("sigma", sigma) ** 2
        return self.power - 2 * c * self.B + c**2 * (self.A + noise * self.N)

    def value_weight(self, sigma: float) -> Float[Tensor, " windows"]:
        """Compute the best value weight c* at each window.

        Raises ``ValueError`` for a negative ``sigma``.
        """
        noise = validation.noise("sigma", sigma) ** 2
        return self.B.mean(0) / (self.A + noise * self.N).mean(0)

    def best(self, sigma: float, *, free: bool = False) -> Window:
        """Minimise over the window, and over the value weight too where it is ``free``.

        Between grid points by a parabola in log w, so the grid must be even in log w. Raises
        ``ValueError`` for a negative ``sigma``.

        >>> from iclutils.randomness import stream
        >>> from iclutils.window.function_classes import Affine
        >>> grid = best_window.log_grid(0.1, 1000, 30)
        >>> draws = stream(0, "example")
        >>> (moments,) = windows([Affine(3)], 20, grid, contexts=64, generator=draws)
        >>> fixed, free = moments.best(0.5), moments.best(0.5, free=True)
        >>> free.loss < fixed.loss, 0.5 < free.value_weight < 1
        (True, True)
        """
        validation.noise("sigma", sigma)
        c = self.value_weight(sigma) if validation.flag("free", free) else torch.ones_like(self.w)
        loss = self.loss(sigma, c)
        contexts = len(loss)
        best = best_window.parabola_minimum(self.w, loss.mean(0))
        loss_se = float(loss[:, best.grid_index].std() / contexts**0.5)
        size = contexts // GROUPS
        groups = loss[: size * GROUPS].view(GROUPS, size, -1).mean(1)
        without = [
            best_window.parabola_minimum(self.w, one).w for one in best_window.leave_one_out(groups)
        ]
        replicas = torch.tensor(without, dtype=torch.float64)
        return Window(best.w, best.loss, loss_se, replicas, float(c[best.grid_index]))

    def log_minimum(self, sigma: float, *, free: bool = False) -> Estimate:
        """Compute the log of the least loss, with the error over contexts."""
        best = self.best(sigma, free=free)
        return Estimate(math.log(best.loss), best.log_loss_se, len(self.B) - 1)

    def cost(self, sigma: float, c: float = 1.0) -> Estimate:
        """Compute the least loss at the value weight ``c`` over that at the best one of each w.

        In the same contexts, by the jackknife over ``GROUPS`` groups of them; those that fill
        no group are left out. Raises ``ValueError`` for a negative ``sigma``.
        """
        pair = torch.stack([self.loss(sigma, c), self.loss(sigma, self.value_weight(sigma))])
        size = pair.shape[1] // GROUPS
        groups = pair[:, : GROUPS * size].view(2, GROUPS, size, -1).mean(2)
        return jackknife(
            lambda part: float(part[0].mean(-1).min() / part[1].mean(-1).min()), groups.mT
        )

    def loss_near(self, w: float, sigma: float) -> Estimate:
        """Estimate the loss, over contexts, at the window of the grid that is nearest to w."""
        return estimate(self.loss(sigma)[:, int((self.w - w).abs().argmin())])


def noticeable_slope(loss: float, square: float) -> float:
    r"""Compute the slope in one more weight v at which v would gain a thousandth of the loss.

    Where the answer changes by :math:`v\bar x_j` the best v gains :math:`s^2/E\bar x_j^2` with
    :math:`s=E[(\hat y-f)\bar x_j]`, which is a thousandth of the loss for the
    :math:`s=(10^{-3}\,\mathcal L\,E\bar x_j^2)^{1/2}` that is returned. Raises ``ValueError`` for
    a negative ``loss`` or ``square``.
    """
    validation.nonnegative("loss", loss)
    validation.nonnegative("square", square)
    return math.sqrt(1e-3 * loss * square)


def windows(
    functions: Sequence[Isotropic],
    n: int,
    w: Float[Tensor, " windows"],
    *,
    contexts: int,
    generator: torch.Generator,
    degree: int = 60,
) -> list[Windows]:
    r"""Sample the moments of several task classes of one d on common contexts, at windows ``w``.

    ``degree`` bounds the sum over k. The degrees beyond enter A only through pairs :math:`i\ne j`;
    their weight is at most :math:`\sum_{k>\text{degree}}c_k`. Raises ``ValueError`` for no classes
    or classes of different d, n below 1, fewer than 32 ``contexts``, a negative ``degree``, or no
    windows or one that is negative or not finite.
    """
    if not functions:
        raise ValueError("functions must hold at least one class of tasks; got none")
    _check_windows(w)
    dimensions = sorted({function.d for function in functions})
    if len(dimensions) != 1:
        raise ValueError(f"functions must share one d; got {dimensions}")
    validation.whole("n", n)
    validation.whole("contexts", contexts, low=2 * GROUPS)
    validation.whole("degree", degree, low=0)
    d = dimensions[0]
    expansion = _expand(functions, degree)
    step = max(1, best_window.CHUNK // (n * max(len(w), degree)))
    chunks = []
    for start in range(0, contexts, step):
        size = min(step, contexts - start)
        z = normal(size, n, d, generator=generator)
        t = z[..., 0] / z.norm(dim=-1)
        chunks.append(_moments(t, d, w, functions, expansion))
    return [_joined(parts) for parts in zip(*chunks, strict=True)]


def hills_windows(
    nu: float,
    n: int,
    w: Float[Tensor, " windows"],
    *,
    contexts: int,
    generator: torch.Generator,
) -> Windows:
    r"""Sample the moments for tasks :math:`\cos(\nu\theta-b)` on the circle cut at ±π, any ν ≥ 0.

    The query is drawn too, because the cut is a place on the circle. Raises ``ValueError`` for a
    negative ``nu``, n below 1, fewer than 32 ``contexts`` or no windows.
    """
    validation.nonnegative("nu", nu)
    validation.whole("n", n)
    validation.whole("contexts", contexts, low=2 * GROUPS)
    _check_windows(w)
    uniform = torch.rand(contexts, n + 1, generator=generator, dtype=torch.float64)
    theta = math.pi * (2 * uniform - 1)
    products = (theta[:, None, :n] - theta[:, None, n:]).cos()
    gamma = torch.softmax(w[:, None] * products, -1)  # (contexts, windows, n)
    wave = torch.stack([(nu * theta).cos(), (nu * theta).sin()], -1)  # (contexts, n + 1, 2)
    pooled = gamma @ wave[:, :n]
    B = 0.5 * (pooled @ wave[:, n:].mT).squeeze(-1)
    A = 0.5 * pooled.square().sum(-1)
    return Windows(w, B, A, gamma.square().sum(-1), 0.5)


def advantage(
    unit: LinearUnit,
    moments: Windows,
    n: int,
    sigma: float,
    *,
    free: bool = False,
    constant: bool = False,
) -> Estimate:
    """Log of linear attention's minimum over the softmax unit's; positive where softmax wins.

    ``unit`` and ``moments`` are of the same task class and context length ``n``; the value weight
    of the softmax unit is 1 unless ``free``, and ``constant`` gives linear attention a constant
    coordinate. The degrees of freedom are those of the contexts. Raises ``ValueError`` for a
    negative ``sigma``.
    """
    best = moments.best(sigma, free=free)
    minimum = unit.minimum_with_constant if constant else unit.minimum
    # tasks f = 0 leave linear attention no error at all
    least = max(float(minimum(n, sigma)), 1e-9 * best.loss)
    return Estimate(math.log(least / best.loss), best.log_loss_se, len(moments.B) - 1)


def boundary(unit: LinearUnit, moments: Windows, n: int, *, free: bool = False) -> Estimate:
    r"""Return the noise :math:`u=\sigma^2/n` at which both minima are equal.

    At L = 1 this is :math:`u=\sigma^2/(nL^2)`. Searched in log u over [10⁻⁶, 10⁴]; ``inf`` where
    softmax wins at the largest u, 0 where it loses at the smallest. The standard error is that of
    the log ratio over its slope in log u. Raises ``RuntimeError`` where the search for the root
    does not converge.
    """

    def gap(log_u: float) -> Estimate:
        return advantage(unit, moments, n, math.exp(log_u / 2) * n**0.5, free=free)

    low = math.log(1e-6)
    high = math.log(1e4)
    dof = len(moments.B) - 1
    if gap(high).value > 0:
        return Estimate(math.inf, 0.0, dof)
    if gap(low).value < 0:
        return Estimate(0.0, 0.0, dof)
    root = float(optimize.brentq(lambda log_u: gap(log_u).value, low, high, xtol=1e-4))
    slope = (gap(root + 0.1).value - gap(root - 0.1).value) / 0.2
    u = math.exp(root)
    return Estimate(u, u * gap(root).se / abs(slope), dof)


def _check_windows(w: Float[Tensor, " windows"]) -> None:
    validation.whole("the number of windows w", validation.shape("w", w, "W")["W"])
    validation.within("w", w, 0.0, math.inf)


class _Expansion(NamedTuple):
    """The degrees that occur in several classes and each class's coefficients there."""

    degrees: Int[Tensor, " degrees"]
    coefficients: Float[Tensor, "functions degrees"]


def _expand(functions: Sequence[Isotropic], degree: int) -> _Expansion:
    degrees = torch.arange(degree + 1)
    coefficients = torch.stack([function.spectrum(degrees) for function in functions])
    used = coefficients.abs().amax(0) > 0
    return _Expansion(degrees[used], coefficients[:, used])


def _moments(
    t: Float[Tensor, "contexts n"],
    d: int,
    w: Float[Tensor, " windows"],
    functions: Sequence[Isotropic],
    expansion: _Expansion,
) -> list[Windows]:
    """Compute the moments of each class for given products t of tokens and query."""
    one = torch.ones((), dtype=torch.float64)
    power = torch.stack([function.covariance(one) for function in functions])
    degrees, c = expansion

    def values(t: Tensor) -> tuple[Tensor, Tensor]:
        P = sphere.gegenbauer(t, d, degrees)  # (contexts, tokens, degrees)
        covariances = torch.stack([function.covariance(t) for function in functions], -1)
        rest = torch.nn.functional.pad(power - P.square() @ c.T, (0, 1), value=1.0)
        return torch.cat([covariances, P], -1), rest

    weighted, squared = pooled(t, w, values)
    B, of_degrees = torch.split(weighted, [len(functions), len(degrees)], -1)
    N = squared[..., -1]
    A = of_degrees.square() @ c.T + squared[..., :-1]
    return [Windows(w, B[..., f], A[..., f], N, float(power[f])) for f in range(len(functions))]


def _joined(parts: Sequence[Windows]) -> Windows:
    """One class's moments on all chunks of contexts."""
    B = torch.cat([part.B for part in parts])
    A = torch.cat([part.A for part in parts])
    N = torch.cat([part.N for part in parts])
    return Windows(parts[0].w, B, A, N, parts[0].power)
