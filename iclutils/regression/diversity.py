"""Trained networks on lists of tasks: the errors on new and on practised tasks, as κ grows."""

from torch import Tensor

from iclutils.regression import layer_training, transformer_training
from iclutils.regression.fleet import Fleet, draw_fleet
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


def _fleets(
    d: int, alpha: int, tau: float, tasks: int, sets: int, rho: float, seed: int
) -> dict[str, Fleet]:
    """The training sets, and prompts on fresh tasks and on those of the lists to test with."""
    ell, test = alpha * d, [TEST_PROMPTS] * sets
    return {
        "train": draw_fleet([round(tau * d**2)] * sets, d, ell, rho, seed, tasks=tasks),
        "icl": draw_fleet(test, d, ell, rho, seed, role="test"),
        "idg": draw_fleet(test, d, ell, rho, seed, tasks=tasks, role="test"),
    }


def _first(fleet: Fleet, n: int) -> Fleet:
    """The first n prompts of every set."""
    return Fleet(fleet.z[:, :n], fleet.y[:, :n], fleet.mask[:, :n])


def four_digits(values: Tensor) -> list[float]:
    """The ``values`` to four digits."""
    return [float(f"{value:.4g}") for value in values.tolist()]
