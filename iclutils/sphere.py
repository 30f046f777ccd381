r"""Zonal functions on the sphere: Gegenbauer polynomials, harmonics, tilted averages, caps.

Everything is written for :math:`t = x^\top y` with x fixed and y uniform on :math:`S^{d-1}`, whose
density is proportional to :math:`(1-t^2)^{(d-3)/2}`. :math:`P_k` is the Gegenbauer polynomial of
degree k scaled to :math:`P_k(1)=1`.
"""

import functools
import math
from typing import Any

import torch
from jaxtyping import Float, Int, Real
from numpy.polynomial import chebyshev
from scipy import special
from torch import Tensor

from iclutils import validation

TINY = 1e-280  # below it a Bessel function has lost digits, or is zero
WIDEST = 1e9  # the last window at which scipy's Bessel functions are numbers
START = 60  # steps above the last degree at which a downward recursion begins
SLOW = 100.0  # the fastest wave whose product is a polynomial short enough to be worth it
ROUNDING = 1e-15  # coefficients of a Chebyshev series below it are rounding, for values up to 1


def gegenbauer(
    t: Float[Tensor, "*batch"], d: int, degrees: Int[Tensor, " K"]
) -> Float[Tensor, "*batch K"]:
    r"""Scaled Gegenbauer polynomials :math:`P_{k_j}(t)` for ``degrees`` :math:`(k_j)`.

    .. math:: (k+d-2)P_{k+1} = (2k+d-2)\,t\,P_k - k\,P_{k-1},\qquad P_0=1,\ P_1=t

    They are Chebyshev's for d = 2 and Legendre's for d = 3. Raises ``ValueError`` for d < 2, a
    degree below zero or a t that is not finite.

    >>> t = torch.tensor([0.5], dtype=torch.float64)
    >>> gegenbauer(t, 3, torch.tensor([0, 1, 2])).tolist()
    [[1.0, 0.5, -0.125]]
    """
    validation.whole("d", d, low=2)
    validation.finite("t", t)
    whole = [int(k) for k in _degrees(degrees)]
    values = torch.empty(len(whole), *t.shape, dtype=torch.float64)
    columns: dict[int, list[int]] = {}
    for column, k in enumerate(whole):
        columns.setdefault(k, []).append(column)
    before = torch.zeros_like(t)
    current = torch.ones_like(t)
    for k in range(max(whole, default=0) + 1):
        for column in columns.get(k, ()):
            values[column] = current
        following = t
        if k > 0:
            share = k / (k + d - 2)
            following = (t * current).mul_(1 + share).sub_(before, alpha=share)
        before = current
        current = following
    return values.movedim(0, -1)


def multiplicity(degrees: Real[Tensor, " K"], d: int) -> Float[Tensor, " K"]:
    r"""Count the linearly independent spherical harmonics of each degree in dimension d.

    .. math:: N_0 = 1,\qquad N_k = \frac{2k+d-2}{k}\binom{k+d-3}{k-1}

    On :math:`S^{d-1}` the mean square of :math:`P_k` is :math:`1/N_k`. ``degrees`` are whole
    numbers, zero or above, of any dtype. Raises ``ValueError`` for others and for d < 2.

    >>> multiplicity(torch.tensor([0, 1, 2, 3]), 3).tolist()
    [1.0, 3.0, 5.0, 7.0]
    """
    validation.whole("d", d, low=2)
    k = _degrees(degrees)
    binomial = special.binom((k + d - 3).numpy(), (k - 1).clamp(min=0).numpy())
    count = (2 * k + d - 2) / k.clamp(min=1) * torch.as_tensor(binomial)
    return torch.where(k == 0, torch.ones_like(count), count)


def characteristic(squared: Float[Tensor, "*batch"], d: int) -> Float[Tensor, "*batch"]:
    r"""Compute the characteristic function of a uniform unit vector's coordinate, at :math:`r^2`.

    .. math:: \varphi(r) = E\cos(r w_1) = \Gamma(d/2)\,(2/r)^{d/2-1}J_{d/2-1}(r)
              = {}_0F_1\bigl(;\tfrac d2;-\tfrac{r^2}4\bigr)

    with w uniform on :math:`S^{d-1}`. It is smooth in ``squared`` :math:`= r^2 \ge 0`, at zero too.
    For d = 1 it is :math:`\cos r`. Raises ``ValueError`` for d < 1 and for a ``squared`` that is
    negative or not finite.

    >>> round(float(characteristic(torch.tensor(4.0, dtype=torch.float64), 3)), 6)  # sin(2)/2
    0.454649
    """
    validation.whole("d", d)
    validation.within("squared", squared, 0.0, math.inf)
    return torch.as_tensor(special.hyp0f1(d / 2, (-squared / 4).numpy()))


def wave_product(t: Float[Tensor, "*batch"], d: int, frequency: float) -> Float[Tensor, "*batch"]:
    r"""Compute the mean product of a random wave at two unit vectors with :math:`x^\top y=t`.

    .. math:: E\cos(Lw^\top x)\cos(Lw^\top y)
              = \tfrac12\bigl[\varphi(L\sqrt{2-2t}) + \varphi(L\sqrt{2+2t})\bigr]

    with L the ``frequency``, w uniform on :math:`S^{d-1}` and φ of
    :func:`characteristic`. It is even and entire in t, so up to a frequency
    of 100 a short Chebyshev series in :math:`2t^2-1` has it to 1e-12. Raises ``ValueError`` for
    d < 1, a t outside of [−1, 1] by more than rounding, or a frequency that is negative or not
    finite.

    >>> round(float(wave_product(torch.ones(1, dtype=torch.float64), 3, 2.0)), 6)
    0.4054
    """
    validation.within("t", t, -1 - 1e-6, 1 + 1e-6)
    validation.nonnegative("frequency", frequency)
    if frequency > SLOW:
        return _wave_product(t, d, frequency)
    return torch.as_tensor(chebyshev.chebval((2 * t.square() - 1).numpy(), _series(d, frequency)))


def _wave_product(t: Float[Tensor, "*batch"], d: int, frequency: float) -> Float[Tensor, "*batch"]:
    """Compute the same from its formula, two Bessel functions for each t."""
    apart, along = (frequency**2 * (2 + 2 * s * t).clamp(min=0) for s in (-1, 1))
    return 0.5 * (characteristic(apart, d) + characteristic(along, d))


@functools.cache
def _series(d: int, frequency: float) -> tuple[float, ...]:
    r"""Its Chebyshev coefficients in :math:`2t^2-1`; they fall fast beyond half the frequency."""
    terms = math.ceil(frequency) + 24

    def at(u: Any) -> Any:
        t = (torch.as_tensor(1 + u) / 2).clamp(min=0).sqrt()
        return _wave_product(t, d, frequency).numpy()

    series = chebyshev.chebtrim(chebyshev.chebinterpolate(at, terms), ROUNDING)
    return tuple(series.tolist())


def log_partition(w: Float[Tensor, "*batch"], d: int) -> Float[Tensor, "*batch"]:
    r"""Compute the logarithm of the mean of :math:`e^{wt}`, for windows :math:`w \ge 0`.

    .. math:: \log E\,e^{wt} = \log\bigl[\Gamma(d/2)(2/w)^{d/2-1}I_{d/2-1}(w)\bigr]

    Raises ``ValueError`` for d < 2 or a w that is not in [0, 1e9].
    """
    w = _window(w, d)
    order = d / 2 - 1
    small = w < 1e-4  # here log E e^{wt} = w²/(2d) to 1e-16
    at = torch.where(small, torch.ones_like(w), w)
    bessel = torch.as_tensor(special.ive(order, at.numpy()))
    prefactor = special.gammaln(d / 2) + order * torch.log(2 / at)
    value = torch.where(small, w**2 / (2 * d), prefactor + bessel.log() + at)
    lost = ~small & (bessel < TINY)
    if bool(lost.any()):
        value = torch.where(lost, _log_partition_series(at, d), value)
    return value


def _log_partition_series(w: Float[Tensor, "*batch"], d: int) -> Float[Tensor, "*batch"]:
    """Compute the same for windows far below d, where the Bessel function itself underflows."""
    first = w.square() / (2 * d)
    second = first.square() / (d + 2)
    whole = torch.as_tensor(special.hyp0f1(d / 2, (w.square() / 4).numpy()))
    return torch.where(first < 1e-3, first - second, whole.log())  # the next term is 1e-9 of it


def tilted_average(
    w: Float[Tensor, "*batch"], d: int, degrees: Int[Tensor, " K"]
) -> Float[Tensor, "*batch K"]:
    r"""Compute the mean of :math:`P_k(t)` under the tilted law: its density gains a factor e^{wt}.

    .. math:: \frac{E\,e^{wt}P_k(t)}{E\,e^{wt}} = \frac{I_{k+d/2-1}(w)}{I_{d/2-1}(w)}

    Raises ``ValueError`` for d < 2, a degree below zero or a w that is not in [0, 1e9].

    >>> w = torch.tensor([0.0, 2.0], dtype=torch.float64)
    >>> tilted_average(w, 3, torch.tensor([1]))[:, 0].numpy().round(4).tolist()  # coth w − 1/w
    [0.0, 0.5373]
    """
    w = _window(w, d)
    k = _degrees(degrees)
    order = d / 2 - 1
    at = torch.where(w == 0, torch.ones_like(w), w).unsqueeze(-1)
    below = torch.as_tensor(special.ive(order, at.numpy()))
    lost = below < TINY
    above = torch.as_tensor(special.ive(k.numpy() + order, at.numpy()))
    ratio = above / torch.where(lost, torch.ones_like(below), below)
    if bool(lost.any()):
        ratio = torch.where(lost, _bessel_ratios(at.squeeze(-1), order, degrees), ratio)
    return torch.where(w.unsqueeze(-1) == 0, (k == 0).double(), ratio)


def _bessel_ratios(
    w: Float[Tensor, "*batch"], order: float, degrees: Int[Tensor, " K"]
) -> Float[Tensor, "*batch K"]:
    r"""Compute :math:`I_{k+\nu}(w)/I_\nu(w)` where the functions underflow, w far below ν.

    .. math::

       \frac{I_{\nu+1}}{I_\nu} = \Bigl(\frac{2(\nu+1)}w + \frac{I_{\nu+2}}{I_{\nu+1}}\Bigr)^{-1}

    run downwards, which forgets its start by a factor below ¼ a step.
    """
    largest = int(degrees.max())
    step = torch.zeros_like(w)
    steps = []
    for k in range(largest + START, 0, -1):
        step = 1 / (2 * (order + k) / w + step)
        steps.append(step)
    each = torch.stack([torch.ones_like(w), *steps[::-1][:largest]], dim=-1)
    return each.cumprod(-1)[..., degrees.long()]


def cap_area(epsilon: Float[Tensor, "*batch"] | float, d: int) -> Float[Tensor, "*batch"]:
    r"""Compute the share of the sphere with :math:`t \ge 1-\epsilon`, for ε in [0, 2].

    .. math:: \tfrac12 I_{1-(1-\epsilon)^2}\bigl(\tfrac{d-1}2,\tfrac12\bigr)

    with the regularised incomplete beta function I, for ε ≤ 1, and one minus the cap opposite
    beyond. Raises ``ValueError`` for d < 2 or an ε outside.

    >>> round(float(cap_area(0.5, 3)), 6)  # Archimedes: the area is linear in the height
    0.25
    """
    validation.whole("d", d, low=2)
    height = torch.as_tensor(epsilon, dtype=torch.float64)
    validation.within("epsilon", height, 0.0, 2.0)
    square = 1 - (1 - height) ** 2
    area = 0.5 * torch.as_tensor(special.betainc((d - 1) / 2, 0.5, square.numpy()))
    return torch.where(height > 1, 1 - area, area)


def _degrees(degrees: Real[Tensor, " K"]) -> Float[Tensor, " K"]:
    """Check the degrees, and return them in float64."""
    return validation.wholes("degrees", degrees, low=0).double()


def _window(w: Float[Tensor, "*batch"], d: int) -> Float[Tensor, "*batch"]:
    """Check the window, and return it in float64."""
    validation.whole("d", d, low=2)
    return validation.within("w", torch.as_tensor(w, dtype=torch.float64), 0.0, WIDEST)
