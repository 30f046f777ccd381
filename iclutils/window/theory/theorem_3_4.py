r"""The lemmas behind Theorem 3.4 of Collins et al. (Appendices C, D, G) against the exact quantity.

Their appendix writes the weights :math:`e^{-w\|x_i-x\|^2}\propto e^{2wx_i^\top x}`, so that its w
is half of ours; every function here takes *their* w. Bounds with explicit constants are evaluated
on a grid. Where the constants are free functions of d, a bound is false if the quotient of its two
sides runs away as a power of w; this is read off on two paths, n = ∞ and along the upper end of
the range, :math:`w=(n/\log n)^{2/d}`. Chapter 1 shows the table.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from scipy import special
from torch import Tensor

from iclutils import sphere, validation
from iclutils.window.function_classes import Affine, ReLU
from iclutils.window.theory import best_window, population_loss

SLACK = 0.02  # in an exponent; the smallest power at stake is 1/2
MANY = 1e40  # stands for n = ∞
WIDEST = 10**4.3  # the last w of a path
POINTS = 90  # on a path
AFFINE_CAP = "c(w⁻² + w^(d/2−1)/n + 1/n)"
CAPS = torch.linspace(0.001, 1, 400, dtype=torch.float64)  # heights ε of spherical caps
UPPER = "upper"
LOWER = "lower"
ROUNDING = 1e-9  # a bound that is an equality somewhere is missed by this much


@dataclass(frozen=True)
class Exact:
    """Exact quantities at L = σ = 1 along a path of (w, n), in the letters of the lemmas."""

    d: int
    w: Float[Tensor, " windows"]
    n: Float[Tensor, " windows"]
    affine: Float[Tensor, " windows"]
    relu: Float[Tensor, " windows"]
    noise: Float[Tensor, " windows"]


@dataclass(frozen=True)
class Bound:
    """One bound: its lemma, what it says, d, and an exponent or a quotient with its limit.

    An ``"upper"`` bound holds where ``value`` is below ``limit``, a ``"lower"`` one above.
    """

    lemma: str
    says: str
    d: int
    side: str
    value: float
    limit: float

    @property
    def holds(self) -> bool:
        """Whether the value is on the right side of its limit."""
        return self.value < self.limit if self.side == UPPER else self.value > self.limit


class Quotient(NamedTuple):
    """A bound with a free constant: ``ratio`` is its left side over its right side on a path."""

    lemma: str
    says: str
    side: str
    ratio: Float[Tensor, " windows"]


def path(d: int, *, widest: bool) -> Exact:
    r"""Exact signal and noise for w from (d + √d)/2 on, at n = ∞ or along the widest range of n.

    ``widest`` takes the n at which :math:`w=(n/\log n)^{2/d}`; no n has a w with
    :math:`w^{d/2}\le e`, and such w are left out. Raises ``ValueError`` for d below 2,
    ``TypeError`` for a d that is not whole.
    """
    validation.whole("d", d, low=2)
    start = torch.tensor((d + d**0.5) / 2).log10()
    w = torch.logspace(float(start), math.log10(WIDEST), POINTS, dtype=torch.float64)
    n = torch.full_like(w, MANY)
    if widest:
        w = w[w ** (d / 2) > math.e]
        n = context_length(w, d)
    plain = population_loss.limit(d, 1, w=2 * w)
    one_token = population_loss.limit(d, 1, w=2 * w, sampling=True)

    def signal(function: Affine | ReLU) -> Float[Tensor, " windows"]:
        # the sampling part is proportional to 1/n in closed form: take it at n = 1 and rescale
        limit = plain.signal(function)
        return limit + (one_token.signal(function) - limit) / n

    return Exact(d, w, n, signal(Affine(d)), signal(ReLU(d)), plain.concentration[0] / n)


def context_length(w: Float[Tensor, " windows"], d: int) -> Float[Tensor, " windows"]:
    r"""Return the n with :math:`w=(n/\log n)^{2/d}`, the larger of the two.

    .. math:: n = \exp\big(-W_{-1}(-w^{-d/2})\big)

    with Lambert's W. Raises ``ValueError`` where :math:`w^{d/2}` is below e: there is no such n.

    >>> n = context_length(torch.tensor([2.0, 20.0], dtype=torch.float64), d=3)
    >>> [round(float(w), 6) for w in (n / n.log()) ** (2 / 3)]
    [2.0, 20.0]
    """
    share = w ** (d / 2)
    if bool((share < math.e).any()):
        raise ValueError(
            f"w must be at least e^(2/d) = {math.exp(2 / d):g}, the least (n/log n)^(2/d); "
            f"its smallest entry is {float(w.min()):g}"
        )
    lambert = torch.as_tensor(special.lambertw((-1 / share).numpy(), -1).real)
    return (-lambert).exp()


def distance_sum(p: int, d: int, r: Float[Tensor, " windows"]) -> Float[Tensor, " windows"]:
    r"""Return the :math:`g_p(r)/n` of Lemmas G.4 and G.5 for n → ∞, p ≥ 0.

    .. math:: E\,\|y-x\|^pe^{-r\|y-x\|^2} = 2^p\,\frac{B(a+\frac p2,a)}{B(a,a)}\;
        {}_1F_1\bigl(a+\tfrac p2;\,2a+\tfrac p2;\,-4r\bigr),\qquad a=\tfrac{d-1}2

    with y uniform on the sphere: :math:`\|y-x\|^2/4` has the law Beta(a, a). Raises ``ValueError``
    for a p below 0, for d below 2 and for an r that is negative or not finite.
    """
    validation.whole("p", p, low=0)
    validation.whole("d", d, low=2)
    validation.shape("r", r, "W")
    validation.finite("r", r)
    validation.nonnegative("r", float(r.min()))
    a = (d - 1) / 2
    scale = 2**p * special.beta(a + p / 2, a) / special.beta(a, a)
    return torch.as_tensor(scale * special.hyp1f1(a + p / 2, 2 * a + p / 2, (-4 * r).numpy()))


def quotients(exact: Exact) -> list[Quotient]:
    """Return the bounds whose constants may depend on d, as quotients along a path."""
    d = exact.d
    w = exact.w
    n = exact.n
    affine_cap = w**-2 + w ** (d / 2 - 1) / n + 1 / n
    noise = exact.noise * n
    volume = w ** (d / 2)
    quotients = [
        Quotient("C.4", f"affine signal ≤ {AFFINE_CAP}", UPPER, exact.affine / affine_cap),
        Quotient("C.5", "affine signal ≥ c w⁻²", LOWER, exact.affine * w**2),
        Quotient("C.6", "affine signal ≥ c (w+1)⁻²", LOWER, exact.affine * (w + 1) ** 2),
        Quotient("C.8", "ReLU signal ≤ c(w⁻¹ + 1/n)", UPPER, exact.relu / (1 / w + 1 / n)),
        Quotient("D.1 upper", "noise ≤ c(1 + w^(d/2))/n", UPPER, noise / (1 + volume)),
        Quotient("D.1 lower", "noise ≥ c w^(d/2)/n", LOWER, noise / volume),
    ]
    for p in (0, 1, 2):
        ratio = distance_sum(p, d, w) * w ** ((d + p) / 2)
        for side, sign in ((UPPER, "≤"), (LOWER, "≥")):
            lemma = f"G.4, G.5 {side} (p = {p})"
            quotients.append(Quotient(lemma, f"g_{p}(r) {sign} c n r^−(d+{p})/2", side, ratio))
    return quotients


def free_constants(d: int) -> list[Bound]:
    """Bounds with a free constant: growth exponents of the quotients, the worse of the two paths.

    Raises ``ValueError`` for d below 2, ``TypeError`` for a d that is not whole.

    >>> [bound.lemma for bound in free_constants(5) if not bound.holds]
    ['D.1 lower', 'G.4, G.5 upper (p = 0)', 'G.4, G.5 upper (p = 1)', 'G.4, G.5 upper (p = 2)']
    """
    paths = [path(d, widest=False), path(d, widest=True)]
    bounds = []
    for both in zip(*map(quotients, paths), strict=True):
        first = both[0]
        slopes = [
            best_window.power(exact.w, quotient.ratio).exponent
            for exact, quotient in zip(paths, both, strict=True)
        ]
        runs_up = first.side == UPPER
        worse = max(slopes) if runs_up else min(slopes)
        limit = SLACK if runs_up else -SLACK
        bounds.append(Bound(first.lemma, first.says, d, first.side, worse, limit))
    return bounds


def explicit(d: int) -> list[Bound]:
    """Bounds with printed constants: the least favourable quotient on the grid, 1 is the limit.

    Raises ``ValueError`` for d below 2, ``TypeError`` for a d that is not whole.

    >>> [bound.lemma for bound in explicit(5) if not bound.holds]
    []
    """
    validation.whole("d", d, low=2)
    return [*_explicit_losses(d), *_explicit_caps(d)]


def _explicit_losses(d: int) -> list[Bound]:
    """Lemmas C.2, C.9 and D.2, on the signal and the noise."""
    grid = best_window.grid(200.0, 61)
    exact = population_loss.limit(d, 1000, w=grid)
    affine = exact.signal(Affine(d))
    relu = exact.signal(ReLU(d))
    # the other end, n = 1: the loss of copying one random label, E(f(x) − f(y))² = 2(K(1) − c₀)
    one = torch.ones((), dtype=torch.float64)
    copied = 2 * float(Affine(d, offset=False).covariance(one))
    worst = max(float(affine.max()), float(relu.max()), copied)
    share = float((2 * relu / affine).min())
    rise = exact.concentration[0].log().diff() / (1 + grid**2).log().diff()
    slope = float(rise.min())
    return [
        Bound("C.2", "signal ≤ 4L²", d, UPPER, worst / 4, 1),
        Bound("C.9", "ReLU signal ≥ ½ affine signal", d, LOWER, share, 1 - ROUNDING),
        Bound("D.2", "noise rises with w (slope in log(1+w²))", d, LOWER, slope, 0),
    ]


def _explicit_caps(d: int) -> list[Bound]:
    """Lemma G.1, on the share of the sphere in a cap of height ε."""
    cap = sphere.cap_area(CAPS, d)
    square = 2 * CAPS - CAPS**2
    root = (2 * math.pi * d) ** 0.5
    lower = cap * root / square ** (d / 2)
    upper = cap / square ** ((d - 1) / 2)
    last = cap / (2 * CAPS) ** ((d - 1) / 2) * (CAPS * d / 4).exp()
    says = "cap ≤ (2ε)^((d−1)/2) exp(−εd/4)"
    return [
        Bound("G.1 lower", "cap ≥ (2ε−ε²)^(d/2)/√(2πd)", d, LOWER, float(lower.min()), 1),
        Bound("G.1 upper", "cap ≤ (2ε−ε²)^((d−1)/2)", d, UPPER, float(upper.max()), 1),
        Bound("G.1 last member", says, d, UPPER, float(last.max()), 1),
    ]
