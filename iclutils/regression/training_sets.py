r"""Prompts for many models at once, token by token: what trained layers and transformers see.

A prompt has the tokens :math:`x_i\sim N(0, I_d/d)` with the labels
:math:`y_i=\langle x_i, w\rangle+\varepsilon_i`, :math:`\varepsilon_i\sim N(0,\rho)`,
:math:`i\le\ell`, and a query :math:`x_{\ell+1}` whose label is to be answered (Lu et al.). It is
written as the matrix

.. math:: Z = \begin{pmatrix} x_1 & \cdots & x_\ell & x_{\ell+1}\\
                              y_1 & \cdots & y_\ell & 0 \end{pmatrix}.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.randomness import stream
from iclutils.regression import samplers


@dataclass(frozen=True)
class Fleet:
    """The training sets of B models: prompts z, the queries' labels y, and which prompts count.

    ``e`` is d + 1 and ``t`` is ℓ + 1. ``mask`` is 1 for the prompts that belong to a model's set
    and 0 for the rest, so that sets of different sizes stand in one tensor.
    """

    z: Float[Tensor, "models prompts e t"]
    y: Float[Tensor, "models prompts"]
    mask: Float[Tensor, "models prompts"]


def draw_fleet(
    sizes: Sequence[int],
    d: int,
    ell: int,
    rho: float,
    seed: int,
    *,
    tasks: int | None = None,
    role: str = "train",
    first: int = 0,
) -> Fleet:
    """Draw one set of prompts for each of ``sizes``, its number of prompts n.

    Every prompt has a fresh task w ~ N(0, I_d), or one of the ``tasks`` tasks of its set, in turn.
    Set b has the same tasks under every ``role``, so that ``role="test"`` draws other prompts on
    the tasks that were trained on. The sets are number ``first`` and those that follow; a set does
    not depend on which others are drawn. ``rho`` is the variance of the label noise, zero or above.

    >>> fleet = draw_fleet([5, 8], d=3, ell=4, rho=0.01, seed=0)
    >>> tuple(fleet.z.shape), tuple(fleet.y.shape)
    ((2, 8, 4, 5), (2, 8))
    >>> fleet.mask.sum(1).tolist()
    [5.0, 8.0]

    Raises ``ValueError`` where there are no ``sizes``, where one of them, ``d``, ``ell`` or
    ``tasks`` is below 1, where ``rho`` is negative or not finite, and where ``first`` is negative,
    ``TypeError`` where ``sizes`` is no sequence of whole numbers.
    """
    validation.whole("d", d)
    validation.whole("ell", ell)
    validation.nonnegative("rho", rho)
    validation.whole("first", first, low=0)
    validation.sizes("sizes", sizes)
    if not sizes:
        raise ValueError("sizes must hold the number of prompts of at least one set; got none")
    for n in sizes:
        validation.whole("sizes", n)
    most = max(sizes)
    mask = torch.zeros(len(sizes), most, dtype=torch.float64)
    z, y = [], []
    for i, n in enumerate(sizes):
        b = first + i
        generator = stream(seed, "fleet prompts", role, d, ell, b)
        if tasks is None:
            pool = samplers.draw_tasks(most, d, generator)
        else:
            pool = listed_tasks(tasks, d, seed, b)
        tokens, answers = _draw_set(pool[torch.arange(most) % len(pool)], ell, rho, generator)
        z.append(tokens)
        y.append(answers)
        mask[i, :n] = 1
    return Fleet(torch.stack(z), torch.stack(y), mask)


def listed_tasks(tasks: int, d: int, seed: int, b: int) -> Float[Tensor, "tasks d"]:
    """Draw the list of ``tasks`` tasks on which set ``b`` of a fleet has its prompts, in turn.

    Raises ``ValueError`` where ``tasks`` or ``d`` is below 1.
    """
    return samplers.draw_tasks(tasks, d, stream(seed, "fleet tasks", d, tasks, b))


def _draw_set(
    w: Float[Tensor, "prompts d"], ell: int, rho: float, generator: torch.Generator
) -> tuple[Float[Tensor, "prompts e t"], Float[Tensor, " prompts"]]:
    """One prompt for each task in ``w``, its last label set to zero, and that label."""
    n, d = w.shape
    x = torch.randn(n, d, ell + 1, dtype=torch.float64, generator=generator) / math.sqrt(d)
    noise = torch.randn(n, ell + 1, dtype=torch.float64, generator=generator)
    labels = torch.einsum("nd,ndl->nl", w, x) + math.sqrt(rho) * noise
    answers = labels[:, -1].clone()
    labels[:, -1] = 0
    return torch.cat([x, labels[:, None]], 1), answers
