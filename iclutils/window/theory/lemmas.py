r"""The lemmas behind Theorem 4.4 of Collins et al. (Appendix H.2), on drawn contexts.

They freeze the spurious part of the logits into factors :math:`\alpha_i=\exp(c_v^2e\,v_i^\top v)`,
so that the logits are :math:`c\,u_i^\top u+\ln\alpha_i`. Chapter 4 uses them.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.statistics import Estimate, Means, estimate, mean_se
from iclutils.window.theory import lowrank
from iclutils.window.theory.contexts import Case


def term_slopes(
    c: float,
    alpha: Float[Tensor, " n"],
    k: int,
    count: int,
    seed: int,
    which: int = 0,
) -> Means:
    r"""The derivatives :math:`\partial H/\partial\ln\alpha_i` of Lemmas H.3 and H.4, i = ``which``.

    H is averaged over u in ``count`` contexts; of the two means the first is the signal's. At
    :math:`\alpha=(1,\dots,1)` both are zero by exchangeability, so the value there, on the same
    draws, is subtracted as a control variate. Raises ``ValueError`` for a negative ``c``, an α that
    is not positive and a ``which`` that is no token.
    """
    n = _factors(alpha)
    validation.nonnegative("c", c)
    validation.whole("which", which, low=0, high=n - 1)
    case = Case("linear", k + 1, k, n, 1.0)
    sample = case.contexts(count * n, seed)
    logits = c * lowrank.logit_design(sample, case.family[:1]).squeeze(-1)
    slopes = []
    for signal in (True, False):
        there, here = (
            lowrank.logit_slopes(sample, at, signal=signal, noise=not signal)
            for at in (logits + alpha.log(), logits)
        )
        slopes.append((there - here)[:, which])
    return mean_se(torch.stack(slopes), dim=1)


def loss_slope(c: float, alpha: Float[Tensor, " n"], k: int, count: int, seed: int) -> Estimate:
    r"""The slope of the noiseless loss in :math:`x=c\,c_u^2` at frozen α, for Lemma H.1.

    The mean over ``count`` contexts at :math:`c_u=1`. Raises ``ValueError`` for a negative ``c``
    and an α that is not positive.
    """
    n = _factors(alpha)
    validation.nonnegative("c", c)
    case = Case("linear", k + 1, k, n, 0.0)
    sample = case.contexts(count * n, seed)
    phi = lowrank.logit_design(sample, case.family[:1]).squeeze(-1)
    return estimate((lowrank.logit_slopes(sample, c * phi + alpha.log()) * phi).sum(-1))


def slope_at_zero(alpha: Float[Tensor, " n"], k: int) -> float:
    r"""The last display of the proof of Lemma H.1: the slope where attention sets in.

    .. math:: \frac{d\mathcal L}{dx}\Big|_{x=0}
        = -\frac2{k^2}\Big(1-\frac{\sum\alpha_i^2}{(\sum\alpha_i)^2}\Big)

    at :math:`c_u=1`; the paper prints it up to a factor. Raises ``ValueError`` for k below 1 and an
    α that is not positive.

    >>> slope_at_zero(torch.ones(2), k=1)
    -1.0
    """
    _factors(alpha)
    validation.whole("k", k)
    return -2 / k**2 * (1 - float(alpha.square().sum() / alpha.sum() ** 2))


def _factors(alpha: Float[Tensor, " n"]) -> int:
    """The number of the frozen factors α; refuses what is not positive."""
    n = validation.shape("alpha", alpha, "n")["n"]
    if not bool((validation.finite("alpha", alpha) > 0).all()):
        raise ValueError(f"alpha must be positive; its smallest entry is {float(alpha.min()):g}")
    return n
