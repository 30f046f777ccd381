r"""What the softmax unit learns of a subspace: its minimiser in blocks, and the cost of other mass.

Theorem 4.4 of Collins et al. says that the minimiser is :math:`M^*=cBB^\top`. Here the minimum over
*all* symmetric M (:mod:`iclutils.window.theory.low_rank`) is read in the frame :math:`[B,B_\perp]`,
and mass on :math:`B_\perp` is held to see what it costs. Standard errors are averages over
thousands of contexts; their degrees of freedom are taken to be infinite. The lemmas behind the
theorem (Appendix H.2) freeze the spurious part of the logits into factors
:math:`\alpha_i=\exp(c_v^2e\,v_i^\top v)`. Chapter 4 uses both.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.stats import Estimate, Means, estimate, mean_se, of_means
from iclutils.window.theory import low_rank
from iclutils.window.theory.low_rank import Minimum
from iclutils.window.theory.low_rank_problem import Case, Contexts

NO_ENTRY = Estimate(0.0, math.inf, math.inf)  # of a block that is held or has no entries

# where Theorem 4.4 is tried: as it assumes, without noise or with two tokens, and beyond
INSIDE = {
    "n=2, σ=0": Case(link="linear", d=4, k=2, n=2, sigma=0.0),
    "n=2, σ=0.5": Case(link="linear", d=4, k=2, n=2, sigma=0.5, c_u=0.7, c_v=2.0),
    "n=10, σ=0": Case(link="linear", d=4, k=2, n=10, sigma=0.0),
    "n=10, σ=0, k=3": Case(link="linear", d=5, k=3, n=10, sigma=0.0, c_u=1.0, c_v=2.0),
    "n=10, σ=0, d=5, c_v=30": Case(link="linear", d=5, k=2, n=10, sigma=0.0, c_u=1.0, c_v=30.0),
}
OUTSIDE = {
    "n=10, σ=0.5": Case(link="linear", d=4, k=2, n=10, sigma=0.5),
    "n=50, σ=0.1": Case(link="linear", d=4, k=2, n=50, sigma=0.1),
    "n=10, σ=0.5, k=1": Case(link="linear", d=4, k=1, n=10, sigma=0.5, c_u=0.7, c_v=2.0),
    "n=20, σ=1, k=3": Case(link="linear", d=6, k=3, n=20, sigma=1.0),
}


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

    def departures(self, case: Case) -> dict[str, Estimate]:
        r"""c and the departures from :math:`cBB^\top`, by name, on the scale of the logits.

        An entry that couples to a spurious direction moves the logits :math:`c_v/c_u` times as far
        as one of :math:`B^\top MB`, and one between two of them :math:`c_v^2/c_u^2` times. What was
        held, or has no entries, is left out.

        >>> case = Case(link="linear", d=3, k=1, n=4, sigma=0.5, c_v=2.0)
        >>> one = Estimate(1.0, 0.1, math.inf)
        >>> seen = Blocks(one, NO_ENTRY, one, one).departures(case)
        >>> {name: departure.value for name, departure in seen.items()}
        {'c': 1.0, 'off_block': 2.0, 'spurious': 4.0}
        """
        longer = 1.0 if case.c_v is None else case.c_v / case.c_u
        scaled = {
            "c": self.c,
            "anisotropy": self.anisotropy,
            "off_block": self.off_block * longer,
            "spurious": self.spurious * longer**2,
        }
        return {name: one for name, one in scaled.items() if 0 < one.se < math.inf}

    def row(self) -> dict[str, str]:
        """Write the entries for a table, each with its standard error; a dash where it is held.

        >>> Blocks(Estimate(2.0, 0.1, math.inf), NO_ENTRY, NO_ENTRY, NO_ENTRY).row()
        {'c': '2.0000 (0.1000)', 'anisotropy / c': '–', 'off-block / c': '–', 'spurious / c': '–'}
        """
        over_c = {
            "c": self.c,
            "anisotropy / c": self.anisotropy,
            "off-block / c": self.off_block,
            "spurious / c": self.spurious,
        }
        return {
            name: "–" if math.isinf(one.se) else f"{one.value:.4f} ({one.se:.4f})"
            for name, one in over_c.items()
        }


class FullMinimum(NamedTuple):
    """The minimiser over all symmetric matrices, and its blocks."""

    minimum: Minimum
    blocks: Blocks


class Worth(NamedTuple):
    """The relative fall of the least loss by spurious mass, and the best e over its c."""

    gain: Estimate
    share: float


def read_blocks(minimum: Minimum, d: int, k: int) -> Blocks:
    """Read a minimiser over all symmetric matrices, in a frame whose first k columns are B.

    θ is in the order of :func:`iclutils.window.theory.low_rank.symmetric_basis`. Standard errors
    are those of the sandwich (delta method). Raises ``ValueError`` where θ has not d(d+1)/2
    entries.
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

    >>> case = Case(link="linear", d=3, k=2, n=4, sigma=0.5)
    >>> minimum = full_minimum(case, case.contexts(4000, seed=0))
    >>> minimum.blocks.c.value > 10 * minimum.blocks.c.se
    True
    >>> abs(minimum.blocks.spurious.value) < 5 * minimum.blocks.spurious.se
    True
    """
    i, j = torch.triu_indices(case.d, case.d)
    # in units in which every entry moves the logits alike: Newton's method keeps its accuracy
    long = 1.0 if case.c_v is None else max(1.0, case.c_v / case.c_u)
    unit = long ** -((i >= case.k).double() + (j >= case.k).double())
    basis = unit.view(-1, 1, 1) * low_rank.symmetric_basis(torch.eye(case.d, dtype=torch.float64))
    begin = (torch.where(i < case.k, start, 0.2 * start) * (i == j)).double()
    if bound is None:
        minimum = _in_units(low_rank.minimise(sample, basis, begin), unit)
        return FullMinimum(minimum, read_blocks(minimum, case.d, case.k))
    free = j >= case.k
    relevant = bound * case.family[0]
    part = _in_units(
        low_rank.minimise(sample, basis[free], begin[free], fixed=relevant), unit[free]
    )
    theta = (i == j).double() * bound
    theta[free] = part.theta
    covariance = torch.zeros(len(i), len(i), dtype=torch.float64)
    covariance[free.unsqueeze(0) & free.unsqueeze(1)] = part.covariance.flatten()
    minimum = Minimum(theta, covariance, part.loss, part.steps)
    blocks = replace(read_blocks(minimum, case.d, case.k), anisotropy=NO_ENTRY)
    return FullMinimum(minimum, blocks)


def entry(minimum: Minimum, left: Float[Tensor, " d"], right: Float[Tensor, " d"]) -> Estimate:
    r""":math:`l^\top Mr` of a minimiser over all symmetric M, for vectors l and r.

    Raises ``ValueError`` where l and r differ in length.
    """
    d = validation.shape("left", left, "d", d=len(right))["d"]
    basis = low_rank.symmetric_basis(torch.eye(d, dtype=torch.float64))
    return _combination(minimum, torch.einsum("d,pde,e->p", left, basis, right))


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
    return low_rank.minimise(sample, case.family[:1], begin, fixed=e * case.family[1])


def spurious_cost(
    case: Case,
    sample: Contexts,
    masses: Sequence[float],
    *,
    start: float = 1.0,
) -> Means:
    r"""Estimate what each mass e on :math:`B_\perp` costs once c is optimised again.

    .. math:: \min_c\mathcal L(c,e)-\min_c\mathcal L(c,0)

    on common contexts; each e is averaged with −e, which has the same population loss (the sign of
    v). The second minimum is searched from the c of the first: where e is so large that no c near
    it is best (independent parts from e = 9 on, n = 50, k = 2), it is a local one. Raises
    ``RuntimeError`` where a minimisation does not converge.
    """
    phi, off = torch.split(low_rank.logit_design(sample, case.family), 1, dim=-1)
    design = low_rank.Design(phi.contiguous())
    best = low_rank.descend(sample, design, torch.tensor([start], dtype=torch.float64)).theta
    at_best = low_rank.losses(sample, design.logits(best))
    gaps = []
    for e in masses:
        gap = -at_best
        for signed in (e, -e):
            logits_of = signed * off.squeeze(-1)
            again = low_rank.descend(sample, design, best, fixed_logits=logits_of).theta
            gap = gap + 0.5 * low_rank.losses(sample, logits_of + design.logits(again))
        gaps.append(gap)
    return mean_se(torch.stack(gaps), dim=1)


def worth(case: Case, sample: Contexts, start: tuple[float, float] = (10.0, 4.0)) -> Worth:
    r"""How far the least loss falls where mass e on :math:`B_\perp` is allowed.

    .. math:: 1-\min_{c,e}\mathcal L(c,e)\,/\,\min_c\mathcal L(c,0)

    on common contexts, searched from ``start``, a pair (c, e). The tokens are those of the
    ``sample``, which may have another law than the ``case``'s; B is the case's. Raises
    ``RuntimeError`` where a minimisation does not converge.
    """
    ignoring = relevant_minimum(case, sample, start=start[0]).theta[0] * case.family[0]
    masses = low_rank.minimise(sample, case.family, torch.tensor(start, dtype=torch.float64)).theta
    best = torch.einsum("p,pde->de", masses, case.family)
    both = torch.stack([low_rank.loss_at(sample, M) for M in (ignoring, best)])
    gain = of_means(lambda mean: float(1 - mean[1] / mean[0]), both)
    return Worth(gain, float(masses[1] / masses[0]))


def move_cost(
    sample: Contexts,
    M: Float[Tensor, "d d"],
    move: Float[Tensor, "d d"],
) -> Estimate:
    r"""Estimate what a move of M costs, averaged with the opposite move.

    .. math:: \tfrac12\big[\mathcal L(M+D)+\mathcal L(M-D)\big]-\mathcal L(M)

    on common contexts, for the move D. Raises ``ValueError`` where a matrix has not the tokens'
    dimension or is not finite.
    """
    d = sample.query.shape[-1]
    for name, matrix in (("M", M), ("move", move)):
        validation.shape(name, validation.finite(name, matrix), "d d", d=d)
    both = low_rank.loss_at(sample, M + move) + low_rank.loss_at(sample, M - move)
    return estimate(0.5 * both - low_rank.loss_at(sample, M))


def _in_units(minimum: Minimum, unit: Float[Tensor, " P"]) -> Minimum:
    """Return a minimiser over a basis multiplied by ``unit`` to the units of the entries."""
    outer = unit.unsqueeze(0) * unit.unsqueeze(1)
    return replace(
        minimum,
        theta=unit * minimum.theta,
        covariance=outer * minimum.covariance,
    )


def _combination(minimum: Minimum, row: Float[Tensor, " P"]) -> Estimate:
    """Combine the entries of θ linearly, with the standard error."""
    variance = row @ minimum.covariance @ row
    return Estimate(float(row @ minimum.theta), float(variance.sqrt()), math.inf)


def _farthest(minimum: Minimum, rows: Float[Tensor, "R P"], c: float) -> Estimate:
    """Find the combination of θ over c that is farthest from zero in standard errors."""
    if not len(rows):
        return NO_ENTRY
    value = rows @ minimum.theta / c
    variance = (rows @ minimum.covariance * rows).sum(-1)
    # a held entry has variance 0; the least positive number keeps the quotient below defined
    se = variance.clamp(min=1e-300).sqrt() / abs(c)
    index = int((value / se).abs().argmax())
    return Estimate(float(value[index]), float(se[index]), math.inf)


def term_slopes(
    c: float,
    alpha: Float[Tensor, " n"],
    k: int,
    count: int,
    seed: int,
    which: int = 0,
) -> Means:
    r"""Compute :math:`\partial H/\partial\ln\alpha_i` of Lemmas H.3 and H.4, i = ``which``.

    H is averaged over u in ``count`` contexts; of the two means the first is the signal's. At
    :math:`\alpha=(1,\dots,1)` both are zero by exchangeability, so the value there, on the same
    draws, is subtracted as a control variate. Raises ``ValueError`` for a negative ``c``, an α that
    is not positive and a ``which`` that is no token.
    """
    n = _factors(alpha)
    validation.nonnegative("c", c)
    validation.whole("which", which, low=0, high=n - 1)
    case = Case(link="linear", d=k + 1, k=k, n=n, sigma=1.0)
    sample = case.contexts(count * n, seed)
    logits = c * low_rank.logit_design(sample, case.family[:1]).squeeze(-1)
    slopes = []
    for signal in (True, False):
        there, here = (
            low_rank.logit_slopes(sample, at, signal=signal, noise=not signal)
            for at in (logits + alpha.log(), logits)
        )
        slopes.append((there - here)[:, which])
    return mean_se(torch.stack(slopes), dim=1)


def loss_slope(c: float, alpha: Float[Tensor, " n"], k: int, count: int, seed: int) -> Estimate:
    r"""Compute the slope of the noiseless loss in :math:`x=c\,c_u^2` at frozen α, for Lemma H.1.

    The mean over ``count`` contexts at :math:`c_u=1`. Raises ``ValueError`` for a negative ``c``
    and an α that is not positive.
    """
    n = _factors(alpha)
    validation.nonnegative("c", c)
    case = Case(link="linear", d=k + 1, k=k, n=n, sigma=0.0)
    sample = case.contexts(count * n, seed)
    phi = low_rank.logit_design(sample, case.family[:1]).squeeze(-1)
    return estimate((low_rank.logit_slopes(sample, c * phi + alpha.log()) * phi).sum(-1))


def slope_at_zero(alpha: Float[Tensor, " n"], k: int) -> float:
    r"""Compute the last display of the proof of Lemma H.1: the slope where attention sets in.

    .. math:: \frac{d\mathcal L}{dx}\Big|_{x=0}
        = -\frac2{k^2}\Big(1-\frac{\sum\alpha_i^2}{(\sum\alpha_i)^2}\Big)

    at :math:`c_u=1`; the paper prints it up to a factor. Raises ``ValueError`` for k below 1 and an
    α that is not positive.

    >>> slope_at_zero(torch.ones(2), k=1)
    -1.0
    """
    _factors(alpha)
    validation.whole("k", k)
    return -2 / k**2 * (1 - float(alpha.square().sum() / alpha.sum() ** 2))


def _factors(alpha: Float[Tensor, " n"]) -> int:
    """Count the frozen factors α; refuse what is not positive."""
    n = validation.shape("alpha", alpha, "n")["n"]
    if not bool((validation.finite("alpha", alpha) > 0).all()):
        raise ValueError(f"alpha must be positive; its smallest entry is {float(alpha.min()):g}")
    return n
