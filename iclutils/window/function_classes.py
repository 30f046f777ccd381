r"""Classes of task functions, their draws and their second moments (kernels).

Every class draws tasks at Lipschitz constant 1 (``sample``) and scales them when it evaluates, so
that two classes that differ in ``L`` alone can be compared on the same tasks. A task carries
leading axes ``*size``: f at ``x: (*size, m, d)`` is ``(*size, m)``.
"""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from jaxtyping import Float, Int
from scipy import special
from torch import Tensor

from iclutils import sphere, validation
from iclutils.randomness import normal
from iclutils.window.covariates import normalised

Task = dict[str, Tensor]


class FunctionClass(Protocol):
    """What pretraining needs of a function class.

    ``law`` is what ``sample`` depends on: classes of one law draw the same tasks from a stream.
    """

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def law(self) -> Hashable: ...

    @property
    def d(self) -> int: ...

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task: ...

    def evaluate(self, task: Task, x: Float[Tensor, "*size m d"]) -> Float[Tensor, "*size m"]: ...


def directions(
    size: tuple[int, ...], d: int, generator: torch.Generator
) -> Float[Tensor, "*size d"]:
    r"""Draw unit vectors, uniform on :math:`S^{d-1}`.

    Raises ``TypeError`` or ``ValueError`` where ``size`` is no tuple of whole numbers or d is
    below 1.
    """
    size = validation.sizes("size", size)
    validation.whole("d", d)
    return normalised(normal(*size, d, generator=generator))


def along(
    w: Float[Tensor, "*tasks d"], x: Float[Tensor, "*points m d"]
) -> Float[Tensor, "*both m"]:
    r""":math:`w^\top x` for every token; the leading axes broadcast.

    Raises ``ValueError`` where the tokens have another dimension than w.
    """
    validation.shape("x", x, "... m d", d=w.shape[-1])
    return (x @ w.unsqueeze(-1)).squeeze(-1)


def symmetric_uniform(size: tuple[int, ...], generator: torch.Generator) -> Float[Tensor, "*size"]:
    """Draw numbers, uniform on [−1, 1].

    Raises ``TypeError`` or ``ValueError`` where ``size`` is no tuple of whole numbers.
    """
    size = validation.sizes("size", size)
    return 2 * torch.rand(*size, generator=generator, dtype=torch.float64) - 1


def parameters(task: Task, *names: str) -> list[Tensor]:
    """Return the parameters of tasks, in this order.

    Raises ``ValueError`` where the task has others: it was drawn by another class.
    """
    if set(task) != set(names):
        raise ValueError(f"task must have the parameters {list(names)}; got {list(task)}")
    return [task[name] for name in names]


LARGEST = 1e100  # of a Lipschitz constant: its square is a number too
LARGEST_GAMMA = 343  # the largest d whose Γ(d/2) a number can hold
ROUNDING = 1e-6  # by which a product of unit vectors may leave [−1, 1], in single precision too


def products(t: Float[Tensor, "*batch"] | float) -> Float[Tensor, "*batch"]:
    """Scalar products of unit vectors in double precision, checked: in [−1, 1] but for rounding."""
    t = torch.as_tensor(t, dtype=torch.float64)
    return validation.within("t", t, -1 - ROUNDING, 1 + ROUNDING)


@dataclass(frozen=True)
class _Isotropic:
    """What the three classes share: dimension, Lipschitz constant, and V(t) from the covariance."""

    d: int
    L: float = 1.0

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2)
        validation.in_range("L", self.L, 0.0, LARGEST, open_low=True)

    @property
    def law(self) -> Hashable:
        """The tasks depend on the class and on d."""
        return type(self), self.d

    def _along(
        self, w: Float[Tensor, "*tasks d"], x: Float[Tensor, "*points m d"]
    ) -> Float[Tensor, "*both m"]:
        """As :func:`along`, for tasks of the class's own dimension."""
        validation.shape("w of task", w, "... d", d=self.d)
        return along(w, x)

    def covariance(self, t: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        r""":math:`E_f f(x)f(y)` as a function of :math:`t = x^\top y` on the unit sphere."""
        raise NotImplementedError

    def spectrum(self, degrees: Int[Tensor, " K"]) -> Float[Tensor, " K"]:
        r"""Compute the coefficients :math:`c_k`, where :math:`K(t)=\sum_k c_kP_k(t)`.

        :math:`P_k` are the Gegenbauer polynomials of :func:`iclutils.sphere.gegenbauer`.
        Raises ``ValueError`` for a degree that is no whole number from 0 on.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Affine(_Isotropic):
    r"""Affine tasks with w uniform on :math:`S^{d-1}` and l, b uniform on :math:`[-L, L]`.

    .. math:: f(x) = l\,w^\top x + b,\qquad E f(x)f(y) = \tfrac{L^2}{3}\bigl(1 + \tfrac td\bigr)

    on the unit sphere (Collins et al., Definition 3.2). ``offset=False`` sets b = 0. Raises
    ``TypeError`` or ``ValueError`` for d below 2 or L not above 0.

    >>> covariance = Affine(5, 3.0).covariance(torch.tensor([1.0, -1.0], dtype=torch.float64))
    >>> covariance.numpy().round(6).tolist()
    [3.6, 2.4]
    """

    offset: bool = True
    name: ClassVar[str] = "affine"

    def __post_init__(self) -> None:
        super().__post_init__()
        validation.flag("offset", self.offset)

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks ``w: (*size, d)``, ``l, b: (*size,)`` at L = 1."""
        w = directions(size, self.d, generator)
        slope = symmetric_uniform(size, generator)
        return {"w": w, "l": slope, "b": symmetric_uniform(size, generator)}

    def evaluate(self, task: Task, x: Float[Tensor, "*points m d"]) -> Float[Tensor, "*both m"]:
        """f, with the slope and offset scaled by L."""
        w, slope, b = parameters(task, "w", "l", "b")
        value = slope.unsqueeze(-1) * self._along(w, x)
        return self.L * (value + b.unsqueeze(-1) if self.offset else value)

    def covariance(self, t: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        """L²/3 · (t/d + 1), without the 1 where there is no offset."""
        t = products(t)
        return self.L**2 / 3 * (t / self.d + float(self.offset))

    def spectrum(self, degrees: Int[Tensor, " K"]) -> Float[Tensor, " K"]:
        """c₀ = L²/3 (with the offset), c₁ = L²/(3d)."""
        validation.wholes("degrees", degrees, low=0)
        first = (degrees == 1).double() / self.d
        constant = (degrees == 0).double() * float(self.offset)
        return self.L**2 / 3 * (first + constant)


@dataclass(frozen=True)
class ReLU(_Isotropic):
    r"""Tasks with a kink, w uniform on :math:`S^{d-1}` and :math:`l_1, l_2, b` on :math:`[-L, L]`.

    .. math:: f(x) = l_1(w^\top x)_+ + l_2(-w^\top x)_+ + b

    (Collins et al., Definition 3.2). ``offset=False`` sets b = 0. Raises ``TypeError`` or
    ``ValueError`` for d below 2 or L not above 0.
    """

    offset: bool = True
    name: ClassVar[str] = "relu"

    def __post_init__(self) -> None:
        super().__post_init__()
        validation.flag("offset", self.offset)

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks ``w: (*size, d)``, ``l1, b, l2: (*size,)`` at L = 1."""
        w = directions(size, self.d, generator)
        l1, b, l2 = (symmetric_uniform(size, generator) for _ in range(3))
        return {"w": w, "l1": l1, "l2": l2, "b": b}

    def evaluate(self, task: Task, x: Float[Tensor, "*points m d"]) -> Float[Tensor, "*both m"]:
        """f, with slopes and offset scaled by L."""
        w, l1, l2, b = parameters(task, "w", "l1", "l2", "b")
        s = self._along(w, x)
        value = l1.unsqueeze(-1) * s.clamp(min=0) + l2.unsqueeze(-1) * (-s).clamp(min=0)
        return self.L * (value + b.unsqueeze(-1) if self.offset else value)

    def covariance(self, t: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        r"""Compute the arc-cosine kernel, with :math:`\theta = \arccos t`.

        .. math:: \tfrac{L^2}3\Bigl[\frac{\sin\theta + (\pi-\theta)\cos\theta}{\pi d} + 1\Bigr]

        without the 1 where there is no offset.
        """
        t = products(t).clamp(-1, 1)
        theta = t.arccos()
        kernel = (theta.sin() + (math.pi - theta) * t) / (math.pi * self.d)
        return self.L**2 / 3 * (kernel + float(self.offset))

    def spectrum(self, degrees: Int[Tensor, " K"]) -> Float[Tensor, " K"]:
        r"""Compute the coefficients from the moments :math:`\lambda_k = E|t|P_k(t)`.

        .. math:: c_1 = \frac{L^2}{6d},\qquad c_k = \tfrac{L^2}6N_k\lambda_k^2\ (k\ \text{even}),
                  \qquad \lambda_k = \pm\frac{\Gamma(d/2)}{\sqrt\pi}
                  \frac{2^{1-k}(k-2)!}{(k/2-1)!\,\Gamma((k+d+1)/2)}\ (k\ge 2)

        by Rodrigues' formula; :math:`\lambda_0 = E|t|`, and the offset adds to c₀.
        """
        k = validation.wholes("degrees", degrees, low=0).double()
        is_even = degrees % 2 == 0
        even = torch.where(is_even & (degrees > 1), k, torch.full_like(k, 2.0))
        log_size = (
            math.lgamma(self.d / 2)
            - 0.5 * math.log(math.pi)
            + (1 - even) * math.log(2)
            + torch.lgamma(even - 1)
            - torch.lgamma(even / 2)
            - torch.lgamma((even + self.d + 1) / 2)
        )
        c = sphere.multiplicity(even, self.d) * (2 * log_size).exp() * is_even
        log_mean = math.lgamma(self.d / 2) - math.lgamma((self.d + 1) / 2)
        mean = math.exp(log_mean) / math.sqrt(math.pi)
        c = torch.where(degrees == 0, torch.full_like(c, mean**2 + 2 * float(self.offset)), c)
        return self.L**2 / 6 * torch.where(degrees == 1, torch.full_like(c, 1 / self.d), c)


@dataclass(frozen=True)
class Cosine(_Isotropic):
    r"""Waves with w uniform on :math:`S^{d-1}` (Collins et al., Section 3.2).

    .. math:: f(x) = \cos(L\,w^\top x),\qquad
              E f(x)f(y) = \tfrac12[\varphi(L|x-y|) + \varphi(L|x+y|)]

    with φ of :func:`iclutils.sphere.characteristic`. Raises ``TypeError`` or ``ValueError``
    for d below 2 or L not above 0.
    """

    name: ClassVar[str] = "cosine"

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks ``w: (*size, d)``."""
        return {"w": directions(size, self.d, generator)}

    def evaluate(self, task: Task, x: Float[Tensor, "*points m d"]) -> Float[Tensor, "*both m"]:
        """f, with L inside the cosine."""
        (w,) = parameters(task, "w")
        return (self.L * self._along(w, x)).cos()

    def covariance(self, t: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        """½[φ(L√(2−2t)) + φ(L√(2+2t))], for unit vectors."""
        return sphere.wave_product(products(t), self.d, self.L)

    def spectrum(self, degrees: Int[Tensor, " K"]) -> Float[Tensor, " K"]:
        r"""Zero for odd k, and for even k

        .. math:: c_k = N_k\left[\Gamma(d/2)(2/L)^{d/2-1}J_{k+d/2-1}(L)\right]^2

        Raises ``ValueError`` for d above 343, where Γ(d/2) is no number.
        """
        validation.whole("d of a cosine's spectrum", self.d, high=LARGEST_GAMMA)
        k = validation.wholes("degrees", degrees, low=0).double()
        order = self.d / 2 - 1
        bessel = torch.as_tensor(special.jv((k + order).numpy(), self.L))
        size: Tensor = math.gamma(self.d / 2) * (2 / self.L) ** order * bessel
        return sphere.multiplicity(k, self.d) * size**2 * (degrees % 2 == 0)


CLASSES: dict[str, Callable[..., Affine | ReLU | Cosine]] = {
    "affine": Affine,
    "relu": ReLU,
    "cosine": Cosine,
}


def by_name(name: str, d: int, L: float = 1.0) -> Affine | ReLU | Cosine:
    """Make the class called "affine", "relu" or "cosine", in dimension d with Lipschitz constant L.

    Raises ``KeyError`` for another name, and what the class raises for d and L.

    >>> by_name("cosine", 5, 2.0)
    Cosine(d=5, L=2.0)
    """
    validation.one_of("name", name, CLASSES)
    return CLASSES[name](d, L)


@dataclass(frozen=True)
class Hills:
    r"""Randomly shifted waves on the circle, b uniform on :math:`[-\pi,\pi]`.

    ``reading="amplitude"`` is the class as printed in Collins et al., Appendix J, for Figure 1,
    :math:`f = \nu\cos(\theta-b)`; ``reading="frequency"`` is :math:`f = \cos(\nu\theta-b)`, with
    the angle θ cut at ±π where ν is not whole. Both have Lipschitz constant ν in θ. Raises
    ``ValueError`` for ν below 0, ``KeyError`` for another reading.
    """

    nu: float
    reading: str = "amplitude"
    d: ClassVar[int] = 2
    name: ClassVar[str] = "hills"
    law: ClassVar[Hashable] = "hills"

    def __post_init__(self) -> None:
        validation.nonnegative("nu", self.nu)
        validation.one_of("reading", self.reading, ("amplitude", "frequency"))

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks ``b: (*size,)``."""
        return {"b": math.pi * symmetric_uniform(size, generator)}

    def evaluate(self, task: Task, x: Float[Tensor, "*points m 2"]) -> Float[Tensor, "*both m"]:
        """f at points of the plane, read by their angle."""
        validation.shape("x", x, "... m 2")
        theta = torch.atan2(x[..., 1], x[..., 0])
        (b,) = (one.unsqueeze(-1) for one in parameters(task, "b"))
        if self.reading == "amplitude":
            return self.nu * (theta - b).cos()
        return (self.nu * theta - b).cos()

    def covariance(self, t: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        """ν²t/2 (amplitude) or cos(νθ)/2 with θ = arccos t (frequency).

        Raises ``ValueError`` where the latter is no function of t, for ν that is not whole.
        """
        t = torch.as_tensor(t, dtype=torch.float64)
        if self.reading == "amplitude":
            return self.nu**2 * t / 2
        if self.nu != round(self.nu):
            raise ValueError(
                "nu must be whole for a covariance in t alone (the cut at ±π shows);"
                f" got {self.nu:g}"
            )
        return (self.nu * t.clamp(-1, 1).arccos()).cos() / 2

    def spectrum(self, degrees: Int[Tensor, " K"]) -> Float[Tensor, " K"]:
        """All in one degree: ν²/2 in degree 1 (amplitude), 1/2 in degree ν (frequency, whole ν)."""
        validation.wholes("degrees", degrees, low=0)
        if self.reading == "amplitude":
            return self.nu**2 / 2 * (degrees == 1).double()
        power = float(self.covariance(torch.ones((), dtype=torch.float64)))
        return power * (degrees == round(self.nu)).double()


@dataclass(frozen=True)
class Distance:
    r"""Rough L-Lipschitz tasks outside the paper's classes, ``centres`` uniform points :math:`c_j`.

    .. math:: f(x) = L\min_j\|x-c_j\|

    Raises ``TypeError`` or ``ValueError`` for d below 2, L not above 0, ``centres`` below 1.
    """

    d: int
    L: float = 1.0
    centres: int = 64
    name: ClassVar[str] = "distance"

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2)
        validation.in_range("L", self.L, 0.0, LARGEST, open_low=True)
        validation.whole("centres", self.centres)

    @property
    def law(self) -> Hashable:
        """The tasks depend on d and on the number of centres."""
        return "distance", self.d, self.centres

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks ``c: (*size, centres, d)``."""
        return {"c": directions((*size, self.centres), self.d, generator)}

    def evaluate(self, task: Task, x: Float[Tensor, "*points m d"]) -> Float[Tensor, "*both m"]:
        """f at unit vectors."""
        validation.shape("x", x, "... m d", d=self.d)
        (centres,) = parameters(task, "c")
        closest = (x @ centres.mT).amax(-1)
        return self.L * (2 - 2 * closest).clamp(min=0).sqrt()


@dataclass(frozen=True, eq=False)
class Through:
    r"""Tasks g of another class seen through a matrix, :math:`f(x) = g(R^\top x)`.

    With :math:`R = \Sigma^{-1/2}` the directions of affine and ReLU tasks are
    :math:`\Sigma^{-1/2}u` (Collins et al., Definition B.3). Raises ``ValueError`` where ``root`` is
    not finite or not of the class's dimension.
    """

    function: Affine | ReLU | Cosine
    root: Float[Tensor, "d d"]

    def __post_init__(self) -> None:
        validation.shape("root", self.root, "d d", d=self.function.d)
        validation.finite("root", self.root)

    @property
    def name(self) -> str:
        """The name of the class that is seen."""
        return self.function.name

    @property
    def law(self) -> Hashable:
        """The law of the class that is seen."""
        return self.function.law

    @property
    def d(self) -> int:
        """The dimension of the tokens."""
        return self.function.d

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks of the class that is seen."""
        return self.function.sample(size, generator)

    def evaluate(self, task: Task, x: Float[Tensor, "*points m d"]) -> Float[Tensor, "*both m"]:
        r"""g at :math:`R^\top x`."""
        return self.function.evaluate(task, x @ self.root)
