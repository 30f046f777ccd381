r"""The softmax unit's population loss on low-rank tasks, and its minimiser over a space of matrices.

Theory wing (chapter 4). Tasks and label noise are integrated out, covariates are one large fixed sample:

$$\mathcal L(M) = E_x\Big[E_a\big(\textstyle\sum_i\gamma_i f_a(x_i) - f_a(x_{n+1})\big)^2 + \sigma^2\sum_i\gamma_i^2\Big]$$

(Collins et al., eq. (ICL) and Appendix H). M runs through $\sum_p\theta_p E_p$ for a basis of matrices, so that
the whole space of symmetric matrices and the two-parameter family $cBB^\top + eB_\perp B_\perp^\top$ are one code.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from iclutils import validation
from iclutils.lowrank_contexts import Case, Contexts


def symmetric_basis(frame: torch.Tensor) -> torch.Tensor:
    """A basis of all symmetric matrices in an orthonormal ``frame: (d, d)``: ``(d(d+1)/2, d, d)``, rows as in ``triu_indices``.

    The coefficient of entry (i, j) is the entry of ``frame.T @ M @ frame``.
    """
    d = validation.shape("frame", frame, "d d")["d"]
    i, j = torch.triu_indices(d, d)
    outer = frame[:, i].T.unsqueeze(-1) * frame[:, j].T.unsqueeze(-2)
    return torch.where((i == j).view(-1, 1, 1), outer, outer + outer.mT)


def features(sample: Contexts, basis: torch.Tensor) -> torch.Tensor:
    r"""The logits' dependence on θ, $\phi_{ip} = x_i^\top E_p x_{n+1}$; ``(N, n, P)``."""
    return sample.x @ torch.einsum("pde,ne->ndp", basis, sample.query)


def loss_at(sample: Contexts, M: torch.Tensor) -> torch.Tensor:
    """The loss of each context, ``(N,)``, at a matrix ``M: (d, d)``; differences of two are paired."""
    validation.shape("M", M, "d d", d=sample.query.shape[-1])
    return losses(sample, features(sample, M.unsqueeze(0)).squeeze(-1))


def losses(sample: Contexts, logits: torch.Tensor) -> torch.Tensor:
    """The loss of each context, ``(N,)``, at given ``logits: (N, n)``."""
    gamma = torch.softmax(logits, dim=-1)
    residual = (sample.value @ gamma.unsqueeze(-1)).squeeze(-1) - sample.target
    return residual.square().mean(-1) + sample.sigma**2 * gamma.square().sum(-1)


def logit_slopes(sample: Contexts, logits: torch.Tensor, *, signal: bool = True, noise: bool = True) -> torch.Tensor:
    r"""Slopes $\partial\ell/\partial\ln\alpha_i$, ``(N, n)``, at logits $c\,u_i^\top u + \ln\alpha_i$; one or both parts."""
    gamma = torch.softmax(logits, dim=-1)
    residual = (sample.value @ gamma.unsqueeze(-1)).squeeze(-1) - sample.target
    pull = torch.zeros_like(gamma)
    if signal:
        pull = pull + 2 * (residual.unsqueeze(-2) @ sample.value).squeeze(-2) / residual.shape[-1]
    if noise:
        pull = pull + 2 * sample.sigma**2 * gamma
    return gamma * (pull - (gamma * pull).sum(-1, keepdim=True))


def derivatives(sample: Contexts, phi: torch.Tensor, logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    r"""Gradient of each context's loss ``(N, P)`` and the mean Hessian ``(P, P)``, in closed form.

    ``phi: (N, n, P)`` says how the ``logits: (N, n)`` move with θ. With $J = \mathrm{diag}(\gamma) - \gamma\gamma^\top$
    and logit gradient g, the Hessian in the logits is
    $J(2\,\overline{ff^\top} + 2\sigma^2 I)J + \mathrm{diag}(g) - g\gamma^\top - \gamma g^\top$.
    """
    count, P = phi.shape[0], phi.shape[-1]
    gamma = torch.softmax(logits, dim=-1)
    g = logit_slopes(sample, logits)
    mean = (gamma.unsqueeze(-2) @ phi)                                             # (N, 1, P)
    pulled = gamma.unsqueeze(-1) * (phi - mean)                                    # J φ, (N, n, P)
    slope = (sample.value @ pulled).reshape(-1, P)                                 # (N·Q, P)
    gradient = (g.unsqueeze(-2) @ phi).squeeze(-2)
    hessian = 2 * slope.T @ slope / sample.value.shape[1]
    if sample.sigma:
        flat = pulled.reshape(-1, P)
        hessian = hessian + 2 * sample.sigma**2 * flat.T @ flat
    flat = phi.reshape(-1, P)
    hessian = hessian + flat.T @ (g.reshape(-1, 1) * flat)
    cross = gradient.T @ mean.squeeze(-2)
    return gradient, (hessian - cross - cross.T) / count


@dataclass(frozen=True)
class Minimum:
    """A minimiser on a sample: ``theta: (P,)``, its sandwich covariance ``(P, P)``, the loss, and the Hessian there."""

    theta: torch.Tensor
    covariance: torch.Tensor
    loss: float
    hessian: torch.Tensor
    steps: int

    @property
    def se(self) -> torch.Tensor:
        """Standard errors of θ as an estimate of the population minimiser, ``(P,)``."""
        return self.covariance.diagonal().sqrt()


def minimise(sample: Contexts, basis: torch.Tensor, start: torch.Tensor, *, fixed: torch.Tensor | None = None,
             limit: int = 60, tolerance: float = 1e-10) -> Minimum:
    r"""Minimise $\mathcal L(F + \sum_p\theta_pE_p)$ by Newton's method with a positive-definite correction and halving steps.

    ``basis: (P, d, d)``, ``start: (P,)``, ``fixed``: the part F of M that is held, ``(d, d)``, zero by default.
    The covariance is the sandwich $H^{-1}\,\overline{gg^\top}\,H^{-1}/N$: how far the minimiser on this sample is
    from the one on the population. Raises ``RuntimeError`` if the Newton decrement is above ``tolerance``
    (relative to the loss) after ``limit`` steps.
    """
    validation.shape("basis", basis, "P d d", d=sample.query.shape[-1])
    validation.shape("start", start, "P", P=basis.shape[0])
    phi = features(sample, basis)
    held = 0.0 if fixed is None else features(sample, fixed.unsqueeze(0)).squeeze(-1)
    theta, loss = start.clone(), float(losses(sample, held + phi @ start).mean())
    for step in range(limit):
        each, hessian = derivatives(sample, phi, held + phi @ theta)
        gradient = each.mean(0)
        values, vectors = torch.linalg.eigh(hessian)
        # a direction of negative or tiny curvature is followed downhill with a positive one
        move = vectors @ ((vectors.T @ gradient) / values.abs().clamp(min=1e-6 * float(values.abs().max())))
        if float(gradient @ move) <= tolerance * loss and float(values[0]) > 0:
            inverse = torch.linalg.inv(hessian)
            return Minimum(theta, inverse @ (each.T @ each / len(each)) @ inverse / len(each), loss, hessian, step)
        size = 1.0
        while (trial := float(losses(sample, held + phi @ (theta - size * move)).mean())) > loss and size > 1e-6:
            size /= 2
        theta, loss = theta - size * move, trial
    raise RuntimeError(f"minimise did not converge in {limit} steps; the decrement is {float(gradient @ move):.1e}")


def linear_minimum(sample: Contexts, basis: torch.Tensor) -> Minimum:
    r"""Linear attention's own minimiser: least squares of $f_a(x_{n+1})$ on $\sum_i y_i x_i^\top E_p x_{n+1}$.

    Its loss $E[(\sum_i f_a(x_i)x_i^\top Mx_{n+1} - f_a(x_{n+1}))^2 + \sigma^2\sum_i(x_i^\top Mx_{n+1})^2]$ is a quadratic form
    in θ, so the minimiser solves one linear system. Same covariance as :func:`minimise`.
    """
    validation.shape("basis", basis, "P d d", d=sample.query.shape[-1])
    phi = features(sample, basis)
    count = len(phi)
    pooled = sample.value @ phi                                                    # (N, Q, P)
    second = 2 * pooled.mT @ pooled / pooled.shape[1] + 2 * sample.sigma**2 * phi.mT @ phi
    first = 2 * (pooled * sample.target.unsqueeze(-1)).mean(1)
    hessian = second.mean(0)
    theta = torch.linalg.solve(hessian, first.mean(0))
    each, inverse = second @ theta - first, torch.linalg.inv(hessian)
    loss = float(sample.target.square().mean() - 0.5 * first.mean(0) @ theta)
    return Minimum(theta, inverse @ (each.T @ each / count) @ inverse / count, loss, hessian, 1)


def linear_mass(n: int, d: int, k: int, sigma: float) -> float:
    r"""The mass of linear attention's minimiser on B for the affine link, x uniform on $S^{d-1}$ (derived in chapter 4):

    $$c = \Big[\frac{k+2}{d+2} + (4 + \sigma^2)k + \frac{n-1}{d}\Big]^{-1}$$
    """
    validation.whole("k", k, low=1, high=validation.whole("d", d, low=2))
    return 1 / ((k + 2) / (d + 2) + (4 + validation.nonnegative("sigma", sigma) ** 2) * k + (validation.whole("n", n) - 1) / d)


@dataclass(frozen=True)
class Blocks:
    """A symmetric minimiser read in the frame [B, B_⊥], in units of its c: value and standard error of the worst entries.

    ``c`` is the mean of the diagonal of BᵀMB; ``anisotropy`` the entry of BᵀMB − cI, ``off_block`` of BᵀMB_⊥,
    ``spurious`` of B_⊥ᵀMB_⊥ that is farthest from zero in standard errors. Each is ``(value, se)``.
    """

    c: tuple[float, float]
    anisotropy: tuple[float, float]
    off_block: tuple[float, float]
    spurious: tuple[float, float]


def read_blocks(minimum: Minimum, d: int, k: int) -> Blocks:
    """Read a minimiser over :func:`symmetric_basis` of a frame whose first k columns are B (delta method for BᵀMB − cI)."""
    validation.shape("minimum.theta", minimum.theta, "P", P=d * (d + 1) // 2)
    i, j = torch.triu_indices(d, d)
    diagonal = (i == j) & (i < k)
    mean = diagonal.double() / k
    c = float(mean @ minimum.theta)

    def worst(rows: torch.Tensor) -> tuple[float, float]:
        if not len(rows):
            return 0.0, math.inf
        value = rows @ minimum.theta / c
        se = (rows @ minimum.covariance * rows).sum(-1).clamp(min=1e-300).sqrt() / abs(c)
        index = int((value / se).abs().argmax())
        return float(value[index]), float(se[index])

    eye = torch.eye(len(i), dtype=torch.float64)
    inside = torch.cat([eye[(i != j) & (j < k)], (eye[diagonal] - mean)[: k if k > 1 else 0]])
    return Blocks((c, float((mean @ minimum.covariance @ mean).sqrt())), worst(inside),
                  worst(eye[(i < k) & (j >= k)]), worst(eye[i >= k]))


def full_minimum(case: Case, sample: Contexts, *, start: float = 1.0, bound: float | None = None) -> tuple[Minimum, Blocks]:
    r"""Minimise over *all* symmetric M, from $M = sBB^\top + 0.2sB_\perp B_\perp^\top$, and read the blocks.

    With ``bound`` the relevant block is held at $B^\top MB = $ ``bound``·I (a binding constraint) and the other blocks
    are free; the anisotropy is then (0, ∞).
    """
    basis = symmetric_basis(torch.eye(case.d, dtype=torch.float64))
    i, j = torch.triu_indices(case.d, case.d)
    begin = torch.where(i < case.k, start, 0.2 * start) * (i == j)
    if bound is None:
        found = minimise(sample, basis, begin.double())
        return found, read_blocks(found, case.d, case.k)
    free = j >= case.k
    part = minimise(sample, basis[free], begin[free].double(), fixed=bound * case.family[0])
    theta, covariance = (i == j).double() * bound, torch.zeros(len(i), len(i), dtype=torch.float64)
    theta[free] = part.theta
    covariance[free.unsqueeze(0) & free.unsqueeze(1)] = part.covariance.flatten()
    found = Minimum(theta, covariance, part.loss, part.hessian, part.steps)
    return found, replace(read_blocks(found, case.d, case.k), anisotropy=(0.0, math.inf))


def entry(found: Minimum, left: torch.Tensor, right: torch.Tensor) -> tuple[float, float]:
    r"""$l^\top M r$ of a :func:`full_minimum` for vectors ``left, right: (d,)``, with its standard error."""
    d = validation.shape("left", left, "d", d=len(right))["d"]
    row = torch.einsum("d,pde,e->p", left, symmetric_basis(torch.eye(d, dtype=torch.float64)), right)
    return float(row @ found.theta), float((row @ found.covariance @ row).sqrt())


def relevant_minimum(case: Case, sample: Contexts, *, e: float = 0.0, start: float = 1.0) -> Minimum:
    r"""Minimise $\mathcal L(cBB^\top + eB_\perp B_\perp^\top)$ over c alone."""
    begin = torch.tensor([start], dtype=torch.float64)
    return minimise(sample, case.family[:1], begin, fixed=e * case.family[1])


def spurious_cost(case: Case, sample: Contexts, masses: Sequence[float], *, start: float = 1.0) -> torch.Tensor:
    r"""What mass e on B_⊥ costs once c is optimised again: $\min_c\mathcal L(c, e) - \min_c\mathcal L(c, 0)$, paired.

    Returns ``(len(masses), 2)``, mean and standard error of the difference on common contexts; each e is
    averaged with −e, which has the same population loss (the sign of v).
    """
    best = relevant_minimum(case, sample, start=start)
    at_best = losses(sample, features(sample, case.family[:1]) @ best.theta)
    rows = []
    for e in masses:
        gap = -at_best
        for signed in (e, -e):
            c = relevant_minimum(case, sample, e=signed, start=float(best.theta[0])).theta[0]
            gap = gap + 0.5 * loss_at(sample, c * case.family[0] + signed * case.family[1])
        rows.append([float(gap.mean()), float(gap.std()) / math.sqrt(len(gap))])
    return torch.tensor(rows, dtype=torch.float64)


def lemma_slopes(c: float, alpha: torch.Tensor, k: int, count: int, seed: int, which: int = 0) -> torch.Tensor:
    r"""The derivatives of Lemmas H.3 and H.4, $\partial H/\partial\ln\alpha_i$ for i = ``which``, with $H$ averaged over u.

    Returns ``[[signal, se], [noise, se]]``. At α = (1..1) both are zero by exchangeability, so the value there,
    on the same draws, is subtracted as a control variate.
    """
    n = validation.shape("alpha", alpha, "n")["n"]
    sample = Case("linear", k + 1, k, n, 1.0).contexts(count * n, seed)
    logits = validation.nonnegative("c", c) * features(sample, Case("linear", k + 1, k, n, 1.0).family[:1]).squeeze(-1)
    rows = []
    for part in ({"noise": False}, {"signal": False}):
        slope = logit_slopes(sample, logits + alpha.log(), **part) - logit_slopes(sample, logits, **part)
        rows.append([float(slope[:, which].mean()), float(slope[:, which].std()) / math.sqrt(len(slope))])
    return torch.tensor(rows, dtype=torch.float64)
