r"""The lemmas behind Theorem 3.4 of Collins et al. (Appendices C, D, G), each held against the exact quantity.

Their appendix writes the weights $e^{-w\|x_i-x\|^2} \propto e^{2wx_i^\top x}$, so that its w is half of ours; every
function here takes *their* w. Bounds with explicit constants are evaluated on a grid. Where the constants are free
functions of d, a bound is false if the quotient of its two sides runs away as a power of w; this is read off on two
paths, n = ∞ and along the upper end of the range, $w=(n/\log n)^{2/d}$. Chapter 1 shows the table.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from iclutils import population, sphere, validation
from iclutils.functions import Affine, ReLU
from iclutils.statistics import Comparison, greater, less

SLACK = 0.02            # in an exponent; the smallest power at stake is 1/2
MANY = 10**40           # stands for n = ∞
EPSILON = torch.linspace(0.001, 1, 400, dtype=torch.float64)


@dataclass(frozen=True)
class Exact:
    """Exact quantities at L = σ = 1 along a path of (w, n): all ``(W,)``, in the letters of the lemmas."""

    d: int
    w: torch.Tensor
    n: torch.Tensor
    affine: torch.Tensor
    relu: torch.Tensor
    noise: torch.Tensor


@dataclass(frozen=True)
class Bound:
    """One judged bound: its lemma, what it says, the dimension, and the comparison of exponent or quotient."""

    lemma: str
    says: str
    d: int
    found: Comparison


def path(d: int, *, widest: bool) -> Exact:
    """Exact signal and noise for w from (d + √d)/2 on, at n = ∞ or (``widest``) where $w=(n/\\log n)^{2/d}$.

    Raises ``ValueError``/``TypeError`` for d < 2.
    """
    validation.whole("d", d, low=2)
    w = torch.logspace(torch.tensor((d + d**0.5) / 2).log10().item(), 4.3, 90, dtype=torch.float64)
    n = torch.full_like(w, float(MANY))
    if widest:
        target = w ** (d / 2)
        n = 4 * target
        for _ in range(200):
            n = target * n.log()
    plain, drawn = (population.limit(d, 1, w=2 * w, sampling=s) for s in (False, True))

    def signal(function: Affine | ReLU) -> torch.Tensor:
        # the sampling part is proportional to 1/n in closed form: take it at n = 1 and rescale
        return plain.signal(function) + (drawn.signal(function) - plain.signal(function)) / n

    return Exact(d, w, n, signal(Affine(d)), signal(ReLU(d)), plain.concentration[0] / n)


FREE: list[tuple[str, str, str, Callable[[Exact], torch.Tensor]]] = [
    ("C.4", "affine signal ≤ c(w⁻² + w^(d/2−1)/n + 1/n)", "upper",
     lambda e: e.affine / (e.w**-2 + e.w ** (e.d / 2 - 1) / e.n + 1 / e.n)),
    ("C.5", "affine signal ≥ c w⁻²", "lower", lambda e: e.affine * e.w**2),
    ("C.6", "affine signal ≥ c (w+1)⁻²", "lower", lambda e: e.affine * (e.w + 1) ** 2),
    ("C.8", "ReLU signal ≤ c(w⁻¹ + 1/n)", "upper", lambda e: e.relu / (1 / e.w + 1 / e.n)),
    ("D.1 upper", "noise ≤ c(1 + w^(d/2))/n", "upper", lambda e: e.noise * e.n / (1 + e.w ** (e.d / 2))),
    ("D.1 lower", "noise ≥ c w^(d/2)/n", "lower", lambda e: e.noise * e.n / e.w ** (e.d / 2)),
    *[(f"G.4, G.5 {side} (p = {p})", f"g_{p}(r) {'≤' if side == 'upper' else '≥'} c n r^−(d+{p})/2", side,
       lambda e, p=p: distance_sum(p, e.d, e.w) * e.w ** ((e.d + p) / 2))  # type: ignore[misc]
      for p in (0, 2) for side in ("upper", "lower")],
]


def distance_sum(p: int, d: int, r: torch.Tensor) -> torch.Tensor:
    r"""$E\,\|y-x\|^pe^{-r\|y-x\|^2}$ for p = 0 or 2, y uniform on the sphere: $g_p(r)/n$ for n → ∞; ``(W,)``.

    ``r: (W,)``, zero or above. Raises ``KeyError`` for another p, ``ValueError`` for d < 2 or an r out of range.
    """
    validation.one_of("p", p, (0, 2)), validation.whole("d", d, low=2)
    validation.shape("r", r, "W"), validation.nonnegative("r", float(validation.finite("r", r).min()))
    mass = (sphere.log_partition(2 * r, d) - 2 * r).exp()
    if p == 0:
        return mass
    return mass * 2 * (1 - sphere.tilted_average(2 * r, d, torch.tensor([1]))[:, 0])


def free_constants(d: int) -> list[Bound]:
    """The bounds whose constants may depend on d: growth exponents in w of the quotients, the worse of the two paths.

    Raises ``ValueError``/``TypeError`` for d < 2.
    """
    found = []
    paths = [path(d, widest=False), path(d, widest=True)]
    for lemma, says, side, quotient in FREE:
        slopes = [population.power(e.w, quotient(e))[0] for e in paths]
        verdict = less(max(slopes), SLACK) if side == "upper" else greater(min(slopes), -SLACK)
        found.append(Bound(lemma, says, d, verdict))
    return found


def explicit(d: int) -> list[Bound]:
    """The bounds with constants printed: the least favourable quotient of the two sides on the grid (1 is the limit).

    Raises ``ValueError``/``TypeError`` for d < 2.
    """
    validation.whole("d", d, low=2)
    grid = population.grid(200.0, 61)
    exact = population.limit(d, 1000, w=grid)
    affine, relu = exact.signal(Affine(d)), exact.signal(ReLU(d))
    # the other end, n = 1: the loss of copying one random label, E(f(x) − f(y))² = 2(K(1) − c₀)
    worst = max(float(affine.max()), float(relu.max()), 2 * float(Affine(d, offset=False).covariance(torch.ones(()).double())))
    noise = exact.concentration[0]
    cap, square = sphere.cap_area(EPSILON, d), 2 * EPSILON - EPSILON**2
    root = (2 * torch.pi * d) ** 0.5
    return [
        Bound("C.2", "signal ≤ 4L²", d, less(worst / 4, 1)),
        Bound("C.9", "ReLU signal ≥ ½ affine signal", d, greater(float((2 * relu / affine).min()), 1 - 1e-9)),
        Bound("D.2", "noise rises with w (slope in log(1+w²))", d,
              greater(float((noise.log().diff() / (1 + grid**2).log().diff()).min()), 0)),
        Bound("G.1 lower", "cap ≥ (2ε−ε²)^(d/2)/√(2πd)", d, greater(float((cap * root / square ** (d / 2)).min()), 1)),
        Bound("G.1 upper", "cap ≤ (2ε−ε²)^((d−1)/2)", d, less(float((cap / square ** ((d - 1) / 2)).max()), 1)),
        Bound("G.1 as used in G.4", "cap ≤ (2ε)^(d/2) exp(−εd/4)", d,
              less(float((cap / (2 * EPSILON) ** (d / 2) * (EPSILON * d / 4).exp()).max()), 1)),
    ]
