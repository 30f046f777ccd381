r"""The random-matrix theory of linear attention on linear regression: Lu et al. (arXiv 2405.11751), for every ridge.

Joint limit d, ℓ, k, n → ∞ with α = ℓ/d, κ = k/d, τ = n/d² fixed; ρ is the label noise, λ the ridge and
q = (1+ρ)/α. Chapter 5 uses it. Relative to the paper: its starred symbols lose their star, and M is written
for its 𝓜. Beside the limit stands a deterministic equivalent at finite d, conditional on the drawn tasks.
"""

import math
from dataclasses import dataclass

import torch
from scipy.optimize import brentq
from scipy.sparse.linalg import LinearOperator, gmres

from iclutils import validation
from iclutils.features import Moments, Prompts

TINY = 1e-300


@dataclass(frozen=True)
class Errors:
    """Test errors on fresh tasks (``icl``) and on the pretraining tasks (``idg``), and the effective ridge ``nu``."""

    icl: float
    idg: float
    nu: float

    @property
    def gap(self) -> float:
        """The memorization gap g = e_ICL − e_IDG."""
        return self.icl - self.idg


def _kappa(kappa: float) -> float:
    return kappa if kappa == math.inf else validation.positive("kappa", kappa)


def marchenko_pastur(x: float, kappa: float) -> float:
    r"""The function M_κ(x) = lim (1/d) tr(R_k + x)⁻¹ of a k-task covariance R_k = (1/k) Σ w_j w_jᵀ, k = κd.

    .. math:: M_\kappa(x) = \frac{2}{(x+1-1/\kappa) + \sqrt{(x+1-1/\kappa)^2 + 4x/\kappa}}

    Slides, Result 1 (the talk's 𝓜_κ, there "defined in (B.3)"). ``x > 0``, ``kappa > 0`` or ``math.inf``.
    Where the two terms below nearly cancel (κ < 1, small x) the conjugate form is used. Raises ``ValueError``.
    """
    validation.positive("x", x)
    gamma = 1 / _kappa(kappa)
    b = x + 1 - gamma
    s = math.sqrt(b * b + 4 * x * gamma)
    return 2 / (b + s) if b >= 0 else (s - b) / (2 * gamma * x)


def marchenko_pastur_slope(x: float, kappa: float) -> float:
    r"""The derivative M′_κ(x) = −M(1 + M/κ)/√((x+1−1/κ)² + 4x/κ), from the quadratic that M solves; no cancellation."""
    m = marchenko_pastur(x, kappa)
    gamma = 1 / kappa
    return -m * (1 + gamma * m) / math.sqrt((x + 1 - gamma) ** 2 + 4 * x * gamma)


def _settings(alpha: float, kappa: float, tau: float, rho: float, lam: float = 0.0) -> float:
    validation.positive("alpha", alpha), _kappa(kappa), validation.positive("tau", tau)
    validation.nonnegative("rho", rho), validation.nonnegative("lam", lam)
    return (1 + rho) / alpha


def ridgeless_icl(alpha: float, kappa: float, tau: float, rho: float) -> float:
    r"""Result 1 as the slides print it: e_ICL for λ → 0⁺, in two branches, with q = (1+ρ)/α.

    .. math::
        \tau<1:&\ \tfrac{\tau(1+q)}{1-\tau}\left[1-\tau(1-\mu)^2+\mu(\rho/q-1)\right]-2\tau(1-\mu)+1+\rho,
        \quad \mu = q\,M_{\kappa/\tau}(q) \\
        \tau>1:&\ (1+q)\left(1-2qm-q^2m'+\tfrac{(\rho+q-q^2m)m}{\tau-1}\right)-2(1-qm)+1+\rho, \quad m = M_\kappa(q)

    Infinite at τ = 1. Raises ``ValueError`` for a parameter out of range.
    """
    q = _settings(alpha, kappa, tau, rho)
    if tau == 1:
        return math.inf
    if tau < 1:
        mu = q * marchenko_pastur(q, kappa / tau)
        bracket = 1 - tau * (1 - mu) ** 2 + mu * (rho / q - 1)
        return tau * (1 + q) / (1 - tau) * bracket - 2 * tau * (1 - mu) + 1 + rho
    m, slope = marchenko_pastur(q, kappa), marchenko_pastur_slope(q, kappa)
    variance = (rho + q - q * q * m) * m / (tau - 1)
    return (1 + q) * (1 - 2 * q * m - q * q * slope + variance) - 2 * (1 - q * m) + 1 + rho


def effective_ridge(alpha: float, kappa: float, tau: float, rho: float, lam: float) -> float:
    r"""The root ν ≥ λ of 1 − τ + τλ/ν = νM_κ(q+ν); unique, because the two sides fall and rise in ν.

    Bracketed by λ ≤ ν ≤ λ + (1+q)/τ. For λ = 0 it is the limit λ → 0⁺: 0 for τ ≥ 1, positive below.
    """
    q = _settings(alpha, kappa, tau, rho, lam)
    if lam == 0 and tau >= 1:
        return 0.0

    def excess(nu: float) -> float:
        return nu * (1 - tau) + tau * lam - nu * nu * marchenko_pastur(q + nu, kappa)

    low = lam if lam > 0 else TINY
    return float(brentq(excess, low, lam + (1 + q) / tau, xtol=TINY, rtol=1e-14, maxiter=500))


def errors(alpha: float, kappa: float, tau: float, rho: float, lam: float) -> Errors:
    r"""Both errors for every λ ≥ 0; at λ = 0 the limit λ → 0⁺, infinite at τ = 1.

    .. math::
        e_{IDG} &= \tau\,\frac{\rho+q-z^2M+2z\nu M+z^2\nu M'}{\tau-(1-2\nu M-\nu^2M')}, \qquad z=q+\nu,\ M = M_\kappa(z) \\
        e_{ICL} &= (1+q)(1-2zM-z^2M')-2(1-zM)+1+\rho+e_{IDG}\,(1+q)(M+\nu M')/\tau

    Derived in chapter 5 from the deterministic equivalent; agrees with :func:`ridgeless_icl` at λ = 0.
    ``alpha, kappa, tau > 0`` (``kappa`` may be ``math.inf``), ``rho, lam ≥ 0``; raises ``ValueError`` otherwise.
    """
    q = _settings(alpha, kappa, tau, rho, lam)
    nu = effective_ridge(alpha, kappa, tau, rho, lam)
    if lam == 0 and tau == 1:
        return Errors(math.inf, math.inf, 0.0)
    z = q + nu
    m, slope = marchenko_pastur(z, kappa), marchenko_pastur_slope(z, kappa)
    bias = rho + q - z * z * m + 2 * z * nu * m + z * z * nu * slope
    idg = tau * bias / (tau - (1 - 2 * nu * m - nu * nu * slope))
    icl = (1 + q) * (1 - 2 * z * m - z * z * slope) - 2 * (1 - z * m) + 1 + rho
    return Errors(icl + idg * (1 + q) * (m + nu * slope) / tau, idg, nu)


def peak_coefficients(alpha: float, kappa: float, rho: float) -> tuple[float, float]:
    r"""The coefficients (c_ICL, c_IDG) of the ridgeless divergence e ≃ c/|τ − 1| as τ → 1, the same from both sides.

    .. math:: c_{IDG} = \rho + q - q^2M_\kappa(q), \qquad c_{ICL} = (1+q)\,M_\kappa(q)\,c_{IDG}
    """
    q = _settings(alpha, kappa, 1.0, rho)
    m = marchenko_pastur(q, kappa)
    idg = rho + q - q * q * m
    return (1 + q) * m * idg, idg


def long_context_limit(kappa: float, rho: float, ratio: float) -> float:
    r"""The limit of the ridgeless e_ICL for α, τ → ∞ with ``ratio`` = τ/α = n/(dℓ) fixed.

    .. math:: \rho + (1-\kappa)\left(1 + \frac{\rho}{1+\rho}\,\frac{\alpha}{\tau}\right)\ (\kappa<1), \qquad \rho\ (\kappa\ge1)

    The slides print τ/α where the limit has α/τ (chapter 5 shows which one the formula approaches).
    """
    _kappa(kappa), validation.nonnegative("rho", rho), validation.positive("ratio", ratio)
    return rho + (1 - kappa) * (1 + rho / (1 + rho) / ratio) if kappa < 1 else rho


def finite_equivalent(train: Moments, fresh: Moments, n: int, rho: float, lam: float) -> Errors:
    r"""Deterministic equivalent at finite d, given the exact moments of the features (S, A) under the drawn tasks.

    .. math::
        \nu = \lambda + \nu\tfrac{d}{n}\,\mathrm{tr}\,S(S+\nu)^{-1}, \qquad \Gamma = A(S+\nu)^{-1}, \qquad
        e_{IDG} = \frac{e(\Gamma)}{1-\tfrac dn \mathrm{tr}\,S^2(S+\nu)^{-2}}, \qquad
        e_{ICL} = e_0(\Gamma) + e_{IDG}\,\tfrac dn\,\mathrm{tr}\,S_0S(S+\nu)^{-2}

    where e and e₀ are the exact errors of the deterministic Γ on the pretraining and on fresh tasks (moments S₀, A₀).
    ``train, fresh``: moments with S (d+1, d+1), A (d, d+1). ``lam > 0`` or n ≠ d(d+1). Raises ``ValueError``.
    """
    d = train.cross.shape[0]
    validation.whole("n", n), validation.nonnegative("lam", lam), validation.nonnegative("rho", rho)
    eigen, basis = torch.linalg.eigh(train.second)
    values = eigen.clamp_min(0).tolist()

    def excess(nu: float) -> float:
        return lam - nu + nu * d / n * sum(s / (s + nu) for s in values)

    if lam == 0 and n == d * (d + 1):
        raise ValueError(f"lam must be positive where n = d(d+1) = {n}: the ridgeless error diverges there")
    if lam == 0 and n > d * (d + 1):
        nu = 0.0
    else:
        nu = float(brentq(excess, lam if lam > 0 else TINY, lam + d / n * sum(values), xtol=TINY, rtol=1e-14, maxiter=500))
    shrink = 1 / (eigen + nu)
    gamma = ((train.cross @ basis) * shrink) @ basis.T
    idg = train.error(gamma, rho) / (1 - d / n * float((eigen * shrink).square().sum()))
    leak = d / n * float(((basis.T @ fresh.second @ basis).diagonal() * eigen * shrink**2).sum())
    return Errors(fresh.error(gamma, rho) + idg * leak, idg, nu)


def leverage_equivalent(train: Moments, fresh: Moments, tasks: torch.Tensor, sample: Prompts, n: int, rho: float,
                        lam: float) -> Errors:
    r""":func:`finite_equivalent` with the spread of the leverages, the remaining deviation of order 1/d.

    A prompt pulls on Γ by its leverage t = ‖x‖² vᵀBv, which differs from prompt to prompt by O(1/√d) of itself. With
    averages over x, v, w and the prompt's residual r² = ‖x‖²‖w − Γv‖²/d + ρ:

    .. math::
        B = \bigl(\tfrac nd\,E\tfrac{\|x\|^2vv^\top}{1+t} + \tfrac nd\lambda\bigr)^{-1}, \quad
        \Gamma = \tfrac nd\,E\tfrac{\|x\|^2wv^\top}{1+t}\,B, \quad
        K = \tfrac nd\,B\,E\frac{\|x\|^2vv^\top(r^2+\|x\|^2v^\top Kv)}{(1+t)^2}\,B, \quad e = e_0(\Gamma) + \mathrm{tr}\,SK

    The averages' bulk is the exact S and A, their rest the mean over ``sample`` of prompts (not used for training) on
    ``tasks: (k, d)``, balanced. With t at its mean this is :func:`finite_equivalent`. ``lam > 0``. Raises ``ValueError``.
    """
    d = train.cross.shape[0]
    m = validation.shape("sample.v", sample.v, "m e", e=d + 1)["m"]
    validation.whole("n", n), validation.positive("lam", lam), validation.nonnegative("rho", rho)
    v, power = sample.v, sample.x.square().sum(1)
    w = tasks[torch.arange(m) % len(tasks)]

    def average(weight: torch.Tensor, left: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
        mean = weight.mean()
        return mean * exact + left.T @ ((weight - mean)[:, None] * v) / m

    weight = torch.ones(m, dtype=torch.float64)
    for _ in range(20):  # ‖x‖²/(1+t), relative to its mean λ/ν; each round shrinks the error by O(1/d)
        weighted = average(weight, v, train.second)
        eigen, basis = torch.linalg.eigh((weighted + weighted.T) / 2)
        squares = (v @ basis).square()

        def pulled(nu: float, eigen: torch.Tensor = eigen, squares: torch.Tensor = squares) -> torch.Tensor:
            return power / (lam / nu + power * (squares @ (1 / (eigen + nu))) * d / n)

        high = lam + 3 * d / n * float(eigen.sum())
        nu = float(brentq(lambda value: float(pulled(value).mean()) - 1, lam / 2, high, xtol=TINY, rtol=1e-12, maxiter=500))
        weight, before = pulled(nu), weight
        if float((weight - before).abs().mean()) < 1e-8:
            break
    factor = power / weight * nu / lam  # 1 + t
    b = (basis / (eigen + nu)) @ basis.T * (d * nu / (n * lam))
    gamma = n / d * average(weight * lam / nu, w, train.cross) @ b

    def spread(squared: torch.Tensor) -> torch.Tensor:
        return n / d * b @ average(power * squared / factor**2, v, train.second) @ b

    def felt(covariance: torch.Tensor) -> torch.Tensor:
        return power * ((v @ covariance) * v).sum(1)

    residual = power * (w - v @ gamma.T).square().sum(1) / d + rho
    system = LinearOperator((m, m), dtype=float, matvec=lambda g: g.ravel() - felt(spread(torch.from_numpy(g.ravel()))).numpy())
    own = felt(spread(residual)).numpy()
    covariance = spread(residual + torch.from_numpy(gmres(system, own, rtol=1e-8, restart=30)[0]))
    return Errors(fresh.error(gamma, rho) + float((fresh.second * covariance).sum()),
                  train.error(gamma, rho) + float((train.second * covariance).sum()), nu)
