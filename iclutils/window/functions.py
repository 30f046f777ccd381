r"""Classes of task functions, their draws and their second moments (kernels).

Every class draws tasks at Lipschitz constant 1 (``sample``) and scales them when it evaluates, so
that two classes that differ in ``L`` alone can be compared on the same tasks. Shapes: a task carries
leading axes ``*size``; ``x: (*size, m, d)`` gives ``f(x): (*size, m)``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from scipy import special

from iclutils import validation

Task = dict[str, torch.Tensor]


class FunctionClass(Protocol):
    """What pretraining needs of a function class."""

    @property
    def name(self) -> str: ...

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task: ...

    def evaluate(self, task: Task, x: torch.Tensor) -> torch.Tensor: ...


def directions(size: tuple[int, ...], d: int, generator: torch.Generator) -> torch.Tensor:
    r"""Draw unit vectors, uniform on $S^{d-1}$; ``(*size, d)``."""
    w = torch.randn(*size, d, generator=generator, dtype=torch.float64)
    return w / w.norm(dim=-1, keepdim=True)


def _symmetric_uniform(size: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return 2 * torch.rand(*size, generator=generator, dtype=torch.float64) - 1


def along(w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    r"""$w^\top x$ for every token: ``w: (*size, d)``, ``x: (*size, m, d)``; ``(*size, m)``."""
    return (x @ w.unsqueeze(-1)).squeeze(-1)


def _multiplicity(k: torch.Tensor, d: int) -> torch.Tensor:
    """Number of spherical harmonics of degree k in dimension d."""
    count = (2 * k + d - 2) / k.clamp(min=1) * torch.as_tensor(special.binom((k + d - 3).numpy(), (k - 1).clamp(min=0).numpy()))
    return torch.where(k == 0, torch.ones_like(count), count)


@dataclass(frozen=True)
class _Isotropic:
    """What the three classes share: dimension, Lipschitz constant, and V(t) from the covariance."""

    d: int
    L: float = 1.0

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2)
        validation.positive("L", self.L)

    def covariance(self, t: torch.Tensor) -> torch.Tensor:
        r"""$E_f f(x)f(y)$ as a function of $t = x^\top y$ on the unit sphere."""
        raise NotImplementedError

    def half_variogram(self, t: torch.Tensor) -> torch.Tensor:
        r"""$V(t) = \tfrac12 E_f (f(x) - f(y))^2$ as a function of $t = x^\top y$ on the unit sphere."""
        t = torch.as_tensor(t, dtype=torch.float64)
        return self.covariance(torch.ones((), dtype=torch.float64)) - self.covariance(t)

    def spectrum(self, degrees: torch.Tensor) -> torch.Tensor:
        r"""The coefficients $c_k$ of the covariance, $K(t)=\sum_k c_kP_k(t)$ with $P_k(1)=1$; ``degrees: (K,)`` whole."""
        raise NotImplementedError


@dataclass(frozen=True)
class Affine(_Isotropic):
    r"""$f(x) = l\,w^\top x + b$ with $w$ uniform on $S^{d-1}$ and $l, b$ uniform on $[-L, L]$ (Collins et al., Def. 3.2).

    On the unit sphere $E f(x)f(y) = \tfrac{L^2}{3}(1 + t/d)$ and $V = L^2(1-t)/(3d)$. ``offset=False`` sets b = 0.
    """

    offset: bool = True
    name: ClassVar[str] = "affine"

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks ``w: (*size, d)``, ``l, b: (*size,)`` at L = 1."""
        w = directions(size, self.d, generator)
        return {"w": w, "l": _symmetric_uniform(size, generator), "b": _symmetric_uniform(size, generator)}

    def evaluate(self, task: Task, x: torch.Tensor) -> torch.Tensor:
        """f at ``x: (*size, m, d)``, with the slope and offset scaled by L."""
        value = task["l"].unsqueeze(-1) * along(task["w"], x)
        return self.L * (value + task["b"].unsqueeze(-1) if self.offset else value)

    def covariance(self, t: torch.Tensor) -> torch.Tensor:
        """L²/3 · (t/d + 1), without the 1 where there is no offset."""
        return self.L**2 / 3 * (t / self.d + float(self.offset))

    def spectrum(self, degrees: torch.Tensor) -> torch.Tensor:
        """c₀ = L²/3 (with the offset), c₁ = L²/(3d)."""
        return self.L**2 / 3 * ((degrees == 1).double() / self.d + (degrees == 0).double() * float(self.offset))


@dataclass(frozen=True)
class ReLU(_Isotropic):
    r"""$f(x) = l_1(w^\top x)_+ + l_2(-w^\top x)_+ + b$, with $l_1, l_2, b$ uniform on $[-L, L]$ (Collins et al., Def. 3.2).

    With $\theta = \arccos t$: $V = L^2[\pi - \sin\theta - (\pi-\theta)\cos\theta]/(3\pi d)$. ``offset=False`` sets b = 0.
    """

    offset: bool = True
    name: ClassVar[str] = "relu"

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks ``w: (*size, d)``, ``l1, b, l2: (*size,)`` at L = 1."""
        w = directions(size, self.d, generator)
        l1, b, l2 = (_symmetric_uniform(size, generator) for _ in range(3))
        return {"w": w, "l1": l1, "l2": l2, "b": b}

    def evaluate(self, task: Task, x: torch.Tensor) -> torch.Tensor:
        """f at ``x: (*size, m, d)``, with slopes and offset scaled by L."""
        s = along(task["w"], x)
        value = task["l1"].unsqueeze(-1) * s.clamp(min=0) + task["l2"].unsqueeze(-1) * (-s).clamp(min=0)
        return self.L * (value + task["b"].unsqueeze(-1) if self.offset else value)

    def covariance(self, t: torch.Tensor) -> torch.Tensor:
        """L²/3 · [(sin θ + (π−θ) cos θ)/(πd) + 1] (arc-cosine kernel), without the 1 where there is no offset."""
        t = torch.as_tensor(t, dtype=torch.float64).clamp(-1, 1)
        theta = t.arccos()
        kernel = (theta.sin() + (math.pi - theta) * t) / (math.pi * self.d)
        return self.L**2 / 3 * (kernel + float(self.offset))

    def spectrum(self, degrees: torch.Tensor) -> torch.Tensor:
        r"""$c_1 = L^2/(6d)$; for even k $c_k = \tfrac{L^2}6N_k\lambda_k^2$ with $\lambda_k = E|t|P_k(t)$; the offset adds to c₀.

        $\lambda_k = \pm\frac{\Gamma(d/2)}{\sqrt\pi}\frac{2^{1-k}(k-2)!}{(k/2-1)!\,\Gamma((k+d+1)/2)}$ for k ≥ 2
        (Rodrigues' formula), $\lambda_0 = E|t|$.
        """
        k = degrees.double()
        even = torch.where((degrees % 2 == 0) & (degrees > 1), k, torch.full_like(k, 2.0))
        log_size = (math.lgamma(self.d / 2) - 0.5 * math.log(math.pi) + (1 - even) * math.log(2) + torch.lgamma(even - 1)
                    - torch.lgamma(even / 2) - torch.lgamma((even + self.d + 1) / 2))
        c = _multiplicity(even, self.d) * (2 * log_size).exp() * (degrees % 2 == 0)
        mean = math.exp(math.lgamma(self.d / 2) - math.lgamma((self.d + 1) / 2)) / math.sqrt(math.pi)
        c = torch.where(degrees == 0, torch.full_like(c, mean**2 + 2 * float(self.offset)), c)
        return self.L**2 / 6 * torch.where(degrees == 1, torch.full_like(c, 1 / self.d), c)


@dataclass(frozen=True)
class Cosine(_Isotropic):
    r"""$f(x) = \cos(L\,w^\top x)$ with $w$ uniform on $S^{d-1}$ (Collins et al., Section 3.2).

    $E f(x)f(y) = \tfrac12[\varphi(L|x-y|) + \varphi(L|x+y|)]$ with
    $\varphi(r) = E\cos(r w_1) = \Gamma(d/2)(2/r)^{d/2-1}J_{d/2-1}(r)$.
    """

    name: ClassVar[str] = "cosine"

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks ``w: (*size, d)``."""
        return {"w": directions(size, self.d, generator)}

    def evaluate(self, task: Task, x: torch.Tensor) -> torch.Tensor:
        """f at ``x: (*size, m, d)``."""
        return (self.L * along(task["w"], x)).cos()

    def covariance(self, t: torch.Tensor) -> torch.Tensor:
        """½[φ(L√(2−2t)) + φ(L√(2+2t))]; valid for |x| = |y| = 1 and t = xᵀy."""
        t = torch.as_tensor(t, dtype=torch.float64)
        return 0.5 * (self._phi((2 - 2 * t).clamp(min=0)) + self._phi((2 + 2 * t).clamp(min=0)))

    def spectrum(self, degrees: torch.Tensor) -> torch.Tensor:
        r"""$c_k = N_k\left[\Gamma(d/2)(2/L)^{d/2-1}J_{k+d/2-1}(L)\right]^2$ for even k, zero for odd k."""
        k, order = degrees.double(), self.d / 2 - 1
        size = math.gamma(self.d / 2) * (2 / self.L) ** order * torch.as_tensor(special.jv((k + order).numpy(), self.L))
        return _multiplicity(k, self.d) * size**2 * (degrees % 2 == 0)

    def _phi(self, squared: torch.Tensor) -> torch.Tensor:
        # Γ(d/2)(2/r)^{d/2−1}J_{d/2−1}(r) = ₀F₁(; d/2; −r²/4), which is smooth at r = 0
        return torch.as_tensor(special.hyp0f1(self.d / 2, (-(self.L**2) / 4 * squared).numpy()))


@dataclass(frozen=True, eq=False)
class Through:
    r"""Tasks of another class seen through a matrix, $f(x) = g(R^\top x)$; ``root: (d, d)``.

    With $R = \Sigma^{-1/2}$ the directions of affine and ReLU tasks are $\Sigma^{-1/2}u$ (Collins et al., Definition B.3).
    """

    function: Affine | ReLU | Cosine
    root: torch.Tensor

    def __post_init__(self) -> None:
        validation.shape("root", self.root, "d d", d=self.function.d)
        validation.finite("root", self.root)

    @property
    def name(self) -> str:
        """The name of the class that is seen."""
        return self.function.name

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks of the class that is seen."""
        return self.function.sample(size, generator)

    def evaluate(self, task: Task, x: torch.Tensor) -> torch.Tensor:
        """g at Rᵀx, ``x: (*size, m, d)``."""
        return self.function.evaluate(task, x @ self.root)


@dataclass(frozen=True)
class Hills:
    r"""Randomly shifted waves on the circle, b uniform on $[-\pi,\pi]$ (Collins et al., Appendix J, for Figure 1).

    ``reading="amplitude"`` is the class as printed, $f = \nu\cos(\theta-b)$; ``reading="frequency"`` is
    $f = \cos(\nu\theta-b)$, with the angle θ cut at ±π where ν is not whole. Both have Lipschitz constant ν in θ.
    """

    nu: float
    reading: str = "amplitude"
    d: ClassVar[int] = 2
    name: ClassVar[str] = "hills"

    def __post_init__(self) -> None:
        validation.nonnegative("nu", self.nu)
        validation.one_of("reading", self.reading, ("amplitude", "frequency"))

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks ``b: (*size,)``."""
        return {"b": math.pi * _symmetric_uniform(size, generator)}

    def evaluate(self, task: Task, x: torch.Tensor) -> torch.Tensor:
        """f at ``x: (*size, m, 2)``."""
        theta, b = torch.atan2(x[..., 1], x[..., 0]), task["b"].unsqueeze(-1)
        return self.nu * (theta - b).cos() if self.reading == "amplitude" else (self.nu * theta - b).cos()

    def covariance(self, t: torch.Tensor) -> torch.Tensor:
        """ν²t/2 (amplitude) or cos(νθ)/2 with θ = arccos t (frequency); ``ValueError`` where that needs a whole ν."""
        t = torch.as_tensor(t, dtype=torch.float64)
        if self.reading == "amplitude":
            return self.nu**2 * t / 2
        if self.nu != round(self.nu):
            raise ValueError(f"nu must be whole for a covariance in t alone (the cut at ±π shows); got {self.nu:g}")
        return (self.nu * t.clamp(-1, 1).arccos()).cos() / 2

    def spectrum(self, degrees: torch.Tensor) -> torch.Tensor:
        """All in one degree: ν²/2 in degree 1 (amplitude), 1/2 in degree ν (frequency, whole ν)."""
        if self.reading == "amplitude":
            return self.nu**2 / 2 * (degrees == 1).double()
        return float(self.covariance(torch.ones(()).double())) * (degrees == round(self.nu)).double()


@dataclass(frozen=True)
class Distance:
    r"""Rough L-Lipschitz tasks outside the paper's classes: $f(x) = L\min_j\|x-c_j\|$, ``centres`` uniform points c_j."""

    d: int
    L: float = 1.0
    centres: int = 64
    name: ClassVar[str] = "distance"

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2)
        validation.positive("L", self.L)
        validation.whole("centres", self.centres)

    def sample(self, size: tuple[int, ...], generator: torch.Generator) -> Task:
        """Draw tasks ``c: (*size, centres, d)``."""
        return {"c": directions((*size, self.centres), self.d, generator)}

    def evaluate(self, task: Task, x: torch.Tensor) -> torch.Tensor:
        """f at ``x: (*size, m, d)`` of unit length."""
        closest = (x @ task["c"].mT).amax(-1)
        return self.L * (2 - 2 * closest).clamp(min=0).sqrt()


CLASSES: dict[str, Callable[..., Affine | ReLU | Cosine]] = {"affine": Affine, "relu": ReLU, "cosine": Cosine}


def by_name(name: str, d: int, L: float = 1.0) -> Affine | ReLU | Cosine:
    """The class called ``name`` ("affine", "relu", "cosine") in dimension d with Lipschitz constant L.

    Raises ``KeyError`` for an unknown name.
    """
    validation.one_of("name", name, CLASSES)
    return CLASSES[name](d, L)
