r"""The ridge problem of pretraining, solved without its matrix.

Pretraining the reduced model (Lu et al., arXiv 2405.11751) is

.. math::
    \Gamma = \arg\min \sum_\mu (y_\mu - x_\mu^\top\Gamma v_\mu)^2 + \tfrac nd\lambda\|\Gamma\|^2 .

The design matrix has n rows of d(d+1) entries; it is never formed. Chapter 5 uses the solver.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.regression.phase import LARGEST
from iclutils.regression.prompts import Prompts

Apply = Callable[[Tensor], Tensor]
SINGLE = 1e-6  # the least relative residual to ask of a round in single precision


@dataclass(frozen=True)
class Solution:
    """The minimiser Γ, the iterations spent and the relative residual of the linear system."""

    gamma: Float[Tensor, "d d+1"]
    iterations: int
    residual: float


class Operators(NamedTuple):
    """A linear system in one precision.

    ``normal`` applies its matrix, ``adjoint`` the transposed design matrix, which takes weights of
    the prompts to a Γ, and ``precondition`` an approximate inverse of ``normal``.
    """

    normal: Apply
    adjoint: Apply
    precondition: Apply


def _operators(
    prompts: Prompts, ridge: float, inverse: Tensor | None, dtype: torch.dtype
) -> Operators:
    """The primal system, preconditioned by ``inverse``; the dual one where that is ``None``."""
    x = prompts.x.to(dtype)
    v = prompts.v.to(dtype)

    def forward(gamma: Tensor) -> Tensor:
        answers: Tensor = torch.linalg.vecdot(x @ gamma, v)
        return answers

    def adjoint(a: Tensor) -> Tensor:
        return x.T @ (a[:, None] * v)

    if inverse is None:
        return Operators(lambda a: forward(adjoint(a)) + ridge * a, adjoint, lambda a: a)
    half = inverse.to(dtype)
    return Operators(lambda g: adjoint(forward(g)) + ridge * g, adjoint, lambda g: g @ half)


def _dot(a: Tensor, b: Tensor) -> float:
    return float((a * b).sum(dtype=torch.float64))


def _conjugate_gradients(
    system: Operators, b: Tensor, tol: float, budget: int
) -> tuple[Tensor, int]:
    """Iterate until the residual is ``tol`` of ``b`` or the budget is spent; x and the iterations.

    The residual is the recursive one; :func:`iclutils.regression.solver.solve` computes the true
    one and judges.
    """
    x = torch.zeros_like(b)
    r = b.clone()
    s = system.precondition(r)
    p = s.clone()  # without a preconditioner s is r itself, which changes in place
    rs = _dot(r, s)
    goal = tol * float(b.norm())
    for step in range(1, budget + 1):
        q = system.normal(p)
        length = rs / _dot(p, q)
        x.add_(p, alpha=length)
        r.sub_(q, alpha=length)
        if float(r.norm()) <= goal:
            return x, step
        s = system.precondition(r)
        old = rs
        rs = _dot(r, s)
        p = s + (rs / old) * p
    return x, budget


def _preconditioner(prompts: Prompts, lam: float) -> Float[Tensor, "e e"] | None:
    r"""The inverse of :math:`\frac1n\sum vv^\top + \lambda`, or ``None`` where the dual is better.

    For n < d(d+1) the dual's smallest eigenvalue is (in units of n/d) the edge of its spectrum,
    about the least eigenvalue of :math:`\frac1n\sum vv^\top` times
    :math:`(\sqrt{d(d+1)/n}-1)^2`, plus λ. The primal's is λ, but it can be preconditioned; it is
    chosen where the edge is below a hundredth of λ. (Nearer, a small residual of the primal would
    leave a larger error in Γ than one of the dual.)
    """
    n, d = prompts.x.shape
    parameters = d * (d + 1)
    v = prompts.v.double()
    covariance = v.T @ v / n
    if n < parameters:
        least = max(float(torch.linalg.eigvalsh(covariance)[0]), 0.0)
        edge = least * ((parameters / n) ** 0.5 - 1) ** 2
        if edge >= 0.01 * lam:
            return None
    shifted = covariance + max(lam, 1e-12) * torch.eye(d + 1, dtype=torch.float64)
    return torch.cholesky_inverse(torch.linalg.cholesky(shifted))


def solve(
    prompts: Prompts, lam: float, *, tol: float = 1e-7, max_iterations: int = 20000
) -> Solution:
    r"""Minimise :math:`\sum(y_\mu - x_\mu^\top\Gamma v_\mu)^2 + \frac nd\lambda\|\Gamma\|^2`.

    By conjugate gradients; no matrix larger than n × (d+1) is formed. In the dual,
    :math:`\Gamma = \sum_\mu a_\mu x_\mu v_\mu^\top` and :math:`(K + \frac nd\lambda)a = y` with
    :math:`K = XX^\top\circ VV^\top`; in the primal, preconditioned by
    :math:`(\frac1n\sum vv^\top + \lambda)^{-1}`. The dual serves where there are fewer prompts than
    parameters and the ridge is weak, the primal elsewhere. A product with the design matrix is
    two matrix products, :math:`x^\top\Gamma v`. Inner iterations run in single precision, residuals
    and updates in double (iterative refinement).

    ``lam``: the ridge, ≥ 0, and > 0 where n = d(d+1). ``tol``: the relative residual of the linear
    system, > 0; the error of Γ is at most the condition number times it. Raises ``ValueError`` for
    a ``lam`` or ``tol`` out of range and for prompts that are none or not finite, ``RuntimeError``
    with the residual where ``max_iterations`` do not reach ``tol``.

    Your own prompts, here with labels that a known Γ makes:

    >>> draw = torch.Generator().manual_seed(0)
    >>> x = torch.randn(50, 2, dtype=torch.float64, generator=draw)
    >>> v = torch.randn(50, 3, dtype=torch.float64, generator=draw)
    >>> known = torch.tensor([[1.0, 0, 2], [0, 3, 0]], dtype=torch.float64)
    >>> y = ((x @ known) * v).sum(1)
    >>> solve(Prompts(x, v, y), 0.0).gamma.round(decimals=3).abs().tolist()
    [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]
    """
    n, d = _checked(prompts, lam)
    validation.positive("tol", tol)
    if lam == 0 and n == d * (d + 1):
        raise ValueError(f"lam must be positive where n = d(d+1) = {n}; got 0")
    inverse = _preconditioner(prompts, lam)
    dual = inverse is None
    double = _operators(prompts, n * lam / d, inverse, torch.float64)
    single = _operators(prompts, n * lam / d, inverse, torch.float32)
    b = prompts.y.double() if dual else double.adjoint(prompts.y.double())
    if float(b.norm()) == 0:  # labels of which nothing is seen: Γ = 0
        return Solution(torch.zeros(d, d + 1, dtype=torch.float64), 0, 0.0)
    found, spent, left = _refine(double, single, b, tol, max_iterations)
    if not left <= tol:
        raise RuntimeError(
            f"solve: residual {left:.1e} after {spent} iterations, wanted {tol:.1e}; "
            "raise max_iterations or lam"
        )
    return Solution(double.adjoint(found) if dual else found, spent, left)


def _refine(
    double: Operators, single: Operators, b: Tensor, tol: float, budget: int
) -> tuple[Tensor, int, float]:
    """Iterative refinement: the solution, the iterations spent and the true relative residual.

    Where a round in single precision gains less than a factor of ten, double takes over.
    """
    found = torch.zeros_like(b)
    r = b
    spent = 0
    norm = float(b.norm())
    left = 1.0
    system, dtype, floor = single, torch.float32, SINGLE
    while left > tol and spent < budget:
        goal = max(0.3 * tol / left, floor)
        step, used = _conjugate_gradients(system, r.to(dtype), goal, budget - spent)
        found = found + step.double()
        spent += used
        r = b - double.normal(found)
        before = left
        left = float(r.norm()) / norm
        if left > 0.1 * before:
            system, dtype, floor = double, torch.float64, 0.0
    return found, spent, left


def solve_dense(prompts: Prompts, lam: float) -> Float[Tensor, "d d+1"]:
    """The same minimiser from the normal equations with their d(d+1)-square matrix: the plain way.

    Raises ``ValueError`` for a ``lam`` below 0, for ``lam`` = 0 where there are fewer prompts than
    parameters, and for prompts that are none or not finite.
    """
    n, d = _checked(prompts, lam)
    if lam == 0 and n < d * (d + 1):
        raise ValueError(f"lam must be positive where n < d(d+1) = {d * (d + 1)}; got 0, n = {n}")
    design = (prompts.x[:, :, None] * prompts.v[:, None, :]).reshape(n, -1)
    eye = torch.eye(design.shape[1], dtype=torch.float64)
    factor = torch.linalg.cholesky(design.T @ design + n * lam / d * eye)
    return torch.cholesky_solve((design.T @ prompts.y)[:, None], factor).reshape(d, d + 1)


def _checked(prompts: Prompts, lam: float) -> tuple[int, int]:
    """The number of prompts and their dimension, where they and the ridge can be worked with."""
    validation.in_range("lam", lam, 0.0, LARGEST)
    for name in ("x", "v", "y"):
        validation.finite(f"prompts.{name}", getattr(prompts, name))
    n, d = prompts.x.shape
    return validation.whole("the number of prompts", n), d
