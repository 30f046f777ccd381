r"""The exact in-context loss of a softmax unit with M = w·I, and the window that minimises it.

Tasks and noise are integrated out (Collins et al., eq. (ICL)). With weights :math:`\gamma_i` and
the covariance :math:`K(x^\top y)=E f(x)f(y)` of an isotropic class,
:math:`K(t)=\sum_k c_kP_k(t)` in Gegenbauer polynomials, the loss of a context is signal +
:math:`\sigma^2\sum_i\gamma_i^2`. Only :math:`t_i=x_i^\top x_{n+1}` has to be drawn: averaged over
all rotations of each token about the query, :math:`P_k(x_i^\top x_j)` becomes
:math:`P_k(t_i)P_k(t_j)`, hence

.. math::

   \mathcal L(w) = \sum_k c_k\,E\Big[\big(1-\textstyle\sum_i\gamma_iP_k(t_i)\big)^2
     + \sum_i\gamma_i^2\big(1-P_k(t_i)^2\big)\Big] + \sigma^2E\sum_i\gamma_i^2 .

The expectations know neither the class nor L nor σ: one
:class:`PopulationLoss` on a grid of w serves them all, with common
contexts. For n → ∞ they are ratios of Bessel functions
(:func:`limit`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from jaxtyping import Float, Int
from scipy.interpolate import CubicSpline
from torch import Tensor

from iclutils import sphere, validation
from iclutils.stats import Estimate
from iclutils.window.covariates import Sphere, sample
from iclutils.window.theory import best_window
from iclutils.window.theory.best_window import Window

AT_ONCE = 2**19  # masses that stay near the processor from one operation to the next
FEWEST = 32  # tokens of a context to take at once: matrix products over fewer are slow
NOTHING = 60.0  # e⁻⁶⁰ of the largest mass: a million of them are 1e-20 of it


class Pooled(NamedTuple):
    r"""For each window :math:`\sum_i\gamma_ia(t_i)` and :math:`\sum_i\gamma_i^2b(t_i)`."""

    weighted: Float[Tensor, "contexts windows a"]
    squared: Float[Tensor, "contexts windows b"]


def pooled(
    t: Float[Tensor, "contexts n"],
    w: Float[Tensor, " windows"],
    values: Callable[[Tensor], tuple[Tensor, Tensor]],
) -> Pooled:
    r"""Sum over the tokens of each context with weights :math:`\gamma_i\propto e^{wt_i}`, w ≥ 0.

    ``values`` gives a and b of some products t, along a last axis. The tokens are taken some at a
    time, the nearest first, and at each time by those windows that see one of them.

    >>> t = torch.tensor([[0.0, 1.0]])
    >>> both = pooled(t, torch.tensor([0.0, 1e3]), lambda t: (t.unsqueeze(-1), t.unsqueeze(-1)))
    >>> both.weighted.flatten().tolist(), both.squared.flatten().tolist()
    ([0.5, 1.0], [0.25, 1.0])
    """
    t = t.sort(1, descending=True).values
    size = max(FEWEST, AT_ONCE // (len(t) * len(w)))
    sums: Pooled | None = None
    for some in torch.split(t, size, 1):
        seen = w * float((t[:, 0] - some[:, 0]).min()) < NOTHING
        if not bool(seen.any()):  # nor does any window see what is farther
            break
        mass = (w[seen].unsqueeze(-1) * (some - t[:, :1]).unsqueeze(1)).exp_()
        a, b = values(some)
        ones = torch.nn.functional.pad(a, (0, 1), value=1.0)  # the last column sums the masses
        more = Pooled(mass @ ones, mass.square_() @ b)
        if sums is None:  # every window sees the nearest tokens
            sums = more
            continue
        sums.weighted[:, seen] += more.weighted
        sums.squared[:, seen] += more.squared
    assert sums is not None
    total = sums.weighted[..., -1:]
    return Pooled(sums.weighted[..., :-1] / total, sums.squared / total.square())


class Parts(NamedTuple):
    """The two expectations in the module's equation, or their sums over contexts."""

    parts: Float[Tensor, "windows degrees"]
    concentration: Float[Tensor, " windows"]


def batch(
    d: int,
    n: int,
    w: Float[Tensor, " windows"],
    degrees: Int[Tensor, " degrees"],
    contexts: int,
    generator: torch.Generator,
) -> Parts:
    """Means over one batch of contexts and their mirror images."""
    parts = torch.zeros(len(w), len(degrees), dtype=torch.float64)
    concentration = torch.zeros(len(w), dtype=torch.float64)
    # a context and its mirror image, weights and their squares: four times its size
    step = max(1, best_window.CHUNK // (4 * n * max(len(w), len(degrees))))
    for start in range(0, contexts, step):
        size = min(step, contexts - start)
        t = sample(Sphere(d), (size, n), generator)[..., 0]
        # with each context its mirror image, so that the loss of an even class is even in w exactly
        more = sum_contexts(torch.cat([t, -t]), d, w, degrees)
        parts = parts + more.parts
        concentration = concentration + more.concentration
    return Parts(parts / (2 * contexts), concentration / (2 * contexts))


def sum_contexts(
    t: Float[Tensor, "contexts n"],
    d: int,
    w: Float[Tensor, " windows"],
    degrees: Int[Tensor, " degrees"],
) -> Parts:
    """Sum over contexts of the two expectations, for given products t of tokens and query."""

    def values(t: Tensor) -> tuple[Tensor, Tensor]:
        P = sphere.gegenbauer(t, d, degrees)  # (contexts, tokens, degrees)
        return P, torch.nn.functional.pad(P.square(), (0, 1), value=1.0)

    weighted, squared = pooled(t, w, values)
    own, spread = squared[..., :-1], squared[..., -1]
    parts = (1 - weighted).square() + spread.unsqueeze(-1) - own
    return Parts(parts.sum(0), spread.sum(0))


BATCHES = 20  # batch means of the contexts, for the standard errors
ROUNDING = 1e-15  # of K(1): a smaller tail of the spectrum is rounding


class Isotropic(Protocol):
    """What the exact loss needs of a class: d, L, its covariance K(t) and K's coefficients."""

    @property
    def d(self) -> int:
        """The dimension of the tokens."""
        ...

    @property
    def L(self) -> float:
        """The Lipschitz constant."""
        ...

    def spectrum(self, degrees: Int[Tensor, " degrees"]) -> Float[Tensor, " degrees"]:
        """Compute the coefficients :math:`c_k` of the given degrees."""
        ...

    def covariance(self, t: Float[Tensor, "*t"]) -> Float[Tensor, "*t"]:
        """K(t) at products t of unit vectors."""
        ...


@dataclass(frozen=True)
class PopulationLoss:
    r"""The parts of the loss on a grid of w, for every isotropic class, L and σ.

    ``parts`` is the expectation that multiplies :math:`c_k`, one mean for each batch of contexts;
    ``concentration`` is :math:`E\sum_i\gamma_i^2`, at most 1 but for the expansion of
    :func:`limit`; ``tail`` multiplies the variance in all degrees
    beyond the last, where :math:`P_k(t_i)` averages to zero over the window.
    """

    d: int
    n: int
    w: Float[Tensor, " windows"]
    degrees: Int[Tensor, " degrees"]
    parts: Float[Tensor, "batches windows degrees"]
    concentration: Float[Tensor, "batches windows"]
    tail: Float[Tensor, "batches windows"]

    def signal(self, function: Isotropic) -> Float[Tensor, " windows"]:
        """Compute the part of the loss that comes from the tasks, at each w of the grid.

        Raises ``ValueError`` for a class of another dimension than d.
        """
        return self._signal(function).mean(0)

    def noise(self, sigma: float) -> Float[Tensor, " windows"]:
        r"""Compute the part of the loss from the labels' noise, :math:`\sigma^2E\sum\gamma_i^2`.

        Raises ``ValueError`` for a negative ``sigma``.
        """
        return validation.noise("sigma", sigma) ** 2 * self.concentration.mean(0)

    def loss(self, function: Isotropic, sigma: float) -> Float[Tensor, " windows"]:
        """Compute the loss, signal + noise, at each w of the grid.

        Raises ``ValueError`` for a class of another dimension than d and for a negative ``sigma``.

        >>> from iclutils.window.function_classes import Affine
        >>> exact = limit(3, 100, w=torch.tensor([0.0, 2.0, 8.0, 32.0]))
        >>> [round(float(loss), 3) for loss in exact.loss(Affine(3, L=1.0), sigma=0.3)]
        [0.112, 0.026, 0.009, 0.029]
        """
        return self.signal(function) + self.noise(sigma)

    def at(
        self,
        function: Isotropic,
        sigma: float,
        w: Float[Tensor, "*w"] | float,
    ) -> tuple[Float[Tensor, "*w"], Float[Tensor, "*w"]]:
        """Loss and its standard error over contexts at any w inside the grid (cubic spline).

        Raises ``ValueError`` for a w outside the grid.
        """
        windows = torch.as_tensor(w, dtype=torch.float64)
        if not bool(((windows >= 0) & (windows <= self.w[-1])).all()):
            raise ValueError(
                f"w must be in [0, {float(self.w[-1]):g}], the grid; got {windows.tolist()}"
            )
        spline = best_window.spline(self.w, self._batches(function, sigma))
        values = torch.as_tensor(spline(best_window.stretch(windows).numpy()))
        return values.mean(0), best_window.standard_error(values)

    def estimate_at(self, function: Isotropic, sigma: float, w: float) -> Estimate:
        """Estimate the loss at one window over batches of contexts; exact in closed form.

        Raises ``ValueError`` as :meth:`at`.
        """
        value, se = self.at(function, sigma, w)
        return Estimate(float(value), float(se), len(self.parts) - 1 or math.inf)

    def attended(self, w: float) -> float:
        r"""How many tokens a window averages over, :math:`1/E\sum_i\gamma_i^2`.

        Raises ``ValueError`` for a w outside the grid.

        >>> round(limit(3, 100).attended(0.0))
        100
        """
        window = validation.in_range("w", w, 0, float(self.w[-1]))
        logs = CubicSpline(best_window.stretch(self.w), self.concentration.mean(0).log())
        stretched = best_window.stretch(torch.tensor(window, dtype=torch.float64))
        return math.exp(-float(logs(stretched)))

    def best_window(self, function: Isotropic, sigma: float) -> Window:
        r"""Compute the minimiser :math:`w^*(L,\sigma,n)` over :math:`w\ge0` and its loss.

        Standard errors are over batches of contexts. Raises ``ValueError`` where the minimum lies
        at the grid's upper end: take a longer grid.

        >>> from iclutils.window.function_classes import ReLU
        >>> best = limit(5, 2000).best_window(ReLU(5, L=1.0), sigma=0.1)
        >>> round(best.w, 1), round(best.loss, 4)
        (25.9, 0.0013)
        """
        batches = self._batches(function, sigma)
        mean = batches.mean(0, keepdim=True)
        if len(batches) == 1:
            (best,) = best_window.spline_minima(self.w, mean)
            replicas = torch.tensor([best.w], dtype=torch.float64)
            return Window(best.w, best.loss, 0.0, replicas)
        all_and_without = torch.cat([mean, best_window.leave_one_out(batches)])
        best, *without = best_window.spline_minima(self.w, all_and_without)
        replicas = torch.tensor([one.w for one in without], dtype=torch.float64)
        _, loss_se = self.at(function, sigma, best.w)
        return Window(best.w, best.loss, float(loss_se), replicas)

    def optimal_for(self, function: Isotropic) -> Float[Tensor, " windows"]:
        r"""Return the :math:`\Lambda=nL^2/\sigma^2` for which each w of the grid is stationary.

        This inverts :math:`w^*(\Lambda)`. With signal :math:`L^2S(w)` and noise
        :math:`\sigma^2C(w)`, :math:`\Lambda=-n\,C'(w)/S'(w)`; negative where the signal no longer
        falls.
        """
        u = best_window.stretch(self.w).numpy()
        signal = CubicSpline(u, (self.signal(function) / function.L**2).numpy())
        spread = CubicSpline(u, self.concentration.mean(0).numpy())
        return torch.as_tensor(-self.n * spread(u, 1) / signal(u, 1))

    def _signal(self, function: Isotropic) -> Float[Tensor, "batches windows"]:
        if function.d != self.d:
            raise ValueError(
                f"function must live in d = {self.d}, the dimension of this loss; "
                f"got d = {function.d}"
            )
        c = function.spectrum(self.degrees)
        whole = function.covariance(torch.ones((), dtype=torch.float64))
        constant = function.spectrum(torch.zeros(1, dtype=torch.int64)).sum()
        rest = whole - c.sum() - constant
        if not bool(rest > ROUNDING * whole):
            rest = torch.zeros_like(rest)
        return self.parts @ c + rest * self.tail

    def _batches(self, function: Isotropic, sigma: float) -> Float[Tensor, "batches windows"]:
        noise = validation.noise("sigma", sigma) ** 2 * self.concentration
        return self._signal(function) + noise


def even_degrees(last: int = 64) -> Int[Tensor, " degrees"]:
    """Degrees 1, 2, 4, …, ``last``: all that the affine, ReLU and cosine classes have but k = 0.

    Raises ``ValueError`` for ``last`` below 2.
    """
    validation.whole("last", last, low=2)
    return torch.tensor([1, *range(2, last + 1, 2)])


def sampled(
    d: int,
    n: int,
    generator: torch.Generator,
    *,
    contexts: int | None = None,
    w: Float[Tensor, " windows"] | None = None,
    degrees: Int[Tensor, " degrees"] | None = None,
) -> PopulationLoss:
    r"""Sample the loss at context length n, with drawn contexts, the same for all w.

    Each of the ``contexts`` (default 100 000/n, at least 1000) is used with its mirror image; this
    gives w* to 1 %. ``degrees`` defaults to 1, 2, 4, …, 64; take the last well above
    :math:`\sqrt w`. Raises ``ValueError`` for d below 2, n below 1, fewer ``contexts`` than batches
    (20), a ``w`` that does not rise from zero or above or ``degrees`` that do not rise from one or
    above, ``TypeError`` for sizes that are not whole.

    >>> from iclutils.randomness import stream
    >>> from iclutils.window.function_classes import ReLU
    >>> exact = sampled(3, 20, stream(0, "example"), contexts=200)
    >>> best = exact.best_window(ReLU(3, L=1.0), sigma=0.3)
    >>> 2 < best.w < 8 and best.w_se < 1
    True
    """
    validation.whole("d", d, low=2)
    validation.whole("n", n)
    if contexts is None:
        contexts = max(1000, 100_000 // n)
    validation.whole("contexts", contexts, low=BATCHES)
    w = best_window.checked(w)
    degrees = _rising(even_degrees() if degrees is None else degrees)
    batches = [batch(d, n, w, degrees, contexts // BATCHES, generator) for _ in range(BATCHES)]
    parts = torch.stack([batch.parts for batch in batches])
    spread = torch.stack([batch.concentration for batch in batches])
    return PopulationLoss(d, n, w, degrees, parts, spread, 1 + spread)


def limit(
    d: int,
    n: int,
    *,
    w: Float[Tensor, " windows"] | None = None,
    degrees: Int[Tensor, " degrees"] | None = None,
    sampling: bool = False,
) -> PopulationLoss:
    r"""Compute the loss for many tokens: its limit n → ∞, with the noise at order 1/n.

    .. math::

       \mathcal L(w) = \sum_k c_k\big(1-r_k(w)\big)^2
         + \frac{\sigma^2}{n}\,\frac{E e^{2wt}}{(E e^{wt})^2},\qquad
       r_k(w)=\frac{I_{k+d/2-1}(w)}{I_{d/2-1}(w)}

    ``sampling=True`` adds what a finite context adds to the signal at order 1/n (delta method):
    :math:`C\,[1+3r_k^2-2r_k+2(1-2r_k)\,r_k(2w)]` to the factor of :math:`c_k`, with
    :math:`C=E\sum_i\gamma_i^2`. Choose ``degrees`` up to well above :math:`\sqrt w` (default: six
    times that).

    An expansion, for windows that hold many tokens. :math:`\sum_i\gamma_i^2` is at most 1, but C
    grows without bound (at d = 5 it passes 1 at w = 4.5, 10, 24 and 109 for n = 5, 20, 100 and
    2000): where C = 0.1 it is right to 2, 8 and 28 % at d = 3, 5 and 10, where C = ½ it is up to
    18, 57 and 140 % too large (n = 20 to 2000). Take
    :func:`sampled` there. Raises as that does.
    """
    validation.whole("n", n)
    w = best_window.checked(w)
    if degrees is None:
        degrees = even_degrees(2 * max(32, math.ceil(3 * float(w[-1]) ** 0.5)))
    degrees = _rising(degrees)
    ratio = sphere.tilted_average(w, d, degrees)
    doubled = sphere.log_partition(2 * w, d)
    concentration = (doubled - 2 * sphere.log_partition(w, d)).exp() / n
    parts = (1 - ratio).square()
    tail = torch.ones_like(w)
    if validation.flag("sampling", sampling):
        sharper = sphere.tilted_average(2 * w, d, degrees)
        spread = 1 + 3 * ratio**2 - 2 * ratio + 2 * (1 - 2 * ratio) * sharper
        parts = parts + concentration.unsqueeze(-1) * spread
        tail = tail + concentration
    one_batch = (part.unsqueeze(0) for part in (parts, concentration, tail))
    return PopulationLoss(d, n, w, degrees, *one_batch)


def _rising(degrees: Int[Tensor, " degrees"]) -> Int[Tensor, " degrees"]:
    validation.shape("degrees", validation.wholes("degrees", degrees, low=1), "K")
    if not len(degrees) or bool((degrees.diff() <= 0).any()):
        raise ValueError(f"degrees must rise, at least one of them; got {degrees.tolist()}")
    return degrees
