r"""Trained units on tasks that they were not trained on, at common contexts (chapter 2).

Tasks and noise are integrated out (:mod:`iclutils.window.theory.full_matrix`) and all units see the
same contexts, so that two losses differ by what the units have learned. ``points`` are contexts of
n tokens with the query as the last one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.products import product
from iclutils.stats import Estimate, crossed
from iclutils.window.attention import predict
from iclutils.window.covariates import Law, Sphere, sample
from iclutils.window.evaluation import effective_number, mean_errors
from iclutils.window.function_classes import Affine, Cosine, Distance, FunctionClass, ReLU
from iclutils.window.prompts import draw, draw_alike
from iclutils.window.theory.full_matrix import ContextLoss, context_loss, zonal
from iclutils.window.theory.population_loss import Isotropic

Class = Affine | ReLU | Cosine

CACHED = 2**20  # weights that stay in a processor's cache from one operation to the next


def weights(
    M: Float[Tensor, "units d d"], points: Float[Tensor, "contexts m d"]
) -> Float[Tensor, "contexts n units"]:
    r"""Softmax weights of many units at the query of each context, n = m − 1.

    The same as :func:`iclutils.window.attention.weights` one unit at a time. Raises ``ValueError``
    for other shapes.
    """
    d = validation.shape("M", M, "units d d")["d"]
    validation.shape("points", points, "contexts m d", d=d)
    image = torch.einsum("qde,ce->cdq", M, points[:, -1])
    scores = product(points[:, :-1], image)
    mass = scores.sub_(scores.amax(1, keepdim=True)).exp_()
    return mass.div_(mass.sum(1, keepdim=True))


def parts(
    M: Float[Tensor, "units d d"], function: Isotropic, points: Float[Tensor, "contexts m d"]
) -> ContextLoss:
    r"""Signal and concentration of many units in each context, tasks of ``function`` averaged.

    Their loss is signal + σ² · concentration, both (contexts, units), see
    :func:`iclutils.window.theory.full_matrix.context_loss`. Raises ``ValueError`` for other shapes.

    >>> from iclutils.randomness import stream
    >>> points = sample(Sphere(3), (50, 21), stream(0, "example"))
    >>> M = torch.stack([w * torch.eye(3, dtype=torch.float64) for w in (0.0, 4.0)])
    >>> plain, windowed = parts(M, Affine(3), points).signal.mean(0)
    >>> bool(windowed < plain)
    True
    """
    covariance = zonal(function)
    parts_of = [
        context_loss(covariance, some[:, :-1], some[:, -1:], weights(M, some))
        for some in torch.split(points, max(1, CACHED // (len(M) * points.shape[1])))
    ]
    return ContextLoss(*(torch.cat(part) for part in zip(*parts_of, strict=True)))


def ratio(above: Float[Tensor, "contexts T"], below: Float[Tensor, "contexts _"]) -> Estimate:
    """Estimate a ratio of mean losses in the same contexts, averaged over trials.

    ``below`` has a column for each trial, or one for all. The error is over contexts and trials.
    Raises ``ValueError`` for other shapes and for fewer than 2 contexts or trials.
    """
    size = validation.shape("above", above, "contexts T")
    columns = {} if below.shape[-1:] == (1,) else {"T": size["T"]}
    validation.shape("below", below, "contexts T", contexts=size["contexts"], **columns)
    both = torch.stack([above, below.expand_as(above)])
    return crossed(lambda part: (part[0].mean(-2) / part[1].mean(-2)).mean(), both)


def tokens_used(
    M: Float[Tensor, "units d d"], points: Float[Tensor, "contexts m d"]
) -> Float[Tensor, "contexts units"]:
    r"""Compute the share of its context that a unit averages over, :math:`1/(n\sum\gamma_i^2)`."""
    return effective_number(weights(M, points)) / (points.shape[1] - 1)


def losses_on_sampled_tasks(
    w: float,
    function: Class | Distance,
    sigma: float,
    n: int,
    contexts: int,
    queries: int,
    generator: torch.Generator,
) -> Float[Tensor, " contexts"]:
    r"""Sample the loss of the window w on tasks of any class, one for each context on the sphere.

    For classes whose covariance is not known. The labels' noise is integrated out, and the loss of
    a context is averaged over its ``queries``. Raises ``ValueError`` for sizes below 1 and a
    negative ``sigma``.
    """
    validation.whole("n", n)
    validation.whole("queries", queries)
    variance = validation.noise("sigma", sigma) ** 2
    tokens = sample(Sphere(function.d), (contexts, n + queries), generator)
    value = function.evaluate(function.sample((contexts,), generator), tokens)
    gamma = torch.softmax(w * (tokens[:, :n] @ tokens[:, n:].mT), dim=1)
    missed = (value[:, None, :n] @ gamma)[:, 0] - value[:, n:]
    return (missed.square() + variance * gamma.square().sum(1)).mean(1)


class Transfer:
    """Units pretrained on some classes, tested on others.

    ``units`` are the trials of each class that was pretrained on, ``windows`` the exact best window
    of each. Losses are of each context of ``points``; a ratio is one of means over contexts,
    averaged over trials, and its error covers both (:func:`iclutils.stats.crossed`).
    """

    def __init__(
        self,
        units: Mapping[Class, Float[Tensor, "T d d"]],
        windows: Mapping[Class, float],
        sigma: float,
        points: Float[Tensor, "contexts m d"],
    ) -> None:
        """Take note of the units; a loss is computed when it is first asked for.

        Raises ``ValueError`` unless the same classes have units and windows, and each as many
        trials, and for a negative ``sigma``.
        """
        trials = {len(M) for M in units.values()}
        if set(units) != set(windows) or len(trials) != 1:
            raise ValueError(
                "units and windows must be of the same classes, with one number of trials; "
                f"got {len(units)} and {len(windows)} classes with {sorted(trials)} trials"
            )
        self.units = units
        self.windows = windows
        self.sigma = validation.noise("sigma", sigma)
        self.points = points
        self._trials = trials.pop()
        self._order = {learned: i for i, learned in enumerate(units)}
        self._parts: dict[Class, ContextLoss] = {}

    def scale(self, learned: Class) -> Float[Tensor, " T"]:
        r"""Compute the window parameter of each trial's unit, :math:`\operatorname{tr}(M)/d`."""
        return self.units[learned].diagonal(dim1=-2, dim2=-1).mean(-1)

    def trained(self, learned: Class, tested: Class) -> Float[Tensor, "contexts T"]:
        """Compute the loss of each trial's unit in each context."""
        first = self._order[learned] * self._trials
        return self._losses(tested)[:, first : first + self._trials]

    def as_window(self, learned: Class, tested: Class) -> Float[Tensor, "contexts T"]:
        r"""Compute the loss of the window :math:`w=\operatorname{tr}(M)/d` of each trial's unit."""
        first = (len(self.units) + self._order[learned]) * self._trials
        return self._losses(tested)[:, first : first + self._trials]

    def exact(self, learned: Class, tested: Class) -> Float[Tensor, "contexts 1"]:
        """Compute the loss of the window that is best for ``learned`` in each context."""
        column = 2 * len(self.units) * self._trials + self._order[learned]
        return self._losses(tested)[:, column : column + 1]

    def over_least(self, learned: Class, tested: Class) -> Estimate:
        """Compute the loss ratio: the units' loss over that of the best window for ``tested``."""
        return ratio(self.trained(learned, tested), self.exact(tested, tested))

    def over_exact(self, learned: Class, tested: Class) -> Estimate:
        """Compute the units' loss over that of the best window for what they were trained on."""
        return ratio(self.trained(learned, tested), self.exact(learned, tested))

    def over_own(self, learned: Class, tested: Class) -> Estimate:
        """Compute the units' loss over that of units pretrained on ``tested``, trial by trial."""
        return ratio(self.trained(learned, tested), self.trained(tested, tested))

    def over_window(
        self, learned: Class, tested: Class, window_of: Class | None = None
    ) -> Estimate:
        """Compute the units' loss over that of their windows, or of the windows of other units."""
        windows = self.as_window(learned if window_of is None else window_of, tested)
        return ratio(self.trained(learned, tested), windows)

    def _losses(self, tested: Class) -> Float[Tensor, "contexts units"]:
        """Of all units, of their windows and of the exact windows, in this order."""
        # L makes waves faster, and multiplies the tasks of the other classes
        shape = tested if isinstance(tested, Cosine) else replace(tested, L=1.0)
        if shape not in self._parts:
            eye = torch.eye(self.points.shape[-1], dtype=torch.float64)
            scales = [self.scale(learned) for learned in self.units]
            best = torch.tensor([self.windows[one] for one in self.units], dtype=torch.float64)
            windows = torch.cat([*scales, best]).view(-1, 1, 1) * eye
            M = torch.cat([*self.units.values(), windows])
            self._parts[shape] = parts(M, shape, self.points)
        signal, concentration = self._parts[shape]
        return (tested.L / shape.L) ** 2 * signal + self.sigma**2 * concentration


def smoothed_errors(
    M: Float[Tensor, "classes trials records d d"],
    tested: FunctionClass,
    n: int,
    sigma: float,
    generator: torch.Generator,
    *,
    keep: float,
) -> Float[Tensor, "classes trials records"]:
    """Follow the errors of units in training on fresh tasks, five a record, the same for all.

    An error keeps the share ``keep`` of its last value, as the plots of Collins et al. do.
    """
    classes, trials, _, d, _ = M.shape
    value = torch.zeros(classes, trials, dtype=torch.float64)
    smoothed: list[Tensor] = []
    for units in M.movedim(2, 0):
        prompt = draw(tested, Sphere(d), n, sigma, 4, (5, trials), generator)
        missed = torch.stack([predict(one, prompt) - prompt.target for one in units])
        error = missed.square().mean((1, 3))
        value = keep * value + (1 - keep) * error if smoothed else error
        smoothed.append(value)
    return torch.stack(smoothed, 2)


def start_and_ends(
    M: Float[Tensor, "runs T records d d"], rates: int
) -> Float[Tensor, "F T R d d"]:
    """Take from a fleet's records what :func:`errors` compares: the start, and each rate's end.

    The runs are those of F classes, each at all of the ``rates`` in turn, all from the same start;
    R is 1 + ``rates``. Raises ``ValueError`` unless ``rates`` divides the number of runs.

    >>> M = torch.arange(6.0).view(2, 1, 3, 1, 1)  # one class at two rates, three records
    >>> start_and_ends(M, 2).flatten().tolist()
    [0.0, 2.0, 5.0]
    """
    validation.shape("M", M, "runs T records d d")
    if len(M) % validation.whole("rates", rates):
        raise ValueError(f"rates must divide the {len(M)} runs of M; got {rates}")
    by_class = M.view(-1, rates, *M.shape[1:])
    return torch.cat([by_class[:, :1, :, 0], by_class[:, :, :, -1]], 1).transpose(1, 2)


def errors(
    units: Mapping[str, Float[Tensor, "F T R d d"]],
    functions: Sequence[FunctionClass],
    covariates: Law,
    n: int,
    sigma: float,
    size: int,
    generator: torch.Generator,
) -> dict[str, Float[Tensor, "F T R"]]:
    """Mean squared errors of R units in each of T trials, for each of F classes of one law.

    ``units`` has the M of each kind of unit, ``"softmax"`` or ``"linear"``. A trial has ``size``
    prompts with one query each; all kinds and classes see the same tokens, tasks and noise. Raises
    ``ValueError`` for different numbers of trials, and as
    :func:`iclutils.window.prompts.draw_alike` and :func:`iclutils.window.evaluation.mean_errors`.
    """
    trials = {M.shape[1] for M in units.values()}
    if len(trials) != 1:
        raise ValueError(f"units must have one number of trials; got {sorted(trials)}")
    prompts = draw_alike(functions, covariates, n, sigma, 1, (trials.pop(), size), generator)
    table = {}
    for unit, M in units.items():
        each = [mean_errors(m, prompt, unit) for m, prompt in zip(M, prompts, strict=True)]
        table[unit] = torch.stack(each)
    return table
