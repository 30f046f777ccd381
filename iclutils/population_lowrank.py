r"""The softmax unit's population loss on low-rank tasks, and its minimiser over a space of matrices.

Theory wing (chapter 4). Tasks and label noise are integrated out, covariates are one large fixed sample:

$$\mathcal L(M) = E_x\Big[E_a\big(\textstyle\sum_i\gamma_i f_a(x_i) - f_a(x_{n+1})\big)^2 + \sigma^2\sum_i\gamma_i^2\Big]$$

(Collins et al., eq. (ICL) and Appendix H). M runs through $\sum_p\theta_p E_p$ for a basis of matrices, so that
the whole space of symmetric matrices and the two-parameter family $cBB^\top + eB_\perp B_\perp^\top$ are one code.
"""

import math
from dataclasses import dataclass

import torch

from iclutils import validation
from iclutils.covariates import Covariates
from iclutils.functions import LowRankLink
from iclutils.randomness import stream


@dataclass(frozen=True)
class Contexts:
    """N contexts with one query each: ``x: (N, n, d)``, ``query: (N, d)``, f at every cubature task and the noise σ.

    ``value: (N, Q, n)`` are the tasks at the tokens, ``target: (N, Q)`` at the query.
    """

    x: torch.Tensor
    query: torch.Tensor
    value: torch.Tensor
    target: torch.Tensor
    sigma: float


def contexts(function: LowRankLink, covariates: Covariates, n: int, sigma: float, count: int, seed: int) -> Contexts:
    """Draw ``count`` contexts; the draws depend on (seed, n, d) alone, so that settings can be paired.

    Raises ``ValueError`` for n or count < 1 and σ < 0, or where the cubature of the link is not known.
    """
    validation.whole("n", n)
    validation.whole("count", count)
    validation.nonnegative("sigma", sigma)
    z = torch.randn(count, n + 1, covariates.d, generator=stream(seed, "population, low rank", n), dtype=torch.float64)
    tokens = covariates.from_gaussian(z)
    value = function.of_latent(function.cubature() @ (tokens @ function.B).mT)      # (N, Q, n + 1)
    return Contexts(tokens[:, :n], tokens[:, n], value[..., :n], value[..., n], sigma)


def symmetric_basis(frame: torch.Tensor) -> torch.Tensor:
    """A basis of all symmetric matrices in an orthonormal ``frame: (d, d)``: ``(d(d+1)/2, d, d)``, rows as in ``triu_indices``.

    The coefficient of entry (i, j) is the entry of ``frame.T @ M @ frame``.
    """
    d = validation.shape("frame", frame, "d d")["d"]
    i, j = torch.triu_indices(d, d)
    outer = frame[:, i].T.unsqueeze(-1) * frame[:, j].T.unsqueeze(-2)
    return torch.where((i == j).view(-1, 1, 1), outer, outer + outer.mT)


def block_basis(B: torch.Tensor, B_perp: torch.Tensor) -> torch.Tensor:
    """The two-parameter family (c, e): ``BBᵀ`` and ``B_⊥B_⊥ᵀ`` as ``(2, d, d)``."""
    return torch.stack([B @ B.mT, B_perp @ B_perp.mT])


def features(sample: Contexts, basis: torch.Tensor) -> torch.Tensor:
    r"""The logits' dependence on θ, $\phi_{ip} = x_i^\top E_p x_{n+1}$; ``(N, n, P)``."""
    return sample.x @ torch.einsum("pde,ne->ndp", basis, sample.query)


def losses(sample: Contexts, phi: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
    """The loss of each context, ``(N,)``, at coefficients ``theta: (P,)``."""
    gamma = torch.softmax(phi @ theta, dim=-1)
    residual = (sample.value @ gamma.unsqueeze(-1)).squeeze(-1) - sample.target
    return residual.square().mean(-1) + sample.sigma**2 * gamma.square().sum(-1)


def logit_slopes(sample: Contexts, logits: torch.Tensor, *, signal: bool = True, noise: bool = True) -> torch.Tensor:
    r"""$\partial\ell/\partial\ln\alpha_i$ for logits $c\,u_i^\top u + \ln\alpha_i$, of one or both parts of the loss; ``(N, n)``."""
    gamma = torch.softmax(logits, dim=-1)
    residual = (sample.value @ gamma.unsqueeze(-1)).squeeze(-1) - sample.target
    pull = torch.zeros_like(gamma)
    if signal:
        pull = pull + 2 * (residual.unsqueeze(-2) @ sample.value).squeeze(-2) / residual.shape[-1]
    if noise:
        pull = pull + 2 * sample.sigma**2 * gamma
    return gamma * (pull - (gamma * pull).sum(-1, keepdim=True))


def derivatives(sample: Contexts, phi: torch.Tensor, theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    r"""Gradient of each context's loss ``(N, P)`` and the mean Hessian ``(P, P)``, in closed form.

    With $J = \mathrm{diag}(\gamma) - \gamma\gamma^\top$ and logit gradient g, the Hessian in the logits is
    $J(2\,\overline{ff^\top} + 2\sigma^2 I)J + \mathrm{diag}(g) - g\gamma^\top - \gamma g^\top$.
    """
    count, P = phi.shape[0], phi.shape[-1]
    logits = phi @ theta
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


def minimise(sample: Contexts, basis: torch.Tensor, start: torch.Tensor, *, limit: int = 60, tolerance: float = 1e-10) -> Minimum:
    r"""Minimise $\mathcal L(\sum_p\theta_pE_p)$ by Newton's method with a positive-definite correction and halving steps.

    ``basis: (P, d, d)``, ``start: (P,)``. The covariance is the sandwich $H^{-1}\,\overline{gg^\top}\,H^{-1}/N$: how far the
    minimiser on this sample is from the one on the population. Raises ``RuntimeError`` if the Newton decrement
    is above ``tolerance`` (relative to the loss) after ``limit`` steps.
    """
    validation.shape("basis", basis, "P d d", d=sample.query.shape[-1])
    validation.shape("start", start, "P", P=basis.shape[0])
    phi = features(sample, basis)
    theta, loss = start.clone(), float(losses(sample, phi, start).mean())
    for step in range(limit):
        each, hessian = derivatives(sample, phi, theta)
        gradient = each.mean(0)
        values, vectors = torch.linalg.eigh(hessian)
        # a direction of negative or tiny curvature is followed downhill with a positive one
        move = vectors @ ((vectors.T @ gradient) / values.abs().clamp(min=1e-6 * float(values.abs().max())))
        if float(gradient @ move) <= tolerance * loss and float(values[0]) > 0:
            inverse = torch.linalg.inv(hessian)
            return Minimum(theta, inverse @ (each.T @ each / len(each)) @ inverse / len(each), loss, hessian, step)
        size = 1.0
        while (trial := float(losses(sample, phi, theta - size * move).mean())) > loss and size > 1e-6:
            size /= 2
        theta, loss = theta - size * move, trial
    raise RuntimeError(f"minimise did not converge in {limit} steps; the decrement is {float(gradient @ move):.1e}")


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
        se = (rows @ minimum.covariance * rows).sum(-1).clamp(min=0).sqrt() / abs(c)
        index = int((value / se).abs().argmax())
        return float(value[index]), float(se[index])

    eye = torch.eye(len(i), dtype=torch.float64)
    inside = torch.cat([eye[(i != j) & (j < k)], (eye[diagonal] - mean)[: k if k > 1 else 0]])
    return Blocks((c, float((mean @ minimum.covariance @ mean).sqrt())), worst(inside),
                  worst(eye[(i < k) & (j >= k)]), worst(eye[i >= k]))
