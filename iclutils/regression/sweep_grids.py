"""Which networks are trained for the book's records: a list of settings for each sweep."""

from collections.abc import Sequence
from typing import Any

Settings = dict[str, Any]


def attention_layers(seed: int = 0) -> list[Settings]:
    """Linear layers at d = 10, 14 and 20: around d(d+2) prompts, at d² and at d(d+4)."""

    def job(d: int, n: int, sets: int) -> Settings:
        return {"d": d, "n": n, "sets": sets, "rho": 0.01, "seed": seed}

    near = []
    for d, sets in ((10, 16), (14, 16), (20, 8)):
        near += [job(d, d * (d + 2) + off, sets) for off in (-1, 0, 1, 2)]
    # at d², and as far above d(d+2)
    far = [job(d, d**2 + off * d, 16) for d in (10, 14, 20) for off in (0, 4)]
    return near + far


def softmax_layers(seed: int = 0) -> list[Settings]:
    """Softmax layers around (d+1)² prompts, to convergence, and at d = 4 by AdamW too."""

    def jobs(d: int, sets: int, steps: int | None = None) -> list[Settings]:
        numbers = [round(share * (d + 1) ** 2) for share in (0.6, 0.75, 0.9, 1, 1.1, 1.3, 1.6)]
        common = {"d": d, "sets": sets, "rho": 0.01, "seed": seed}
        return [{**common, "n": n, "softmax": True, "steps": steps} for n in numbers]

    converged = ((3, 256), (4, 256), (5, 192), (6, 192), (7, 128))
    grid = [job for d, sets in converged for job in jobs(d, sets)]
    return grid + jobs(4, 128, 1000) + jobs(4, 128, 4000)


def _transformer_job(
    d: int,
    blocks: int,
    n: int,
    sets: int,
    seed: int,
    *,
    tasks: int | None = None,
    rate: float = 3e-3,
    steps: int = 20_000,
) -> Settings:
    """Rate times steps is by default about half of the authors' 1e-4 times 1.1 million."""
    return {
        "d": d,
        "blocks": blocks,
        "dense": 0 if blocks == 1 else 1,
        "n": n,
        "tasks": tasks,
        "sets": sets,
        "rho": 0.01,
        "steps": steps,
        "rate": rate,
        "seed": seed,
    }


def transformers(seed: int = 0) -> list[Settings]:
    """Narrow transformers: numbers of prompts at several d and depths, and lengths of training."""
    grid = [  # d, blocks, sets and the values of n/d²
        (5, 1, 32, (0.5, 1, 1.5, 2, 2.52, 3, 3.5, 8)),
        (5, 2, 16, (1, 2, 3, 3.72, 4.5, 5.24, 7, 12)),
        (7, 1, 32, (0.5, 1.5, 2, 2.5, 3, 3.5, 8)),
        (5, 3, 16, (1.5, 3, 5, 6, 7, 12)),
        (10, 1, 16, (0.5, 1.5, 2, 2.5, 2.9, 3.5, 8)),
        (7, 2, 16, (1, 3, 3.75, 4.5, 5.36, 12)),
        (6, 1, 32, (0.5, 1.5, 2, 2.5, 3, 3.5, 8)),
        (8, 1, 16, (0.5, 1.5, 2, 2.5, 3, 3.5, 8)),
    ]
    short = [  # d, blocks, sets and the values of n
        (5, 1, 32, (25, 38, 50)),
        (7, 1, 32, (98,)),
        (10, 1, 16, (200,)),
        (5, 2, 16, (112,)),
        (7, 2, 16, (220,)),
        (5, 3, 16, (125,)),
        (5, 1, 32, (12, 63, 75, 88, 200)),
        (7, 1, 32, (24, 74, 122, 147, 172, 392)),
        (10, 1, 16, (50, 150, 250, 290, 350, 800)),
    ]
    jobs = []
    for d, blocks, sets, taus in grid:
        jobs += [_transformer_job(d, blocks, round(tau * d**2), sets, seed) for tau in taus]
    for d, blocks, sets, ns in short:  # the rate falls to zero within a quarter of the steps
        jobs += [_transformer_job(d, blocks, n, sets, seed, steps=5_000) for n in ns]
    jobs += [_transformer_job(5, 2, 250, 16, seed, tasks=tasks) for tasks in (1, 5, 50)]
    jobs += [
        _transformer_job(5, 1, 50, 32, seed, rate=rate, steps=steps)
        for rate, steps in ((1e-3, 60_000), (3e-4, 200_000))
    ]
    jobs += [  # as long as the authors train
        _transformer_job(5, 1, n, 16, seed, rate=1e-4, steps=1_100_000) for n in (63, 88)
    ]
    peak = {  # where each d was trained first
        10: (50, 150, 200, 250, 290, 350, 800),
        5: (12, 38, 50, 63, 75, 88, 200),
        8: (32, 96, 128, 160, 192, 224, 512),
        6: (18, 54, 72, 90, 108, 126, 288),
    }
    more = [(d, sets, seed + fleet) for fleet in (1, 2) for d, sets in ((10, 64), (5, 128))]
    for d, sets, other in [*more, (8, 48, seed + 1), (6, 96, seed + 1)]:
        jobs += [_transformer_job(d, 1, n, sets, other) for n in peak[d]]
    return jobs


def wide_transformers(seed: int = 0) -> list[Settings]:
    """Two blocks of width 10d, with τ = 50: first the talk's row, then other α and d."""

    def jobs(d: int, alpha: int, tasks: Sequence[int], sets: int, seed: int) -> list[Settings]:
        common = {"d": d, "width": 10 * d, "blocks": 2, "alpha": alpha, "tau": 50}
        training = {"rho": 0.01, "steps": 800, "batch": 32, "rate": 1e-3, "seed": seed}
        return [{**common, "tasks": k, "sets": sets, **training} for k in tasks]

    lists = {5: (1, 3, 5, 15, 100), 7: (1, 4, 7, 21, 140), 10: (2, 6, 10, 30, 200)}
    plan = [job for each in range(4) for job in jobs(5, 4, lists[5], 32, seed + each)]
    for alpha, dims in ((9, (5, 7, 10)), (1, (5,))):
        for d in dims:
            plan += jobs(d, alpha, lists[d], 16, seed)
    [most] = jobs(5, 4, lists[5][-1:], 32, seed)
    plan.append({**most, "width": 5})
    return plan + [job for a in (4, 1) for d in (7, 10) for job in jobs(d, a, lists[d], 32, seed)]


def wide_peak(seed: int = 0) -> list[Settings]:
    """Two blocks of width 10d on d²/5 to 32 d² prompts, each with a task of its own."""

    def job(d: int, tau: float, sets: int) -> Settings:
        n = round(tau * d**2)
        network = {"d": d, "width": 10 * d, "blocks": 2, "alpha": 1, "tau": tau, "tasks": n}
        training = {"rho": 0.01, "steps": 4000, "batch": min(16, n), "rate": 1e-3, "seed": seed}
        return {**network, "sets": sets, **training}

    taus = (1, 4, 32, 0.2, 0.5, 2, 8, 16)
    return [job(d, tau, sets) for d, sets in ((5, 32), (7, 24)) for tau in taus]


TALK_SIZE_TRAINED = 308  # of the planned networks; raise it and run the sweep to add to the record


def talk_size(seed: int = 0, trained: int = TALK_SIZE_TRAINED) -> list[Settings]:
    """Two blocks of width 10d at α = 9, τ = 50, by a curriculum: d = 20 first, then smaller d.

    The settings are those of the authors' script of May 2024 but for the training. At d = 10 the
    same networks are trained without a curriculum too, for as many steps. These are the first
    ``trained`` jobs of the plan, whose order does not change: 9 are one network for each list at
    d = 20, 36 are four, 116 have eight pairs at d = 10 too, 152 eight at d = 20, 272 the other d,
    and 308 have twelve at d = 20. Then come what single rows of the ledger ask for: 380 have 30
    networks for four of the lists at d = 20 (ch5c-transition), 780 have 48 pairs at d = 10
    (ch5c-curriculum), 1498 a fifth list at d = 20, 68 networks at d = 5 and 48 at d = 7 and 14
    (ch5c-sizes), and 1588 have 48 for five lists at d = 20 (ch5c-sharpness).
    """

    def job(d: int, tasks: int, network: int, first: int = 4, last: int = 1200) -> Settings:
        model = {"d": d, "width": 10 * d, "blocks": 2, "alpha": 9, "tau": 50}
        prompts = {"tasks": tasks, "rho": 0.01, "network": network, "seed": seed}
        training = {"first": first, "stage": 75, "last": last, "batch": 64, "rate": 1e-3}
        return {**model, **prompts, **training, "cooldown": 0.3}

    def at_20(networks: range) -> list[Settings]:  # lists far apart first: ends before the rest
        lists = (400, 4, 1000, 20, 2, 12, 60, 8, 36)
        return [job(20, tasks, network) for network in networks for tasks in lists]

    small = {
        5: (1, 3, 5, 15, 100),
        7: (1, 4, 7, 21, 140),
        10: (2, 6, 10, 30, 200),
        14: (3, 8, 14, 42, 280),
    }
    jobs = at_20(range(4))
    for network in range(8):
        for tasks in small[10]:
            jobs.append(job(10, tasks, network))
            jobs.append(job(10, tasks, network, first=10, last=1650))
    jobs += at_20(range(4, 8))
    for d in (5, 7, 14):
        jobs += [job(d, tasks, network) for network in range(8) for tasks in small[d]]
    jobs += at_20(range(8, 12))
    jobs += [job(20, tasks, network) for network in range(12, 30) for tasks in (4, 12, 60, 400)]
    for network in range(8, 48):
        for tasks in small[10]:
            jobs.append(job(10, tasks, network))
            jobs.append(job(10, tasks, network, first=10, last=1650))
    jobs += [job(20, 20, network) for network in range(12, 30)]
    for d, networks in ((5, 68), (7, 48), (14, 48)):
        jobs += [job(d, tasks, network) for network in range(8, networks) for tasks in small[d]]
    five = (4, 12, 20, 60, 400)
    jobs += [job(20, tasks, network) for network in range(30, 48) for tasks in five]
    return jobs[:trained]


def two_lists(seed: int = 0) -> list[Settings]:
    """Two networks on each list, as the talk's at d = 10: 0.2, 1, 3, 20 tasks per dimension.

    From the seventeenth list on they answer further prompts, too. With one task per dimension there
    are more of these lists, because sixteen would decide only about half of the time.
    """
    model = {"d": 10, "width": 100, "blocks": 2, "alpha": 9, "tau": 50, "rho": 0.01, "seed": seed}
    training = {"first": 4, "stage": 75, "last": 1200, "batch": 64, "rate": 1e-3, "cooldown": 0.3}
    lists = [(index, tasks) for index in range(16) for tasks in (2, 10, 30, 200)]
    lists += [(index, tasks) for index in range(16, 32) for tasks in (10, 30, 200)]
    lists += [(index, 10) for index in range(32, 48)]
    jobs: list[Settings] = []
    for index, tasks in lists:
        of_list = {**model, **training, "tasks": tasks, "list_index": index}
        more = {"further": True} if index > 15 else {}
        jobs += [{**of_list, "network": network, **more} for network in (0, 1)]
    return jobs


def numbers_read(job: Settings) -> float:
    """Count the numbers that enter the norms of the first block: what wide transformers cost.

    These are αd + 1 tokens of a prompt, each in a span of 2(d + 3).
    """
    tokens = job["alpha"] * job["d"] + 1
    return float(job["steps"] * job["sets"] * job["batch"] * tokens * 2 * (job["d"] + 3))
