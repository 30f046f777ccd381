"""Compute the jobs of the book's recorded sweeps, and read their rows.

The arguments of a job's function are the names of the settings in the records' files, and so stay
as they are.
"""

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.randomness import stream
from iclutils.regression import levenberg_marquardt, transformer_training
from iclutils.regression.dmmse import dmmse_errors
from iclutils.regression.experiment import Setting, errors
from iclutils.regression.layers import Layers
from iclutils.regression.training_sets import Fleet, draw_fleet, listed_tasks
from iclutils.regression.transformers import Architecture, Weights, forward, losses, tokens_of

TEST_PROMPTS = 500  # a model and error
COMMON_PROMPTS = 300  # whose answers are kept


def layers_on_lists(
    *,
    d: int,
    softmax: bool,
    alpha: int,
    tau: float,
    tasks: int,
    sets: int,
    rho: float,
    iterations: int,
    seed: int,
) -> dict[str, list[float]]:
    """Run a job: attention layers, each fitted to τd² prompts of αd tokens on a list of ``tasks``.

    For each of the ``sets`` layers the error on its training set, on fresh tasks and on those of
    its list, to four digits, and whether it converged in ``iterations`` of Levenberg–Marquardt.
    """
    fleets = _fleets(d, alpha, tau, tasks, sets, rho, seed)
    layers = levenberg_marquardt.fit(
        fleets["train"], seed, iterations=iterations, softmax=softmax, unconverged=1.0
    )
    results = {name: four_digits(layers.loss(prompts)) for name, prompts in fleets.items()}
    return results | {"converged": layers.converged.double().tolist()}


def transformers_on_lists(
    *,
    d: int,
    width: int,
    blocks: int,
    alpha: int,
    tau: float,
    tasks: int,
    sets: int,
    rho: float,
    steps: int,
    batch: int,
    rate: float,
    seed: int,
    device: str = "cpu",
) -> dict[str, list[list[float]]]:
    """Run a job: transformers, each trained on τd² prompts of αd tokens on a list of ``tasks``.

    ``rate`` is the learning rate, which stays constant, so that a shorter training is the start of
    a longer one. After a twentieth, a quarter and all of the ``steps``: the errors on the training
    set, on fresh tasks and on those of the list; each (3, sets), to four digits. Whatever the
    ``device``, the prompts, first weights and minibatches are the same.
    """
    architecture = Architecture(d, blocks, dense=1, width=width)
    fleets = _fleets(d, alpha, tau, tasks, sets, rho, seed)
    trained = transformer_training.train(
        architecture,
        fleets["train"],
        seed,
        [steps // 20, steps // 4, steps],
        learning_rate=rate,
        cooldown=0,
        batch=batch,
        device=device,
    )
    fleets["train"] = _first(fleets["train"], TEST_PROMPTS)
    return _losses_at_checkpoints(architecture, trained, fleets)


def _losses_at_checkpoints(
    architecture: Architecture, checkpoints: Sequence[Weights], fleets: Mapping[str, Fleet]
) -> dict[str, list[list[float]]]:
    """Measure the loss on each kind of prompts at each checkpoint: (checkpoints, sets)."""
    table: dict[str, list[list[float]]] = {}
    for name, prompts in fleets.items():
        table[name] = [four_digits(losses(architecture, w, prompts)) for w in checkpoints]
    return table


def transformer_by_curriculum(
    *,
    d: int,
    width: int,
    blocks: int,
    alpha: int,
    tau: float,
    tasks: int,
    rho: float,
    network: int,
    first: int,
    stage: int,
    last: int,
    batch: int,
    rate: float,
    cooldown: float,
    seed: int,
    device: str = "cpu",
) -> dict[str, list[float]]:
    """Run a job: one transformer on τd² prompts and a list of ``tasks``, by a curriculum.

    It has ``first`` active coordinates at first and one more after each ``stage`` steps, and all of
    them for the ``last`` steps (:class:`iclutils.regression.transformer_training.Curriculum`);
    where ``first`` is d, the training is plain. ``network`` numbers the set of prompts with its
    list. After a third, two thirds and all of the ``last`` steps: the errors on the training set,
    on fresh tasks and on those of the list, on prompts with all coordinates; each three numbers, to
    four digits.
    """
    architecture = Architecture(d, blocks, dense=1, width=width)
    fleets = _fleets(d, alpha, tau, tasks, 1, rho, seed, network)
    plan = transformer_training.Curriculum(first, stage, last)
    before = plan.length(d) - last
    trained = transformer_training.train_by_curriculum(
        architecture,
        fleets["train"],
        listed_tasks(tasks, d, seed, network),
        seed,
        plan,
        [before + last // 3, before + 2 * last // 3, before + last],
        model=network,
        batch=batch,
        learning_rate=rate,
        cooldown=cooldown,
        device=device,
    )
    fleets["train"] = _first(fleets["train"], TEST_PROMPTS)
    single = {}
    for name, checkpoints in _losses_at_checkpoints(architecture, trained, fleets).items():
        single[name] = [loss for [loss] in checkpoints]
    return single


def answers_of_lists(
    *,
    d: int,
    width: int,
    blocks: int,
    alpha: int,
    tau: float,
    tasks: int,
    rho: float,
    list_index: int,
    network: int,
    first: int,
    stage: int,
    last: int,
    batch: int,
    rate: float,
    cooldown: float,
    seed: int,
    further: bool = False,
    device: str = "cpu",
) -> dict[str, list[float]]:
    """Run a job: one of several transformers that practise on one of several lists of ``tasks``.

    It is trained as in :func:`transformer_by_curriculum`. ``list_index`` numbers the lists, and
    ``network`` the networks of a list: each has its own first weights, and prompts of its own on
    the tasks of the list. Its answers to prompts on fresh tasks, which are the same for all
    networks (:func:`common_prompts`), to three decimals; its error on them and, on other prompts,
    on the tasks of its list, to four digits. With ``further``, its answers to as many further
    common prompts, too.
    """
    architecture = Architecture(d, blocks, dense=1, width=width)
    draw = partial(
        draw_fleet, d=d, ell=alpha * d, rho=rho, seed=seed, tasks=tasks, first=list_index
    )
    plan = transformer_training.Curriculum(first, stage, last)
    [weights] = transformer_training.train_by_curriculum(
        architecture,
        draw([round(tau * d**2)], role=f"train network {network}"),
        listed_tasks(tasks, d, seed, list_index),
        seed,
        plan,
        [plan.length(d)],
        model=2 * list_index + network,
        batch=batch,
        learning_rate=rate,
        cooldown=cooldown,
        device=device,
    )
    common = common_prompts(d, alpha, rho, seed)

    def answer(prompts: Fleet) -> list[float]:
        with torch.no_grad():
            [answers] = forward(architecture, weights, tokens_of(prompts).tokens.to(device)).cpu()
        return [round(answer, 3) for answer in answers.tolist()]

    results = {
        "answers": answer(common),
        "icl": four_digits(losses(architecture, weights, common)),
        "idg": four_digits(losses(architecture, weights, draw([TEST_PROMPTS], role="test"))),
    }
    if further:
        results["further_answers"] = answer(common_prompts(d, alpha, rho, seed, further=True))
    return results


def common_prompts(d: int, alpha: int, rho: float, seed: int, *, further: bool = False) -> Fleet:
    """Draw the prompts on fresh tasks that networks answer whatever list they practised on.

    The ``further`` ones are as many others.
    """
    first = int(further)
    return draw_fleet([COMMON_PROMPTS], d, alpha * d, rho, seed, role="common", first=first)


def _fleets(
    d: int,
    alpha: int,
    tau: float,
    tasks: int,
    sets: int,
    rho: float,
    seed: int,
    first: int = 0,
) -> dict[str, Fleet]:
    """Draw the training sets, and prompts on fresh tasks and on those of the lists to test with."""
    ell, n, test = alpha * d, round(tau * d**2), [TEST_PROMPTS] * sets
    return {
        "train": draw_fleet([n] * sets, d, ell, rho, seed, tasks=tasks, first=first),
        "icl": draw_fleet(test, d, ell, rho, seed, role="test", first=first),
        "idg": draw_fleet(test, d, ell, rho, seed, tasks=tasks, role="test", first=first),
    }


def _first(fleet: Fleet, n: int) -> Fleet:
    """Select the first n prompts of every set."""
    return Fleet(fleet.z[:, :n], fleet.y[:, :n], fleet.mask[:, :n])


def four_digits(values: Tensor) -> list[float]:
    """Round the ``values`` to four digits."""
    return [float(f"{value:.4g}") for value in values.tolist()]


Row = Mapping[str, Any]


def reduced_errors(
    *,
    d: int,
    alpha: float,
    kappa: float | str,
    tau: float,
    rho: float,
    ridge: float,
    trial: int,
    seed: int,
) -> dict[str, float]:
    """Run a job: the exact errors of the reduced model on one pretraining set.

    ``kappa`` may be the text "inf", which JSON has no number for. Raises ``KeyError`` for
    another text, ``ValueError`` for a value out of its range, with its name.
    """
    if isinstance(kappa, str):
        kappa = float(validation.one_of("kappa", kappa, ("inf",)))
    setting = Setting(d=d, alpha=alpha, kappa=kappa, tau=tau, rho=rho)
    icl, idg = errors(setting, [ridge], seed, trial)[0].tolist()
    return {"icl": icl, "idg": idg}


def reduced_and_dmmse_errors(
    *,
    d: int,
    alpha: float,
    kappa: float,
    tau: float,
    rho: float,
    ridge: float,
    contexts: int,
    trial: int,
    seed: int,
) -> dict[str, float]:
    """Run a job: the reduced model's errors, and those of dMMSE on the same pretraining tasks.

    The first are :func:`reduced_errors`, the second means over ``contexts``
    contexts with fresh tasks, and as many with pretraining tasks.
    """
    setting = Setting(d=d, alpha=alpha, kappa=kappa, tau=tau, rho=rho)
    tasks = setting.tasks(seed, trial)
    results = reduced_errors(
        d=d, alpha=alpha, kappa=kappa, tau=tau, rho=rho, ridge=ridge, trial=trial, seed=seed
    )
    for name, fresh in (("dmmse_icl", True), ("dmmse_idg", False)):
        generator = stream(seed, name, d, setting.ell, setting.k, trial)
        sample = dmmse_errors(tasks, setting.ell, rho, generator, contexts, fresh=fresh)
        results[name] = float(sample.mean())
    return results


def trained_layer_errors(
    *,
    d: int,
    n: int,
    sets: int,
    rho: float,
    seed: int,
    softmax: bool = False,
    steps: int | None = None,
) -> dict[str, list[float]]:
    """Run a job: attention layers trained on n prompts each, at α = 1.

    The error of each of the ``sets`` layers on its training set and on 400 fresh prompts, to four
    digits. They are trained to convergence: linear layers take 200 iterations, and where the
    attention is ``softmax`` they take 1000. Or they take as many ``steps`` of AdamW, whose
    convergence is not asked. Raises ``RuntimeError`` where, without ``steps``, more than an eighth
    of the layers do not converge, or a quarter of those with a softmax.
    """
    fleet = draw_fleet([n] * sets, d, d, rho, seed)
    test = draw_fleet([400] * sets, d, d, rho, seed, role="test")
    how: dict[str, Any] = {"unconverged": 1 / 8}
    if softmax:
        how = {"iterations": 1000, "unconverged": 1 / 4}
    layers: Layers
    if steps is None:
        layers = levenberg_marquardt.fit(fleet, seed, softmax=softmax, **how)
    else:
        [layers] = levenberg_marquardt.train(fleet, seed, [steps], softmax=softmax)
    return {"train": four_digits(layers.loss(fleet)), "icl": four_digits(layers.loss(test))}


def trained_transformer_errors(
    *,
    d: int,
    blocks: int,
    dense: int,
    n: int,
    tasks: int | None,
    sets: int,
    rho: float,
    steps: int,
    rate: float,
    seed: int,
) -> dict[str, list[list[float]]]:
    """Run a job: transformers trained on ``sets`` sets of n prompts at α = 1, a model a set.

    ``rate`` is the learning rate. After a twentieth, a quarter and all of the ``steps``: the error
    on the training set, on fresh tasks and, where prompts share ``tasks`` tasks, on those; each
    (3, sets), to four digits.
    """
    architecture = Architecture(d, blocks, dense)
    fleet = draw_fleet([n] * sets, d, d, rho, seed, tasks=tasks)
    measured = {"train": fleet, "icl": draw_fleet([1000] * sets, d, d, rho, seed, role="test")}
    if tasks is not None:
        measured["idg"] = draw_fleet([1000] * sets, d, d, rho, seed, tasks=tasks, role="test")
    checkpoints = [steps // 20, steps // 4, steps]
    trained = transformer_training.train(architecture, fleet, seed, checkpoints, learning_rate=rate)
    return _losses_at_checkpoints(architecture, trained, measured)


# ------------------------------------------------------------------ rows of a record


def tabulate(
    rows: Sequence[Row], axes: Sequence[str], names: Sequence[str], **fixed: Any
) -> Float[Tensor, "..."]:
    """Lay out the results ``names`` of those rows that have the ``fixed`` settings.

    The tensor has one axis for each of the settings ``axes``, along which its values are in rising
    order, then one for ``names``; where a result is a list, its axes come last.

    >>> rows = [{"d": d, "n": n, "error": d / n} for n in (4, 2) for d in (1, 2)]
    >>> tabulate(rows, ["d", "n"], ["error"])[..., 0].tolist()
    [[0.5, 0.25], [1.0, 0.5]]
    >>> tabulate(rows, ["n"], ["error", "n"], d=2).tolist()
    [[1.0, 2.0], [0.5, 4.0]]

    Raises ``ValueError`` unless every combination of the axes' values occurs once.
    """
    chosen = [row for row in rows if fixed.items() <= row.items()]
    cells: dict[tuple[Any, ...], list[Any]] = {}
    levels: dict[str, set[Any]] = {axis: set() for axis in axes}
    for row in chosen:
        cells[tuple(row[axis] for axis in axes)] = [row[name] for name in names]
        for axis in axes:
            levels[axis].add(row[axis])
    grid = list(itertools.product(*map(sorted, levels.values())))
    if not chosen or len(chosen) != len(grid) or set(grid) != set(cells):
        raise ValueError(
            f"rows with {fixed} must hold every combination of {list(axes)} once; "
            f"got {len(chosen)} rows for {len(grid)} combinations"
        )
    table = torch.tensor([cells[point] for point in grid], dtype=torch.float64)
    return table.reshape(*map(len, levels.values()), *table.shape[1:])


def settings_of(function: Callable[..., Any], row: Row) -> dict[str, Any]:
    """Pick the settings of a row: what it has of the arguments of the job's ``function``.

    >>> settings_of(trained_layer_errors, {"d": 5, "n": 40, "icl": [0.1], "cpu_s": 0.2})
    {'d': 5, 'n': 40}
    """
    names = inspect.signature(function).parameters
    return {name: value for name, value in row.items() if name in names}


def drift(function: Callable[..., Mapping[str, Any]], row: Row) -> float:
    """Compute a recorded row again; return the largest relative change of one of its numbers."""
    results = function(**settings_of(function, row))
    return max(_relative_change(value, row[name]) for name, value in results.items())


def _relative_change(value: Any, recorded: Any) -> float:
    """Return the largest relative change of a number, or of any in nested lists; 0 from 0 to 0."""
    after = torch.as_tensor(value, dtype=torch.float64)
    before = torch.as_tensor(recorded, dtype=torch.float64)
    return float(((after - before).abs() / before.abs().clamp_min(1e-300)).max())
