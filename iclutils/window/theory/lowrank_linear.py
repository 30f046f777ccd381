r"""Linear attention's own minimiser on low-rank tasks, from a sample.

The sample and the bases of matrices are those of :mod:`iclutils.window.theory.lowrank`, which has
the closed form too. Chapter 4 uses it.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.products import product
from iclutils.window.theory import lowrank
from iclutils.window.theory.contexts import Contexts
from iclutils.window.theory.lowrank import Minimum


def linear_minimum(sample: Contexts, basis: Float[Tensor, "P d d"]) -> Minimum:
    r"""Linear attention's own minimiser, by least squares on its answers.

    .. math::

       \mathcal L_{LA}(M) = E\Big[\big(\textstyle\sum_if_a(x_i)x_i^\top Mx_{n+1}-f_a(x_{n+1})\big)^2
         + \sigma^2\sum_i(x_i^\top Mx_{n+1})^2\Big]

    is a quadratic form in θ, so the minimiser solves one linear system. Its covariance is that of
    :func:`iclutils.window.theory.lowrank.minimise`. Raises ``ValueError`` where the ``basis`` has
    not the tokens' dimension.
    """
    validation.shape("basis", basis, "P d d", d=sample.query.shape[-1])
    phi = lowrank.logit_design(sample, basis)
    pooled = product(sample.value, phi)  # (N, Q, P)
    signal = 2 * product(pooled.mT, pooled) / pooled.shape[1]
    second = signal + 2 * sample.sigma**2 * product(phi.mT, phi)
    first = 2 * (pooled * sample.target.unsqueeze(-1)).mean(1)
    hessian = second.mean(0)
    theta = torch.linalg.solve(hessian, first.mean(0))
    each = second @ theta - first
    loss = float(sample.target.square().mean() - 0.5 * first.mean(0) @ theta)
    return Minimum(theta, lowrank.sandwich(each, hessian), loss, 1)
