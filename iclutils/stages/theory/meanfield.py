r"""The mean-field flow of a softmax attention layer on orthonormal features (chapter 6).

A token is :math:`v_m` with probability :math:`p_m`; as the prompt length N → ∞ a query
:math:`v_k` puts

.. math:: \mathrm{Attn}_m = \frac{p_m e^{B_m}}{\sum_j p_j e^{B_j}}, \qquad
          \mathcal L_k = \tfrac12 (1-\mathrm{Attn}_k)^2 + \tfrac12 \sum_{m\ne k}\mathrm{Attn}_m^2

on :math:`v_m`. Gradient flow on :math:`L = \sum_k p_k \mathcal L_k` moves column k of Q (in the
feature frame) alone, with :math:`r = 1 - \mathrm{Attn}_k` and t = η · steps:

.. math:: \dot A_k = 2 p_k \mathrm{Attn}_k \mathcal L_k, \qquad
          \dot B_m = -p_k \mathrm{Attn}_m (\mathrm{Attn}_m + r - 2\mathcal L_k),

which is :math:`\dot B_m = -p_k \mathrm{Attn}_m (g_m - \sum_j \mathrm{Attn}_j g_j)`,
:math:`g_j = \mathrm{Attn}_j - \delta_{jk}`, written without the cancellation at small r. Features
of equal probability keep equal entries, so a column has at most three distinct ones: its target,
the dominant feature, and each of the others.

Source: Huang, Cheng and Liang 2024, slides "Training Settings" and "Four-phase Behavior"; the
equations of the flow are ours. Relative to the talk: :math:`A_k = B_k` is the target's entry, k = 1
is the dominant feature.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from iclutils import randomness, validation

KINDS = ("rare", "dominant", "balanced")
TARGET, DOMINANT, OTHER = 0, 1, 2
# of log t and the entries: zero when something is passed
Event = Callable[[float, Float[np.ndarray, "3"]], float]


@dataclass(frozen=True)
class Column:
    r"""One column of Q by its target's probability, and log p and number of each of three features.

    The three are the target, the dominant feature and each of the others.
    """

    p_target: float
    log_p: Float[np.ndarray, "3"]
    size: Float[np.ndarray, "3"]  # how many features share the entry

    @classmethod
    def of(cls, kind: str, K: int, p1: float) -> "Column":
        """Return the column of a ``"rare"`` or ``"dominant"`` feature, or the ``"balanced"`` one.

        Raises ``KeyError`` for another kind, ``ValueError`` for K below 3 or p1 outside (0, 1).
        """
        validation.one_of("kind", kind, KINDS)
        validation.whole("K", K, low=3)
        validation.in_range("p1", p1, 0.0, 1.0, open_low=True, open_high=True)
        rare = (1 - p1) / (K - 1)
        if kind == "rare":
            return cls(rare, np.log([rare, p1, rare]), np.array([1.0, 1.0, K - 2.0]))
        target = p1 if kind == "dominant" else 1 / K
        other = rare if kind == "dominant" else 1 / K
        return cls(target, np.log([target, other, other]), np.array([1.0, 0.0, K - 1.0]))

    def attention(
        self, entries: Float[np.ndarray, "3 *times"]
    ) -> tuple[Float[np.ndarray, "3 *times"], Float[np.ndarray, "*times"] | np.float64]:
        """Attention per feature, and r = 1 − Attn_k, summed from the small masses.

        Raises ``ValueError`` where there are not three entries or one is NaN.
        """
        if len(entries) != 3:
            raise ValueError(f"entries must be three, (A, B₁, B); got {len(entries)}")
        shape = (3, *(1,) * (entries.ndim - 1))
        size = self.size.reshape(shape)
        logits = self.log_p.reshape(shape) + entries
        largest = logits.max(0)
        if not np.isfinite(largest).all():  # NaN, if one of the three is
            raise ValueError(f"entries must be finite; got {entries.tolist()}")
        weight = np.exp(logits - largest)
        attention = weight / (size * weight).sum(0)
        return attention, (size * attention)[1:].sum(0)

    def error(
        self, entries: Float[np.ndarray, "3 *times"]
    ) -> Float[np.ndarray, "*times"] | np.float64:
        """Return the prediction error at the entries."""
        attention, r = self.attention(entries)
        size = self.size.reshape(3, *(1,) * (entries.ndim - 1))
        error: Float[np.ndarray, "*times"] = 0.5 * (r**2 + (size * attention**2)[1:].sum(0))
        return error

    def velocity(self, entries: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
        """Return the flow's right-hand side."""
        attention, r = self.attention(entries)
        error = 0.5 * (r**2 + (self.size * attention**2)[1:].sum())
        velocity = np.asarray(-self.p_target * attention * (attention + r - 2 * error))
        velocity[TARGET] = 2 * self.p_target * attention[TARGET] * error
        return velocity

    def reached(self, level: float) -> Event:
        """Zero when the error is ``level``."""
        return lambda s, entries: math.log(float(self.error(entries)) / level)

    def lead(self, s: float, entries: Float[np.ndarray, "3"]) -> float:
        """Zero when the target's entry rises as fast as the dominant one falls."""
        v = self.velocity(entries)
        return math.log(v[TARGET] / -v[DOMINANT])

    def overtake(self, s: float, entries: Float[np.ndarray, "3"]) -> float:
        """Zero when target and dominant feature have the same attention."""
        target = self.log_p[TARGET] + entries[TARGET]
        return float(target - self.log_p[DOMINANT] - entries[DOMINANT])

    def half(self, s: float, entries: Float[np.ndarray, "3"]) -> float:
        """Zero when the target has half of the attention."""
        return float(self.attention(entries)[0][TARGET]) - 0.5


LOOSEST = 1e-3  # of a relative tolerance: with 0.1 a time is off by 0.6 %, with 10 by 6 %
LARGEST = 700.0  # of an entry: beyond it the exponential is no number
START = 1e-3  # before this time nothing moves by more than 1e-3, in a straight line


@dataclass(frozen=True)
class Boundary:
    """A phase boundary: when it is passed, and the entries A, B₁ (dominant), B (others) there."""

    t: float
    A: float
    B1: float
    B: float


@dataclass(frozen=True)
class Flow:
    r"""The solution of one column on a grid of times.

    ``attention`` is the mass on the target, on the dominant feature and on *each* of the others;
    ``times[ε]`` is when the error passes ε. ``boundaries`` has ``"lead"``
    (:math:`\dot A = -\dot B_1`), ``"overtake"`` (:math:`\mathrm{Attn}_k = \mathrm{Attn}_1`) and
    ``"half"`` (:math:`\mathrm{Attn}_k = 1/2`), the first two for the rare column alone. A boundary
    that lies behind the start has t = 0; one that is never reached is absent. ``solution(t)`` gives
    (A, B₁, B) at any time up to the last of ``t``, and raises ``ValueError`` for another.
    """

    kind: str
    K: int
    p1: float
    t: Float[np.ndarray, " points"]
    A: Float[np.ndarray, " points"]
    B1: Float[np.ndarray, " points"]
    B: Float[np.ndarray, " points"]
    attention: Float[np.ndarray, "points 3"]
    error: Float[np.ndarray, " points"]
    times: dict[float, float]
    boundaries: dict[str, Boundary]
    solution: Callable[[Float[np.ndarray, " times"] | float], Float[np.ndarray, "3 *times"]]

    def fall(self, start: float, end: float) -> float:
        """Compute the share by which the error falls from one time to another.

        Raises ``ValueError`` for a time below 0 or beyond the last of ``t``.
        """
        for name, time in (("start", start), ("end", end)):
            validation.in_range(name, time, 0.0, float(self.t[-1]))
        early, late = np.interp([start, end], self.t, self.error)
        return float(1 - late / early)


def velocity(kind: str, K: int, p1: float, entries: Sequence[float]) -> Float[np.ndarray, "3"]:
    r"""Return the right-hand side :math:`(\dot A_k, \dot B_1, \dot B)` at ``entries`` (A, B₁, B).

    Only the rare column has a B₁ of its own; the middle entry is idle for the other kinds. The
    other arguments, and what it raises, are those of :func:`flow`; ``ValueError`` too where
    ``entries`` are not three finite numbers.
    """
    column = Column.of(kind, K, p1)
    three = np.asarray(entries, dtype=np.float64)
    if three.shape != (3,) or not np.isfinite(three).all():
        raise ValueError(f"entries must be three finite numbers (A, B₁, B); got {entries!r}")
    return column.velocity(three)


def _solve(column: Column, levels: Sequence[float], marks: Mapping[str, Event], rtol: float) -> Any:
    """scipy's solution in s = log t from START to the last of the falling error ``levels``.

    Its events are the levels, then the marks. The horizon is ten times the leading terms of the
    time to the last level, K + 1/ε over the target's probability.
    """
    events = [column.reached(level) for level in levels]
    events[-1].terminal = True  # type: ignore[attr-defined]
    begin = START * column.velocity(np.zeros(3))
    K = column.size.sum()
    horizon = 10 * ((K + 1 / levels[-1]) / column.p_target)
    solved = solve_ivp(
        lambda s, entries: math.exp(s) * column.velocity(entries),
        (math.log(START), math.log(horizon)),
        randomness.start(begin),
        method="LSODA",
        events=[*events, *marks.values()],
        dense_output=True,
        rtol=rtol,
        atol=1e-10,
    )
    if solved.status != 1:
        t = math.exp(solved.t[-1])
        raise RuntimeError(
            f"the flow stopped at t = {t:.3g} before the error was {levels[-1]:g}: {solved.message}"
        )
    return solved


def _boundaries(
    column: Column, marks: Mapping[str, Event], times: Sequence[Any], entries: Sequence[Any]
) -> dict[str, Boundary]:
    """Make the marks that were passed, from the log times and entries that the solver reports."""
    begin = START * column.velocity(np.zeros(3))
    boundaries = {}
    for (name, mark), crossings, at in zip(marks.items(), times, entries, strict=True):
        if mark(0.0, begin) >= 0:  # passed before anything moved: the phase has no length
            boundaries[name] = Boundary(0.0, 0.0, 0.0, 0.0)
        elif len(crossings):
            A, B1, B = map(float, at[0])
            boundaries[name] = Boundary(math.exp(crossings[0]), A, B1, B)
    return boundaries


def flow(
    kind: str,
    K: int,
    p1: float,
    *,
    errors: float | Sequence[float] = (0.1, 0.01, 0.001),
    points: int = 400,
    rtol: float = 1e-9,
) -> Flow:
    r"""Solve one column from Q = 0 until its error is the smallest of ``errors``.

    ``kind`` is ``"rare"`` (:math:`p_k = (1-p_1)/(K-1)`), ``"dominant"`` (k = 1) or ``"balanced"``
    (all 1/K; p1 is ignored); K ≥ 3 features, p1 in (0, 1), each of ``errors`` in (0, 1/2). The
    equation is solved in log time by LSODA with relative tolerance ``rtol``, at most 1e-3, so the
    work hardly depends on K, and is given at ``points`` times. An error that holds from the start
    has time 0. Raises ``KeyError`` for another kind, ``ValueError`` for a number out of range, and
    ``RuntimeError`` if the solver stops before the smallest error.

    Of your K = 50 features one makes up 60 % of the tokens. When are it and each of the others
    learned to an error of 0.01, and when do the phases of a rare one end?

    >>> dominant = flow("dominant", 50, 0.6, errors=(0.01,))
    >>> rare = flow("rare", 50, 0.6, errors=(0.01,))
    >>> f"{dominant.times[0.01]:.0f} and {rare.times[0.01]:.0f}"
    '58 and 13548'
    >>> {name: f"{passed.t:.0f}" for name, passed in rare.boundaries.items()}
    {'lead': '3489', 'overtake': '6832', 'half': '8858'}
    """
    column = Column.of(kind, K, p1)
    errors = (errors,) if isinstance(errors, int | float) else tuple(errors)
    if not errors:
        raise ValueError("errors must hold at least one error; got none")
    for error in errors:
        validation.in_range("errors", error, 0.0, 0.5, open_low=True, open_high=True)
    validation.whole("points", points, low=2)
    validation.in_range("rtol", rtol, 0.0, LOOSEST, open_low=True)
    levels = sorted((float(e) for e in errors), reverse=True)
    begin = float(column.error(START * column.velocity(np.zeros(3))))
    # a strong dominant feature may start below an error
    ahead = [level for level in levels if level < begin] or [begin / 10]
    marks: dict[str, Event] = {"half": column.half}
    if kind == "rare":
        marks = {"lead": column.lead, "overtake": column.overtake, "half": column.half}
    solved = _solve(column, ahead, marks, rtol)
    reached = {e: math.exp(at[0]) for e, at in zip(ahead, solved.t_events, strict=False)}
    s = np.linspace(max(solved.t[0], -2.0), solved.t[-1], points)
    entries = solved.sol(s)
    count = len(ahead)
    return Flow(
        kind=kind,
        K=K,
        p1=p1,
        t=np.exp(s),
        A=entries[TARGET],
        B1=entries[DOMINANT],
        B=entries[OTHER],
        attention=column.attention(entries)[0].T * np.minimum(column.size, 1.0),
        error=np.asarray(column.error(entries)),
        times={level: reached.get(level, 0.0) for level in levels},
        boundaries=_boundaries(column, marks, solved.t_events[count:], solved.y_events[count:]),
        solution=lambda t: solved.sol(_within(t, float(np.exp(solved.t[-1])))),
    )


def _within(t: Float[np.ndarray, " times"] | float, last: float) -> Float[np.ndarray, "*times"]:
    """Compute the logarithms of times between 0 and the last, the first ones that of START."""
    times = np.asarray(t, dtype=np.float64)
    if not ((times >= 0) & (times <= last * (1 + 1e-12))).all():  # its logarithm was rounded
        raise ValueError(f"t must be in [0, {last:g}]; got {t}")
    return np.asarray(np.log(np.maximum(times, START)))


class Descent(NamedTuple):
    """The entries (A, B₁, B) of a column after each step from 0 on, and its error there."""

    entries: Float[np.ndarray, "steps 3"]
    error: Float[np.ndarray, " steps"]


def descend(
    kind: str, K: int, p1: float, *, learning_rate: float, steps: int, off_target: float = 1.0
) -> Descent:
    """Plain gradient descent on the three entries, the slow way.

    It is what the flow replaces (`make bench`), and how the size of the step is felt. The learning
    rate, the talk's η, is positive and ``steps`` ≥ 1. ``off_target`` multiplies the force on the
    entries off the target: −1 is chapter 6's negative control. The other arguments are those of
    :func:`flow`. Raises ``KeyError`` for another kind, ``ValueError`` for a number out of range and
    ``RuntimeError`` where the descent diverges.
    """
    column = Column.of(kind, K, p1)
    validation.positive("learning_rate", learning_rate)
    validation.in_range("off_target", off_target, -math.inf, math.inf)
    path = np.zeros((validation.whole("steps", steps) + 1, 3))
    path[0] = randomness.start(path[0])
    factor = learning_rate * np.array([1.0, off_target, off_target])
    for i in range(steps):
        path[i + 1] = path[i] + factor * column.velocity(path[i])
        largest = float(np.abs(path[i + 1]).max())
        if not largest <= LARGEST:
            raise RuntimeError(
                f"learning_rate must be smaller; with {learning_rate:g} the descent diverged, to an"
                f" entry of {largest:.3g}"
            )
    return Descent(path, np.asarray(column.error(path.T)))


def exact_time(kind: str, K: int, p1: float, error: float) -> float:
    r"""Time to ``error`` in closed form where a column has only two distinct entries.

    These are the kinds ``"dominant"`` and ``"balanced"``. With
    :math:`u = \mathrm{Attn}_k/(1-\mathrm{Attn}_k)` and p the target's probability,

    .. math:: p\,t\,\Big(\tfrac{K}{K-1}\Big)^2 = F(u) - F(u_0), \quad
              F(u) = \tfrac{u^2}{2} + 3u + 3\ln u - \tfrac1u,

    and ε is passed at :math:`1/(1+u)^2 = 2\varepsilon (K-1)/K`; 0 where the error holds from the
    start. Derived in chapter 6. Raises
    ``KeyError`` for another kind and ``ValueError`` for a number out of range.

    >>> solved = flow("balanced", 20, 0.5, errors=(0.01,)).times[0.01]
    >>> abs(exact_time("balanced", 20, 0.5, 0.01) / solved - 1) < 1e-6
    True
    """
    validation.one_of("kind", kind, ("dominant", "balanced"))
    column = Column.of(kind, K, p1)
    validation.in_range("error", error, 0.0, 0.5, open_low=True, open_high=True)

    def primitive(u: float) -> float:
        return u * u / 2 + 3 * u + 3 * math.log(u) - 1 / u

    end = math.sqrt(K / ((K - 1) * 2 * error)) - 1
    begin = column.p_target / (1 - column.p_target)
    if end <= begin:  # the error holds from the start
        return 0.0
    return (primitive(end) - primitive(begin)) / column.p_target * ((K - 1) / K) ** 2


def linear_time(p: float, error: float) -> float:
    r"""Time to ``error`` of *linear* attention, :math:`\mathrm{Attn}_m = p_m B_m`.

    .. math:: t = \ln\big((2\varepsilon)^{-1/2}\big)/p_k^3

    ``p`` in (0, 1] is the target's probability, ``error`` in (0, 1/2). The entries off the target
    never move, so it has no phases: the negative control of chapter 6. Raises ``ValueError`` for a
    number out of range.
    """
    validation.in_range("p", p, 0.0, 1.0, open_low=True)
    validation.in_range("error", error, 0.0, 0.5, open_low=True, open_high=True)
    return -0.5 * math.log(2 * error) / p**3


def first_phase_threshold(K: int) -> float:
    r"""Return the p1 above which the dominant weight falls faster than the target's rises at t = 0.

    That is :math:`\dot A_k < -\dot B_{k,1}`, true for :math:`p_1 > K^{-1/2}` (an exercise of
    chapter 6); here it is found as a root. Raises ``ValueError`` for K below 3.
    """
    validation.whole("K", K, low=3)

    def gap(p1: float) -> float:
        v = Column.of("rare", K, p1).velocity(np.zeros(3))
        return float(v[TARGET] + v[DOMINANT])

    return float(brentq(gap, 1.5 / K, 0.6))


def step_margin(flow: float, descent: float) -> float:
    """How far training in finite steps may be from the flow: twice what the step alone makes.

    ``flow`` and ``descent`` are a weight in the flow and in descent without sampling; 0.002 are
    added for what the counts of 10⁸ tokens leave. Raises ``ValueError`` for what is not finite.

    >>> round(step_margin(1.0, 1.01), 3)
    0.022
    """
    for name, weight in (("flow", flow), ("descent", descent)):
        validation.in_range(name, weight, -math.inf, math.inf)
    return 2 * abs(descent - flow) + 0.002
