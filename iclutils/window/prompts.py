"""A batch of prompts: a context of labelled tokens, queries, and what the unit should answer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils.ground import validation
from iclutils.ground.randomness import normal
from iclutils.window.covariates import Law, of_tasks
from iclutils.window.tasks import FunctionClass, Task


@dataclass(frozen=True)
class Prompt:
    r"""A batch of in-context regression problems (Collins et al., eqs. (1), (2)).

    Context covariates ``x``, noisy labels ``y`` :math:`= f(x_i) + \epsilon_i`, covariates ``query``
    and ``target``, the noiseless f at the queries. Several tasks may share their tokens: then the
    labels have more leading axes than the covariates.
    """

    x: Float[Tensor, "*tokens n d"]
    y: Float[Tensor, "*tasks n"]
    query: Float[Tensor, "*tokens q d"]
    target: Float[Tensor, "*tasks q"]


def draw(
    function: FunctionClass,
    covariates: Law,
    n: int,
    sigma: float,
    queries: int,
    size: tuple[int, ...],
    generator: torch.Generator,
) -> Prompt:
    r"""Draw ``size`` independent prompts, each with a task, context and queries of its own.

    n is the context length and ``sigma`` the standard deviation σ ≥ 0 of the Gaussian noise on the
    context's labels. Raises ``TypeError`` or ``ValueError`` where n or ``queries`` is no whole
    number above zero, σ is negative, ``size`` is no tuple of whole numbers, or the tokens have
    another dimension than the tasks.

    >>> from iclutils.ground.randomness import stream
    >>> from iclutils.window.covariates import Sphere
    >>> from iclutils.window.functions import Affine
    >>> prompt = draw(Affine(5), Sphere(5), 20, 0.1, 4, (100,), stream(0, "prompts"))
    >>> tuple(prompt.x.shape), tuple(prompt.y.shape), tuple(prompt.target.shape)
    ((100, 20, 5), (100, 20), (100, 4))
    """
    (prompt,) = draw_alike([function], covariates, n, sigma, queries, size, generator)
    return prompt


def draw_alike(
    functions: Sequence[FunctionClass],
    covariates: Law,
    n: int,
    sigma: float,
    queries: int,
    size: tuple[int, ...],
    generator: torch.Generator,
) -> list[Prompt]:
    """What :func:`draw` gives for each of several classes of one law, from one set of draws.

    They share their tokens, their tasks and the noise. Raises as :func:`draw`, and ``ValueError``
    where the classes draw their tasks from different laws.
    """
    laws = {function.law for function in functions}
    if len(laws) != 1:
        raise ValueError(f"functions must be of one law; got {len(laws)}")
    validation.whole("n", n)
    validation.whole("queries", queries)
    validation.noise("sigma", sigma)
    size = validation.sizes("size", size)
    z = normal(*size, n + queries, covariates.d, generator=generator)
    task = functions[0].sample(size, generator)
    noise = normal(*size, n, generator=generator)
    tokens = of_tasks(covariates, size, generator).from_gaussian(z)
    return [assemble(function, task, tokens, noise, n, sigma) for function in functions]


def assemble(
    function: FunctionClass,
    task: Task,
    tokens: Float[Tensor, "*size m d"],
    noise: Float[Tensor, "*size n"],
    n: int,
    sigma: float,
) -> Prompt:
    """Make prompts of given draws: the first n tokens are the context, the others the queries.

    ``noise`` is standard Gaussian; ``sigma`` scales it.
    """
    value = function.evaluate(task, tokens)
    y = value[..., :n] + sigma * noise
    return Prompt(tokens[..., :n, :], y, tokens[..., n:, :], value[..., n:])


def default_queries(n: int) -> int:
    r"""The number of queries per task in Collins et al., Appendix J: :math:`\lfloor\sqrt n\rfloor`.

    >>> default_queries(20)
    4
    """
    return math.isqrt(validation.whole("n", n))
