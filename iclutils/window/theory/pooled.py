r"""What windows of many widths average over the tokens of a context, :math:`\gamma\propto e^{wt}`.

A wide grid of windows on a long context is millions of weights, most of them nothing: a narrow
window sees the nearest tokens alone. Chapters 1 to 3 use it.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

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
    r"""Sums over the tokens of each context with weights :math:`\gamma_i\propto e^{wt_i}`, w ≥ 0.

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
