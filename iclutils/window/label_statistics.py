"""Statistics of sampled labels and weights on which chapter 3's comparison rests, at d = 5.

Mean labels decide whether an offset matters, the slope of the loss in the other entries of the
value matrix whether these may be dropped, and the change of the relative weights with M whether a
head can become a narrower window.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.randomness import stream
from iclutils.stats import Estimate, estimate
from iclutils.window import attention
from iclutils.window.covariates import Sphere
from iclutils.window.evaluation import ValueSlope, value_slope
from iclutils.window.function_classes import Affine, Cosine, ReLU
from iclutils.window.prompts import Prompt, draw

D, TOKENS = 5, 20
CLASSES = (Affine(D), ReLU(D), Cosine(D))
TASKS, PROMPTS, CHUNKS = 120_000, 40_000, 3


def mean_labels(seed: int) -> Mapping[str, Estimate]:
    """Estimate the mean label; also with offsets in [0, L], and with random signs."""
    means = {}
    for tasks in CLASSES:
        draws = stream(seed, "signs", tasks.name)
        sample = tasks.sample((TASKS,), draws)
        gaussian = torch.randn(TASKS, 1, D, generator=draws, dtype=torch.float64)
        x = Sphere(D).from_gaussian(gaussian)
        value = tasks.evaluate(sample, x)[:, 0]
        means[tasks.name] = estimate(value)
        if tasks.name == "affine":
            positive = sample | {"b": sample["b"].abs()}
            means["offset-in-0-L"] = estimate(tasks.evaluate(positive, x)[:, 0])
        if tasks.name == "cosine":
            sign = 2.0 * torch.randint(2, value.shape, generator=draws) - 1
            means["random-sign"] = estimate(value * sign)
    return means


def value_slopes(seed: int) -> Mapping[str, ValueSlope]:
    """Estimate the slopes at M = I and noise L, also for one-sided labels l·x₁, l in [0, 1]."""
    slopes = {}
    eye = torch.eye(D, dtype=torch.float64)
    for tasks in CLASSES:
        slopes[tasks.name] = value_slope(eye, prompts_of(tasks, seed))
    level = torch.rand(PROMPTS, 1, generator=stream(seed, "l")).double()
    one_sided = [
        Prompt(one.x, level * one.x[..., 0], one.query, level * one.query[..., 0])
        for one in prompts_of(CLASSES[0], seed)
    ]
    return slopes | {"one-sided": value_slope(eye, one_sided)}


def prompts_of(tasks: Affine | ReLU | Cosine, seed: int) -> list[Prompt]:
    """Draw the prompts of a class on which its slope is estimated."""
    streams = [stream(seed, "values", tasks.name, chunk) for chunk in range(CHUNKS)]
    return [draw(tasks, Sphere(D), TOKENS, 1.0, 1, (PROMPTS,), one) for one in streams]


def weight_changes(seed: int) -> Mapping[str, Estimate]:
    """Estimate the largest change of a relative weight in a prompt, from M = 2I to another M."""
    seen = draw(Affine(D), Sphere(D), TOKENS, 0.0, 1, (400,), stream(seed, "relative"))
    eye = torch.eye(D, dtype=torch.float64)
    longer = torch.diag(torch.tensor([20.0, 2, 2, 2, 2], dtype=torch.float64))

    def change(weights: Float[Tensor, "..."], others: Float[Tensor, "..."]) -> Estimate:
        return estimate((weights - others).abs().amax((-2, -1)))

    wide, narrow, stretched = (
        attention.relative_scores(M, seen.x, seen.query) for M in (2 * eye, 20 * eye, longer)
    )
    softmax = (attention.weights(w * eye, seen.x, seen.query) for w in (2, 20))
    return {
        "linear": change(wide, narrow),
        "softmax": change(*softmax),
        "one-direction": change(wide, stretched),
    }
