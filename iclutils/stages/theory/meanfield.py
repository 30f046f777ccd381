r"""The mean-field flow of a softmax attention layer on orthonormal features (chapter 6).

A token is :math:`v_m` with probability :math:`p_m`; as the prompt length N → ∞ a query :math:`v_k` puts

.. math:: \mathrm{Attn}_m = \frac{p_m e^{B_m}}{\sum_j p_j e^{B_j}}, \qquad
          \mathcal L_k = \tfrac12 (1-\mathrm{Attn}_k)^2 + \tfrac12 \sum_{m\ne k}\mathrm{Attn}_m^2

on :math:`v_m`. Gradient flow on :math:`L = \sum_k p_k \mathcal L_k` moves column k of Q (in the feature
frame) alone, with :math:`r = 1 - \mathrm{Attn}_k` and t = η · steps:

.. math:: \dot A_k = 2 p_k \mathrm{Attn}_k \mathcal L_k, \qquad
          \dot B_m = -p_k \mathrm{Attn}_m (\mathrm{Attn}_m + r - 2\mathcal L_k),

which is :math:`\dot B_m = -p_k \mathrm{Attn}_m (g_m - \sum_j \mathrm{Attn}_j g_j)`,
:math:`g_j = \mathrm{Attn}_j - \delta_{jk}`, written without the cancellation at small r. Features of equal
probability keep equal entries, so a column has at most three distinct ones: its target, the dominant
feature, and each of the others.

Source: Huang, Cheng and Liang 2024, slides "Training Settings" and "Four-phase Behavior"; the equations of
the flow are ours. Relative to the talk: :math:`A_k = B_k` is the target's entry, k = 1 is the dominant feature.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from iclutils import validation

Array = NDArray[np.float64]
KINDS = ("rare", "dominant", "balanced")
TARGET, DOMINANT, OTHER = 0, 1, 2


@dataclass(frozen=True)
class Boundary:
    """A phase boundary: when it is passed, and the entries A, B₁ (dominant) and B (others) there."""

    t: float
    A: float
    B1: float
    B: float


@dataclass(frozen=True)
class Flow:
    """The solution of one column on a grid of ``P`` times.

    ``t, A, B1, B, error: (P,)``; ``attention: (P, 3)``, the mass on the target, on the dominant
    feature and on *each* of the others; ``times[ε]`` is when the error passes ε. ``boundaries`` has
    ``"lead"`` (:math:`\\dot A = -\\dot B_1`), ``"overtake"`` (Attn_k = Attn_1) and ``"half"`` (Attn_k = 1/2),
    the first two for the rare column alone. A boundary that lies behind the start has t = 0; one that is never reached is absent.
    ``solution(t)`` gives (A, B₁, B) at any time up to the last of ``t``.
    """

    kind: str
    K: int
    p1: float
    t: Array
    A: Array
    B1: Array
    B: Array
    attention: Array
    error: Array
    times: dict[float, float]
    boundaries: dict[str, Boundary]
    solution: Callable[[Array | float], Array]


@dataclass(frozen=True)
class _Column:
    p_target: float
    log_p: Array  # of target, dominant, each other
    size: Array  # how many features share the entry

    def attention(self, entries: Array) -> tuple[Array, Array]:
        """Per-feature attention (3, ...) and r = 1 − Attn_k, summed from the small masses."""
        logits = self.log_p.reshape(3, *(1,) * (entries.ndim - 1)) + entries
        weight = np.exp(logits - logits.max(0))
        size = self.size.reshape(3, *(1,) * (entries.ndim - 1))
        total = (size * weight).sum(0)
        attention = weight / total
        return attention, (size * attention)[1:].sum(0)

    def error(self, entries: Array) -> Array:
        attention, r = self.attention(entries)
        size = self.size.reshape(3, *(1,) * (entries.ndim - 1))
        return 0.5 * (r**2 + (size * attention**2)[1:].sum(0))

    def velocity(self, entries: Array) -> Array:
        attention, r = self.attention(entries)
        error = 0.5 * (r**2 + (self.size * attention**2)[1:].sum())
        velocity = -self.p_target * attention * (attention + r - 2 * error)
        velocity[TARGET] = 2 * self.p_target * attention[TARGET] * error
        return velocity


def _column(kind: str, K: int, p1: float) -> _Column:
    validation.one_of("kind", kind, KINDS)
    validation.whole("K", K, low=3)
    validation.in_range("p1", p1, 0.0, 1.0, open_low=True, open_high=True)
    rare = (1 - p1) / (K - 1)
    if kind == "rare":
        return _Column(rare, np.log([rare, p1, rare]), np.array([1.0, 1.0, K - 2.0]))
    target = p1 if kind == "dominant" else 1 / K
    other = rare if kind == "dominant" else 1 / K
    return _Column(target, np.log([target, other, other]), np.array([1.0, 0.0, K - 1.0]))


def velocity(kind: str, K: int, p1: float, entries: Sequence[float]) -> Array:
    """The right-hand side :math:`(\\dot A_k, \\dot B_1, \\dot B)` of the flow at ``entries = (A, B₁, B)``.

    Only the rare column has a B₁ of its own; the middle entry is idle for the other kinds. Raises as :func:`flow`.
    """
    return _column(kind, K, p1).velocity(np.asarray(entries, dtype=np.float64))


def flow(kind: str, K: int, p1: float, *, errors: Sequence[float] = (0.1, 0.01, 0.001), points: int = 400,
         rtol: float = 1e-9) -> Flow:
    r"""Solve one column from Q = 0 until its error is the smallest of ``errors``; chapter 6's route 3.

    ``kind`` is ``"rare"`` (:math:`p_k = (1-p_1)/(K-1)`), ``"dominant"`` (k = 1) or ``"balanced"``
    (all 1/K; p1 is ignored). K ≥ 3, 0 < p1 < 1, each ε in (0, 1/2). The ODE is solved in log time by LSODA,
    so the work hardly depends on K. An ε that holds from the start has time 0. Raises ``ValueError`` out of range,
    ``RuntimeError`` if the solver stops early.
    """
    column = _column(kind, K, p1)
    for error in errors:
        validation.in_range("errors", error, 0.0, 0.5, open_low=True, open_high=True)
    targets = sorted((float(e) for e in errors), reverse=True)
    whole = validation.whole("points", points, low=2)

    def rhs(s: float, entries: Array) -> Array:
        return math.exp(s) * column.velocity(entries)

    def reach(level: float) -> Callable[[float, Array], float]:
        return lambda s, entries: math.log(float(column.error(entries)) / level)

    def lead(s: float, entries: Array) -> float:
        v = column.velocity(entries)
        return math.log(v[TARGET] / -v[DOMINANT])

    def overtake(s: float, entries: Array) -> float:
        return float(column.log_p[TARGET] + entries[TARGET] - column.log_p[DOMINANT] - entries[DOMINANT])

    def half(s: float, entries: Array) -> float:
        return float(column.attention(entries)[0][TARGET]) - 0.5

    marks: dict[str, Callable[[float, Array], float]] = {"half": half}
    if kind == "rare":
        marks = {"lead": lead, "overtake": overtake, "half": half}
    # before t = 1e-3 nothing moves by more than 1e-3, in a straight line; a strong dominant feature may start below an ε
    start = 1e-3
    first = start * column.velocity(np.zeros(3))
    begins = float(column.error(first))
    ahead = [e for e in targets if e < begins] or [begins / 10]
    events = [reach(e) for e in ahead] + list(marks.values())
    events[len(ahead) - 1].terminal = True  # type: ignore[attr-defined]
    # ten times the leading terms of the time to ε
    horizon = 10 * ((K + 1 / ahead[-1]) / column.p_target)
    solved = solve_ivp(rhs, (math.log(start), math.log(horizon)), first, method="LSODA", events=events,
                       dense_output=True, rtol=validation.positive("rtol", rtol), atol=1e-10)
    if solved.status != 1:
        raise RuntimeError(f"flow of the {kind} column stopped at t = {math.exp(solved.t[-1]):.3g}: {solved.message}")
    s = np.linspace(max(solved.t[0], -2.0), solved.t[-1], whole)
    entries = solved.sol(s)
    attention = column.attention(entries)[0].T * np.minimum(column.size, 1.0)
    reached = {e: math.exp(found[0]) for e, found in zip(ahead, solved.t_events, strict=False)}
    times = {e: reached.get(e, 0.0) for e in targets}
    boundaries = {}
    for name, found, at in zip(marks, solved.t_events[len(ahead):], solved.y_events[len(ahead):], strict=True):
        passed = marks[name](0.0, first) >= 0  # before anything moved: the phase has no length
        if passed or len(found):
            boundaries[name] = Boundary(0.0, 0.0, 0.0, 0.0) if passed else Boundary(math.exp(found[0]), *map(float, at[0]))
    return Flow(kind, K, p1, t=np.exp(s), A=entries[0], B1=entries[1], B=entries[2], attention=attention,
                error=column.error(entries), times=times, boundaries=boundaries,
                solution=lambda t: solved.sol(np.log(np.maximum(t, start))))


def descend(kind: str, K: int, p1: float, *, eta: float, steps: int, off_target: float = 1.0) -> tuple[Array, Array]:
    """Plain gradient descent on the three entries, the slow way; returns ``entries: (steps + 1, 3)`` and ``error``.

    It is what the flow replaces (`make bench`) and how the size of the step η is felt. η > 0, steps ≥ 1.
    ``off_target`` multiplies the force on the off-target entries: −1 is chapter 6's negative control.
    """
    column = _column(kind, K, p1)
    validation.positive("eta", eta)
    path = np.zeros((validation.whole("steps", steps) + 1, 3))
    factor = eta * np.array([1.0, off_target, off_target])
    for i in range(steps):
        path[i + 1] = path[i] + factor * column.velocity(path[i])
    return path, column.error(path.T)


def exact_time(kind: str, K: int, p1: float, error: float) -> float:
    r"""Time to ε in closed form where a column has only two distinct entries (``"dominant"``, ``"balanced"``).

    With :math:`u = \mathrm{Attn}_k/(1-\mathrm{Attn}_k)` and p the target's probability,

    .. math:: p\,t\,\Big(\tfrac{K}{K-1}\Big)^2 = F(u) - F(u_0), \quad F(u) = \tfrac{u^2}{2} + 3u + 3\ln u - \tfrac1u,

    and ε is passed at :math:`1/(1+u)^2 = 2\varepsilon (K-1)/K`. Derived here (chapter 6); raises as :func:`flow`.
    """
    validation.one_of("kind", kind, ("dominant", "balanced"))
    column = _column(kind, K, p1)
    validation.in_range("error", error, 0.0, 0.5, open_low=True, open_high=True)

    def primitive(u: float) -> float:
        return u * u / 2 + 3 * u + 3 * math.log(u) - 1 / u

    end = math.sqrt(K / ((K - 1) * 2 * error)) - 1
    begin = column.p_target / (1 - column.p_target)
    return (primitive(end) - primitive(begin)) / column.p_target * ((K - 1) / K) ** 2


def linear_time(p: float, error: float) -> float:
    r"""Time to ε of *linear* attention, :math:`\mathrm{Attn}_m = p_m B_m`: :math:`t = \ln((2\varepsilon)^{-1/2})/p_k^3`.

    Its off-target entries never move, so it has no phases; the negative control of chapter 6.
    """
    validation.in_range("p", p, 0.0, 1.0, open_low=True)
    return -0.5 * math.log(2 * validation.in_range("error", error, 0.0, 0.5, open_low=True, open_high=True)) / p**3


def first_phase_threshold(K: int) -> float:
    r"""The :math:`p_1` above which the dominant attention falls faster than the target rises at t = 0."""
    def gap(p1: float) -> float:
        v = _column("rare", K, p1).velocity(np.zeros(3))
        return float(v[TARGET] + v[DOMINANT])

    return float(brentq(gap, 1.5 / K, 0.6))


def log_absence(p: float, N: int) -> float:
    r"""Logarithm of the probability :math:`(1-p)^N` that a feature of probability ``p`` is missing from N tokens."""
    validation.in_range("p", p, 0.0, 1.0, open_high=True)
    return validation.whole("N", N) * math.log1p(-p)


def _spread(K: int, p1: float, N: int, dominant: bool = False) -> float:
    """The mean of Σ (n_m/N)² over prompts without the target, q + (1 − q)/N."""
    p_rare = (1 - p1) / (K - 1)
    q = (K - 1) * (p_rare / (1 - p1)) ** 2 if dominant else (p1**2 + (K - 2) * p_rare**2) / (1 - p_rare) ** 2
    return q + (1 - q) / N


def saturated_error(K: int, p1: float, N: int) -> float:
    r"""Error of a rare feature for :math:`A_k → ∞` with the other entries equal, at prompt length N:

    .. math:: \tfrac12 (1-p_k)^N \big(1 + q + (1-q)/N\big), \qquad q = \sum_{m \ne k} \big(p_m/(1-p_k)\big)^2.

    A prompt with the target is solved; one without it is answered by the average of its labels.
    """
    p = _column("rare", K, p1).p_target
    return 0.5 * math.exp(log_absence(p, N)) * (1 + _spread(K, p1, N))


def log_floor(K: int, p1: float, N: int) -> tuple[float, float]:
    r"""Logarithms of a lower and an upper bound on :math:`\mathcal L_k^* = \inf_Q \mathcal L_k` of a rare feature.

    It is :math:`\tfrac12(1-p_k)^N(1+r)`, where r, the mean of :math:`\sum_m \mathrm{Attn}_m^2` over prompts
    without the target, is at least 1 over the number of features that fit in the prompt; above, it is at
    most :func:`saturated_error`. Chapter 6 compares it with the talk's :math:`\Theta(e^{-\mathrm{poly}(K)})`.
    """
    missing = log_absence(_column("rare", K, p1).p_target, N) - math.log(2)
    return missing + math.log1p(1 / min(K - 1, N)), missing + math.log1p(_spread(K, p1, N))


def value_gain(K: int, p1: float, N: int, value: float = 1.0) -> float:
    r"""Relative gain :math:`1 - L(\nu^*)/L(\nu)` of the best ν over a fixed one at saturated Q, prompt length N.

    :math:`L(\nu) = \tfrac12 - \nu m_1 + \tfrac12\nu^2 m_2`, :math:`m_1 = \sum_k p_k(1-P_k)`,
    :math:`m_2 = \sum_k p_k(1 - P_k + P_k r_k)`, :math:`P_k = (1-p_k)^N` and :math:`r_k` as in :func:`saturated_error`.
    """
    lost, spread = 0.0, 0.0  # 1 − m₁ and m₂ − m₁: both tiny, so kept apart
    for p, count, dominant in ((_column("rare", K, p1).p_target, K - 1, False), (p1, 1, True)):
        missing = count * p * math.exp(log_absence(p, N))
        lost += missing
        spread += missing * _spread(K, p1, N, dominant)
    m1, m2 = 1 - lost, 1 - lost + spread
    given = (1 - value) ** 2 * m1 + lost + value**2 * spread  # 2 L(ν)
    return m2 * (value - m1 / m2) ** 2 / given
