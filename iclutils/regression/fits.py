"""How many prompts a training can fit, and where its error peaks: recorded errors over n."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.statistics import Estimate, crossing, jackknife, of_means, parabola_top, summit


class Curves(NamedTuple):
    """Decimal logarithms of errors at rising numbers of prompts, of each set."""

    numbers: list[int]
    train: Float[Tensor, "n ... sets"]
    icl: Float[Tensor, "n ... sets"]

    def at(self, n: float) -> int:
        """Which of the numbers of prompts is nearest to ``n``."""
        return min(range(len(self.numbers)), key=lambda i: abs(self.numbers[i] - n))

    def only(self, numbers: Sequence[float]) -> "Curves":
        """The curves at the numbers of prompts nearest to these."""
        kept = [self.at(n) for n in numbers]
        return Curves([self.numbers[i] for i in kept], self.train[kept], self.icl[kept])

    @property
    def final(self) -> "Curves":
        """The curves at the end of the training, the last of several checkpoints."""
        return Curves(self.numbers, self.train[:, -1], self.icl[:, -1])


def curves(rows: Sequence[Mapping[str, Any]], **settings: Any) -> Curves:
    """The recorded ``train`` and ``icl`` errors of the rows with these settings.

    Where rows have different numbers of sets, the first of them that all have. Raises
    ``ValueError`` where no row has the settings or two have the same n.
    """
    chosen = [row for row in rows if settings.items() <= row.items()]
    chosen.sort(key=lambda row: int(row["n"]))
    numbers = [row["n"] for row in chosen]
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(f"rows must hold each n once for {settings}; got n = {numbers}")
    sets = min(row["sets"] for row in chosen)
    train, icl = (
        torch.stack([torch.tensor(row[name]).double()[..., :sets].log10() for row in chosen])
        for name in ("train", "icl")
    )
    return Curves(numbers, train, icl)


def fitted(final: Curves, noise: float) -> Estimate:
    """The number of prompts at which the mean training error crosses the ``noise``.

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
    place = fitted(final, noise).value
    below = max(i for i, n in enumerate(final.numbers) if n <= place)
    return max(abs(_fitted_without(final, noise, i) - place) for i in (below, below + 1)) / 3


def _fitted_without(final: Curves, noise: float, left_out: int) -> float:
    rest = [i for i in range(len(final.numbers)) if i != left_out]
    numbers = [final.numbers[i] for i in rest]
    return crossing(numbers, final.train.mean(-1)[rest], math.log10(noise))


def peak(final: Curves) -> Estimate:
    """The logarithm of the number of prompts at the top of the parabola through the mean errors.

    Raises what :func:`iclutils.ground.statistics.summit` raises.
    """
    return summit(torch.tensor(final.numbers).double().log(), final.icl)


def moved(early: Curves, late: Curves) -> Estimate:
    """The logarithm of the peak's number of prompts of ``late`` less that of ``early``, in pairs.

    Set i of the one is set i of the other, so that the jackknife leaves both out. Raises
    ``ValueError`` where they have different numbers of prompts or sets, and what
    :func:`iclutils.ground.statistics.parabola_top` raises.
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
