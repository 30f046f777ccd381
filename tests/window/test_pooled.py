"""Sums over tokens taken some at a time, against softmax weights of all of them."""

import pytest
import torch

from iclutils.ground.randomness import stream
from iclutils.window.theory import pooled

F64 = torch.float64


def values(t):
    return torch.stack([t, t.cos()], -1), t.square().unsqueeze(-1)


@pytest.mark.parametrize("at_once", [1, 10**6])
def test_sums_are_those_with_softmax_weights(monkeypatch, at_once):
    monkeypatch.setattr(pooled, "AT_ONCE", at_once)
    t = 2 * torch.rand(3, 200, dtype=F64, generator=stream(0, "pooled")) - 1
    w = torch.tensor([0.0, 0.5, 30.0, 1e3, 1e5], dtype=F64)  # the last three lose sight of tokens
    found = pooled.pooled(t, w, values)
    gamma = torch.softmax(w.unsqueeze(-1) * t.unsqueeze(1), -1)
    a, b = values(t)
    # a weight that softmax makes of w t = 1e5 is right to 1e5 roundings of 1e-16
    torch.testing.assert_close(found.weighted, gamma @ a, rtol=1e-10, atol=1e-13)
    torch.testing.assert_close(found.squared, gamma.square() @ b, rtol=1e-10, atol=1e-13)


def test_a_window_leaves_out_tokens_that_it_does_not_see(monkeypatch):
    monkeypatch.setattr(pooled, "AT_ONCE", 1)
    t = torch.cat([torch.zeros(1, 50), torch.ones(1, 32)], 1).double()
    far = torch.tensor([pooled.NOTHING - 1, pooled.NOTHING + 1], dtype=F64)
    # the values of far tokens are so large that what is left of their mass shows
    huge = pooled.pooled(t, far, lambda t: ((1e40 * (1 - t)).unsqueeze(-1), t.unsqueeze(-1)))
    near, nothing = huge.weighted.flatten().tolist()
    assert near > 0
    assert nothing == 0
