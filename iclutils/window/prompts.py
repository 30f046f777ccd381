"""A batch of prompts: a context of labelled tokens, queries, and what the unit should answer."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.randomness import normal, stream
from iclutils.window.covariates import Law, Stretched, StretchedAnew, of_tasks
from iclutils.window.function_classes import Affine, FunctionClass, ReLU, Task


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

    def with_constant(self) -> "Prompt":
        """Append a last coordinate that is 1 to every token and query: (…, d + 1).

        Linear attention can then weigh a constant part of the labels apart (chapter 3).
        """
        x, query = (torch.nn.functional.pad(t, (0, 1), value=1.0) for t in (self.x, self.query))
        return replace(self, x=x, query=query)


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

    >>> from iclutils.randomness import stream
    >>> from iclutils.window.covariates import Sphere
    >>> from iclutils.window.function_classes import Affine
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
    """Draw for each of several classes of one law what :func:`draw` gives, from one set of draws.

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
    r"""Count the queries per task in Collins et al., Appendix J: :math:`\lfloor\sqrt n\rfloor`.

    >>> default_queries(20)
    4
    """
    return math.isqrt(validation.whole("n", n))


BLOCK = 50  # steps drawn at once from one stream; part of the definition of the random draws

Labelled = tuple[FunctionClass, float]  # a class of tasks and the noise σ of its labels


@dataclass(frozen=True)
class Block:
    """The draws of all trials for one block of steps: their role, and which block it is."""

    trials: int
    number: int
    seed: int
    role: str


def block_prompts(
    block: Block, settings: Sequence[tuple[Law, int, int, Sequence[Labelled]]]
) -> list[list[Prompt]]:
    """For each (covariates, n, queries, classes with noise) the prompts of every step of a block.

    ``x: (T, n, d)``, ``y: (T, S, n)``, ``query: (T, q, d)``, ``target: (T, S, q)`` in each step,
    for S pairs of a class and a noise.
    """

    def streams(what: str, n: int, q: int) -> list[torch.Generator]:
        trials = range(block.trials)
        return [stream(block.seed, block.role, what, n, q, trial, block.number) for trial in trials]

    @functools.cache
    def gaussian(what: str, n: int, q: int, *size: int) -> Float[Tensor, "T BLOCK ..."]:
        draws = [normal(BLOCK, *size, generator=generator) for generator in streams(what, n, q)]
        return torch.stack(draws)

    @functools.cache
    def tokens(covariates: Law, n: int, q: int) -> Float[Tensor, "T BLOCK m d"]:
        z = gaussian("covariates", n, q, n + q, covariates.d)
        if isinstance(covariates, StretchedAnew):
            covariates = Stretched(gaussian("stretches", n, q, covariates.d, covariates.d))
        return covariates.from_gaussian(z)

    samples: dict[object, Task] = {}

    def tasks(function: FunctionClass, n: int, q: int) -> Task:
        key = (function.law, n, q)
        if key not in samples:
            each = [function.sample((BLOCK,), generator) for generator in streams("tasks", n, q)]
            parameters = zip(*(task.values() for task in each), strict=True)
            samples[key] = dict(zip(each[0], map(torch.stack, parameters), strict=True))
        return samples[key]

    @functools.cache
    def values(
        function: FunctionClass, covariates: Law, n: int, q: int
    ) -> Float[Tensor, "T BLOCK m"]:
        if isinstance(function, Affine | ReLU) and function.L != 1:
            return function.L * values(replace(function, L=1.0), covariates, n, q)
        return function.evaluate(tasks(function, n, q), tokens(covariates, n, q))

    @functools.cache
    def noise(sigma: float, n: int, q: int) -> Float[Tensor, "T BLOCK n"]:
        return sigma * gaussian("noise", n, q, n)

    batches = []
    for covariates, n, q, classes in settings:
        x = tokens(covariates, n, q)
        each = [(values(function, covariates, n, q), sigma) for function, sigma in classes]
        # (T, BLOCK, S, n) and (T, BLOCK, S, q)
        y = torch.stack([value[..., :n] + noise(sigma, n, q) for value, sigma in each], dim=2)
        target = torch.stack([value[..., n:] for value, _ in each], dim=2)
        steps = range(BLOCK)
        batches.append([Prompt(x[:, t, :n], y[:, t], x[:, t, n:], target[:, t]) for t in steps])
    return batches
