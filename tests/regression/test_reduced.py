"""The reduction against attention itself, and the jobs of the recorded sweeps."""

import torch

from iclutils.ground.randomness import stream
from iclutils.regression import reduced


def test_reduction_is_exact_without_the_dropped_block():
    """Equal up to rounding, 1e-12; with the block the answers differ by far more than 0.1."""
    d, ell = 4, 6
    draw = stream(0, "weights")
    z = torch.randn(50, d + 1, ell + 1, dtype=torch.float64, generator=draw)
    z[:, d, ell] = 0
    value, key_query = torch.randn(2, d + 1, d + 1, dtype=torch.float64, generator=draw)
    gamma = reduced.reduced_weights(value, key_query)
    answer = reduced.reduced_prediction(z, gamma)
    full = reduced.linear_attention(z, value, key_query)[:, d, ell]
    assert not torch.allclose(full, answer, atol=0.1)
    value[d, :d] = 0
    bare = reduced.linear_attention(z, value, key_query)[:, d, ell]
    assert torch.allclose(bare, answer, atol=1e-12)
