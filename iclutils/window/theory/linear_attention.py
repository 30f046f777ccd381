r"""Linear attention's population loss in closed form: a convex quadratic in M.

For a rotation-invariant task class on the sphere, with :math:`F=Ef^2` and :math:`c_1` the linear
part of its covariance :math:`k(t)=\sum_kc_kP_k(t)`, and :math:`g=\sum_iy_ix_i`,

.. math::

   \mathcal L_{LA}(M) = \tfrac{a}{d}\|M\|_F^2 - \tfrac{2nc_1}{d^2}\operatorname{tr}M + F,\qquad
   a = \tfrac1d E\|g\|^2 = \tfrac nd\Big(F+\sigma^2+(n-1)\tfrac{c_1}d\Big)

(Collins et al., Theorem 3.6 and Lemma F.1). Of a task the unit sees only :math:`h=E_x[f(x)x]`, with
:math:`E\|h\|^2=c_1/d`. Chapter 3 uses this. For linear tasks the minimiser is known for any tokens
and tasks (:func:`best_matrix`, chapter 7).
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.stats import Estimate, estimate
from iclutils.window.theory.population_loss import Isotropic

Number = float | Tensor
"""A number, or a tensor that broadcasts with the other arguments."""


@dataclass(frozen=True, kw_only=True)
class LinearUnit:
    r"""Linear attention before one task class.

    ``power`` is :math:`F=Ef^2`, ``mean`` is :math:`c_0=E_f(E_xf)^2`, ``linear`` is :math:`c_1`. The
    context length ``n`` and the labels' noise ``sigma`` below may be numbers or tensors that
    broadcast.

    >>> from iclutils.window.function_classes import Affine
    >>> unit = LinearUnit.of(Affine(5, L=1.0))
    >>> round(unit.minimiser(n=20, sigma=0.1), 2), round(unit.minimum(n=20, sigma=0.1), 3)
    (0.1, 0.373)
    >>> round(unit.floor, 3)  # what stays for n = infinity: the offset
    0.333
    """

    d: int
    power: float
    mean: float
    linear: float

    @classmethod
    def of(cls, function: Isotropic) -> "LinearUnit":
        """Read off three numbers of a task class's covariance, all that the unit sees of it."""
        mean, linear = function.spectrum(torch.tensor([0, 1]))
        power = function.covariance(torch.ones((), dtype=torch.float64))
        return cls(d=function.d, power=float(power), mean=float(mean), linear=float(linear))

    @property
    def floor(self) -> float:
        """F − c₁, what neither M nor n removes: the offset, the even part, higher odd degrees."""
        return self.power - self.linear

    def second_moment(self, n: Number, sigma: Number) -> Number:
        r""":math:`a=E\|\sum_iy_ix_i\|^2/d`."""
        return n / self.d * (self.power + sigma**2 + (n - 1) * self.linear / self.d)

    def loss(self, M: Float[Tensor, "*sets d d"], n: Number, sigma: Number) -> Float[Tensor, "..."]:
        """Compute the population loss of any M, for each of the leading axes.

        Raises ``ValueError`` where M is not a square matrix of the unit's dimension or not finite,
        for an ``n`` below 1 and a ``sigma`` out of range.
        """
        validation.shape("M", M, "... d d", d=self.d)
        validation.finite("M", M)
        _check(n, sigma)
        a = self.second_moment(n, sigma)
        trace = M.diagonal(dim1=-2, dim2=-1).sum(-1)
        squares = M.square().sum((-1, -2))
        return a / self.d * squares - 2 * n * self.linear / self.d**2 * trace + self.power

    def minimiser(self, n: Number, sigma: Number) -> Number:
        r"""Compute the mass :math:`m^*` of the minimiser :math:`m^*I`.

        .. math:: m^* = \frac{c_1d}{d(F+\sigma^2)+(n-1)c_1}

        Raises ``ValueError`` for an ``n`` below 1 or a ``sigma`` out of range.
        """
        _check(n, sigma)
        denominator = self.d * (self.power + sigma**2) + (n - 1) * self.linear
        return self.linear * self.d / denominator

    def minimum(self, n: Number, sigma: Number) -> Number:
        r"""Compute the loss of the minimiser.

        .. math:: \min_M\mathcal L_{LA} = F - \frac{n\,c_1^2}{d(F+\sigma^2)+(n-1)c_1}

        Raises ``ValueError`` for an ``n`` below 1 or a ``sigma`` out of range.
        """
        return self.power - n * self.linear / self.d * self.minimiser(n, sigma)

    def constant_weight(self, n: Number, sigma: Number) -> Number:
        r"""Compute the best :math:`m_0` where every token has a constant coordinate 1 besides.

        The unit then answers :math:`\sum_iy_i(m\,x_i^\top x+m_0)`.

        .. math:: m_0^* = \frac{c_0}{F+\sigma^2+(n-1)c_0}

        Raises ``ValueError`` for an ``n`` below 1 or a ``sigma`` out of range.
        """
        _check(n, sigma)
        return self.mean / (self.power + sigma**2 + (n - 1) * self.mean)

    def minimum_with_constant(self, n: Number, sigma: Number) -> Number:
        r"""Compute the loss of the minimiser where every token has a constant coordinate besides.

        .. math::

           F - \frac{n\,c_0^2}{F+\sigma^2+(n-1)c_0} - \frac{n\,c_1^2}{d(F+\sigma^2)+(n-1)c_1}

        The answer's two parts are of degree 0 and 1 in the query, so the loss splits by degree.
        Raises ``ValueError`` for an ``n`` below 1 or a ``sigma`` out of range.

        >>> from iclutils.window.function_classes import Affine
        >>> round(LinearUnit.of(Affine(5)).minimum_with_constant(n=2000, sigma=0.1), 4)
        0.001
        """
        gain = n * self.mean * self.constant_weight(n, sigma)
        return self.minimum(n, sigma) - gain

    def constant_gain(self, n: float, sigma: float) -> float:
        """Compute the log of what the constant coordinate gains: minimum over that with it.

        Raises ``ValueError`` for an ``n`` below 1 or a ``sigma`` out of range.
        """
        return math.log(self.minimum(n, sigma) / self.minimum_with_constant(n, sigma))

    def largest_constant_gain(self, sigma: float) -> float:
        r"""Compute the largest factor by which the constant lowers the minimum, over n from 5 on.

        For long contexts it tends to :math:`(F-c_1)/(F-c_1-c_0)`. Raises ``ValueError`` for a
        ``sigma`` out of range.
        """
        n = torch.logspace(math.log10(5), 7, 64, dtype=torch.float64)
        gains = torch.as_tensor(self.minimum(n, sigma) / self.minimum_with_constant(n, sigma))
        return float(gains.max())

    def constant_approach(self, n: Number, sigma: Number) -> Number:
        r"""How near the minimum with the constant is to 0, in units of the first term in 1/n.

        .. math:: \frac{n\,\mathcal L}{(d+1)(F+\sigma^2)-c_1-c_0}

        It tends to 1 as n → ∞ where F = c₀ + c₁, as for affine tasks (:func:`next_term` is what it
        leaves out). Raises ``ValueError`` for an ``n`` below 1 or a ``sigma`` out of range.
        """
        first = (self.d + 1) * (self.power + sigma**2) - self.linear - self.mean
        return n * self.minimum_with_constant(n, sigma) / first

    def average(self, n: Number, sigma: Number) -> Number:
        r"""Compute the loss of the plain average of the labels, a softmax unit at w = 0.

        .. math:: (F-c_0)\Big(1+\frac1n\Big) + \frac{\sigma^2}n

        Raises ``ValueError`` for an ``n`` below 1 or a ``sigma`` out of range.
        """
        _check(n, sigma)
        return (self.power - self.mean) * (1 + 1 / n) + sigma**2 / n

    def missed(self, loss: Float[Tensor, " T"], n: Number, sigma: Number) -> Estimate:
        r"""Compute the share of the possible gain that T trained units miss.

        .. math:: \frac{\mathcal L - \min\mathcal L_{LA}}{F - \min\mathcal L_{LA}}

        for their exact losses. Raises ``ValueError`` for fewer than 2, an ``n`` below 1 or a
        ``sigma`` out of range.
        """
        least = self.minimum(n, sigma)
        return estimate((loss - least) / (self.power - least))

    def approach(self, limit: float, n: Number, sigma: Number) -> Number:
        r"""How near the minimum is to a ``limit``, in units of the first term in 1/n.

        .. math:: \frac{n\,(\min\mathcal L_{LA} - \text{limit})}{d(F+\sigma^2)-c_1}

        It tends to 1 as n → ∞ where the limit is F − c₁ (:func:`next_term` is what it leaves out).
        Raises ``ValueError`` for an ``n`` below 1 or a ``sigma`` out of range.
        """
        constant = self.d * (self.power + sigma**2) - self.linear
        return n * (self.minimum(n, sigma) - limit) / constant

    def excess(self, n: Number, sigma: Number) -> Number:
        """Compute what a longer context removes of the minimum, minimum − floor; falls as 1/n."""
        return self.minimum(n, sigma) - self.floor


def next_term(d: float, power: float, linear: float, sigma: float, n: float) -> float:
    r"""Compute the relative size of what an expansion of the minimum in 1/n leaves out.

    .. math:: \frac{2d(F+\sigma^2)}{c_1\,n}

    with F = ``power`` and c₁ = ``linear``. Raises ``ValueError`` where one of them is
    not positive, or ``sigma`` negative.
    """
    for name, value in (("d", d), ("power", power), ("linear", linear), ("n", n)):
        validation.positive(name, value)
    validation.nonnegative("sigma", sigma)
    return 2 * d * (power + sigma**2) / (linear * n)


def hills_minimum(nu: float, n: Number, sigma: Number) -> Number:
    r"""Compute the minimum for tasks :math:`\cos(\nu\theta-b)`, b uniform, on the circle cut at ±π.

    The cut leaves a class that is symmetric under reflection only: with
    :math:`p, q=\tfrac12[\operatorname{sinc}(\nu-1)\pm\operatorname{sinc}(\nu+1)]` the unit sees
    :math:`h=(p\cos b, q\sin b)`, and M* is diagonal. ``nu`` is any frequency ≥ 0, whole or not.
    Raises ``ValueError`` for a negative ``nu``, a ``sigma`` out of range and an ``n`` below 1.
    """
    _check(n, sigma)
    validation.nonnegative("nu", nu)
    lower = _sinc(nu - 1)
    upper = _sinc(nu + 1)
    minimum: Number = 0.5
    for mass in ((lower + upper) / 2, (lower - upper) / 2):
        H = mass**2 / 2  # the second moment of one coordinate of h
        minimum = minimum - 2 * n * H**2 / ((0.5 + sigma**2) / 2 + (n - 1) * H)
    return minimum


def best_matrix(
    tokens: Float[Tensor, "d d"],
    tasks: Float[Tensor, "d d"],
    label: Float[Tensor, "d d"],
    n: int,
) -> Float[Tensor, "d d"]:
    r"""Linear attention's minimiser for tasks :math:`f(x)=u^\top x` with any covariances.

    .. math:: M = T\Sigma\,\big[(n-1)\,\Sigma T\Sigma + E\,y^2xx^\top\big]^{-1}

    ``tokens`` is :math:`\Sigma=Exx^\top`, ``tasks`` is :math:`T=Euu^\top` and ``label`` is
    :math:`E\,y^2xx^\top` (:func:`gaussian_label`,
    :func:`sphere_label`). The answer is
    :math:`x^\top M\sum_iy_ix_i`; the query's law drops out, and an even part of the tasks enters
    ``label`` alone. Derived in chapter 7. Raises ``ValueError`` where the shapes differ, one of the
    three can be no matrix of second moments, n is below 1, or the matrix to be inverted is
    singular.

    >>> tokens = torch.diag(torch.tensor([1.0, 4.0]))
    >>> tasks = torch.eye(2)
    >>> M = best_matrix(tokens, tasks, gaussian_label(tokens, tasks, sigma=0.5), n=10)
    >>> [[round(float(entry), 4) for entry in row] for row in M]
    [[0.0615, 0.0], [0.0, 0.0203]]
    """
    size = validation.shape("tokens", tokens, "d d")
    validation.shape("tasks", tasks, "d d", d=size["d"])
    validation.shape("label", label, "d d", d=size["d"])
    for name, moment in (("tokens", tokens), ("tasks", tasks), ("label", label)):
        _second_moments(name, moment)
    second = (validation.whole("n", n) - 1) * tokens @ tasks @ tokens + label
    solved, failed = torch.linalg.solve_ex(second, tokens @ tasks)
    if int(failed):
        raise ValueError(
            "label must leave (n−1)ΣTΣ + E y²xxᵀ an inverse; with these tokens and tasks it is"
            " singular"
        )
    M: Tensor = solved.mT
    return M


def gaussian_label(
    tokens: Float[Tensor, "d d"],
    tasks: Float[Tensor, "d d"],
    sigma: float,
) -> Float[Tensor, "d d"]:
    r"""Compute the second moments of label times token, for tokens N(0, Σ).

    .. math:: E\,y^2xx^\top = (\operatorname{tr}\Sigma T+\sigma^2)\Sigma + 2\Sigma T\Sigma

    Raises ``ValueError`` for a negative ``sigma`` and where the matrices are not of one size or can
    be none of second moments.
    """
    d = validation.shape("tokens", _second_moments("tokens", tokens), "d d")["d"]
    validation.shape("tasks", _second_moments("tasks", tasks), "d d", d=d)
    power = (tokens @ tasks).trace() + validation.noise("sigma", sigma) ** 2
    return power * tokens + 2 * tokens @ tasks @ tokens


def sphere_label(
    tasks: Float[Tensor, "d d"],
    sigma: float,
    offset: float = 0.0,
) -> Float[Tensor, "d d"]:
    r"""Compute the second moments of label times token, for tokens on the unit sphere.

    .. math::

       E\,y^2xx^\top = \frac{(\operatorname{tr}T)I+2T}{d(d+2)}+\frac{E b^2+\sigma^2}{d}I

    ``offset`` is :math:`Eb^2` of a constant b in the tasks. Raises ``ValueError`` where ``tasks``
    can be no matrix of second moments or ``sigma`` or ``offset`` is negative.
    """
    d = len(_second_moments("tasks", tasks))
    eye = torch.eye(d, dtype=tasks.dtype)
    variance = validation.noise("sigma", sigma) ** 2
    rest = variance + validation.nonnegative("offset", offset)
    return (tasks.trace() * eye + 2 * tasks) / (d * (d + 2)) + rest / d * eye


def _second_moments(name: str, matrix: Float[Tensor, "d d"]) -> Float[Tensor, "d d"]:
    """Return a matrix that can be one of second moments: symmetric, no eigenvalue below zero.

    Both to 1e-6 of its largest entry, which single precision keeps. Raises ``ValueError`` where an
    entry is not finite, for another shape, and with how far the matrix is from either.
    """
    validation.shape(name, validation.finite(name, matrix), "d d")
    room = 1e-6 * float(matrix.abs().max())
    skew = float((matrix - matrix.mT).abs().max())
    if skew > room:
        raise ValueError(f"{name} must be symmetric; entries across differ by {skew:.3g}")
    least = float(torch.linalg.eigvalsh(matrix)[0])
    if least < -room:
        raise ValueError(f"{name} must have no negative eigenvalue; its least is {least:.3g}")
    return matrix


def _sinc(x: float) -> float:
    return 1.0 if x == 0 else math.sin(math.pi * x) / (math.pi * x)


def _check(n: Number, sigma: Number) -> None:
    for name, number in (("n", n), ("sigma", sigma)):
        if torch.as_tensor(number).dtype == torch.bool:
            raise TypeError(f"{name} must be a number; got {number!r}")
    lengths = torch.as_tensor(n, dtype=torch.float64)
    noise = torch.as_tensor(sigma, dtype=torch.float64)
    # any number from 1 on, so that a curve can be drawn through the whole ones
    validation.within("n", lengths, 1.0, math.inf)
    validation.within("sigma", noise, 0.0, validation.LARGEST_NOISE)
