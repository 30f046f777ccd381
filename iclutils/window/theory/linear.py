r"""Linear attention's population loss in closed form: a convex quadratic in M.

For a rotation-invariant task class on the sphere, with $F = Ef^2$ and $c_1$ the linear part of its
covariance $k(t) = \sum_k c_kP_k(t)$, and $g = \sum_i y_ix_i$,

$$\mathcal L_{LA}(M) = \tfrac{a}{d}\|M\|_F^2 - \tfrac{2nc_1}{d^2}\operatorname{tr}M + F,\qquad
a = \tfrac1d E\|g\|^2 = \tfrac nd\Big(F+\sigma^2+(n-1)\tfrac{c_1}d\Big).$$

Of a task the unit sees only $h = E_x[f(x)x]$, with $E\|h\|^2 = c_1/d$. Chapter 3 uses this. For linear tasks the
minimiser is known for any tokens and tasks (:func:`best_matrix`, chapter 7).
"""

import math
from dataclasses import dataclass

import torch

from iclutils import validation
from iclutils.population import Isotropic

Number = float | torch.Tensor


@dataclass(frozen=True)
class LinearUnit:
    r"""Linear attention before one task class (Collins et al., Theorem 3.6, Lemma F.1).

    ``power`` is $F = Ef^2$, ``mean`` $c_0 = E_f(E_xf)^2$, ``linear`` $c_1$; ``n`` and ``sigma`` below may be
    numbers or tensors that broadcast.
    """

    d: int
    power: float
    mean: float
    linear: float

    @classmethod
    def of(cls, function: Isotropic) -> "LinearUnit":
        """The unit's view of a task class: three numbers of its covariance."""
        mean, linear = function.spectrum(torch.tensor([0, 1]))
        power = function.covariance(torch.ones((), dtype=torch.float64))
        return cls(function.d, float(power), float(mean), float(linear))

    @property
    def floor(self) -> float:
        """F − c₁, what no M and no context length removes: the offset, the even part and higher odd degrees."""
        return self.power - self.linear

    def second_moment(self, n: Number, sigma: Number) -> Number:
        """a = E‖Σᵢyᵢxᵢ‖²/d."""
        return n / self.d * (self.power + sigma**2 + (n - 1) * self.linear / self.d)

    def loss(self, M: torch.Tensor, n: Number, sigma: Number) -> torch.Tensor:
        """The population loss of any ``M: (..., d, d)``; returns ``(...)``."""
        validation.shape("M", M, "... d d", d=self.d)
        a = self.second_moment(n, sigma)
        return a / self.d * M.square().sum((-1, -2)) - 2 * n * self.linear / self.d**2 * _trace(M) + self.power

    def minimiser(self, n: Number, sigma: Number) -> Number:
        r"""$m^* = c_1d/(d(F+\sigma^2)+(n-1)c_1)$; the minimiser is m*·I."""
        _check(n, sigma)
        return self.linear * self.d / (self.d * (self.power + sigma**2) + (n - 1) * self.linear)

    def minimum(self, n: Number, sigma: Number) -> Number:
        r"""$\min_M\mathcal L_{LA} = F - n\,c_1^2/(d(F+\sigma^2)+(n-1)c_1)$."""
        return self.power - n * self.linear / self.d * self.minimiser(n, sigma)

    def excess(self, n: Number, sigma: Number) -> Number:
        """The part of the minimum that a longer context removes, minimum − floor; it falls as 1/n."""
        return self.minimum(n, sigma) - self.floor


def hills_minimum(nu: float, n: Number, sigma: Number) -> Number:
    r"""The minimum for tasks $\cos(\nu\theta-b)$, $\theta\in(-\pi,\pi]$, b uniform: any ν, whole or not.

    The circle is cut at ±π, so the class is symmetric under reflection only: $h = (p\cos b, q\sin b)$ with
    $p, q = \tfrac12[\operatorname{sinc}(\nu-1)\pm\operatorname{sinc}(\nu+1)]$, and M* is diagonal.
    """
    _check(n, sigma)
    validation.nonnegative("nu", nu)
    lower, upper = _sinc(nu - 1), _sinc(nu + 1)
    minimum: Number = 0.5
    for H in (((lower + upper) / 2) ** 2 / 2, ((lower - upper) / 2) ** 2 / 2):
        minimum = minimum - 2 * n * H**2 / ((0.5 + sigma**2) / 2 + (n - 1) * H)
    return minimum


def best_matrix(tokens: torch.Tensor, tasks: torch.Tensor, label: torch.Tensor, n: int) -> torch.Tensor:
    r"""Linear attention's minimiser for tasks $f(x)=u^\top x$ (and an even rest) with any covariances; ``(d, d)``.

    $$M = T\Sigma\,\big[(n-1)\,\Sigma T\Sigma + E\,y^2xx^\top\big]^{-1}$$

    ``tokens`` is $\Sigma = E xx^\top$, ``tasks`` is $T = E uu^\top$, ``label`` is $E\,y^2xx^\top$ (:func:`gaussian_label`,
    :func:`sphere_label`), all ``(d, d)``. The answer is $x^\top M\sum_iy_ix_i$; the query's law drops out.
    """
    size = validation.shape("tokens", tokens, "d d")
    validation.shape("tasks", tasks, "d d", d=size["d"]), validation.shape("label", label, "d d", d=size["d"])
    second = (validation.whole("n", n) - 1) * tokens @ tasks @ tokens + label
    return torch.linalg.solve(second, tokens @ tasks).mT


def gaussian_label(tokens: torch.Tensor, tasks: torch.Tensor, sigma: float) -> torch.Tensor:
    r"""$E\,y^2xx^\top = (\operatorname{tr}\Sigma T+\sigma^2)\Sigma + 2\Sigma T\Sigma$ for tokens N(0, Σ)."""
    power = (tokens @ tasks).trace() + validation.nonnegative("sigma", sigma) ** 2
    return power * tokens + 2 * tokens @ tasks @ tokens


def sphere_label(tasks: torch.Tensor, sigma: float, offset: float = 0.0) -> torch.Tensor:
    r"""$E\,y^2xx^\top = [(\operatorname{tr}T)I+2T]/(d(d+2))+I(E b^2+\sigma^2)/d$ on the unit sphere; ``offset`` is $E b^2$."""
    d = validation.shape("tasks", tasks, "d d")["d"]
    eye = torch.eye(d, dtype=tasks.dtype)
    rest = validation.nonnegative("sigma", sigma) ** 2 + validation.nonnegative("offset", offset)
    return (tasks.trace() * eye + 2 * tasks) / (d * (d + 2)) + rest / d * eye


def _sinc(x: float) -> float:
    return 1.0 if x == 0 else math.sin(math.pi * x) / (math.pi * x)


def _trace(M: torch.Tensor) -> torch.Tensor:
    return M.diagonal(dim1=-2, dim2=-1).sum(-1)


def _check(n: Number, sigma: Number) -> None:
    validation.positive("n", float(torch.as_tensor(n, dtype=torch.float64).min()))
    validation.nonnegative("sigma", float(torch.as_tensor(sigma, dtype=torch.float64).min()))
