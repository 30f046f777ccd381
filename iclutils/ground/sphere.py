r"""Zonal functions on the sphere: Gegenbauer polynomials, harmonics, tilted averages, caps.

Everything is written for :math:`t = x^\top y` with x fixed and y uniform on :math:`S^{d-1}`, whose
density is proportional to :math:`(1-t^2)^{(d-3)/2}`. :math:`P_k` is the Gegenbauer polynomial of
degree k scaled to :math:`P_k(1)=1`.
"""

import torch
from jaxtyping import Float, Int, Real
from scipy import special
from torch import Tensor

from iclutils.ground import validation


def gegenbauer(
    t: Float[Tensor, "*batch"], d: int, degrees: Int[Tensor, " K"]
) -> Float[Tensor, "*batch K"]:
    r"""Scaled Gegenbauer polynomials :math:`P_{k_j}(t)` for ``degrees`` :math:`(k_j)`.

    .. math:: (k+d-2)P_{k+1} = (2k+d-2)\,t\,P_k - k\,P_{k-1},\qquad P_0=1,\ P_1=t

    They are Chebyshev's for d = 2 and Legendre's for d = 3. Raises ``ValueError`` for d < 2 or a
    degree below zero.

    >>> t = torch.tensor([0.5], dtype=torch.float64)
    >>> gegenbauer(t, 3, torch.tensor([0, 1, 2])).tolist()
    [[1.0, 0.5, -0.125]]
    """
    validation.whole("d", d, low=2)
    wanted = [validation.whole("degrees", int(k), low=0) for k in degrees]
    values = torch.empty(*t.shape, len(wanted), dtype=torch.float64)
    columns: dict[int, list[int]] = {}
    for column, k in enumerate(wanted):
        columns.setdefault(k, []).append(column)
    before = torch.zeros_like(t)
    now = torch.ones_like(t)
    for k in range(max(wanted, default=0) + 1):
        for column in columns.get(k, ()):
            values[..., column] = now
        following = t
        if k > 0:
            following = ((2 * k + d - 2) * t * now - k * before) / (k + d - 2)
        before = now
        now = following
    return values


def multiplicity(degrees: Real[Tensor, " K"], d: int) -> Float[Tensor, " K"]:
    r"""Number of linearly independent spherical harmonics of each degree in dimension d.

    .. math:: N_0 = 1,\qquad N_k = \frac{2k+d-2}{k}\binom{k+d-3}{k-1}

    On :math:`S^{d-1}` the mean square of :math:`P_k` is :math:`1/N_k`. ``degrees`` are whole
    numbers, zero or above, of any dtype.

    >>> multiplicity(torch.tensor([0, 1, 2, 3]), 3).tolist()
    [1.0, 3.0, 5.0, 7.0]
    """
    k = degrees.double()
    binomial = special.binom((k + d - 3).numpy(), (k - 1).clamp(min=0).numpy())
    count = (2 * k + d - 2) / k.clamp(min=1) * torch.as_tensor(binomial)
    return torch.where(k == 0, torch.ones_like(count), count)


def characteristic(squared: Float[Tensor, "*batch"], d: int) -> Float[Tensor, "*batch"]:
    r"""The characteristic function of a coordinate of a uniform unit vector, at :math:`r^2`.

    .. math:: \varphi(r) = E\cos(r w_1) = \Gamma(d/2)\,(2/r)^{d/2-1}J_{d/2-1}(r)
              = {}_0F_1\bigl(;\tfrac d2;-\tfrac{r^2}4\bigr)

    with w uniform on :math:`S^{d-1}`. It is smooth in ``squared`` :math:`= r^2 \ge 0`, at zero too.
    For d = 1 it is :math:`\cos r`.

    >>> round(float(characteristic(torch.tensor(4.0, dtype=torch.float64), 3)), 6)  # sin(2)/2
    0.454649
    """
    return torch.as_tensor(special.hyp0f1(d / 2, (-squared / 4).numpy()))


def log_partition(w: Float[Tensor, "*batch"], d: int) -> Float[Tensor, "*batch"]:
    r"""The logarithm of the mean of :math:`e^{wt}`, for windows :math:`w \ge 0`.

    .. math:: \log E\,e^{wt} = \log\bigl[\Gamma(d/2)(2/w)^{d/2-1}I_{d/2-1}(w)\bigr]

    Raises ``ValueError`` for d < 2 or a w that is NaN, infinite or below zero.
    """
    w = _window(w, d)
    order = d / 2 - 1
    small = w < 1e-4  # here log E e^{wt} = w²/(2d) to 1e-16
    at = torch.where(small, torch.ones_like(w), w)
    log_bessel = torch.as_tensor(special.ive(order, at.numpy())).log() + at
    prefactor = special.gammaln(d / 2) + order * torch.log(2 / at)
    return torch.where(small, w**2 / (2 * d), prefactor + log_bessel)


def tilted_average(
    w: Float[Tensor, "*batch"], d: int, degrees: Int[Tensor, " K"]
) -> Float[Tensor, "*batch K"]:
    r"""The mean of :math:`P_k(t)` under the tilted law, whose density gains a factor e^{wt}.

    .. math:: \frac{E\,e^{wt}P_k(t)}{E\,e^{wt}} = \frac{I_{k+d/2-1}(w)}{I_{d/2-1}(w)}

    Raises ``ValueError`` for d < 2 or a w that is NaN, infinite or below zero.

    >>> w = torch.tensor([0.0, 2.0], dtype=torch.float64)
    >>> tilted_average(w, 3, torch.tensor([1]))[:, 0].numpy().round(4).tolist()  # coth w − 1/w
    [0.0, 0.5373]
    """
    w = _window(w, d)
    k = degrees.double()
    order = d / 2 - 1
    at = torch.where(w == 0, torch.ones_like(w), w).unsqueeze(-1).numpy()
    ratio = torch.as_tensor(special.ive(k.numpy() + order, at) / special.ive(order, at))
    return torch.where(w.unsqueeze(-1) == 0, (k == 0).double(), ratio)


def cap_area(epsilon: Float[Tensor, "*batch"] | float, d: int) -> Float[Tensor, "*batch"]:
    r"""The share of the sphere with :math:`t \ge 1-\epsilon`, for ε in [0, 1].

    .. math:: \tfrac12 I_{1-(1-\epsilon)^2}\bigl(\tfrac{d-1}2,\tfrac12\bigr)

    with the regularised incomplete beta function I. Raises ``ValueError`` for d < 2.

    >>> round(float(cap_area(0.5, 3)), 6)  # Archimedes: the area is linear in the height
    0.25
    """
    validation.whole("d", d, low=2)
    square = 1 - (1 - torch.as_tensor(epsilon, dtype=torch.float64)) ** 2
    return 0.5 * torch.as_tensor(special.betainc((d - 1) / 2, 0.5, square.numpy()))


def _window(w: Float[Tensor, "*batch"], d: int) -> Float[Tensor, "*batch"]:
    """The window in float64, checked."""
    validation.whole("d", d, low=2)
    w = validation.finite("w", torch.as_tensor(w, dtype=torch.float64))
    if bool((w < 0).any()):
        raise ValueError(f"w must be zero or above; its smallest entry is {float(w.min()):g}")
    return w
