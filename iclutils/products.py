"""Many small matrix products at once.

torch hands a batch of small matrices to a library that pays for each of them; on the processor that
we measured the product of numpy takes less (``make bench NAME=products``).
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor


def product(a: Float[Tensor, "*first m k"], b: Float[Tensor, "*second k p"]) -> Tensor:
    r""":math:`AB` for every pair of matrices of a batch; the leading axes broadcast.

    The same as ``a @ b``, for matrices that carry no gradient. Raises ``ValueError`` where the
    shapes do not fit, ``RuntimeError`` for a tensor that requires a gradient.

    >>> a = torch.arange(4.0).reshape(2, 1, 2)
    >>> product(a, torch.eye(2)).tolist()
    [[[0.0, 1.0]], [[2.0, 3.0]]]
    """
    with np.errstate(over="ignore", invalid="ignore"):  # silent as torch's: infinity and NaN tell
        return torch.from_numpy(np.matmul(a.numpy(), b.numpy()))
