"""A batch of prompts: a context of labelled tokens, queries, and what the unit should answer."""

import math
from dataclasses import dataclass

import torch

from iclutils import validation
from iclutils.covariates import Covariates
from iclutils.functions import FunctionClass


@dataclass(frozen=True)
class Prompt:
    r"""A batch of in-context regression problems (Collins et al., eqs. (1), (2)).

    ``x: (..., n, d)`` context covariates, ``y: (..., n)`` noisy labels $f(x_i) + \epsilon_i$,
    ``query: (..., q, d)``, ``target: (..., q)`` the noiseless $f$ at the queries.
    """

    x: torch.Tensor
    y: torch.Tensor
    query: torch.Tensor
    target: torch.Tensor


def draw(function: FunctionClass, covariates: Covariates, n: int, sigma: float, queries: int,
         size: tuple[int, ...], generator: torch.Generator) -> Prompt:
    """Draw ``*size`` independent prompts of context length n with ``queries`` queries each, noise N(0, σ²).

    Raises ``ValueError``/``TypeError`` for n, queries < 1 or σ < 0.
    """
    validation.whole("n", n)
    validation.whole("queries", queries)
    validation.nonnegative("sigma", sigma)
    z = torch.randn(*size, n + queries, covariates.d, generator=generator, dtype=torch.float64)
    task = function.sample(size, generator)
    noise = torch.randn(*size, n, generator=generator, dtype=torch.float64)
    return assemble(function, task, covariates.from_gaussian(z), noise, n, sigma)


def assemble(function: FunctionClass, task: dict[str, torch.Tensor], tokens: torch.Tensor, noise: torch.Tensor,
             n: int, sigma: float) -> Prompt:
    """Make prompts of given draws: ``tokens: (..., n + q, d)``, the first n the context; ``noise: (..., n)`` standard."""
    value = function.evaluate(task, tokens)
    return Prompt(tokens[..., :n, :], value[..., :n] + sigma * noise, tokens[..., n:, :], value[..., n:])


def default_queries(n: int) -> int:
    """⌊√n⌋, the number of queries per task in Collins et al., Appendix J."""
    return math.isqrt(validation.whole("n", n))
