r"""Where x lives: covariate distributions as maps from standard Gaussian vectors.

A distribution is a map :math:`z \sim N(0, I_d) \mapsto x`, so that two distributions can be
compared on the same draws, and a trial may carry its own matrix (leading axes of ``root``, ``B``).
"""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.randomness import normal

LARGEST = 1e100  # of a length: its square is a number too


class Covariates(Protocol):
    """What every covariate distribution offers: its dimension and its map from Gaussian vectors."""

    def __hash__(self) -> int: ...

    @property
    def d(self) -> int: ...

    def from_gaussian(self, z: Float[Tensor, "*size d"]) -> Float[Tensor, "*size d"]: ...


def sample(
    covariates: "Law", size: tuple[int, ...], generator: torch.Generator
) -> Float[Tensor, "*size d"]:
    """Draw covariates in float64, ``size`` of them; the last axis of ``size`` are a task's tokens.

    Raises ``TypeError`` or ``ValueError`` where ``size`` is no tuple of whole numbers.

    >>> from iclutils.randomness import stream
    >>> x = sample(Sphere(3), (4, 10), stream(0, "points"))
    >>> tuple(x.shape), bool((x.norm(dim=-1) - 1).abs().max() < 1e-12)
    ((4, 10, 3), True)
    """
    size = validation.sizes("size", size)
    z = normal(*size, covariates.d, generator=generator)
    return of_tasks(covariates, size[:-1], generator).from_gaussian(z)


def normalised(z: Float[Tensor, "*size d"]) -> Float[Tensor, "*size d"]:
    """Vectors scaled to length one; ``ValueError`` where one has no length or is not finite."""
    length: Tensor = z.norm(dim=-1, keepdim=True)
    if z.shape[-1] == 0:  # the spurious part where there is none
        return z
    if not bool((torch.isfinite(length) & (length > 0)).all()):
        raise ValueError("z must have finite vectors that are not zero; others have no direction")
    return z / length


def by_trial(
    x: Float[Tensor, "*size m r"], matrix: Float[Tensor, "*T r c"]
) -> Float[Tensor, "*size m c"]:
    """Tokens ``(*T, ..., m, r)`` times one matrix for all, or one per trial.

    All tokens of a trial are the rows of one large product, which costs less than many small ones.
    """
    rows = x.flatten(matrix.ndim - 2, -2)
    return (rows @ matrix).view(*x.shape[:-1], matrix.shape[-1])


@dataclass(frozen=True)
class Sphere:
    r"""Uniform on the unit sphere, :math:`x = z/\|z\|`.

    Collins et al., Assumption 3.3 with :math:`\Sigma = I`. Raises ``TypeError`` or ``ValueError``
    where d is no whole number above one.
    """

    d: int

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2)

    def from_gaussian(self, z: Float[Tensor, "*size d"]) -> Float[Tensor, "*size d"]:
        """Map Gaussian vectors to the sphere; ``ValueError`` where their dimension is not d."""
        validation.shape("z", z, "... d", d=self.d)
        return normalised(z)


@dataclass(frozen=True, eq=False)
class Stretched:
    r"""Directions of a stretched Gaussian, :math:`x = Rz/\|Rz\|`, one R for all or one per trial.

    Collins et al. use :math:`R = \Sigma` or :math:`\Sigma^{1/2}` with
    :math:`\Sigma = \mathrm{diag}(1..d)` (Section 3.2, the exponent is illegible) and
    :math:`R = J = (G^\top G)^{1/2}` (Appendix J.1). Raises ``ValueError`` where ``root`` is not
    square or not finite.
    """

    root: Float[Tensor, "*T d d"]

    def __post_init__(self) -> None:
        validation.shape("root", self.root, "... d d")
        validation.finite("root", self.root)

    @property
    def d(self) -> int:
        """The ambient dimension."""
        return self.root.shape[-1]

    def from_gaussian(self, z: Float[Tensor, "*size m d"]) -> Float[Tensor, "*size m d"]:
        """Map ``z: (*T, ..., m, d)`` to the sphere, trial by trial.

        Raises ``ValueError`` where the dimension of z is not d.
        """
        validation.shape("z", z, "... m d", d=self.d)
        return normalised(by_trial(z, self.root.mT))


@dataclass(frozen=True)
class StretchedAnew:
    r"""Directions of a Gaussian with a stretch of its own for every task, :math:`x = Gz/\|Gz\|`.

    The other reading of Appendix J.1 of Collins et al., where :math:`J = (G^\top G)^{1/2}` is drawn
    for each task. G is used in place of J: :math:`G = UJ` with U a uniform rotation independent of
    J, and the law of J does not change with a rotation, so the tokens of a task have the same law.
    It is a law of laws: :func:`of_tasks` draws the stretches, and with them it is a map of z.
    Raises ``TypeError`` or ``ValueError`` where d is no whole number above one.
    """

    d: int

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2)

    def stretches(self, size: tuple[int, ...], generator: torch.Generator) -> Stretched:
        """Return the law of the tokens of ``size`` tasks, each with a stretch drawn for it."""
        return Stretched(normal(*size, self.d, self.d, generator=generator))


Law: TypeAlias = Covariates | StretchedAnew


def of_tasks(law: Law, size: tuple[int, ...], generator: torch.Generator) -> Covariates:
    """Return the law of the tokens of ``size`` tasks: the same for all, or one drawn for each.

    >>> from iclutils.randomness import stream
    >>> of_tasks(Sphere(3), (4,), stream(0, "stretches"))
    Sphere(d=3)
    >>> of_tasks(StretchedAnew(3), (4,), stream(0, "stretches")).root.shape
    torch.Size([4, 3, 3])
    """
    return law.stretches(size, generator) if isinstance(law, StretchedAnew) else law


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    r"""A linear image of the sphere, :math:`x = Ru` with u uniform on :math:`S^{d-1}`.

    Collins et al., Assumption B.2 and slides, Lemma 1, with :math:`R = \Sigma^{1/2}`. Raises
    ``ValueError`` where ``root`` is not square or not finite.
    """

    root: Float[Tensor, "d d"]

    def __post_init__(self) -> None:
        validation.shape("root", self.root, "d d")
        validation.finite("root", self.root)

    @property
    def d(self) -> int:
        """The ambient dimension."""
        return self.root.shape[-1]

    def from_gaussian(self, z: Float[Tensor, "*size d"]) -> Float[Tensor, "*size d"]:
        """Map Gaussian vectors; ``ValueError`` where their dimension is not d."""
        validation.shape("z", z, "... d", d=self.d)
        return normalised(z) @ self.root.mT


@dataclass(frozen=True, eq=False)
class TwoSubspaces:
    r"""Label-relevant and spurious directions, u and v uniform on the unit spheres of their spaces.

    .. math:: x = c_u B u + c_v B_\perp v

    Collins et al., Assumption 4.3. Raises ``ValueError`` where :math:`[B, B_\perp]` is no
    orthonormal basis (of each trial) or a length is not finite.
    """

    B: Float[Tensor, "*T d k"]
    B_perp: Float[Tensor, "*T d r"]
    c_u: float = 1.0
    c_v: float = 1.0

    def __post_init__(self) -> None:
        validation.in_range("c_u", self.c_u, -LARGEST, LARGEST)
        validation.in_range("c_v", self.c_v, -LARGEST, LARGEST)
        sizes = validation.shape("B", self.B, "... d k")
        d = sizes["d"]
        validation.shape("B_perp", self.B_perp, "... d r", d=d, r=d - sizes["k"])
        validation.orthonormal("[B, B_perp]", torch.cat([self.B, self.B_perp], dim=-1))

    @property
    def d(self) -> int:
        """The ambient dimension."""
        return self.B.shape[-2]

    def from_gaussian(self, z: Float[Tensor, "*size m d"]) -> Float[Tensor, "*size m d"]:
        """Map ``z: (*T, ..., m, d)``: its first k coordinates give u, the others v.

        Raises ``ValueError`` where the dimension of z is not d.
        """
        validation.shape("z", z, "... m d", d=self.d)
        k = self.B.shape[-1]
        parts = torch.cat([normalised(z[..., :k]), normalised(z[..., k:])], dim=-1)
        axes = torch.cat([self.c_u * self.B, self.c_v * self.B_perp], dim=-1)
        return by_trial(parts, axes.mT)
