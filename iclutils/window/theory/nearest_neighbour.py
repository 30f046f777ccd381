r"""Labels that are the same within a cell: the example of Remark 2.1 of Collins et al.

Each token has a label of its own, independent of the others and with variance 1, and so has the
whole Voronoi cell around it; a query's true label is that of its nearest token. The loss of a
softmax unit with M = w·I is then

.. math:: E\Big[1-2\gamma_{(1)}+\sum_i\gamma_i^2\Big]+\sigma^2\,E\sum_i\gamma_i^2,

:math:`\gamma_{(1)}` the weight of the nearest token, and that of the nearest token alone is σ².
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.window.covariates import Sphere, sample
from iclutils.window.theory.population_loss import Isotropic


@dataclass(frozen=True)
class CellLoss:
    r"""The parts of the loss on a grid of w, one mean for each batch of contexts.

    ``signal`` is :math:`E[1-2\gamma_{(1)}+\sum_i\gamma_i^2]`, ``concentration`` is
    :math:`E\sum_i\gamma_i^2`.
    """

    w: Float[Tensor, " windows"]
    signal: Float[Tensor, "windows batches"]
    concentration: Float[Tensor, "windows batches"]

    def excess(self, sigma: float) -> Float[Tensor, "windows batches"]:
        """Compute the loss less that of the nearest token alone, in each batch.

        Raises ``ValueError`` for a negative ``sigma``.
        """
        noise = validation.noise("sigma", sigma) ** 2
        return self.signal - noise * (1 - self.concentration)

    def break_even(self) -> Float[Tensor, " batches"]:
        r"""Return the noise σ² at which the largest w and the nearest token alone are equal.

        For w → ∞ it is :math:`2\ln2-1`.
        """
        return self.signal[-1] / (1 - self.concentration[-1])


def nearest(
    function: Isotropic, n: int, contexts: int, generator: torch.Generator
) -> tuple[Float[Tensor, " contexts"], Float[Tensor, " contexts"]]:
    r"""How far the nearest of n tokens lies from the query, and how like their labels are.

    Contexts are drawn on the sphere. The second is the correlation :math:`\rho(t)/\rho(1)` of the
    two labels without noise, ρ the covariance of the class. Raises ``TypeError`` or ``ValueError``
    for numbers that are not whole and below 1.

    >>> from iclutils.randomness import stream
    >>> from iclutils.window.function_classes import Affine
    >>> distance, alike = nearest(Affine(3), 50, 500, stream(0, "near"))
    >>> bool(distance.mean() < 0.5), bool(alike.mean() > 0.9)
    (True, True)
    """
    validation.whole("n", n)
    validation.whole("contexts", contexts)
    points = sample(Sphere(function.d), (contexts, n + 1), generator)
    distance = (points[:, :n] - points[:, n:]).norm(dim=-1).amin(1)
    return distance, function.covariance(1 - distance**2 / 2) / function.covariance(torch.ones(1))


def sampled(
    d: int,
    n: int,
    w: Float[Tensor, " windows"],
    generator: torch.Generator,
    *,
    batches: int = 80,
    contexts: int = 1500,
) -> CellLoss:
    """Sample the loss at context length n ≥ 2, with drawn contexts, the same for all w.

    ``contexts`` is the number in each of the ``batches``. Raises ``ValueError`` for d or n below 2,
    for no batch or context, and for a w that is negative or not finite.
    """
    validation.whole("d", d, low=2)
    validation.whole("n", n, low=2)
    validation.whole("batches", batches)
    validation.whole("contexts", contexts)
    validation.shape("w", w, "W")
    validation.nonnegative("w", float(validation.finite("w", w).min()))
    t = sample(Sphere(d), (batches, contexts, n), generator)[..., 0]
    nearest_first = t.sort(-1, descending=True).values
    signal = []
    concentration = []
    for one in w:
        gamma = torch.softmax(one * nearest_first, dim=-1)
        squared = gamma.square().sum(-1)
        signal.append((1 - 2 * gamma[..., 0] + squared).mean(-1))
        concentration.append(squared.mean(-1))
    return CellLoss(w, torch.stack(signal), torch.stack(concentration))
