r"""Where the error peaks in the number of prompts, and by how much, from single runs.

The errors are those of R runs at each of T numbers of prompts :math:`n = \tau d^2`, in logarithms.
Every run is a network of its own on prompts of its own, so that all T·R numbers are independent.
How many prompts a training can fit is read off its training errors. A transition is read off the
errors at P rising task diversities κ, whose mean is joined by straight lines in :math:`\log\kappa`.
What is left of a list of tasks is read off the answers of networks that practised on other lists.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.stats import (
    Estimate,
    crossing,
    difference,
    estimate,
    jackknife,
    mean_difference,
    mean_se,
    of_means,
    parabola_top,
    summit,
)

NEIGHBOURS = 5  # numbers of prompts whose mean error is compared


class Curve(NamedTuple):
    """Logarithms of the errors of R runs at T rising numbers of prompts over d²."""

    tau: Float[Tensor, " T"]
    logs: Float[Tensor, "T R"]


def published_curve(
    rows: Sequence[Mapping[str, Any]], d: int, *, name: str = "icl", checkpoint: int | None = None
) -> Curve:
    """Select the errors ``name`` at one ``d`` among published rows.

    Where a row has several checkpoints it is that one; where rows have different numbers of runs,
    the first that all have. Raises ``ValueError`` where there is no such row or checkpoint.
    """
    chosen = sorted((row for row in rows if row["d"] == d), key=lambda row: float(row["tau"]))
    if not chosen:
        raise ValueError(f"d must be that of a row; got {d}")
    errors = []
    for row in chosen:
        runs = row[name]
        if checkpoint is not None:
            i = row["checkpoints"].index(checkpoint)
            runs = [run[i] for run in runs]
        errors.append(runs)
    runs = min(map(len, errors))
    logs = torch.tensor([of[:runs] for of in errors], dtype=torch.float64).log()
    return Curve(torch.tensor([row["tau"] for row in chosen], dtype=torch.float64), logs)


class SmoothCurve(NamedTuple):
    """Errors over τ, geometric means of runs and of neighbouring τ."""

    tau: Float[Tensor, " T"]
    error: Float[Tensor, " T"]


def smooth(curve: Curve) -> SmoothCurve:
    """Take the geometric mean of the errors of all runs at each five neighbouring τ.

    The first two and the last two τ have too few neighbours and are left out. Raises
    ``ValueError`` for fewer than five τ.

    >>> smooth(Curve(torch.arange(5.0), torch.arange(5.0).log1p()[:, None]))
    SmoothCurve(tau=tensor([2.]), error=tensor([2.6052]))
    """
    validation.whole("the number of τ", len(curve.tau), low=NEIGHBOURS)
    means = torch.nn.functional.avg_pool1d(curve.logs.mean(1)[None], NEIGHBOURS, 1)[0]
    aside = NEIGHBOURS // 2
    return SmoothCurve(curve.tau[aside:-aside], means.exp())


class Rise(NamedTuple):
    """By how much the logarithm of the error is higher at the hill than at the two ends."""

    from_the_left: Estimate
    to_the_right: Estimate


def top(tau: Float[Tensor, " T"], logs: Float[Tensor, "T R"], factor: float) -> Estimate:
    r"""Compute the logarithm of the τ at which the error is largest.

    The vertex of the least-squares parabola in :math:`\log\tau` through all runs within a
    ``factor`` of the place at which the mean over five neighbouring τ is largest; its error is that
    of the regression, by the delta method:

    .. math:: x_{\rm top} = -\frac{b}{2c}, \qquad
        \nabla x_{\rm top} = \Bigl(0,\ -\frac1{2c},\ \frac{b}{2c^2}\Bigr)

    Raises ``ValueError`` where ``factor`` is not above 1, fewer than five τ are that near or the
    parabola has no top.
    """
    validation.shape("logs", logs, "T R", T=len(tau))
    if not factor > 1:
        raise ValueError(f"factor must be above 1; got {factor}")
    centre = float(tau[_highest(logs)])
    near = (tau >= centre / factor) & (tau <= centre * factor)
    if int(near.sum()) < NEIGHBOURS:
        raise ValueError(f"tau must hold {NEIGHBOURS} values within {factor} of {centre:.3g}")
    x = tau[near].double().log()[:, None].expand(-1, logs.shape[1]).flatten()
    middle = x.mean()
    powers = torch.stack([torch.ones_like(x), x - middle, (x - middle) ** 2], 1)
    y = logs[near].double().flatten()
    a, b, c = torch.linalg.lstsq(powers, y).solution
    if not float(c) < 0:
        raise ValueError("logs must have a highest place: the parabola opens upwards")
    left = y - powers @ torch.stack([a, b, c])
    spread = left.square().sum() / (len(y) - 3) * torch.linalg.inv(powers.T @ powers)
    gradient = torch.stack([torch.zeros_like(b), -1 / (2 * c), b / (2 * c**2)])
    se = float((gradient @ spread @ gradient).sqrt())
    return Estimate(float(middle - b / (2 * c)), se, len(y) - 3)


def rise(logs: Float[Tensor, "T R"]) -> Rise:
    """How much higher the hill is than either end, five neighbouring τ each.

    The first half of the runs, rounded down, says where the hill is, and the others say how high it
    is there, so that the choice of the place does not favour a hill. Raises ``ValueError`` for
    fewer than 4 runs or 15 numbers of prompts.
    """
    sizes = validation.shape("logs", logs, "T R")
    validation.whole("R", sizes["R"], low=4)
    validation.whole("T", sizes["T"], low=3 * NEIGHBOURS)
    half = sizes["R"] // 2
    at = _highest(logs[:, :half])
    first = min(max(at - NEIGHBOURS // 2, 0), sizes["T"] - NEIGHBOURS)
    rest = logs[:, half:]
    hill = rest[first : first + NEIGHBOURS].flatten()
    return Rise(
        mean_difference(hill, rest[:NEIGHBOURS].flatten()),
        mean_difference(hill, rest[-NEIGHBOURS:].flatten()),
    )


def _highest(logs: Float[Tensor, "T R"]) -> int:
    """Where the mean over five neighbours, fewer at the ends, is largest."""
    means = logs.mean(1)
    reach = NEIGHBOURS // 2
    smooth = [float(means[max(0, i - reach) : i + reach + 1].mean()) for i in range(len(means))]
    return max(range(len(smooth)), key=smooth.__getitem__)


def with_bars(
    peaks: Collection[Estimate], units: Sequence[float]
) -> tuple[Float[Tensor, " peaks"], Float[Tensor, "2 peaks"]]:
    """Return peaks, estimated as logarithms, over their units, and the lengths of their bars.

    >>> with_bars([Estimate(0.0, 0.0, 9)], [2.0])[0]
    tensor([0.5000], dtype=torch.float64)
    """
    halves = [(-peak.half_width, 0.0, peak.half_width) for peak in peaks]
    logs = torch.tensor([peak.value for peak in peaks], dtype=torch.float64)
    ends = (logs[:, None] + torch.tensor(halves, dtype=torch.float64)).exp()
    low, middle, high = ends.T / torch.tensor(units, dtype=torch.float64)
    return middle, torch.stack([middle - low, high - middle])


class Curves(NamedTuple):
    """Decimal logarithms of errors at rising numbers of prompts, of each set."""

    numbers: list[int]
    train: Float[Tensor, "n ... sets"]
    icl: Float[Tensor, "n ... sets"]

    def at(self, n: float) -> int:
        """Which of the numbers of prompts is nearest to ``n``."""
        return min(range(len(self.numbers)), key=lambda i: abs(self.numbers[i] - n))

    def only(self, numbers: Sequence[float]) -> "Curves":
        """Select the curves at the numbers of prompts nearest to these."""
        rows = [self.at(n) for n in numbers]
        return Curves([self.numbers[i] for i in rows], self.train[rows], self.icl[rows])

    @property
    def final(self) -> "Curves":
        """The curves at the end of the training, the last of several checkpoints."""
        return Curves(self.numbers, self.train[:, -1], self.icl[:, -1])


def curves(rows: Sequence[Mapping[str, Any]], **settings: Any) -> Curves:
    """Select the recorded ``train`` and ``icl`` errors of the rows with these settings.

    Where rows have different numbers of sets, the first of them that all have. Raises
    ``ValueError`` where no row has the settings or two have the same n.
    """
    chosen = [row for row in rows if settings.items() <= row.items()]
    chosen.sort(key=lambda row: int(row["n"]))
    numbers = [row["n"] for row in chosen]
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(f"rows must hold each n once for {settings}; got n = {numbers}")
    sets = min(row["sets"] for row in chosen)

    def logs(name: str) -> Float[Tensor, "T *checkpoints R"]:
        return torch.stack([torch.tensor(row[name]).double()[..., :sets] for row in chosen]).log10()

    return Curves(numbers, logs("train"), logs("icl"))


def fleets(rows: Sequence[Mapping[str, Any]], **settings: Any) -> list[Curves]:
    """Read the curves at the end of each recorded fleet with these settings, seed after seed."""
    seeds = sorted({row["seed"] for row in rows if settings.items() <= row.items()})
    return [curves(rows, seed=seed, **settings).final for seed in seeds]


def join(fleets: Sequence[Curves]) -> Curves:
    """Join the curves of several fleets, set after set, at the numbers of prompts that all have.

    >>> one = torch.zeros(2, 3)
    >>> join([Curves([10, 20], one, one), Curves([20, 30], one, one)]).icl.shape
    torch.Size([1, 6])

    Raises ``ValueError`` where no number of prompts is common to all.
    """
    common = sorted(set.intersection(*(set(fleet.numbers) for fleet in fleets)))
    if not common:
        raise ValueError(
            "fleets must have a number of prompts in common; "
            f"got n = {[fleet.numbers for fleet in fleets]}"
        )
    alike = [fleet.only(common) for fleet in fleets]
    train = torch.cat([fleet.train for fleet in alike], -1)
    return Curves(common, train, torch.cat([fleet.icl for fleet in alike], -1))


def fitted(final: Curves, noise: float) -> Estimate:
    """Return the number of prompts at which the mean training error crosses the ``noise``.

    Of the geometric mean over sets, by the jackknife. Raises ``ValueError`` where ``noise`` is not
    positive or is not crossed.
    """
    level = math.log10(validation.positive("noise", noise))
    return of_means(lambda means: crossing(final.numbers, means, level), final.train)


def grid_error(final: Curves, noise: float) -> float:
    """How far :func:`fitted` may be off because it is interpolated between recorded n.

    A third of the most that it moves where one of its two neighbours is left out: the gap is then
    twice as wide, and linear interpolation errs four times as much. Raises as :func:`fitted`.
    """
    end = fitted(final, noise).value
    below = max(i for i, n in enumerate(final.numbers) if n <= end)
    return max(abs(_fitted_without(final, noise, i) - end) for i in (below, below + 1)) / 3


def _fitted_without(final: Curves, noise: float, left_out: int) -> float:
    rest = [i for i in range(len(final.numbers)) if i != left_out]
    numbers = [final.numbers[i] for i in rest]
    return crossing(numbers, final.train.mean(-1)[rest], math.log10(noise))


def peak(final: Curves) -> Estimate:
    """Locate the top of the parabola through the mean errors: the log of its number of prompts.

    Raises what :func:`iclutils.stats.summit` raises.
    """
    return summit(torch.tensor(final.numbers).double().log(), final.icl)


def moved(early: Curves, late: Curves) -> Estimate:
    """Compute by how much the log of the peak's number of prompts is larger in ``late``, in pairs.

    Set i of the one is set i of the other, so that the jackknife leaves both out. Raises
    ``ValueError`` where they have different numbers of prompts or sets, and what
    :func:`iclutils.stats.parabola_top` raises.
    """
    if early.numbers != late.numbers or early.icl.shape != late.icl.shape:
        raise ValueError(
            "early and late must have the same numbers of prompts and sets; "
            f"got {tuple(early.icl.shape)} at {early.numbers} and "
            f"{tuple(late.icl.shape)} at {late.numbers}"
        )
    x = torch.tensor(late.numbers).double().log()

    def rise(both: Tensor) -> float:
        return parabola_top(x, both[1].mean(-1)) - parabola_top(x, both[0].mean(-1))

    return jackknife(rise, torch.stack([early.icl, late.icl]))


AROUND = (0.6, 3.0)  # task diversities: a third of the two decades from 0.2 to 20


def descents(
    sets: Float[Tensor, "T P"], at_peak: Float[Tensor, " T"], below: int = 4
) -> dict[str, Estimate]:
    """Estimate the first descent, the ascent to the peak and the second descent of an error.

    ``sets`` are errors of T trials at P rising numbers of prompts, the first ``below`` of them on
    the left of the peak; ``at_peak`` are errors at it. Of the points on the left the best counts,
    but not the first. Raises ``ValueError`` for fewer than 2 trials.
    """
    means = mean_se(sets)
    low = int(means.value[:below].argmin())
    high = estimate(at_peak)
    return {
        "falls first": difference(means.at(0), means.at(max(low, 1))),
        "rises": difference(high, means.at(low)),
        "falls again": difference(high, means.at(-1)),
    }


def share_around(
    kappas: Sequence[float],
    logs: Float[Tensor, "P T"],
    around: tuple[float, float] = AROUND,
) -> Estimate:
    r"""Which share of the fall from the first κ to the last lies between the two ``around`` one.

    .. math:: \frac{m(\kappa_1) - m(\kappa_2)}{m_{\rm first} - m_{\rm last}}

    By the jackknife. Raises ``ValueError`` where the κ do not rise from at most the first of the
    two to at least the second, or are not one for each row.
    """
    x = _logs_of(kappas, logs)
    low, high = (math.log(kappa) for kappa in around)
    if low < x[0] or high > x[-1]:
        raise ValueError(f"kappas must reach from {around[0]} to {around[1]}; got {list(kappas)}")
    return of_means(
        lambda m: (_between(x, m, low) - _between(x, m, high)) / float(m[0] - m[-1]), logs
    )


def halfway(kappas: Sequence[float], logs: Float[Tensor, "P T"]) -> Estimate:
    """Compute the decimal logarithm of the κ at which half of the fall of the mean curve is behind.

    By the jackknife. Raises ``ValueError`` where the κ do not rise or are not one for each row, and
    where the curve does not cross that height.
    """
    x = [at / math.log(10) for at in _logs_of(kappas, logs)]
    return of_means(lambda m: crossing(x, -m, -float(m[0] + m[-1]) / 2), logs)


def _logs_of(kappas: Sequence[float], logs: Float[Tensor, "P T"]) -> list[float]:
    validation.shape("logs", logs, "P T", P=len(kappas))
    if list(kappas) != sorted(set(kappas)) or kappas[0] <= 0:
        raise ValueError(f"kappas must be positive and rise; got {list(kappas)}")
    return [math.log(kappa) for kappa in kappas]


def _between(x: Sequence[float], means: Float[Tensor, " P"], at: float) -> float:
    """Return the height at one place of the line through the means."""
    last = max(1, sum(level < at for level in x))
    part = (at - x[last - 1]) / (x[last] - x[last - 1])
    return float(torch.lerp(means[last - 1], means[last], part))


class Disagreement(NamedTuple):
    """Mean squared differences of the answers of two networks, of different or the same list."""

    different: float
    same: float


def disagreement(answers: Float[Tensor, "networks prompts lists"]) -> Disagreement:
    """Compare the answers to the same prompts of all pairs of networks, several of each list.

    With one network of each list the second number is NaN. Raises ``ValueError`` for another shape,
    and for fewer than two lists.

    >>> disagreement(torch.tensor([[[1.0, 3.0]], [[2.0, 4.0]]]))  # 1 and 2 of one list, 3 and 4
    Disagreement(different=4.5, same=1.0)
    """
    networks, prompts, lists = validation.shape("answers", answers, "n p l").values()
    validation.whole("the number of lists", lists, low=2)
    centred = answers - answers.mean((0, 2), keepdim=True)  # sums of squares lose digits otherwise
    squares = centred.square().sum()
    # Σᵢⱼ(aᵢ − aⱼ)² = 2n Σa² − 2(Σa)²
    within = 2 * float(networks * squares - centred.sum(0).square().sum())
    every = 2 * float(networks * lists * squares - centred.sum((0, 2)).square().sum())
    of_others = prompts * networks**2 * lists * (lists - 1)
    of_own = prompts * networks * (networks - 1) * lists
    return Disagreement((every - within) / of_others, within / of_own if of_own else math.nan)
