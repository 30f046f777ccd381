"""The lists of trained networks, and what their jobs are expected to cost."""

from iclutils.regression import sweep_grids


def test_the_talks_row_has_four_master_seeds():
    chosen = [
        job
        for job in sweep_grids.wide_transformers()
        if (job["d"], job["alpha"], job["width"]) == (5, 4, 50)
    ]
    assert [job["seed"] for job in chosen] == [seed for seed in range(4) for _ in range(5)]
    assert sum(job["sets"] for job in chosen if job["tasks"] == 1) == 128


def test_softmax_layers_are_trained_around_their_count_to_convergence_or_by_adamw():
    jobs = sweep_grids.softmax_layers(seed=5)
    assert {job["seed"] for job in jobs} == {5}
    for d in (3, 4, 5, 6, 7):
        count = (d + 1) ** 2
        shares = [job["n"] / count for job in jobs if job["d"] == d and job["steps"] is None]
        assert len(shares) == 7
        assert min(shares) < 0.7
        assert max(shares) > 1.5
        assert 1 in shares
    assert all(job["softmax"] for job in jobs)
    by_steps = [job for job in jobs if job["steps"] is not None]
    assert {(job["d"], job["steps"]) for job in by_steps} == {(4, 1000), (4, 4000)}


def test_the_plan_of_the_talks_sweep_has_the_networks_that_its_docstring_counts():
    plan = sweep_grids.talk_size(trained=10_000)
    assert len(plan) == 1588
    assert sweep_grids.talk_size(trained=40) == plan[:40]
    networks = {
        (d, tasks): [job["network"] for job in plan if (job["d"], job["tasks"]) == (d, tasks)]
        for d, tasks in ((20, 4), (20, 20), (20, 8), (10, 2), (5, 100), (7, 1), (14, 280))
    }
    last = {where: max(numbers) + 1 for where, numbers in networks.items()}
    assert last == {
        **{(20, 4): 48, (20, 20): 48, (20, 8): 12, (10, 2): 48},
        **{(5, 100): 68, (7, 1): 48, (14, 280): 48},
    }
    for where, numbers in networks.items():  # each once; at d = 10 with a curriculum and without
        assert sorted(numbers) == sorted([*range(last[where])] * (1 + (where[0] == 10)))


def test_costs_are_in_proportion_to_steps_and_models():
    wide = sweep_grids.wide_transformers()[0]
    double = {**wide, "steps": 2 * wide["steps"], "sets": 3 * wide["sets"]}
    assert sweep_grids.numbers_read(double) == 6 * sweep_grids.numbers_read(wide)
    # 800 steps of 32 prompts of 21 tokens in a span of 16, 32 models
    assert sweep_grids.numbers_read(wide) == 800 * 32 * 21 * 16 * 32
