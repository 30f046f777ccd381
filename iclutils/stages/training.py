r"""Gradient descent on a softmax attention layer from Q = 0, sampled and reduced (chapter 6).

Two routes lower the loss of :mod:`iclutils.stages.attention`:

*sampled*
    prompts, tasks and the full Q in a random orthonormal frame, gradients by autograd;
*reduced*
    tasks integrated out, so that a prompt is its feature counts and each column of Q moves by
    itself.

Time is t = η · steps, with the learning rate η.

Source: Huang, Cheng and Liang 2024, slides "ICL framework" to "Training Settings".
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from iclutils import randomness, validation
from iclutils.stages.attention import attention, column_gradient, predict, prompt_errors
from iclutils.stages.prompts import draw_counts, draw_prompts
from iclutils.stats import Estimate, crossed, crossed_mean, estimate

LARGEST = 700.0  # of an entry of Q: beyond it the exponential is no number


@dataclass(frozen=True)
class Trajectory:
    """Recorded training of columns of Q on counts.

    ``t`` are the times of the records, ``theta`` the columns then, and ``error`` the error of each
    on the prompts of that step.
    """

    t: Float[Tensor, " points"]
    theta: Float[Tensor, "points columns K"]
    error: Float[Tensor, "points columns"]

    def entry(
        self, targets: Int[Tensor, " columns"], m: int | None = None
    ) -> Float[Tensor, "points columns"]:
        r""":math:`A_k` (``m=None``) or :math:`B_{k,m}` of each column; ``targets`` are their k."""
        index = targets if m is None else torch.full_like(targets, m)
        every = index.expand(self.theta.shape[:2]).unsqueeze(-1)
        return self.theta.gather(-1, every).squeeze(-1)

    def nearest(self, t: float) -> int:
        """Locate the record nearest to time t: its index; ``ValueError`` where t is not finite."""
        validation.in_range("t", t, -math.inf, math.inf)
        return int((self.t - t).abs().argmin())

    def fall_over_rise(self, targets: Int[Tensor, " columns"], i: int, j: int = 0) -> Estimate:
        r"""How much further :math:`B_{k,1}` fell than :math:`A_k` rose, from record j to i.

        The mean over the columns whose target k is not the dominant feature, which is numbered 0.
        Raises ``ValueError`` for fewer than 2 of them.
        """
        total = self.entry(targets) + self.entry(targets, 0)
        return estimate((total[j] - total[i])[targets != 0])

    def window(self, targets: Int[Tensor, " columns"]) -> Float[Tensor, "points columns"]:
        r""":math:`A_k` less the mean of the other entries: the window of a balanced column."""
        K = self.theta.shape[-1]
        return (self.entry(targets) * K - self.theta.sum(-1)) / (K - 1)

    def at(self, t: float, values: Float[Tensor, "points *rest"]) -> Float[Tensor, "*rest"]:
        """``values``, one row a record, at time t, linear between the two records around it.

        Raises ``ValueError`` for a time outside of the records and another number of rows.
        """
        validation.in_range("t", t, float(self.t[0]), float(self.t[-1]))
        if len(values) != len(self.t):
            raise ValueError(f"values must have a row a record, {len(self.t)}; got {len(values)}")
        j = int((self.t <= t).sum().clamp(1, len(self.t) - 1))
        part = (t - float(self.t[j - 1])) / float(self.t[j] - self.t[j - 1])
        return values[j - 1] + part * (values[j] - values[j - 1])


@dataclass(frozen=True)
class SampledTrajectory:
    r"""Recorded training of whole layers on tokens.

    ``theta[..., k, m]`` is :math:`v_m^\top Q v_k`, so column k of Q comes first; ``W`` are the
    layers at the end, in the shape in which they were started.
    """

    t: Float[Tensor, " points"]
    theta: Float[Tensor, "points runs K K"]
    W: Float[Tensor, "runs keys d"]

    def window(self) -> Float[Tensor, "points runs"]:
        r"""Compute the mean of :math:`A_k` over k, less that of the other entries.

        It is the window of a layer whose features are equally frequent.
        """
        K = self.theta.shape[-1]
        own = self.theta.diagonal(dim1=-2, dim2=-1).mean(-1)
        others = (self.theta.mean((-1, -2)) * K - own) / (K - 1)
        return own - others


def _records(steps: int, points: int) -> set[int]:
    """About ``points`` steps, half even and half geometric: phases differ by decades."""
    grid = torch.linspace(0, 1, points // 2, dtype=torch.float64)
    geometric = (steps**grid).round()
    even = (steps * grid).round()
    return {int(i) for i in geometric} | {int(i) for i in even}


def _count_batches(
    p: Tensor, N: int, columns: int, prompts: int, generator: torch.Generator
) -> Iterator[Tensor]:
    """Fresh counts ``(columns, prompts, K)`` for each step, drawn in large blocks."""
    block = max(1, 200_000 // (columns * prompts * len(p)))
    while True:
        yield from draw_counts(p, N, (block, columns, prompts), generator)


def train_reduced(
    p: Float[Tensor, " K"],
    N: int,
    targets: Int[Tensor, " columns"],
    *,
    learning_rate: float,
    steps: int,
    prompts: int,
    generator: torch.Generator,
    points: int = 200,
    verbose: bool = False,
    sigma: float = 0.0,
) -> Trajectory:
    """Descent on columns of Q with tasks integrated out and fresh counts every step.

    ``p`` are the features' probabilities, ``N`` the tokens of a prompt, ``targets`` the feature of
    each column (repeat one for replicates: every column has prompts of its own), ``prompts`` the
    prompts of each column and step. Starts at 0 and records about ``points`` steps, half of them
    geometrically and half evenly spaced. ``verbose`` prints the mean error ten times; ``sigma`` is
    the standard deviation of the label noise. Raises ``ValueError`` if the learning rate is not
    positive, a count is below 1, points is below 2, or sigma is negative, and ``RuntimeError`` if
    the training diverges.

    Ten features, the first in half of the tokens: when are it and feature 3 learned to 0.1?

    >>> from iclutils.stages.prompts import probabilities
    >>> run = train_reduced(probabilities(10, 0.5), 500, torch.tensor([0, 3]), learning_rate=1.0,
    ...                     steps=400, prompts=8, generator=torch.Generator().manual_seed(0))
    >>> dominant, rare = first_passage(run.t, -run.error, -0.1).tolist()
    >>> dominant < 20 < 150 < rare < 400
    True
    """
    K = validation.shape("p", p, "K")["K"]
    columns = validation.shape("targets", targets, "C")["C"]
    validation.whole("the number of targets", columns)
    validation.within("targets", targets, 0, K - 1)
    validation.positive("learning_rate", learning_rate)
    validation.whole("steps", steps)
    validation.whole("prompts", prompts)
    keep = _records(steps, validation.whole("points", points, low=2))
    theta = randomness.start(torch.zeros(columns, K, dtype=torch.float64))
    batches = _count_batches(p, N, columns, prompts, generator)
    times, path, errors = [], [], []
    for step in range(steps + 1):
        gradient, error = column_gradient(theta, next(batches), targets, p, sigma=sigma)
        if step in keep:
            times.append(learning_rate * step)
            path.append(theta)
            errors.append(error)
        if verbose and step % max(1, steps // 10) == 0:
            print(f"t = {learning_rate * step:.1f}: mean error {float(error.mean()):.4f}")
        theta = theta - learning_rate * gradient
        _require_small(theta, learning_rate)
    t = torch.tensor(times, dtype=torch.float64)
    return Trajectory(t, torch.stack(path), torch.stack(errors))


def train_sampled(
    p: Float[Tensor, " K"],
    frame: Float[Tensor, "K d"],
    N: int,
    *,
    learning_rate: float,
    steps: int,
    prompts: int,
    runs: int,
    generator: torch.Generator,
    W: Float[Tensor, "runs keys d"] | None = None,
    points: int = 200,
    verbose: bool = False,
    sigma: float = 0.0,
) -> SampledTrajectory:
    """Stochastic gradient descent on tokens: independent layers as one program, by autograd.

    ``p`` are the features' probabilities, ``frame`` the features as orthonormal rows, ``N`` the
    tokens of a prompt, ``prompts`` the fresh prompts (and tasks) of each step for each of ``runs``
    layers. Starts at ``W`` (see :func:`iclutils.stages.attention.predict` for its two shapes) or
    Q = 0. ``verbose`` prints the loss ten times; ``sigma`` is the standard deviation of the label
    noise. Raises ``ValueError`` if the learning rate is not positive, a count is below 1, points is
    below 2, sigma is negative, or frame has not a row for each feature, and ``RuntimeError`` if the
    training diverges.

    >>> from iclutils.stages.prompts import feature_frame, probabilities
    >>> generator = torch.Generator().manual_seed(0)
    >>> run = train_sampled(probabilities(3, 0.5), feature_frame(3, 4, generator), 20,
    ...                     learning_rate=0.5, steps=30, prompts=50, runs=2, generator=generator)
    >>> bool((run.theta[-1, :, 0, 0] > run.theta[-1, :, 1, 1]).all())  # the dominant one leads
    True
    """
    d = validation.shape("frame", frame, "K d", K=len(p))["d"]
    validation.orthonormal("frame, its rows as columns,", frame.mT)
    validation.positive("learning_rate", learning_rate)
    for name, value in (("steps", steps), ("runs", runs), ("prompts", prompts), ("N", N)):
        validation.whole(name, value)
    W = torch.zeros(runs, d, d, dtype=torch.float64) if W is None else W.clone()
    keep = _records(steps, validation.whole("points", points, low=2))
    times, path = [], []
    for step in range(steps + 1):
        if step in keep:
            times.append(learning_rate * step)
            path.append(torch.einsum("md,rde,ke->rkm", frame, W[:, :d], frame))
        batch = draw_prompts(p, frame, N, runs, prompts, generator, sigma=sigma)
        W.requires_grad_(True)
        off = predict(W, batch.tokens, batch.labels, batch.query) - batch.answer
        loss = 0.5 * off.square().mean(1).sum()
        (gradient,) = torch.autograd.grad(loss, W)
        W = W.detach() - learning_rate * gradient
        _require_small(W, learning_rate)
        if verbose and step % max(1, steps // 10) == 0:
            print(f"t = {learning_rate * step:.1f}: batch loss {float(loss.detach()) / runs:.4f}")
    return SampledTrajectory(torch.tensor(times, dtype=torch.float64), torch.stack(path), W)


def _require_small(entries: Tensor, learning_rate: float) -> None:
    """Refuse a training whose softmax has become a step: nothing is learned from there on."""
    largest = float(entries.abs().max())
    if not largest <= LARGEST:
        raise RuntimeError(
            f"learning_rate must be smaller; with {learning_rate:g} it diverged, to an entry of"
            f" {largest:.3g}"
        )


def fresh_error(
    theta: Float[Tensor, "columns K"],
    p: Float[Tensor, " K"],
    N: int,
    targets: Int[Tensor, " columns"],
    *,
    prompts: int,
    generator: torch.Generator,
) -> Estimate:
    """Compute the error of trained columns on fresh prompts of N tokens, the mean over the columns.

    Chance is in the prompts, which the columns share, and in the columns, each of which was trained
    on prompts of its own. Raises ``ValueError`` for fewer than 2 columns, and as
    :func:`iclutils.stages.prompts.draw_counts` does.
    """
    counts = draw_counts(p, N, (prompts,), generator)
    return crossed_mean(prompt_errors(theta, counts, targets).mT)


def trained_error(
    p: Float[Tensor, " K"],
    N: int,
    targets: Int[Tensor, " columns"],
    *,
    learning_rate: float,
    steps: int,
    batch: int,
    prompts: int,
    draws: torch.Generator,
    fresh: torch.Generator,
) -> Estimate:
    """Train columns on prompts of N tokens, ``batch`` a step, and compute the error at the end.

    Training draws from ``draws``; the ``prompts`` of the test come from ``fresh``. Raises as
    :func:`train_reduced` and :func:`fresh_error`.
    """
    run = train_reduced(
        p, N, targets, learning_rate=learning_rate, steps=steps, prompts=batch, generator=draws
    )
    return fresh_error(run.theta[-1], p, N, targets, prompts=prompts, generator=fresh)


def relative_fall(
    trajectory: Trajectory,
    counts: Float[Tensor, "prompts K"],
    targets: Int[Tensor, " columns"],
    start: float,
    end: float,
) -> Estimate:
    """Compute the share by which the error on the same prompts falls from one time to another.

    The columns of the trajectory are numbered by their targets, and ``targets`` are those to take;
    at each time it is the nearest record. Chance as in :func:`fresh_error`. Raises ``ValueError``
    for fewer than 2 columns or prompts and for a time that is not finite.
    """
    thetas = [trajectory.theta[trajectory.nearest(t)][targets] for t in (start, end)]
    both = torch.stack([prompt_errors(theta, counts, targets).mT for theta in thetas])
    return crossed(lambda s: 1 - s[1].mean() / s[0].mean(), both)


def rare_attention(
    theta: Float[Tensor, "K K"],
    counts: Float[Tensor, "prompts K"],
    *,
    less_dominant: bool = False,
) -> Estimate:
    r"""Average :math:`\mathrm{Attn}_k` over prompts and rare k, at columns of a whole layer.

    ``theta[k]`` is column k of Q, and the prompts are shared by all. ``less_dominant`` takes the
    attention on the dominant feature off. Raises ``ValueError`` for fewer than 2 prompts or rare
    features, and as :func:`iclutils.stages.attention.attention` does.
    """
    validation.flag("less_dominant", less_dominant)
    a = attention(theta, counts)
    own = a.diagonal(dim1=0, dim2=2)[:, 1:]
    return crossed_mean(own - a[1:, :, 0].mT if less_dominant else own)


def rare_and_dominant_entries(theta: Float[Tensor, "*batch K K"]) -> Float[Tensor, "*batch 3"]:
    r"""Compute the means over rare k of :math:`A_k` and of :math:`B_{k,1}`, and :math:`A_1`.

    ``theta[..., k, m]`` is :math:`v_m^\top Q v_k`; feature 0 is the dominant one. Raises
    ``ValueError`` for another shape and for fewer than 2 features.
    """
    validation.whole("K", validation.shape("theta", theta, "... K K")["K"], low=2)
    diagonal = theta.diagonal(dim1=-2, dim2=-1)
    own = diagonal[..., 1:].mean(-1)
    on_dominant = theta[..., 1:, 0].mean(-1)
    return torch.stack([own, on_dominant, diagonal[..., 0]], -1)


def first_passage(
    t: Float[Tensor, " points"], values: Float[Tensor, "points *curves"], level: float
) -> Float[Tensor, "*curves"]:
    """When each of many curves first rises above ``level``, linear between the records ``t``.

    It is 0 for a curve that starts above the level and infinity for one that never rises above it:
    recorded errors fluctuate and may pass a level more than once. For the last rise of a single
    curve, and an error where there is none, see :func:`iclutils.stats.crossing`.
    Raises ``ValueError`` if there is not one row of values for each time, or a time, a value or the
    level is not finite.

    >>> t = torch.tensor([0.0, 2.0, 4.0])
    >>> first_passage(t, torch.tensor([[0.0, 0.0], [1.0, 0.1], [3.0, 0.2]]), 2.0).tolist()
    [3.0, inf]
    """
    validation.shape("t", validation.finite("t", t), "P", P=len(values))
    validation.whole("the number of times t", len(t), low=2)
    validation.finite("values", values)
    validation.in_range("level", level, -math.inf, math.inf)
    above = values > level
    after = above.to(torch.int64).argmax(0).clamp(min=1)
    low = values.gather(0, (after - 1).unsqueeze(0))[0]
    high = values.gather(0, after.unsqueeze(0))[0]
    share = ((level - low) / (high - low)).clamp(0, 1)
    time = t[after - 1] + share * (t[after] - t[after - 1])
    return torch.where(above.any(0), time, torch.full_like(time, torch.inf))
