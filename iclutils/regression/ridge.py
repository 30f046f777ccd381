r"""The ridge problem of pretraining, solved without its matrix.

Pretraining the reduced model (Lu et al., arXiv 2405.11751) is

.. math::
    \Gamma = \arg\min \sum_\mu (y_\mu - x_\mu^\top\Gamma v_\mu)^2 + \tfrac nd\lambda\|\Gamma\|^2 .

The design matrix has n rows of d(d+1) entries; it is never formed. Chapter 5 uses the solver.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import randomness, validation
from iclutils.regression.samplers import Prompts
from iclutils.regression.theory.asymptotics import LARGEST

MOST_DIRECTIONS = 64  # the most that one ridge hands to another


class Span:
    """Directions that were searched with one ridge, and their images without it.

    For another ridge the images are known, too: the best vector of the span is a start for it.
    """

    def __init__(self) -> None:
        self.directions: list[Tensor] = []
        self.images: list[Tensor] = []

    def add(self, direction: Tensor, image: Tensor) -> None:
        """Keep a direction and its image, while there are few."""
        if len(self.directions) < MOST_DIRECTIONS:
            size = direction.norm()
            self.directions.append((direction / size).double().flatten())
            self.images.append((image / size).double().flatten())

    def best(self, b: Tensor, ridge: float) -> Tensor:
        """Solve the system within the span (Galerkin); 0 for an empty one."""
        if not self.directions:
            return torch.zeros_like(b)
        directions, images = torch.stack(self.directions), torch.stack(self.images)
        square = directions @ (images + ridge * directions).T
        share = torch.linalg.lstsq(square, (directions @ b.flatten())[:, None]).solution
        combination: Tensor = share.T @ directions
        return combination.view_as(b)


Apply = Callable[[Tensor], Tensor]
DIRECT = 800  # the most prompts whose matrix of products is factorised: from there on it is slower
SINGLE = 1e-6  # the least relative residual to ask of a round in single precision


@dataclass(frozen=True)
class Solution:
    """The minimiser Γ, the iterations spent and the relative residual of the linear system."""

    gamma: Float[Tensor, "d d+1"]
    iterations: int
    residual: float


class _Design:
    """The design matrix and its transpose applied, in one precision.

    The prompts lie along the last axis and Γ is transposed: long rows are faster, and one array
    serves all products.
    """

    def __init__(self, x: Float[Tensor, "d n"], v: Float[Tensor, "e n"]) -> None:
        self.x = x.contiguous()
        self.v = v.contiguous()
        self.scratch = torch.empty_like(self.v)

    def forward(self, gamma: Float[Tensor, "e d"]) -> Float[Tensor, " n"]:
        """Compute the prompts' answers by a Γᵀ."""
        answers: Tensor = torch.mm(gamma, self.x, out=self.scratch).mul_(self.v).sum(0)
        return answers

    def adjoint(self, a: Float[Tensor, " n"]) -> Float[Tensor, "e d"]:
        """Weights of the prompts to a Γᵀ."""
        return torch.mul(self.v, a, out=self.scratch) @ self.x.T


class _System(NamedTuple):
    """A linear system in one precision: its matrix without the ridge, and the ridge.

    ``precondition`` applies an approximate inverse of the whole.
    """

    gram: Apply
    ridge: float
    precondition: Apply

    @classmethod
    def of(cls, design: _Design, ridge: float, inverse: Tensor | None) -> "_System":
        """Make the primal system, preconditioned by ``inverse``, or the dual one for ``None``."""
        if inverse is None:
            return cls(lambda a: design.forward(design.adjoint(a)), ridge, lambda a: a)
        half = inverse.to(design.x.dtype)
        return cls(lambda g: design.adjoint(design.forward(g)), ridge, lambda g: half @ g)


def _dot(a: Tensor, b: Tensor) -> float:
    return float((a * b).sum(dtype=torch.float64))


def _conjugate_gradients(
    system: _System, b: Tensor, tol: float, budget: int, span: Span | None
) -> tuple[Tensor, int]:
    """Iterate until the residual is ``tol`` of ``b`` or the budget is spent; x and the iterations.

    The residual is the recursive one; :func:`solve` computes the true
    one and judges. The directions go into the ``span``, if there is one.
    """
    x = torch.zeros_like(b)
    r = b.clone()
    s = system.precondition(r)
    p = s.clone()  # without a preconditioner s is r itself, which changes in place
    rs = _dot(r, s)
    goal = tol * float(b.norm())
    for step in range(1, budget + 1):
        q = system.gram(p)
        if span is not None:
            span.add(p, q)
        q.add_(p, alpha=system.ridge)
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


def _preconditioner(
    covariance: Float[Tensor, "e e"], n: int, lam: float
) -> Float[Tensor, "e e"] | None:
    r"""Invert :math:`\frac1n\sum vv^\top + \lambda`; ``None`` where the dual is better.

    ``covariance``: that mean of :math:`vv^\top`.

    For n < d(d+1) the dual's smallest eigenvalue is (in units of n/d) the edge of its spectrum,
    about the least eigenvalue of :math:`\frac1n\sum vv^\top` times
    :math:`(\sqrt{d(d+1)/n}-1)^2`, plus λ. The primal's is λ, but it can be preconditioned; it is
    chosen where the edge is below a hundredth of λ. (Nearer, a small residual of the primal would
    leave a larger error in Γ than one of the dual.)

    Where that matrix is within a factor of two of a multiple of I, it is I: it would spare next to
    no iteration, and without it all ridges search one space.
    """
    d = len(covariance) - 1
    parameters = d * (d + 1)
    lowest, *_, highest = torch.linalg.eigvalsh(covariance).clamp(min=0).tolist()
    if n < parameters:
        edge = lowest * ((parameters / n) ** 0.5 - 1) ** 2
        if edge >= 0.01 * lam:
            return None
    eye = torch.eye(d + 1, dtype=torch.float64)
    shift = max(lam, 1e-12)
    if highest + shift <= 2 * (lowest + shift):
        return eye
    return torch.cholesky_inverse(torch.linalg.cholesky(covariance + shift * eye))


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
    and updates in double (iterative refinement). Up to ``DIRECT`` prompts, and twice as many as
    there are parameters, the dual is solved without an iteration, by Cholesky's factors of K.

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
    return solve_each(prompts, [lam], tol=tol, max_iterations=max_iterations)[0]


def solve_each(
    prompts: Prompts, ridges: Sequence[float], *, tol: float = 1e-7, max_iterations: int = 20000
) -> list[Solution]:
    r"""Find the minimisers at several ridges, as :func:`solve` finds one.

    The systems differ by a multiple of the identity alone, so that the directions that were
    searched with one ridge serve the next: its start is the best vector of their span. With the
    weakest ridge first hardly an iteration is left for a stronger one; more are where the primal
    is preconditioned, which depends on the ridge. Raises what ``solve`` raises.
    """
    validation.positive("tol", tol)
    n, d = _checked(prompts, ridges)
    for lam in ridges:
        if lam == 0 and n == d * (d + 1):
            raise ValueError(f"lam must be positive where n = d(d+1) = {n}; got 0")
    double = _Design(prompts.x.T.double(), prompts.v.T.double())
    labels = prompts.y.double()
    direct = None
    if n <= min(DIRECT, 2 * d * (d + 1)):
        direct = _factorised(double, labels, [n * lam / d for lam in ridges], tol)
    return direct or _iterated(prompts, double, ridges, tol, max_iterations)


def _factorised(
    design: _Design, labels: Float[Tensor, " n"], ridges: Sequence[float], tol: float
) -> list[Solution] | None:
    """Find the minimisers from the dual's matrices, factorised; ``None`` if one is imprecise."""
    n, parameters = len(labels), design.x.shape[0] * design.v.shape[0]
    if n >= parameters and 0 in ridges:  # singular, whatever rounding says
        return None
    kernel = (design.x.T @ design.x).mul_(design.v.T @ design.v)
    solutions = []
    for ridge in ridges:
        matrix = kernel.clone()
        matrix.diagonal().add_(ridge)
        root, failed = torch.linalg.cholesky_ex(matrix)
        if int(failed):
            return None
        a = torch.cholesky_solve(labels[:, None], root)[:, 0]
        gamma = design.adjoint(a)
        rest, whole = labels - design.forward(gamma) - ridge * a, labels
        if n >= parameters:  # more equations than unknowns: what counts is the system of Γ
            rest, whole = design.adjoint(rest), design.adjoint(labels)
        left = float(rest.norm() / whole.norm())
        if not left <= tol:
            return None
        solutions.append(Solution(gamma.T.contiguous(), 0, left))
    return solutions


def _iterated(
    prompts: Prompts, double: _Design, ridges: Sequence[float], tol: float, max_iterations: int
) -> list[Solution]:
    """Find the minimisers by conjugate gradients."""
    n, d = prompts.x.shape
    single = _Design(double.x.float(), double.v.float())
    covariance = double.v @ double.v.T / n
    labels = prompts.y.double()
    spans = {True: Span(), False: Span()}
    solutions = []
    for lam in ridges:
        inverse = _preconditioner(covariance, n, lam)
        dual = inverse is None
        b = labels if dual else double.adjoint(labels)
        if float(b.norm()) == 0:  # labels of which nothing is seen: Γ = 0
            solutions.append(Solution(torch.zeros(d, d + 1, dtype=torch.float64), 0, 0.0))
            continue
        exact, rough = (_System.of(design, n * lam / d, inverse) for design in (double, single))
        span = spans[dual] if len(ridges) > 1 else None
        solution, spent, left = _refine(exact, rough, b, tol, max_iterations, span)
        if not left <= tol:
            raise RuntimeError(
                f"solve: residual {left:.1e} after {spent} iterations, wanted {tol:.1e}; "
                "raise max_iterations or lam"
            )
        gamma = double.adjoint(solution) if dual else solution
        solutions.append(Solution(gamma.T.contiguous(), spent, left))
    return solutions


def _refine(
    double: _System, single: _System, b: Tensor, tol: float, budget: int, span: Span | None
) -> tuple[Tensor, int, float]:
    """Refine iteratively: the solution, the iterations spent and the true relative residual.

    Starts from the best vector of the ``span``, if there is one. Where a round in single precision
    gains less than a factor of ten, double takes over.
    """
    solution = randomness.start(torch.zeros_like(b))
    r = b
    spent = 0
    norm = float(b.norm())
    left = 1.0
    if span is not None and span.directions:
        solution = span.best(b, double.ridge)
        r = b - double.gram(solution) - double.ridge * solution
        left = float(r.norm()) / norm
    system, dtype, floor = single, torch.float32, SINGLE
    while left > tol and spent < budget:
        goal = max(0.3 * tol / left, floor)
        step, used = _conjugate_gradients(system, r.to(dtype), goal, budget - spent, span)
        solution = solution + step.double()
        spent += used
        r = b - double.gram(solution) - double.ridge * solution
        before = left
        left = float(r.norm()) / norm
        if left > 0.1 * before:
            system, dtype, floor = double, torch.float64, 0.0
    return solution, spent, left


def solve_ridgeless(prompts: Prompts) -> Float[Tensor, "d d+1"]:
    """Find the minimiser without a ridge: of all Γ that fit best the smallest, as by ``pinv``.

    By orthogonal factors of the design matrix, which is formed: for small d. Raises ``ValueError``
    for prompts that are none or not finite.
    """
    n, d = _checked(prompts, [])
    design = (prompts.x[:, :, None] * prompts.v[:, None, :]).reshape(n, -1).double()
    gamma: Tensor = torch.linalg.lstsq(design, prompts.y.double()[:, None]).solution
    return gamma.view(d, d + 1)


def solve_dense(prompts: Prompts, lam: float) -> Float[Tensor, "d d+1"]:
    """Find the same minimiser in the plain way, from the d(d+1)-square normal equations.

    Raises ``ValueError`` for a ``lam`` below 0, for ``lam`` = 0 where there are fewer prompts than
    parameters, and for prompts that are none or not finite.
    """
    n, d = _checked(prompts, [lam])
    if lam == 0 and n < d * (d + 1):
        raise ValueError(f"lam must be positive where n < d(d+1) = {d * (d + 1)}; got 0, n = {n}")
    design = (prompts.x[:, :, None] * prompts.v[:, None, :]).reshape(n, -1)
    eye = torch.eye(design.shape[1], dtype=torch.float64)
    factor = torch.linalg.cholesky(design.T @ design + n * lam / d * eye)
    return torch.cholesky_solve((design.T @ prompts.y)[:, None], factor).reshape(d, d + 1)


def _checked(prompts: Prompts, ridges: Sequence[float]) -> tuple[int, int]:
    """Count prompts and dimensions; refuse those, and ridges, that cannot be worked with."""
    for lam in ridges:
        validation.in_range("lam", lam, 0.0, LARGEST)
    for name in ("x", "v", "y"):
        validation.finite(f"prompts.{name}", getattr(prompts, name))
    n, d = prompts.x.shape
    return validation.whole("the number of prompts", n), d
