r"""What the softmax unit learns of a subspace: its minimiser in blocks, and the cost of other mass.

Theorem 4.4 of Collins et al. says that the minimiser is :math:`M^*=cBB^\top`. Here the minimum over
*all* symmetric M (:mod:`iclutils.window.theory.lowrank`) is read in the frame :math:`[B,B_\perp]`,
and mass on :math:`B_\perp` is held to see what it costs. Standard errors are averages over
thousands of contexts; their degrees of freedom are taken to be infinite. Chapter 4 uses it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.statistics import Estimate, mean_se
from iclutils.window.theory import lowrank
from iclutils.window.theory.contexts import Case, Contexts
from iclutils.window.theory.lowrank import Minimum

NO_ENTRY = Estimate(0.0, math.inf, math.inf)  # of a block that is held or has no entries


@dataclass(frozen=True)
class Blocks:
    r"""A symmetric minimiser read in the frame :math:`[B,B_\perp]`: its worst entries, over its c.

    ``c`` is the mean of the diagonal of :math:`B^\top MB`; ``anisotropy`` is the entry of
    :math:`B^\top MB/c-I`, ``off_block`` of :math:`B^\top MB_\perp/c` and ``spurious`` of
    :math:`B_\perp^\top MB_\perp/c` that is farthest from zero in standard errors.
    """

    c: Estimate
    anisotropy: Estimate
    off_block: Estimate
    spurious: Estimate


class FullMinimum(NamedTuple):
    """The minimiser over all symmetric matrices, and its blocks."""

    minimum: Minimum
    blocks: Blocks


def read_blocks(minimum: Minimum, d: int, k: int) -> Blocks:
    """Read a minimiser over all symmetric matrices, in a frame whose first k columns are B.

    θ is in the order of :func:`iclutils.window.theory.lowrank.symmetric_basis`. Standard errors are
    those of the sandwich (delta method). Raises ``ValueError`` where θ has not d(d+1)/2 entries.
    """
    validation.shape("minimum.theta", minimum.theta, "P", P=d * (d + 1) // 2)
    i, j = torch.triu_indices(d, d)
    diagonal = (i == j) & (i < k)
    mean = diagonal.double() / k
    c = _combination(minimum, mean)
    eye = torch.eye(len(i), dtype=torch.float64)
    inside = eye[(i != j) & (j < k)]
    if k > 1:
        inside = torch.cat([inside, eye[diagonal] - mean])
    return Blocks(
        c,
        anisotropy=_farthest(minimum, inside, c.value),
        off_block=_farthest(minimum, eye[(i < k) & (j >= k)], c.value),
        spurious=_farthest(minimum, eye[i >= k], c.value),
    )


def full_minimum(
    case: Case,
    sample: Contexts,
    *,
    start: float = 1.0,
    bound: float | None = None,
) -> FullMinimum:
    r"""Minimise over *all* symmetric M, from :math:`sBB^\top+0.2sB_\perp B_\perp^\top`.

    Where the spurious part of a token is the longer one, its first mass is smaller, so that it
    moves the logits as much as for parts of equal length.

    With ``bound`` the relevant block is held at :math:`B^\top MB=` ``bound``·I (a binding
    constraint) and the other blocks are free; there is then no anisotropy, and its standard error
    is infinite. Raises ``RuntimeError`` where the minimisation does not converge.

    >>> case = Case("linear", d=3, k=2, n=4, sigma=0.5)
    >>> found = full_minimum(case, case.contexts(4000, seed=0))
    >>> found.blocks.c.value > 10 * found.blocks.c.se
    True
    >>> abs(found.blocks.spurious.value) < 5 * found.blocks.spurious.se
    True
    """
    i, j = torch.triu_indices(case.d, case.d)
    # in units in which every entry moves the logits alike: Newton's method keeps its accuracy
    long = 1.0 if case.c_v is None else max(1.0, case.c_v / case.c_u)
    unit = long ** -((i >= case.k).double() + (j >= case.k).double())
    basis = unit.view(-1, 1, 1) * lowrank.symmetric_basis(torch.eye(case.d, dtype=torch.float64))
    begin = (torch.where(i < case.k, start, 0.2 * start) * (i == j)).double()
    if bound is None:
        found = _in_units(lowrank.minimise(sample, basis, begin), unit)
        return FullMinimum(found, read_blocks(found, case.d, case.k))
    free = j >= case.k
    held = bound * case.family[0]
    part = _in_units(lowrank.minimise(sample, basis[free], begin[free], fixed=held), unit[free])
    theta = (i == j).double() * bound
    theta[free] = part.theta
    covariance = torch.zeros(len(i), len(i), dtype=torch.float64)
    covariance[free.unsqueeze(0) & free.unsqueeze(1)] = part.covariance.flatten()
    found = Minimum(theta, covariance, part.loss, part.steps)
    blocks = replace(read_blocks(found, case.d, case.k), anisotropy=NO_ENTRY)
    return FullMinimum(found, blocks)


def entry(found: Minimum, left: Float[Tensor, " d"], right: Float[Tensor, " d"]) -> Estimate:
    r""":math:`l^\top Mr` of a minimiser over all symmetric M, for vectors l and r.

    Raises ``ValueError`` where l and r differ in length.
    """
    d = validation.shape("left", left, "d", d=len(right))["d"]
    basis = lowrank.symmetric_basis(torch.eye(d, dtype=torch.float64))
    return _combination(found, torch.einsum("d,pde,e->p", left, basis, right))


def relevant_minimum(
    case: Case,
    sample: Contexts,
    *,
    e: float = 0.0,
    start: float = 1.0,
) -> Minimum:
    r"""Minimise :math:`\mathcal L(cBB^\top+eB_\perp B_\perp^\top)` over c alone, from ``start``.

    Raises ``RuntimeError`` where the minimisation does not converge.
    """
    begin = torch.tensor([start], dtype=torch.float64)
    return lowrank.minimise(sample, case.family[:1], begin, fixed=e * case.family[1])


def spurious_cost(
    case: Case,
    sample: Contexts,
    masses: Sequence[float],
    *,
    start: float = 1.0,
) -> Float[Tensor, "masses 2"]:
    r"""What mass e on :math:`B_\perp` costs once c is optimised again, with its standard error.

    .. math:: \min_c\mathcal L(c,e)-\min_c\mathcal L(c,0)

    on common contexts; each e is averaged with −e, which has the same population loss (the sign of
    v). Raises ``RuntimeError`` where a minimisation does not converge.
    """
    best = relevant_minimum(case, sample, start=start)
    c = float(best.theta[0])
    at_best = lowrank.losses(sample, lowrank.logit_design(sample, case.family[:1]) @ best.theta)
    rows = []
    for e in masses:
        gap = -at_best
        for signed in (e, -e):
            again = relevant_minimum(case, sample, e=signed, start=c).theta[0]
            M = again * case.family[0] + signed * case.family[1]
            gap = gap + 0.5 * lowrank.loss_at(sample, M)
        rows.append(torch.stack(mean_se(gap)[:2]))
    return torch.stack(rows)


def lemma_slopes(
    c: float,
    alpha: Float[Tensor, " n"],
    k: int,
    count: int,
    seed: int,
    which: int = 0,
) -> Float[Tensor, "2 2"]:
    r"""The derivatives :math:`\partial H/\partial\ln\alpha_i` of Lemmas H.3 and H.4, i = ``which``.

    H is averaged over u in ``count`` contexts. Returns ``[[signal, se], [noise, se]]``. At
    :math:`\alpha=(1,\dots,1)` both are zero by exchangeability, so the value there, on the same
    draws, is subtracted as a control variate. Raises ``ValueError`` for a negative ``c``.
    """
    n = validation.shape("alpha", alpha, "n")["n"]
    validation.nonnegative("c", c)
    case = Case("linear", k + 1, k, n, 1.0)
    sample = case.contexts(count * n, seed)
    logits = c * lowrank.logit_design(sample, case.family[:1]).squeeze(-1)
    rows = []
    for signal in (True, False):
        there, here = (
            lowrank.logit_slopes(sample, at, signal=signal, noise=not signal)
            for at in (logits + alpha.log(), logits)
        )
        rows.append(torch.stack(mean_se((there - here)[:, which])[:2]))
    return torch.stack(rows)


def _in_units(minimum: Minimum, unit: Float[Tensor, " P"]) -> Minimum:
    """A minimiser over a basis that was multiplied by ``unit``, back in that of the entries."""
    outer = unit.unsqueeze(0) * unit.unsqueeze(1)
    return replace(
        minimum,
        theta=unit * minimum.theta,
        covariance=outer * minimum.covariance,
    )


def _combination(minimum: Minimum, row: Float[Tensor, " P"]) -> Estimate:
    """A linear combination of θ with its standard error."""
    variance = row @ minimum.covariance @ row
    return Estimate(float(row @ minimum.theta), float(variance.sqrt()), math.inf)


def _farthest(minimum: Minimum, rows: Float[Tensor, "R P"], c: float) -> Estimate:
    """The combination of θ over c that is farthest from zero in standard errors."""
    if not len(rows):
        return NO_ENTRY
    value = rows @ minimum.theta / c
    variance = (rows @ minimum.covariance * rows).sum(-1)
    # a held entry has variance 0; the least positive number keeps the quotient below defined
    se = variance.clamp(min=1e-300).sqrt() / abs(c)
    index = int((value / se).abs().argmax())
    return Estimate(float(value[index]), float(se[index]), math.inf)
