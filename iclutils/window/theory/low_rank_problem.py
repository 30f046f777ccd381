r"""A population problem with low-rank tasks, and its contexts with every task evaluated on them.

This is what :mod:`iclutils.window.theory.low_rank` minimises over (chapter 4): the covariates are
one large fixed sample, the tasks are those of a cubature, and the labels' noise is integrated out.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.randomness import normal, stream
from iclutils.window.covariates import LARGEST, Covariates, Law, Sphere, TwoSubspaces, of_tasks
from iclutils.window.low_rank_tasks import LINKS, LowRankLink


@dataclass(frozen=True)
class Contexts:
    """N contexts with one query each, f at every task of the cubature, and the noise σ.

    ``value`` are the Q tasks at the tokens ``x``, ``target`` at the ``query``.
    """

    x: Float[Tensor, "N n d"]
    query: Float[Tensor, "N d"]
    value: Float[Tensor, "N Q n"]
    target: Float[Tensor, "N Q"]
    sigma: float


@dataclass(frozen=True, kw_only=True)
class Case:
    r"""One population problem, in the frame in which B is the first k axes.

    Nothing is lost by the choice of frame: everything rotates with B. ``link`` is one of
    ``LINKS`` of :mod:`iclutils.window.low_rank_tasks`. A number ``c_v`` gives Assumption 4.3 of
    Collins et al., :math:`x=c_uBu+c_vB_\perp v`; ``c_v=None`` gives the unit sphere of their Figure
    9 with J = I.
    Raises ``KeyError`` for an unknown link, ``ValueError`` for d below 2, k outside 1..d, n below
    1, a ``sigma`` or a length out of range, and a cosine with ``c_u`` above 1, where the cubature
    of its tasks is not exact.
    """

    link: str
    d: int
    k: int
    n: int
    sigma: float
    c_u: float = 1.0
    c_v: float | None = 1.0

    def __post_init__(self) -> None:
        validation.one_of("link", self.link, LINKS)
        validation.whole("d", self.d, low=2)
        validation.whole("k", self.k, low=1, high=self.d)
        validation.in_range("c_u", self.c_u, -LARGEST, LARGEST)
        validation.in_range("c_v", 0.0 if self.c_v is None else self.c_v, -LARGEST, LARGEST)
        if self.link == "cosine":  # the cubature's latents lie in the unit ball
            validation.in_range("c_u", self.c_u, -1.0, 1.0)
        validation.whole("n", self.n)
        validation.noise("sigma", self.sigma)

    @property
    def B(self) -> Float[Tensor, "d k"]:
        """The first k axes."""
        return torch.eye(self.d, dtype=torch.float64)[:, : self.k]

    @property
    def B_perp(self) -> Float[Tensor, "d r"]:
        """The other d − k axes."""
        return torch.eye(self.d, dtype=torch.float64)[:, self.k :]

    @property
    def family(self) -> Float[Tensor, "2 d d"]:
        """The two-parameter family (c, e): ``BBᵀ`` and ``B_⊥B_⊥ᵀ``."""
        return torch.stack([self.B @ self.B.mT, self.B_perp @ self.B_perp.mT])

    @property
    def covariates(self) -> Covariates:
        """The law of the tokens."""
        if self.c_v is None:
            return Sphere(self.d)
        return TwoSubspaces(self.B, self.B_perp, self.c_u, self.c_v)

    def contexts(self, tokens: int, seed: int) -> Contexts:
        """About ``tokens`` context tokens, that is ``tokens // n`` contexts and at least one.

        Raises ``TypeError`` or ``ValueError`` where ``tokens`` is no whole number above zero.
        """
        validation.whole("tokens", tokens)
        link = LowRankLink(self.B, self.link)
        count = max(1, tokens // self.n)
        return contexts(link, self.covariates, self.n, self.sigma, count, seed)


def contexts(
    function: LowRankLink,
    covariates: Law,
    n: int,
    sigma: float,
    count: int,
    seed: int,
) -> Contexts:
    """Draw ``count`` contexts; the draws depend on (seed, n, d) alone, so settings can be paired.

    Raises ``ValueError`` for n or ``count`` below 1 and a negative ``sigma``, and where the
    cubature of the link is not known (:meth:`iclutils.window.low_rank_tasks.LowRankLink.cubature`).
    """
    validation.whole("n", n)
    validation.whole("count", count)
    validation.noise("sigma", sigma)
    draws = stream(seed, "population, low rank", n)
    z = normal(count, n + 1, covariates.d, generator=draws)
    tokens = of_tasks(covariates, (count,), draws).from_gaussian(z)
    latent = tokens @ function.B
    value = function.of_latent(function.cubature() @ latent.mT)  # (N, Q, n + 1)
    return Contexts(tokens[:, :n], tokens[:, n], value[..., :n], value[..., n], sigma)
