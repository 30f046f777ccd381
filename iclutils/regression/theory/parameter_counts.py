r"""How many directions of a network's weights change its answers: the counts of chapters 5a and 5b.

:func:`iclutils.regression.layers.identifiable_parameters` and
:func:`iclutils.regression.transformers.identifiable_parameters` measure what these formulas say.
"""

import math

from iclutils import validation
from iclutils.stats import exact, slope


def linear_layer(d: int) -> int:
    r"""Of :math:`\frac1\ell u^\top ZZ^\top Mx`: :math:`(d+1)+d(d+1)-1 = d(d+2)`.

    A factor moved from u to M changes nothing. Raises ``ValueError`` where ``d`` is below 1.
    """
    validation.whole("d", d)
    return d * (d + 2)


def softmax_layer(d: int) -> int:
    """With a softmax no factor can be moved: (d+1)². Raises ``ValueError`` for ``d`` below 1."""
    validation.whole("d", d)
    return (d + 1) ** 2


def layer_with_biases(d: int) -> int:
    """Of the authors' layer with biases and a read-out of width d: (d+2)² − 2.

    Raises ``ValueError`` where ``d`` is below 1.
    """
    validation.whole("d", d)
    return (d + 2) ** 2 - 2


def transformer(d: int, blocks: int, *, dense: bool | None = None) -> int:
    r"""Of narrow transformers, as wide as a token: :math:`3bd^2+(5-2b)d-(3b+1)`.

    One more for a single block without a ``dense`` layer, which the authors' single block has not.
    Raises ``ValueError`` where ``d`` or ``blocks`` is below 1.
    """
    validation.whole("d", d)
    validation.whole("blocks", blocks)
    bare = blocks == 1 if dense is None else not dense
    return 3 * blocks * d**2 + (5 - 2 * blocks) * d - (3 * blocks + 1) + bare


def wide_transformer(d: int) -> int:
    r"""Of two blocks of width 10d with one dense layer each: :math:`25d^2+111d+115`.

    It was laid through the ranks at d = 2, 3 and 4 and meets those at 5, 8 and 20; it is not
    derived. Raises ``ValueError`` where ``d`` is below 2.
    """
    validation.whole("d", d, low=2)
    return 25 * d**2 + 111 * d + 115


def softmax_power(low: int = 3, high: int = 7) -> float:
    """Compute the slope of log (d+1)² against log d at the d from ``low`` to ``high``.

    Raises ``ValueError`` unless 1 ≤ ``low`` < ``high``.

    >>> round(softmax_power(), 2)
    1.64
    """
    validation.whole("low", low)
    validation.whole("high", high, low=low + 1)
    dims = range(low, high + 1)
    counts = [exact(math.log(softmax_layer(d))) for d in dims]
    return slope([math.log(d) for d in dims], counts).value
