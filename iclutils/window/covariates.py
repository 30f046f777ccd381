"""Where x lives: covariate distributions as maps from standard Gaussian vectors.

A distribution is a map z ~ N(0, I_d) → x, so that two distributions can be compared on the same
draws and a trial may carry its own matrix (leading axes of ``root``, ``B``).
"""

from dataclasses import dataclass
from typing import Protocol

import torch

from iclutils import validation


class Covariates(Protocol):
    """What every covariate distribution offers: its dimension and its map from Gaussian vectors."""

    @property
    def d(self) -> int: ...

    def from_gaussian(self, z: torch.Tensor) -> torch.Tensor: ...


def sample(covariates: Covariates, size: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Draw covariates, ``x: (*size, d)`` in float64."""
    return covariates.from_gaussian(torch.randn(*size, covariates.d, generator=generator, dtype=torch.float64))


def _aligned(matrix: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """Give ``matrix: (*T, r, c)`` as many axes as ``z: (*T, ..., m, c)`` so that leading axes meet leading axes."""
    lead = matrix.shape[:-2]
    return matrix.reshape(*lead, *(1,) * (z.ndim - matrix.ndim), *matrix.shape[-2:])


@dataclass(frozen=True)
class Sphere:
    r"""Uniform on the unit sphere, $x = z/\|z\|$ (Collins et al., Assumption 3.3 with $\Sigma = I$)."""

    d: int

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2)

    def from_gaussian(self, z: torch.Tensor) -> torch.Tensor:
        """Map ``z: (..., d)`` to the sphere."""
        validation.shape("z", z, "... d", d=self.d)
        return z / z.norm(dim=-1, keepdim=True)


@dataclass(frozen=True, eq=False)
class Stretched:
    r"""Directions of a stretched Gaussian, $x = Rz/\|Rz\|$; ``root: (*T, d, d)``, leading axes one matrix per trial.

    Collins et al. use $R = \Sigma$ or $\Sigma^{1/2}$ with $\Sigma = \mathrm{diag}(1..d)$ (Section 3.2, the exponent is
    illegible) and $R = J = (G^\top G)^{1/2}$ (Appendix J.1).
    """

    root: torch.Tensor

    def __post_init__(self) -> None:
        validation.shape("root", self.root, "... d d")
        validation.finite("root", self.root)

    @property
    def d(self) -> int:
        """The ambient dimension."""
        return self.root.shape[-1]

    def from_gaussian(self, z: torch.Tensor) -> torch.Tensor:
        """Map ``z: (*T, ..., m, d)`` to the sphere, trial by trial."""
        validation.shape("z", z, "... m d", d=self.d)
        x = z @ _aligned(self.root.mT, z)
        return x / x.norm(dim=-1, keepdim=True)


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    r"""A linear image of the sphere, $x = Ru$ with u uniform on $S^{d-1}$; ``root: (d, d)``.

    Collins et al., Assumption B.2 and slides, Lemma 1, with $R = \Sigma^{1/2}$.
    """

    root: torch.Tensor

    def __post_init__(self) -> None:
        validation.shape("root", self.root, "d d")
        validation.finite("root", self.root)

    @property
    def d(self) -> int:
        """The ambient dimension."""
        return self.root.shape[-1]

    def from_gaussian(self, z: torch.Tensor) -> torch.Tensor:
        """Map ``z: (..., d)``."""
        validation.shape("z", z, "... d", d=self.d)
        return z / z.norm(dim=-1, keepdim=True) @ self.root.mT


@dataclass(frozen=True, eq=False)
class TwoSubspaces:
    r"""Label-relevant and spurious directions, $x = c_u B u + c_v B_\perp v$ with u, v uniform on their unit spheres.

    Collins et al., Assumption 4.3. ``B: (*T, d, k)`` and ``B_perp: (*T, d, d−k)`` have orthonormal columns.
    """

    B: torch.Tensor
    B_perp: torch.Tensor
    c_u: float = 1.0
    c_v: float = 1.0

    def __post_init__(self) -> None:
        d = validation.shape("B", self.B, "... d k")["d"]
        validation.shape("B_perp", self.B_perp, "... d r", d=d, r=d - self.B.shape[-1])
        frame = torch.cat([self.B, self.B_perp], dim=-1)
        error = float((frame.mT @ frame - torch.eye(d, dtype=frame.dtype)).abs().max())
        if error > 1e-8:
            raise ValueError(f"[B, B_perp] must have orthonormal columns; they miss by {error:.1e}")

    @property
    def d(self) -> int:
        """The ambient dimension."""
        return self.B.shape[-2]

    def from_gaussian(self, z: torch.Tensor) -> torch.Tensor:
        """Map ``z: (*T, ..., m, d)``: its first k coordinates give u, the others v."""
        validation.shape("z", z, "... m d", d=self.d)
        k = self.B.shape[-1]
        u, v = (part / part.norm(dim=-1, keepdim=True) for part in (z[..., :k], z[..., k:]))
        return self.c_u * u @ _aligned(self.B.mT, z) + self.c_v * v @ _aligned(self.B_perp.mT, z)
