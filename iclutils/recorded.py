"""The book's recorded sweeps: what a job computes, the lists of jobs, and the command for them.

    python -m iclutils.recorded 05_double_descent --workers 2              # processes
    python -m iclutils.recorded 05_double_descent --dask tcp://host:8786   # a Dask cluster

The second needs the package ``distributed``. ``--plan`` says what a sweep will cost, and runs only
its first job; ``--device cuda`` trains the wide transformers on a GPU. How a job is written,
resumed and added to says :mod:`claimbook.runs.sweeps`. The arguments of a job's function are
the names of the settings in the records' files, and so stay as they are.
"""

from collections.abc import Sequence
from typing import Any

from claimbook.runs import command, records, sweeps
from claimbook.runs.records import published
from claimbook.runs.sweeps import Job, Sweep
from claimbook.runs.tables import table
from iclutils.ground import validation
from iclutils.ground.randomness import stream
from iclutils.regression import layer_training, training_jobs, transformer_training
from iclutils.regression.diversity import (
    four_digits,
    transformer_by_curriculum,
    transformers_on_lists,
)
from iclutils.regression.dmmse import dmmse_errors
from iclutils.regression.fleet import draw_fleet
from iclutils.regression.layers import Layers
from iclutils.regression.setting import Setting, errors
from iclutils.regression.transformers import Architecture, losses

__all__ = [
    "LAYER_SETTINGS",
    "SWEEPS",
    "drift",
    "published",
    "read",
    "reduced_and_dmmse_errors",
    "reduced_errors",
    "table",
    "trained_layer_errors",
    "trained_transformer_errors",
]


LAYER_SETTINGS = ("d", "n", "sets", "rho", "seed", "softmax", "steps")  # of trained layers


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
    """A job: the exact errors of the reduced model on one pretraining set.

    ``kappa`` may be the text "inf", which JSON has no number for. Raises ``KeyError`` for
    another text, ``ValueError`` for a value out of its range, with its name.
    """
    if isinstance(kappa, str):
        kappa = float(validation.one_of("kappa", kappa, ("inf",)))
    setting = Setting(d, alpha, kappa, tau, rho)
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
    """A job: the reduced model's errors, and those of dMMSE on the same pretraining tasks.

    The first are :func:`iclutils.recorded.reduced_errors`, the second means over ``contexts``
    contexts with fresh tasks, and as many with pretraining tasks.
    """
    setting = Setting(d, alpha, kappa, tau, rho)
    tasks = setting.tasks(seed, trial)
    found = reduced_errors(
        d=d, alpha=alpha, kappa=kappa, tau=tau, rho=rho, ridge=ridge, trial=trial, seed=seed
    )
    for name, fresh in (("dmmse_icl", True), ("dmmse_idg", False)):
        generator = stream(seed, name, d, setting.ell, setting.k, trial)
        drawn = dmmse_errors(tasks, setting.ell, rho, generator, contexts, fresh=fresh)
        found[name] = float(drawn.mean())
    return found


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
    """A job: attention layers trained on n prompts each, at α = 1.

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
        layers = layer_training.fit(fleet, seed, softmax=softmax, **how)
    else:
        [layers] = layer_training.train(fleet, seed, [steps], softmax=softmax)
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
    """A job: transformers trained on ``sets`` sets of n prompts at α = 1, a model a set.

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
    return {
        name: [four_digits(losses(architecture, weights, prompts)) for weights in trained]
        for name, prompts in measured.items()
    }


def _reduced_job(
    alpha: float, kappa: float | str, tau: float, rho: float, trial: int, seed: int
) -> Job:
    return {
        "d": 100,
        "alpha": alpha,
        "kappa": kappa,
        "tau": tau,
        "rho": rho,
        "ridge": 1e-5,
        "trial": trial,
        "seed": seed,
    }


# of the planned jobs; raise one and run its sweep to add to the record
DOUBLE_DESCENT_RUN = 400
CONTEXT_LENGTH_RUN = 518


def _double_descent(seed: int = 0, run: int = DOUBLE_DESCENT_RUN) -> list[Job]:
    """Ten pretraining sets of four panels, then more of the three at κ = ½: 60 below the peak, and
    150 above it, where they differ more.
    """
    taus = (0.2, 0.4, 0.6, 0.8, 1.2, 1.4, 1.6, 1.8, 2.0)
    panels: list[tuple[float, float | str]] = [(1, 0.5), (10, 0.5), (100, 0.5), (10, "inf")]
    points = [(trial, *panel, tau) for trial in range(10) for panel in panels for tau in taus]
    # the peak takes most of the time
    points += [(trial, *panel, 1.0) for trial in range(10) for panel in panels]
    points += [
        (trial, *panel, tau)
        for trial in range(10, 150)
        for panel in panels[:3]
        for tau in taus
        if trial < 60 or tau > 1
    ]
    jobs = [
        _reduced_job(alpha, kappa, tau, 0.01, trial, seed) for trial, alpha, kappa, tau in points
    ]
    return jobs[:run]


def _task_diversity(seed: int = 0) -> list[Job]:
    kappas = (0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10, 20, 50)
    return [
        {
            "d": 100,
            "alpha": alpha,
            "kappa": kappa,
            "tau": alpha / 5,
            "rho": 0.01,
            "ridge": 1e-5,
            "contexts": 40,
            "trial": trial,
            "seed": seed,
        }
        for trial in range(6)
        for alpha in (10, 20, 40)
        for kappa in kappas
    ]


def _context_length(seed: int = 0, run: int = CONTEXT_LENGTH_RUN) -> list[Job]:
    """Six pretraining sets of three panels, then up to 120 of six points with much noise."""
    panels = ((0.5, 0.5), (0.5, 0.1), (20, 0.5))  # τ and ρ
    jobs = [
        _reduced_job(alpha, kappa, tau, rho, trial, seed)
        for tau, rho in panels
        for trial in range(6)
        for kappa in (0.1, 0.2, 0.5, 1, 2)
        for alpha in (0.2, 1, 2.5, 5, 10, 40, 160)
        # 200 000 prompts at τ = 20: six sets for one κ, two for the others
        if trial < 2 or tau < 1 or kappa == 0.5
    ]
    jobs += [
        _reduced_job(alpha, kappa, 0.5, 0.5, trial, seed)
        for trial in range(6, 120)
        for kappa in (0.2, 0.5, 2)
        for alpha in (2.5, 10)
    ]
    return jobs[:run]


SWEEPS = {
    "05_double_descent": Sweep(reduced_errors, _double_descent()),
    "05_task_diversity": Sweep(reduced_and_dmmse_errors, _task_diversity()),
    "05_context_length": Sweep(reduced_errors, _context_length()),
    "05b_attention_layers": Sweep(trained_layer_errors, training_jobs.attention_layers()),
    "05b_softmax_layers": Sweep(
        trained_layer_errors, training_jobs.softmax_layers(), training_jobs.entries_solved
    ),
    "05b_trained_transformers": Sweep(
        trained_transformer_errors, training_jobs.transformers(), training_jobs.updates
    ),
    "05b_wide_transformers": Sweep(
        transformers_on_lists, training_jobs.wide_transformers(), training_jobs.numbers_read
    ),
    "05b_wide_peak": Sweep(
        transformers_on_lists, training_jobs.wide_peak(), training_jobs.numbers_read
    ),
    "05c_talk_size": Sweep(
        transformer_by_curriculum,
        training_jobs.talk_size(),
        training_jobs.numbers_read_by_curriculum,
    ),
}


def read(name: str) -> dict[str, Any]:
    """A recorded sweep of the book: its provenance and ``jobs``, settings and results of each.

    Raises ``KeyError`` for an unknown sweep, and ``FileNotFoundError`` with the command that
    records it where there is no record.
    """
    return records.read(validation.one_of("name", name, SWEEPS))


def drift(name: str, rows: Sequence[Job]) -> float:
    """Compute these ``rows`` of a recorded sweep again: the largest relative change of a number.

    Raises ``KeyError`` for an unknown sweep and ``ValueError`` for no rows.
    """
    return sweeps.drift(SWEEPS[validation.one_of("name", name, SWEEPS)], rows)


def main() -> None:
    """The command line."""
    command.main(SWEEPS)


if __name__ == "__main__":
    main()
