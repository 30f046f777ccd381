"""Tasks that no training saw: their laws, the error of known layers, the worst task of a prompt."""

import pytest
import torch

from iclutils.randomness import stream
from iclutils.stages import attention, prompts, unseen_tasks
from iclutils.stats import mean_se

F64 = torch.float64
K, N = 4, 12
P = prompts.probabilities(K, 0.4)
FRAME = prompts.feature_frame(K, 6, stream(0, "frame"))


def layers(sharpness: float, runs: int = 3) -> torch.Tensor:
    """Make layers whose columns attend to their own feature: Q = s Σ v_k v_kᵀ."""
    return (sharpness * FRAME.mT @ FRAME).expand(runs, -1, -1)


@pytest.mark.parametrize("law", unseen_tasks.LAWS)
def test_a_task_has_mean_square_one_in_each_coordinate(law):
    """Within 5 standard errors: 6e-7 false alarms a coordinate."""
    c = unseen_tasks.draw_tasks(law, 5, 8000, K, stream(0, law))
    assert c.shape == (5, 8000, K)
    means = mean_se(c.square().flatten(0, 1))
    # the fourth moment of heavy tails is 9 times the square of the second: 40 000 draws are enough
    assert bool(((means.value - 1).abs() < 5 * means.se).all())


def test_the_laws_are_what_they_are_called():
    sparse = unseen_tasks.draw_tasks("sparse", 2, 500, K, stream(0, "sparse"))
    assert bool(((sparse != 0).sum(-1) == 1).all())
    assert float(sparse.max()) == K**0.5
    assert set(sparse.nonzero()[:, -1].tolist()) == {*range(K)}
    heavy = unseen_tasks.draw_tasks("heavy tails", 2, 20_000, K, stream(0, "heavy"))
    kurtosis = float(heavy.pow(4).mean() / heavy.square().mean() ** 2)
    assert kurtosis > 4  # of Student's t with 5 degrees of freedom 9, of a Gaussian 3
    shifted = unseen_tasks.draw_tasks("mean ± 3", 2, 20_000, K, stream(0, "shifted"))
    expected = 3 / 10**0.5 * torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=F64)
    # 40 000 draws of standard deviation 1/√10: five standard errors
    torch.testing.assert_close(shifted.mean((0, 1)), expected, rtol=0, atol=0.008)
    with pytest.raises(KeyError, match="law must be one of"):
        unseen_tasks.draw_tasks("dense", 1, 1, K, stream(0, "none"))


def test_a_sharp_layer_errs_where_its_feature_is_absent_alone():
    """Then it errs by w·v_k, of mean square 1, and by what it answers instead."""
    sharp = unseen_tasks.relative_error(
        layers(60.0), "sparse", P, FRAME, N, 4000, stream(0, "sharp")
    )
    absent = (1 - float(P[1])) ** N
    # without v_k the weights spread over the others, whose labels add to the error at most once
    assert absent < sharp.value < 2 * absent + 5 * sharp.se
    blind = unseen_tasks.relative_error(
        layers(0.0), "heavy tails", P, FRAME, N, 4000, stream(0, "blind")
    )
    # the plain average: (1 − p̂_k)² + Σ p̂_m² for shares p̂ of the tokens
    counts = prompts.draw_counts(P, N, (20_000,), stream(0, "counts"))
    shares = counts / N
    exact = (shares.square().sum(-1) - 2 * shares[:, 1] + 1).mean()
    assert abs(blind.value - float(exact)) < 5 * blind.se


def test_the_worst_task_lies_along_the_residual():
    off = unseen_tasks.residuals(layers(1.5), P, FRAME, N, 50, stream(0, "worst"))
    assert off.shape == (3, K - 1, 50, K)
    assert float(off.sum(-1).abs().max()) < 1e-12  # attention sums to 1, and so does e_k
    columns = 1.5 * torch.eye(K, dtype=F64)[1:]
    counts = prompts.draw_counts(P, N, (3, 1, 50), stream(0, "worst"))
    own = attention.attention(columns, counts)[:, torch.arange(3), :, torch.arange(1, K)]
    missed = off[:, torch.arange(3), :, torch.arange(1, K)]
    torch.testing.assert_close(own, 1 + missed)  # the entry of the feature that is asked for
    worst = unseen_tasks.worst_tasks(off)
    unit = off / off.norm(dim=-1, keepdim=True)
    torch.testing.assert_close((unit * off).sum(-1).square(), worst.error)
    answer = torch.stack([unit[:, k, :, k + 1] for k in range(K - 1)], 1).square()
    torch.testing.assert_close(answer, worst.answer)
    other = torch.nn.functional.normalize(
        torch.randn(off.shape, generator=stream(0, "others"), dtype=F64), dim=-1
    )
    assert bool(((other * off).sum(-1).square() <= worst.error).all())
    with pytest.raises(ValueError, match="off must have shape"):
        unseen_tasks.worst_tasks(off[:, :2])
