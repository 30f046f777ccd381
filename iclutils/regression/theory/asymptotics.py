r"""The random-matrix theory of linear attention on linear regression, for every ridge.

After Lu et al. (arXiv 2405.11751), for chapter 5. Joint limit :math:`d, \ell, k, n \to \infty` with
:math:`\alpha = \ell/d`, :math:`\kappa = k/d`, :math:`\tau = n/d^2` fixed; ρ is the label noise,
λ the ridge and :math:`q = (1+\rho)/\alpha`. Relative to the paper: its starred symbols lose their
star, and M is written for its :math:`\mathcal M`. All functions broadcast over arrays.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iclutils import validation
from iclutils.regression.theory.roots import Array, newton

Numbers = float | NDArray[np.float64]  # one value, or an array of them that broadcasts
LARGEST = 1e50  # of a ratio, a variance or a ridge: their products and squares are numbers too
SMALLEST = 1e-50  # of a ratio


def checked(name: str, value: ArrayLike, check: Callable[[str, float], float]) -> Numbers:
    """Return ``value`` as a float, or as an array where it is a sequence, a tensor or an array.

    ``check(name, number)`` sees the number, or the least and the largest entry of the array
    (both are NaN where one entry is), and raises for what it does not allow.
    """
    if np.ndim(value) == 0:
        return float(check(name, value))  # type: ignore[arg-type]
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number or an array of numbers; got {value!r}") from error
    if not values.size:
        raise ValueError(f"{name} must hold at least one number; got {value!r}")
    for extreme in (values.min(), values.max()):
        check(name, float(extreme))
    return values


def positive_ratio(name: str, value: float) -> float:
    """Return ``value`` if it is between 1e-50 and 1e50; else raise ``ValueError``."""
    return validation.in_range(name, value, SMALLEST, LARGEST)


def bounded(name: str, value: float) -> float:
    """Return ``value`` if it is between 0 and 1e50; else raise ``ValueError``."""
    return validation.in_range(name, value, 0.0, LARGEST)


def positive_or_infinite(name: str, value: float) -> float:
    """Return ``value`` if it is ``math.inf`` or a ratio; else raise ``ValueError``."""
    return value if value == math.inf else positive_ratio(name, value)


@dataclass(frozen=True, kw_only=True)
class Phase:
    r"""The ratios that stay fixed as :math:`d, \ell, k, n \to \infty`, and the label noise.

    ``alpha``: context length, :math:`\alpha = \ell/d > 0`.
    ``kappa``: task diversity, :math:`\kappa = k/d > 0`; ``math.inf`` for a fresh task a prompt.
    ``tau``: pretraining prompts, :math:`\tau = n/d^2 > 0`.
    ``rho``: variance of the label noise, :math:`\rho \ge 0`.

    Each is a number, or an array (or list, or tensor); arrays broadcast against each other. Ratios
    are between 1e-50 and 1e50. Raises ``ValueError`` for a value out of its range, with its name,
    and for arrays that do not broadcast, ``TypeError`` for what is no number.

    >>> Phase(alpha=10, kappa=0.5, tau=[0.5, 2], rho=0.01).tau
    array([0.5, 2. ])
    """

    alpha: Numbers
    kappa: Numbers
    tau: Numbers
    rho: Numbers

    def __post_init__(self) -> None:
        checks = {
            "alpha": positive_ratio,
            "kappa": positive_or_infinite,
            "tau": positive_ratio,
            "rho": bounded,
        }
        for name, check in checks.items():
            object.__setattr__(self, name, checked(name, getattr(self, name), check))
        shapes = {name: np.shape(getattr(self, name)) for name in checks}
        try:
            np.broadcast_shapes(*shapes.values())
        except ValueError:
            raise ValueError(
                f"alpha, kappa, tau and rho must broadcast; their shapes are {shapes}"
            ) from None

    @property
    def q(self) -> Numbers:
        r"""The noise of a context vector, :math:`q = (1+\rho)/\alpha`."""
        return (1 + self.rho) / self.alpha


@dataclass(frozen=True)
class Errors:
    """Test errors on fresh tasks (``icl``) and on the pretraining tasks (``idg``).

    ``nu`` is the effective ridge. Each is a number, or an array where an argument was one.
    """

    icl: Numbers
    idg: Numbers
    nu: Numbers

    @property
    def gap(self) -> Numbers:
        r"""The memorization gap :math:`g = e_{ICL} - e_{IDG}`."""
        return self.icl - self.idg


class Peak(NamedTuple):
    """The coefficients of the ridgeless divergence on fresh tasks and on the pretraining tasks."""

    icl: Numbers
    idg: Numbers


class _Resolvent(NamedTuple):
    """The function M and its derivative M′."""

    value: Array
    slope: Array


def _plain(value: ArrayLike) -> Numbers:
    """Return a float for a scalar, the array for an array."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)  # type: ignore[arg-type]


def _positive_root(a: Numbers, b: Numbers, c: Numbers) -> Array:
    """Compute the positive root of ax² + bx = c for a, c ≥ 0, in the form without cancellation."""
    s = np.sqrt(b * b + 4 * a * c)
    with np.errstate(divide="ignore", invalid="ignore"):  # np.where computes both forms
        return np.where(np.asarray(b) >= 0, 2 * c / (b + s), (s - b) / (2 * np.asarray(a)))


def _check(phase: Phase) -> None:
    if not isinstance(phase, Phase):
        raise TypeError(f"phase must be a Phase(alpha, kappa, tau, rho); got {phase!r}")


def _resolvent(x: Numbers, kappa: Numbers) -> _Resolvent:
    gamma = 1 / kappa
    b = x + 1 - gamma
    value = _positive_root(gamma * x, b, 1.0)
    slope = -value * (1 + gamma * value) / np.sqrt(b**2 + 4 * x * gamma)
    return _Resolvent(value, slope)


def marchenko_pastur(x: ArrayLike, kappa: ArrayLike) -> Numbers:
    r"""Compute :math:`M_\kappa(x) = \lim\frac1d\mathrm{tr}(R_k + x)^{-1}`.

    :math:`R_k = \frac1k\sum_j w_jw_j^\top` is the covariance of :math:`k = \kappa d` tasks, and

    .. math::
        M_\kappa(x) = \frac{2}{(x+1-1/\kappa) + \sqrt{(x+1-1/\kappa)^2 + 4x/\kappa}}

    Slides, Result 1 (the talk's :math:`\mathcal M_\kappa`, there "defined in (B.3)"). Where the two
    terms below nearly cancel (κ < 1, small x) the conjugate form is used. Raises ``ValueError``
    unless ``x`` and ``kappa`` are between 1e-50 and 1e50, or ``kappa`` is ``math.inf``.
    """
    x = checked("x", x, positive_ratio)
    return _plain(_resolvent(x, checked("kappa", kappa, positive_or_infinite)).value)


def marchenko_pastur_slope(x: ArrayLike, kappa: ArrayLike) -> Numbers:
    r"""Differentiate :func:`marchenko_pastur` by x.

    .. math:: M'_\kappa(x) = -\frac{M(1+M/\kappa)}{\sqrt{(x+1-1/\kappa)^2+4x/\kappa}}

    It follows from the quadratic that M solves, and nothing cancels in it. Raises the same errors.
    """
    x = checked("x", x, positive_ratio)
    return _plain(_resolvent(x, checked("kappa", kappa, positive_or_infinite)).slope)


def ridgeless_icl(phase: Phase) -> Numbers:
    r"""Compute Result 1 as the slides print it: :math:`e_{ICL}` for :math:`\lambda\to0^+`.

    .. math::
        \tau<1:&\ \tfrac{\tau(1+q)}{1-\tau}\left[1-\tau(1-\mu)^2+\mu(\rho/q-1)\right]
        -2\tau(1-\mu)+1+\rho, \quad \mu = q\,M_{\kappa/\tau}(q) \\
        \tau>1:&\ (1+q)\left(1-2qm-q^2m'+\tfrac{(\rho+q-q^2m)m}{\tau-1}\right)
        -2(1-qm)+1+\rho, \quad m = M_\kappa(q)

    Infinite at τ = 1. Raises ``TypeError`` for what is no :class:`Phase`.
    """
    _check(phase)
    q, tau, rho = phase.q, phase.tau, phase.rho
    m, slope = _resolvent(q, phase.kappa)
    mu = q * _resolvent(q, phase.kappa / tau).value
    with np.errstate(divide="ignore", invalid="ignore"):  # at τ = 1
        bracket = 1 - tau * (1 - mu) ** 2 + mu * (rho / q - 1)
        below = np.divide(tau * (1 + q), 1 - tau) * bracket - 2 * tau * (1 - mu) + 1 + rho
        variance = np.divide((rho + q - q * q * m) * m, tau - 1)
        noisy = 1 - 2 * q * m - q * q * slope + variance
        above = (1 + q) * noisy - 2 * (1 - q * m) + 1 + rho
    return _plain(np.where(tau == 1, math.inf, np.where(tau < 1, below, above)))


def effective_ridge(phase: Phase, lam: ArrayLike) -> Numbers:
    r"""Return the effective ridge ν that random data make of the ridge ``lam``.

    It is the root :math:`\nu \ge \lambda` of

    .. math:: 1 - \tau + \tau\lambda/\nu = \nu M_\kappa(q+\nu).

    It is unique, because the left side falls in ν and the right side rises; and because the right
    side is concave, Newton's method rises to it from the left, from the root of the same equation
    with :math:`M_\kappa(q)` for :math:`M_\kappa(q+\nu)`. It stops at a relative step of 1e-10,
    which leaves rounding errors alone. For λ = 0 the result is the limit :math:`\lambda\to0^+`:
    0 for :math:`\tau\ge1`, positive below. Raises ``ValueError`` for a ``lam`` that is not
    between 0 and 1e50, ``TypeError`` for what is no :class:`Phase`,
    ``RuntimeError`` where Newton's method does not converge.
    """
    _check(phase)
    lam = checked("lam", lam, bounded)
    zero = (np.asarray(lam) == 0) & (np.asarray(phase.tau) >= 1)
    tau = np.where(zero, 0.5, phase.tau)  # where ν = 0, another equation's root, not used

    def residual(nu: Array) -> tuple[Array, Array]:
        m, slope = _resolvent(phase.q + nu, phase.kappa)
        value = 1 - tau + tau * lam / nu - nu * m
        return value, -tau * lam / nu**2 - m - nu * slope

    start = _positive_root(_resolvent(phase.q, phase.kappa).value, tau - 1, tau * lam)
    root = newton(residual, np.asarray(start), name="effective_ridge")
    return _plain(np.where(zero, 0.0, root))


def errors(phase: Phase, lam: ArrayLike) -> Errors:
    r"""Both errors for every ridge ``lam`` ≥ 0; at 0 the limit :math:`\lambda\to0^+`.

    .. math::
        e_{IDG} &= \tau\,\frac{\rho+q-z^2M+2z\nu M+z^2\nu M'}{\tau-(1-2\nu M-\nu^2M')},
        \qquad z=q+\nu,\ M = M_\kappa(z) \\
        e_{ICL} &= (1+q)(1-2zM-z^2M')-2(1-zM)+1+\rho+e_{IDG}\,(1+q)(M+\nu M')/\tau

    Derived in chapter 5 from the deterministic equivalent; at λ = 0 it agrees with
    :func:`ridgeless_icl` and is infinite at τ = 1.
    Raises what :func:`effective_ridge` raises.

    >>> round(errors(Phase(alpha=10, kappa=0.5, tau=2, rho=0.01), 0.1).icl, 4)
    0.6177
    >>> errors(Phase(alpha=10, kappa=0.5, tau=[0.5, 1, 2], rho=0.01), 0.1).icl.round(4)
    array([0.7303, 0.6634, 0.6177])
    """
    _check(phase)
    tau, rho, q = phase.tau, phase.rho, phase.q
    nu = effective_ridge(phase, lam)
    z = q + nu
    m, slope = _resolvent(z, phase.kappa)
    bias = rho + q - z * z * m + 2 * z * nu * m + z * z * nu * slope
    with np.errstate(divide="ignore"):
        ratio = np.divide(tau * bias, tau - (1 - 2 * nu * m - nu * nu * slope))
    diverges = (nu == 0) & (np.asarray(tau) == 1)
    idg = np.where(diverges, math.inf, ratio)
    icl = (1 + q) * (1 - 2 * z * m - z * z * slope) - 2 * (1 - z * m) + 1 + rho
    icl = icl + idg * (1 + q) * (m + nu * slope) / tau
    shape = np.broadcast_shapes(np.shape(icl), np.shape(lam))
    # copies, because a broadcast view cannot be written to
    parts = [_plain(np.broadcast_to(e, shape).copy()) for e in (icl, idg, nu)]
    return Errors(*parts)


def peak_coefficients(alpha: ArrayLike, kappa: ArrayLike, rho: ArrayLike) -> Peak:
    r"""Compute the coefficients of the ridgeless divergence :math:`e \simeq c/|\tau-1|` as τ → 1.

    .. math::
        c_{IDG} = \rho + q - q^2M_\kappa(q), \qquad c_{ICL} = (1+q)\,M_\kappa(q)\,c_{IDG}

    The same from both sides. The arguments are those of :class:`Phase`.
    """
    phase = Phase(alpha=alpha, kappa=kappa, tau=1.0, rho=rho)  # type: ignore[arg-type]
    q = phase.q
    m = _resolvent(q, phase.kappa).value
    idg = phase.rho + q - q * q * m
    return Peak(_plain((1 + q) * m * idg), _plain(idg))


def long_context_limit(kappa: ArrayLike, rho: ArrayLike, ratio: ArrayLike) -> Numbers:
    r"""Compute the limit of the ridgeless :math:`e_{ICL}` for α, τ → ∞ at fixed τ/α.

    .. math::
        \rho + (1-\kappa)\left(1 + \frac{\rho}{1+\rho}\,\frac{\alpha}{\tau}\right)\ (\kappa<1),
        \qquad \rho\ (\kappa\ge1)

    ``ratio`` is :math:`\tau/\alpha = n/(d\ell) > 0`. The slides print τ/α where the limit has α/τ
    (chapter 5 shows which one the formula approaches). Raises ``ValueError`` for an argument out
    of its range.
    """
    rho = checked("rho", rho, bounded)
    context = checked("ratio", ratio, positive_ratio)
    missed = np.maximum(1 - checked("kappa", kappa, positive_or_infinite), 0)
    return _plain(rho + missed * (1 + rho / (1 + rho) / context))


def extrapolation_margin(value: float, before: float) -> float:
    """How far a number taken at a large argument may be from its limit, 3|value − before|.

    ``before`` is the same number a step earlier (a decade, or half the distance); 10⁻⁹ are added
    for rounding. Raises ``ValueError`` where one of the two is not finite.

    >>> extrapolation_margin(1.0, 1.0)
    1e-09
    """
    for name, number in (("value", value), ("before", before)):
        validation.in_range(name, number, -math.inf, math.inf)
    return 3 * abs(value - before) + 1e-9


def extrapolated(function: Callable[[float], Numbers], top: float) -> Numbers:
    r"""Extrapolate a ``function`` that nears its limit as 1/x, from x = ``top`` and a tenth of it.

    .. math:: \frac{10 f(x) - f(x/10)}9

    Raises ``ValueError`` where the function is not finite at one of the two.

    >>> round(extrapolated(lambda x: 2 + 3 / x, 10.0), 12)
    2.0
    """
    far, near = function(top), function(top / 10)
    if not (np.all(np.isfinite(far)) and np.all(np.isfinite(near))):
        raise ValueError(f"function must be finite at {top:g} and {top / 10:g}; got {far}, {near}")
    return (10 * far - near) / 9


def decade_power(function: Callable[[float], Numbers], top: float) -> Numbers:
    """Compute the power of x by which a ``function`` changes over the decade up to x = ``top``.

    >>> round(decade_power(lambda x: 3 / x**2, 1e4), 9)
    -2.0
    """
    return _plain(np.log10(function(top) / function(top / 10)))


def long_context_exponents(
    quantity: Callable[[Errors], Numbers],
    kappa: float,
    rho: float,
    *,
    ratio: float,
    tops: Sequence[float] = (1e8, 1e7),
) -> list[Numbers]:
    r"""Compute the exponent in α of a ridgeless ``quantity``, at fixed :math:`\tau/\alpha`.

    .. math:: \log_{10}\frac{f(\alpha)}{f(\alpha/10)}, \qquad \tau = \text{ratio}\cdot\alpha

    over the decade that ends at each of ``tops``, so that two of them tell how far the exponent
    still moves (:func:`extrapolation_margin`). Lu et al., Result 2: the gap and the error of fresh
    tasks go to zero with α for κ ≥ 1 alone. Raises as :class:`Phase` and :func:`errors`.

    >>> [round(p, 3) for p in long_context_exponents(lambda e: e.gap, 2.0, 0.01, ratio=0.2)]
    [-1.0, -1.0]
    """

    def at(alpha: float) -> Numbers:
        phase = Phase(alpha=alpha, kappa=kappa, tau=ratio * alpha, rho=rho)
        return quantity(errors(phase, 0.0))

    return [decade_power(at, top) for top in tops]


def shrinkage(rho: float, alpha: float, c: float) -> float:
    r"""How far the trained :math:`\Gamma C` lies below 1 at an eigenvalue c, to first order.

    It is (1 + ρ)/(αc) for contexts of α examples a dimension. Raises ``ValueError`` where α or c is
    not positive, or ρ negative.

    >>> shrinkage(0.0, 20.0, 0.5)
    0.1
    """
    validation.nonnegative("rho", rho)
    validation.positive("alpha", alpha)
    validation.positive("c", c)
    return (1 + rho) / (alpha * c)
