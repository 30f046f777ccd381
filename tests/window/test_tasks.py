"""The draws that the task classes share."""

import torch
from scipy.stats import kstest

from iclutils.ground.randomness import stream
from iclutils.ground.statistics import mean_se
from iclutils.window import tasks


def test_directions_are_unit_vectors_without_a_preference() -> None:
    w = tasks.directions((20_000,), 3, stream(0, "directions"))
    torch.testing.assert_close(w.norm(dim=-1), torch.ones(20_000, dtype=torch.float64))
    for moment, expected in ((w, 0.0), (w.square(), 1 / 3)):
        mean, se, _ = mean_se(moment)
        for one, error in zip(mean.tolist(), se.tolist(), strict=True):
            assert abs(one - expected) < 4 * error  # 6 comparisons at 4 standard errors: 4e-4


def test_symmetric_uniform_numbers_have_variance_one_third() -> None:
    numbers = tasks.symmetric_uniform((20_000,), stream(0, "uniform"))
    assert float(numbers.abs().max()) <= 1
    for moment, expected in ((numbers, 0.0), (numbers.square(), 1 / 3)):
        mean, se, _ = mean_se(moment)
        assert abs(float(mean) - expected) < 4 * float(se)  # 4 standard errors: 6e-5


def test_symmetric_uniform_numbers_are_uniform() -> None:
    numbers = tasks.symmetric_uniform((200_000,), stream(0, "law"))
    # an interval that is shorter by a hundredth would be found out at 4.5 standard deviations
    assert kstest(numbers.numpy(), "uniform", (-1, 2)).pvalue > 1e-4


def test_along_is_the_inner_product_token_by_token() -> None:
    w = torch.randn(2, 3, 4, generator=stream(0, "w"), dtype=torch.float64)
    x = torch.randn(2, 3, 7, 4, generator=stream(0, "x"), dtype=torch.float64)
    torch.testing.assert_close(tasks.along(w, x), torch.einsum("abd,abmd->abm", w, x))
