r"""Low-rank task functions: a link of a direction inside a k-dimensional subspace, $f(x) = g(a^\top B^\top x)$.

Chapter 4 uses them. Shapes as in :mod:`iclutils.functions`.
"""

import math
from dataclasses import dataclass

import torch
from scipy import special

from iclutils import validation
from iclutils.functions import Task, along, directions

LINKS = ("linear", "affine", "quadratic", "cosine")


@dataclass(frozen=True, eq=False)
class LowRankLink:
    r"""Generalised linear models of $B^\top x$, one link, task vector $a$ uniform on $S^{k-1}$ (used in chapter 4).

    | link | $f(x)$ | source (Collins et al.) |
    | --- | --- | --- |
    | linear | $a^\top B^\top x$ | Definition 4.2 |
    | affine | $a^\top B^\top x + 2$ | Appendix J.1 |
    | quadratic | $(a^\top B^\top x)^2$ | Appendix J.1 |
    | cosine | $\cos(4a^\top B^\top x)$ | Appendix J.1 |

    ``B: (*T, d, k)`` with orthonormal columns, leading axes one subspace per trial. Raises ``KeyError``
    for an unknown link, ``ValueError`` for a B whose columns are not orthonormal.
    """

    B: torch.Tensor
    link: str

    def __post_init__(self) -> None:
        k = validation.shape("B", self.B, "... d k")["k"]
        validation.one_of("link", self.link, LINKS)
        error = float((self.B.mT @ self.B - torch.eye(k, dtype=self.B.dtype)).abs().max())
        if error > 1e-8:
            raise ValueError(f"B must have orthonormal columns; they miss by {error:.1e}")

    @property
    def name(self) -> str:
        """The link."""
        return self.link

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
        return {"linear": 1.0, "affine": 1.0, "quadratic": 2.0, "cosine": 4.0}[self.link]

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks ``a: (*size, k)``, uniform on the unit sphere (k = 1: a sign)."""
        return {"a": directions(size, self.k, generator)}

    def evaluate(self, task: Task, x: torch.Tensor) -> torch.Tensor:
        """f at ``x: (*size, m, d)`` with tasks ``a: (*size, k)``; returns ``(*size, m)``."""
        lead = self.B.shape[:-2]
        B = self.B.reshape(*lead, *(1,) * (x.ndim - self.B.ndim), *self.B.shape[-2:])
        return self.of_latent(along(task["a"], x @ B))

    def of_latent(self, s: torch.Tensor) -> torch.Tensor:
        """The link at s = aᵀBᵀx."""
        if self.link == "affine":
            return s + 2
        if self.link == "quadratic":
            return s.square()
        return (4 * s).cos() if self.link == "cosine" else s

    def kernel(self, u: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        r"""$E_a f(x)f(x')$ from the latents $u = B^\top x$: ``u: (..., m, k)``, ``other: (..., p, k)`` → ``(..., m, p)``.

        Linear $t/k$ with $t = u^\top u'$; affine $t/k + 4$; quadratic $(|u|^2|u'|^2 + 2t^2)/(k(k+2))$; cosine
        $\tfrac12[\varphi(4|u-u'|) + \varphi(4|u+u'|)]$ with φ as in :class:`iclutils.functions.Cosine`.
        """
        k, t = self.k, u @ other.mT
        if self.link in ("linear", "affine"):
            return t / k + (4 if self.link == "affine" else 0)
        sizes = u.square().sum(-1).unsqueeze(-1), other.square().sum(-1).unsqueeze(-2)
        if self.link == "quadratic":
            return (sizes[0] * sizes[1] + 2 * t.square()) / (k * (k + 2))
        squares = (sizes[0] + sizes[1] - 2 * t).clamp(min=0), (sizes[0] + sizes[1] + 2 * t).clamp(min=0)
        return sum(0.5 * torch.as_tensor(special.hyp0f1(k / 2, (-4 * s).numpy())) for s in squares)  # type: ignore[return-value]

    def cubature(self) -> torch.Tensor:
        r"""Task vectors ``a: (Q, k)`` whose equally weighted mean of f(x)f(x') is the kernel (cosine: to 10⁻¹², |x| ≤ 1).

        Linear and affine: $\pm e_j$ for any k. Quadratic and cosine, k = 2: equal angles on the half
        circle, 3 and 16 of them (the trapezoid rule on a trigonometric polynomial; the cosine's Fourier tail
        starts at $J_{32}(8)$); k = 1: a = 1. Raises ``ValueError`` for those links with k > 2.
        """
        if self.link in ("linear", "affine"):
            eye = torch.eye(self.k, dtype=torch.float64)
            return torch.cat([eye, -eye])
        if self.k == 1:
            return torch.ones(1, 1, dtype=torch.float64)
        if self.k > 2:
            raise ValueError(f"cubature of the {self.link} link is given for k at most 2; got k = {self.k}")
        nodes = 3 if self.link == "quadratic" else 16
        angle = torch.arange(nodes, dtype=torch.float64) * math.pi / nodes
        return torch.stack([angle.cos(), angle.sin()], dim=-1)
