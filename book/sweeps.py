"""The sweeps that the book records: the function of each and its list of jobs.

    python -m book.sweeps 05_double_descent --workers 2              # processes
    python -m book.sweeps 05_double_descent --dask tcp://host:8786   # a Dask cluster

The second needs the package ``distributed``; ``--device cuda`` trains the wide transformers on a
GPU. An interrupted sweep goes on, and jobs that are added to a list are added to its record:
:mod:`claimbook.runs.sweeps`.
"""

from claimbook.runs.sweeps import Job, Sweep, main
from iclutils.regression import sweep_grids
from iclutils.regression.sweep_jobs import (
    answers_of_lists,
    reduced_and_dmmse_errors,
    reduced_errors,
    trained_layer_errors,
    trained_transformer_errors,
    transformer_by_curriculum,
    transformers_on_lists,
)
from iclutils.transformer.letter_jobs import transformers_on_letters
from iclutils.transformer.lists import transformer_on_list
from iclutils.transformer.sides import transformers_on_sides
from iclutils.transformer.sweep_jobs import WHOLE, transformers_on_kinks


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
DOUBLE_DESCENT_RUN = 3100
CONTEXT_LENGTH_RUN = 1202


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


def _whole_transformers(seed: int = 0) -> list[Job]:
    """Eight networks of each kind on the circle: three steepnesses, all three at once, controls.

    Then all three at once for longer; networks that lack a part, at L = 16; shorter and longer
    prompts and ramps, at L = 4; the sphere of five dimensions; and more networks where eight left a
    row undecided.
    """
    whole: Job = {
        **WHOLE,
        "d": 2,
        "sigma": 1.0,
        "steepness": [4.0],
        "asked": [1.0, 4.0, 16.0],
        "networks": 8,
        "seed": seed,
    }
    mixed = whole | {"steepness": [1.0, 4.0, 16.0]}
    single = [whole | {"steepness": [L]} for L in (4.0, 16.0, 1.0)]
    first = [*single, mixed, whole | {"shuffled": True}, mixed | {"steps": 6000}]
    steep = whole | {"steepness": [16.0], "asked": [16.0]}
    parts = [{"hidden": 0}, {"heads": 1}, {"blocks": 1}, {"hidden": 0, "heads": 1, "blocks": 1}]
    middling = whole | {"asked": [4.0]}
    others = [middling | change for change in ({"n": 12}, {"n": 48}, {"tasks": "ramps"})]
    # in five dimensions 24 examples leave one or two within 45° of the query
    sphere = [whole | {"d": 5, "n": 48, "steepness": [L]} for L in (4.0, 16.0, 1.0)]
    more = [
        *_continued(steep | {"blocks": 1}, 56),
        *_continued(steep | {"hidden": 0, "heads": 1, "blocks": 1}, 16),
        *_continued(steep | {"heads": 1}, 24),
        *_continued(middling | {"tasks": "ramps"}, 24),
        *_continued(sphere[2], 16),
    ]
    return [*first, *(steep | part for part in parts), *others, *sphere, *more]


def _continued(job: Job, networks: int) -> list[Job]:
    """Fleets of eight that continue a fleet of eight."""
    return [job | {"first": first} for first in range(8, 8 + networks, 8)]


LIST_NETWORKS = 8  # for each list, of the talk's sweep at d = 10


def _lists() -> list[Job]:
    """Networks of the talk's sweep at d = 10 trained again, for three lists, network by network."""
    lists = (2, 10, 200)
    talk = [
        job
        for job in sweep_grids.talk_size()
        if job["d"] == 10 and job["first"] == 4 and job["tasks"] in lists
    ]
    chosen = [job for job in talk if job["network"] < LIST_NETWORKS]
    return [{**job, "keep": job["tasks"] == 2 and job["network"] == 0} for job in chosen]


def _sides(seed: int = 0) -> list[Job]:
    """Networks that continue those of :func:`_whole_transformers`, three steepnesses."""
    job: Job = {"n": 24, "sigma": 1.0, "steps": 2000, "networks": 8, "seed": seed}
    firsts = {16.0: (8, 16, 24), 4.0: (8,), 1.0: (8,)}
    jobs = [job | {"L": L, "first": first} for L, each in firsts.items() for first in each]
    return [each | {"keep": each is jobs[0]} for each in jobs]


def _letters(seed: int = 0) -> list[Job]:
    """Eight networks each: AdamW, gradient descent; one block and two; a control; then more.

    The steps are at least twice what one network of another seed needed.
    """
    steps = {
        ("AdamW", 2): {10: 600, 20: 800, 40: 1400},
        ("AdamW", 1): {10: 600, 20: 800, 40: 1200},
        ("gradient descent", 1): {10: 2000, 20: 3000, 40: 6000},
        ("gradient descent", 2): {10: 2000, 20: 6000, 40: 14000},
    }
    rates = {"AdamW": 0.003, "gradient descent": 0.03}
    jobs: list[Job] = [
        {
            "K": K,
            "p1": 0.5,
            "optimiser": optimiser,
            "rate": rates[optimiser],
            "steps": count,
            "blocks": blocks,
            "networks": 8,
            "seed": seed,
        }
        for (optimiser, blocks), counts in steps.items()
        for K, count in counts.items()
    ]
    whole = {(job["optimiser"], job["K"]): job for job in jobs if job["blocks"] == 2}
    more = [
        *_continued(whole["AdamW", 20], 16),
        *_continued(whole["AdamW", 40], 16),
        *_continued(whole["gradient descent", 20], 32),
        *_continued(whole["gradient descent", 40], 16),
    ]
    # all letters equally frequent
    return [*jobs, jobs[0] | {"p1": 0.1}, *more]


SWEEPS = {
    "05_double_descent": Sweep(reduced_errors, _double_descent()),
    "05_task_diversity": Sweep(reduced_and_dmmse_errors, _task_diversity()),
    "05_context_length": Sweep(reduced_errors, _context_length()),
    "05b_attention_layers": Sweep(trained_layer_errors, sweep_grids.attention_layers()),
    "05b_softmax_layers": Sweep(trained_layer_errors, sweep_grids.softmax_layers()),
    "05b_trained_transformers": Sweep(trained_transformer_errors, sweep_grids.transformers()),
    "05b_wide_transformers": Sweep(transformers_on_lists, sweep_grids.wide_transformers()),
    "05b_wide_peak": Sweep(transformers_on_lists, sweep_grids.wide_peak()),
    "05c_talk_size": Sweep(transformer_by_curriculum, sweep_grids.talk_size()),
    "05c_two_lists": Sweep(answers_of_lists, sweep_grids.two_lists()),
    "08_letters": Sweep(transformers_on_letters, _letters()),
    "08_lists": Sweep(transformer_on_list, _lists()),
    "08_sides": Sweep(transformers_on_sides, _sides()),
    "08_whole_transformer": Sweep(transformers_on_kinks, _whole_transformers()),
}


if __name__ == "__main__":
    main(SWEEPS)
