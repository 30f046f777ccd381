"""dMMSE from a Wishart matrix against enumeration over tokens."""

import math

import pytest
import torch

from iclutils.ground.randomness import stream
from iclutils.regression.dmmse import dmmse_errors
from iclutils.regression.prompts import draw_tasks


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize(("d", "ell"), [(2, 4), (3, 3)])
def test_dmmse_is_the_posterior_mean(d, ell, axis):
    """k = 3 tasks, the residuals of each; within 5 standard errors, a false alarm of 6e-7.

    The tasks lie anywhere, or on one axis: the law of the tokens knows no axis.
    """
    rho, count = 0.3, 20000
    tasks = draw_tasks(3, d, stream(0, "tasks"))
    if axis is not None:
        tasks = torch.zeros(3, d, dtype=torch.float64)
        tasks[:, axis] = torch.tensor([-1.5, 0.0, 1.5])
    w = draw_tasks(count, d, stream(0, "fresh"))
    x = torch.randn(count, ell, d, dtype=torch.float64, generator=stream(0, "x")) / math.sqrt(d)
    noise = torch.randn(count, ell, dtype=torch.float64, generator=stream(0, "noise"))
    y = torch.einsum("nld,nd->nl", x, w) + math.sqrt(rho) * noise
    away = (y[:, None] - torch.einsum("nld,kd->nkl", x, tasks)).square().sum(2)
    posterior = torch.softmax(-away / (2 * rho), 1)
    plain = rho + (posterior @ tasks - w).square().sum(1) / d
    fast = dmmse_errors(tasks, ell, rho, stream(0, "fast"), count, fresh=True)
    se = math.sqrt((float(plain.var()) + float(fast.var())) / count)
    assert abs(float(plain.mean() - fast.mean())) < 5 * se
    own = dmmse_errors(tasks, ell, rho, stream(0, "own"), count, fresh=False)
    assert float(own.mean()) < float(fast.mean())


def test_dmmse_refuses_bad_input():
    tasks = torch.ones(2, 3, dtype=torch.float64)
    with pytest.raises(ValueError, match="ell must be at least 3"):
        dmmse_errors(tasks, 2, 0.1, stream(0, "x"), 4, fresh=True)
    with pytest.raises(ValueError, match="rho must be finite"):
        dmmse_errors(tasks, 4, 0.0, stream(0, "x"), 4, fresh=True)
