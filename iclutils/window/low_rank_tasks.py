r"""Low-rank task functions: a link of a direction inside a k-dimensional subspace.

.. math:: f(x) = g(a^\top B^\top x)

Chapter 4 uses them. Shapes as in :mod:`iclutils.window.function_classes`.
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import sphere, validation
from iclutils.window.covariates import by_trial
from iclutils.window.function_classes import Task, along, directions, parameters

LIPSCHITZ = {"linear": 1.0, "affine": 1.0, "quadratic": 2.0, "cosine": 4.0}  # on the unit ball
LINKS = tuple(LIPSCHITZ)


@dataclass(frozen=True, eq=False)
class LowRankLink:
    r"""Generalised linear models of :math:`B^\top x`, task vector a uniform on :math:`S^{k-1}`.

    ========= =============================== ========================
    link      function                        source (Collins et al.)
    ========= =============================== ========================
    linear    :math:`a^\top B^\top x`         Definition 4.2
    affine    :math:`a^\top B^\top x + 2`     Appendix J.1
    quadratic :math:`(a^\top B^\top x)^2`     Appendix J.1
    cosine    :math:`\cos(4a^\top B^\top x)`  Appendix J.1
    ========= =============================== ========================

    B has orthonormal columns; leading axes give one subspace per trial. Raises ``KeyError`` for an
    unknown link, ``ValueError`` for a B whose columns are not orthonormal.
    """

    B: Float[Tensor, "*T d k"]
    link: str

    def __post_init__(self) -> None:
        validation.one_of("link", self.link, LINKS)
        validation.orthonormal("B", self.B)

    @property
    def name(self) -> str:
        """The link."""
        return self.link

    @property
    def law(self) -> Hashable:
        """The tasks depend on k, not on the link."""
        return "direction", self.k

    @property
    def d(self) -> int:
        """The ambient dimension."""
        return self.B.shape[-2]

    @property
    def k(self) -> int:
        """The dimension of col(B)."""
        return self.B.shape[-1]

    @property
    def L(self) -> float:
        """The Lipschitz constant on the unit ball."""
        return LIPSCHITZ[self.link]

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks ``a: (*size, k)``, uniform on the unit sphere (k = 1: a sign)."""
        return {"a": directions(size, self.k, generator)}

    def evaluate(self, task: Task, x: Float[Tensor, "*points m d"]) -> Float[Tensor, "*both m"]:
        """f with tasks ``a: (*size, k)`` at ``x: (*size, m, d)``."""
        validation.shape("x", x, "... m d", d=self.d)
        (a,) = parameters(task, "a")
        return self.of_latent(along(a, by_trial(x, self.B)))

    def of_latent(self, s: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        """Return the link at s = aᵀBᵀx."""
        if self.link == "affine":
            return s + 2
        if self.link == "quadratic":
            return s.square()
        if self.link == "cosine":
            return (4 * s).cos()
        return s

    def kernel(
        self, u: Float[Tensor, "*first m k"], other: Float[Tensor, "*second p k"]
    ) -> Float[Tensor, "*both m p"]:
        r"""Compute the mean of :math:`f(x)f(x')` over tasks, from the latents :math:`u = B^\top x`.

        Linear :math:`t/k` with :math:`t = u^\top u'`; affine :math:`t/k + 4`; quadratic
        :math:`(|u|^2|u'|^2 + 2t^2)/(k(k+2))`; cosine
        :math:`\tfrac12[\varphi(4|u-u'|) + \varphi(4|u+u'|)]` with φ of
        :func:`iclutils.sphere.characteristic`. Raises ``ValueError`` where the latents have
        not k entries.
        """
        k = self.k
        validation.shape("u", u, "... m k", k=k)
        validation.shape("other", other, "... p k", k=k)
        t = u @ other.mT
        if self.link in ("linear", "affine"):
            return t / k + (4 if self.link == "affine" else 0)
        square = u.square().sum(-1).unsqueeze(-1)
        other_square = other.square().sum(-1).unsqueeze(-2)
        if self.link == "quadratic":
            return (square * other_square + 2 * t.square()) / (k * (k + 2))
        minus = (square + other_square - 2 * t).clamp(min=0)
        plus = (square + other_square + 2 * t).clamp(min=0)
        apart = sphere.characteristic(16 * minus, k)
        return 0.5 * apart + 0.5 * sphere.characteristic(16 * plus, k)

    def cubature(self) -> Float[Tensor, "Q k"]:
        r"""Task vectors whose equally weighted mean of :math:`f(x)f(x')` is the kernel.

        Exact but for the cosine, which is right to :math:`10^{-12}` where :math:`|x| \le 1`. For
        any k linear: :math:`e_j`, affine: :math:`\pm e_j`. Quadratic and cosine, k = 2: equal
        angles on the half circle, 3 and 16 of them (the trapezoid rule on a trigonometric
        polynomial; the cosine's Fourier tail starts at :math:`J_{32}(8)`); k = 1: a = 1. Raises
        ``ValueError`` for those links with k > 2.
        """
        if self.link in ("linear", "affine"):
            eye = torch.eye(self.k, dtype=torch.float64)
            return eye if self.link == "linear" else torch.cat([eye, -eye])
        if self.k == 1:
            return torch.ones(1, 1, dtype=torch.float64)
        if self.k > 2:
            raise ValueError(
                f"cubature of the {self.link} link is given for k at most 2; got k = {self.k}"
            )
        nodes = 3 if self.link == "quadratic" else 16
        angle = torch.arange(nodes, dtype=torch.float64) * math.pi / nodes
        return torch.stack([angle.cos(), angle.sin()], dim=-1)


def random_subspaces(
    count: int, d: int, k: int, generator: torch.Generator
) -> Float[Tensor, "count d k"]:
    """Orthonormal bases of uniform k-dimensional subspaces, Q of the QR of a Gaussian.

    Collins et al., Appendix J.1. Raises ``TypeError`` or ``ValueError`` where ``count`` is no whole
    number above zero or not 1 ≤ k < d.

    >>> from iclutils.randomness import stream
    >>> B = random_subspaces(3, 5, 2, stream(0, "subspaces"))
    >>> bool((B.mT @ B - torch.eye(2, dtype=torch.float64)).abs().max() < 1e-12)
    True
    """
    validation.whole("count", count)
    validation.whole("d", d, low=2)
    validation.whole("k", k, low=1, high=d - 1)
    gaussian = torch.randn(count, d, k, generator=generator, dtype=torch.float64)
    Q: Tensor = torch.linalg.qr(gaussian).Q
    return Q


def complement(B: Float[Tensor, "*T d k"]) -> Float[Tensor, "*T d r"]:
    """Return an orthonormal basis of the d − k directions orthogonal to col(B).

    Raises ``ValueError`` where B has more columns than rows or an entry is not finite.
    """
    sizes = validation.shape("B", validation.finite("B", B), "... d k")
    k = validation.whole("k, the columns of B,", sizes["k"], low=0, high=sizes["d"])
    Q: Tensor = torch.linalg.qr(B, mode="complete").Q
    return Q[..., k:]


def gram_roots(count: int, d: int, generator: torch.Generator) -> Float[Tensor, "count d d"]:
    r"""Return the stretches of Figure 9, :math:`J = (G^\top G)^{1/2}` of square Gaussian G.

    Collins et al., Appendix J.1. Raises ``TypeError`` or ``ValueError`` where ``count`` or d is no
    whole number above zero.
    """
    validation.whole("count", count)
    validation.whole("d", d)
    G = torch.randn(count, d, d, generator=generator, dtype=torch.float64)
    values, vectors = torch.linalg.eigh(G.mT @ G)
    root: Tensor = (vectors * values.clamp(min=0).sqrt().unsqueeze(-2)) @ vectors.mT
    return root
