"""Trained networks on lists of tasks: the errors on new and on practised tasks, as κ grows."""

from torch import Tensor

from iclutils.regression import curriculum, layer_training, transformer_training
from iclutils.regression.fleet import Fleet, draw_fleet, listed_tasks
from iclutils.regression.transformers import Architecture, losses

TEST_PROMPTS = 500  # a model and error


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
    """A job: attention layers, each fitted to τd² prompts of αd tokens on a list of ``tasks``.

    For each of the ``sets`` layers the error on its training set, on fresh tasks and on those of
    its list, to four digits, and whether it converged in ``iterations`` of Levenberg–Marquardt.
    """
    fleets = _fleets(d, alpha, tau, tasks, sets, rho, seed)
    layers = layer_training.fit(
        fleets["train"], seed, iterations=iterations, softmax=softmax, unconverged=1.0
    )
    found = {name: four_digits(layers.loss(prompts)) for name, prompts in fleets.items()}
    return found | {"converged": layers.converged.double().tolist()}


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
    """A job: transformers, each trained on τd² prompts of αd tokens on a list of ``tasks``.

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
    return {
        name: [four_digits(losses(architecture, weights, prompts)) for weights in trained]
        for name, prompts in fleets.items()
    }


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
    """A job: one transformer on τd² prompts of αd tokens and a list of ``tasks``, by a curriculum.

    It has ``first`` active coordinates at first and one more after each ``stage`` steps, and all of
    them for the ``last`` steps (:class:`iclutils.regression.curriculum.Curriculum`); where
    ``first`` is d, the training is plain. ``network`` numbers the set of prompts with its list.
    After a third, two thirds and all of the ``last`` steps: the errors on the training set, on
    fresh tasks and on those of the list, on prompts with all coordinates; each three numbers, to
    four digits.
    """
    architecture = Architecture(d, blocks, dense=1, width=width)
    fleets = _fleets(d, alpha, tau, tasks, 1, rho, seed, network)
    plan = curriculum.Curriculum(first, stage, last)
    before = plan.length(d) - last
    trained = curriculum.train(
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
    return {
        name: [four_digits(losses(architecture, weights, prompts))[0] for weights in trained]
        for name, prompts in fleets.items()
    }


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
    """The training sets, and prompts on fresh tasks and on those of the lists to test with."""
    ell, n, test = alpha * d, round(tau * d**2), [TEST_PROMPTS] * sets
    return {
        "train": draw_fleet([n] * sets, d, ell, rho, seed, tasks=tasks, first=first),
        "icl": draw_fleet(test, d, ell, rho, seed, role="test", first=first),
        "idg": draw_fleet(test, d, ell, rho, seed, tasks=tasks, role="test", first=first),
    }


def _first(fleet: Fleet, n: int) -> Fleet:
    """The first n prompts of every set."""
    return Fleet(fleet.z[:, :n], fleet.y[:, :n], fleet.mask[:, :n])


def four_digits(values: Tensor) -> list[float]:
    """The ``values`` to four digits."""
    return [float(f"{value:.4g}") for value in values.tolist()]
