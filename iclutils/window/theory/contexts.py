r"""A population problem with low-rank tasks, and its contexts with every task of a cubature evaluated on them.

Theory wing (chapter 4): what :mod:`iclutils.population_lowrank` minimises over. Covariates are one large fixed sample,
tasks and label noise are integrated out.
"""

from dataclasses import dataclass

import torch

from iclutils import validation
from iclutils.covariates import Covariates, Sphere, TwoSubspaces
from iclutils.links import LowRankLink
from iclutils.randomness import stream


@dataclass(frozen=True)
class Case:
    r"""One population problem in the frame in which B is the first k axes (no loss: everything rotates with B).

    Covariates: ``c_v`` a number gives Assumption 4.3, $x = c_uBu + c_vB_\perp v$; ``c_v=None`` the unit sphere of
    Figure 9 with J = I. Raises where n, d, k, σ are out of range.
    """

    link: str
    d: int
    k: int
    n: int
    sigma: float
    c_u: float = 1.0
    c_v: float | None = 1.0

    def __post_init__(self) -> None:
        validation.whole("k", self.k, low=1, high=validation.whole("d", self.d, low=2))
        validation.whole("n", self.n)
        validation.nonnegative("sigma", self.sigma)

    @property
    def B(self) -> torch.Tensor:
        """The first k axes, ``(d, k)``."""
        return torch.eye(self.d, dtype=torch.float64)[:, :self.k]

    @property
    def B_perp(self) -> torch.Tensor:
        """The other axes, ``(d, d − k)``."""
        return torch.eye(self.d, dtype=torch.float64)[:, self.k:]

    @property
    def family(self) -> torch.Tensor:
        """The two-parameter family (c, e): ``BBᵀ`` and ``B_⊥B_⊥ᵀ`` as ``(2, d, d)``."""
        return torch.stack([self.B @ self.B.mT, self.B_perp @ self.B_perp.mT])

    def contexts(self, tokens: int, seed: int) -> "Contexts":
        """About ``tokens`` context tokens, that is ``tokens // n`` contexts."""
        x: Covariates = Sphere(self.d) if self.c_v is None else TwoSubspaces(self.B, self.B_perp, self.c_u, self.c_v)
        return contexts(LowRankLink(self.B, self.link), x, self.n, self.sigma, max(1, tokens // self.n), seed)


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
