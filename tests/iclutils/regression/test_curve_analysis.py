"""The top of a hill and its height: against a known parabola, and on noise alone."""

import itertools
import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.regression import curve_analysis
from iclutils.stats import Estimate, share_of_fall


def drawn(height, runs, noise=0.1, key=0, at=20.0):
    tau = torch.arange(1, 81, dtype=torch.float64)
    noisy = noise * torch.randn(80, runs, dtype=torch.float64, generator=stream(0, "hill", key))
    return tau, -height * (tau / at).log()[:, None] ** 2 + noisy


@pytest.mark.parametrize("factor", [2.0, 4.0])
def test_the_top_of_a_parabola_is_found(factor):
    found = [curve_analysis.top(*drawn(0.3, 5, key=key), factor) for key in range(200)]
    errors = torch.tensor([(one.value - math.log(20)) / one.se for one in found])
    # of 200 standard normals the mean is within 4/√200 and the spread within 4/√400 of 1
    assert abs(float(errors.mean())) < 0.3
    assert abs(float(errors.std()) - 1) < 0.2


def test_the_rise_is_that_of_the_curve():
    tau, logs = drawn(0.3, 5, noise=0.0)
    near = (tau >= 18) & (tau <= 22)
    found = curve_analysis.rise(logs)
    assert found.from_the_left.value == pytest.approx(float(logs[near].mean() - logs[:5].mean()))
    assert found.to_the_right.value == pytest.approx(float(logs[near].mean() - logs[-5:].mean()))


def test_half_of_the_runs_say_where_the_hill_is_and_the_others_how_high():
    """Two of the first three runs have a hill at 30, the third a higher one at 10."""
    logs = torch.zeros(80, 6, dtype=torch.float64)
    logs[30, :2], logs[10, 2] = 1.0, 3.0
    logs[10, 3:] = 5.0
    found = curve_analysis.rise(logs)
    assert found.from_the_left.value == pytest.approx(1.0)  # one of five places is 5 high


def test_noise_is_no_hill():
    # 400 intervals at a level of 1e-4, one-sided: one false alarm has a chance of 2 %
    alarms = 0
    for key in range(200):
        found = curve_analysis.rise(drawn(0.0, 5, key=key)[1])
        alarms += sum(one.value > one.half_width for one in found)
    assert alarms == 0


def test_published_rows_make_a_curve():
    rows = [
        {"d": 5, "tau": 2.0, "checkpoints": [1, 3], "icl": [[1.0, 2.0], [3.0, 4.0]]},
        {"d": 5, "tau": 1.0, "checkpoints": [1, 3], "icl": [[5.0, 6.0]]},
        {"d": 6, "tau": 1.0, "icl": [7.0, 8.0]},
    ]
    found = curve_analysis.published_curve(rows, 5, checkpoint=3)
    assert found.tau.tolist() == [1, 2]
    assert found.logs.exp().flatten().tolist() == pytest.approx([6, 2])
    assert curve_analysis.published_curve(rows, 6).logs.exp().tolist()[0] == pytest.approx([7, 8])
    with pytest.raises(ValueError, match="d must be"):
        curve_analysis.published_curve(rows, 7)
    with pytest.raises(ValueError, match="not in list"):
        curve_analysis.published_curve(rows, 5, checkpoint=2)


def test_a_smooth_curve_is_the_geometric_mean_of_runs_and_neighbours():
    tau, logs = drawn(0.3, 5)
    places, errors = curve_analysis.smooth(curve_analysis.Curve(tau, logs))
    assert torch.equal(places, tau[2:-2])
    by_hand = [float(logs[at : at + 5].mean().exp()) for at in range(len(tau) - 4)]
    assert errors.tolist() == pytest.approx(by_hand)
    with pytest.raises(ValueError, match="the number of τ must"):
        curve_analysis.smooth(curve_analysis.Curve(tau[:4], logs[:4]))


def test_bad_input_is_refused():
    tau, logs = drawn(0.3, 5)
    with pytest.raises(ValueError, match="factor must be above 1"):
        curve_analysis.top(tau, logs, 1)
    with pytest.raises(ValueError, match="opens upwards"):
        curve_analysis.top(tau, -logs, 80)
    with pytest.raises(ValueError, match=r"within 1\.01"):
        curve_analysis.top(tau, logs, 1.01)
    with pytest.raises(ValueError, match="R must be"):
        curve_analysis.rise(logs[:, :3])


ROWS = [
    {
        "d": 5,
        "n": n,
        "sets": sets,
        "train": [[1.0] * sets, [t] * sets],
        "icl": [[1.0] * sets, [e] * sets],
    }
    for n, sets, t, e in ((10, 3, 1e-4, 1.0), (20, 2, 1e-3, 10.0), (40, 3, 1e-1, 1.0))
][::-1]


def test_curves_rise_in_n_and_keep_the_sets_that_all_have():
    found = curve_analysis.curves(ROWS, d=5)
    assert found.numbers == [10, 20, 40]
    assert tuple(found.icl.shape) == (3, 2, 2)
    assert found.final.train[:, 0].tolist() == pytest.approx([-4, -3, -1])
    assert found.at(33) == 2
    assert found.only([9, 41]).numbers == [10, 40]


def test_fleets_joined_at_their_common_numbers():
    fleet = curve_analysis.curves(ROWS, d=5)
    other = curve_analysis.Curves([20, 40, 80], fleet.train + 1, fleet.icl + 1)
    joined = curve_analysis.join([fleet, other])
    assert joined.numbers == [20, 40]
    assert joined.train.tolist() == torch.cat([fleet.train[1:], other.train[:2]], -1).tolist()
    assert joined.final.icl[0].tolist() == pytest.approx([1, 1, 1, 1])
    with pytest.raises(ValueError, match="in common"):
        curve_analysis.join([fleet, other.only([80])])


def test_fleets_are_read_seed_after_seed():
    rows = [row | {"seed": seed} for seed in (3, 1) for row in ROWS if seed == 1 or row["n"] > 10]
    fleets = curve_analysis.fleets(rows, d=5)
    assert [fleet.numbers for fleet in fleets] == [[10, 20, 40], [20, 40]]
    assert fleets[0].icl.tolist() == curve_analysis.curves(ROWS, d=5).final.icl.tolist()


def test_what_is_fitted_and_the_top():
    final = curve_analysis.curves(ROWS, d=5).final
    found = curve_analysis.fitted(final, 1e-2)
    assert found.value == pytest.approx(30)  # the middle of −3 and −1, between 20 and 40
    assert found.se == 0
    assert curve_analysis.peak(final).value == pytest.approx(math.log(20))  # even in log n


def test_a_peak_that_moves():
    late = curve_analysis.curves(ROWS, d=5).final
    early = curve_analysis.Curves(late.numbers, late.train, late.icl.roll(1, 0) + late.icl)
    found = curve_analysis.moved(early, late)
    assert found.value == pytest.approx(
        curve_analysis.peak(late).value - curve_analysis.peak(early).value
    )
    with pytest.raises(ValueError, match="same numbers of prompts"):
        curve_analysis.moved(early.only([10, 20]), late)


def test_bad_input_is_refused_of_fits():
    with pytest.raises(ValueError, match="each n once"):
        curve_analysis.curves(ROWS, d=6)
    with pytest.raises(ValueError, match="each n once"):
        curve_analysis.curves(ROWS + ROWS, d=5)
    with pytest.raises(ValueError, match="noise"):
        curve_analysis.fitted(curve_analysis.curves(ROWS, d=5).final, 0)


def test_the_grid_s_part_in_what_is_fitted():
    """Straight logarithms leave nothing; a bend, a third of what a neighbour's absence moves."""
    straight = curve_analysis.curves([_row(n, -4 + n / 10) for n in (10, 20, 30, 40)], d=5)
    # records are read in single precision
    assert curve_analysis.grid_error(straight, 10**-1.5) == pytest.approx(0, abs=1e-6)
    bent = curve_analysis.curves(
        [_row(n, log) for n, log in ((10, -4), (20, -3), (40, -1), (50, 3))], d=5
    )
    # the level −2 is crossed at 30; without 20, at 10 + 30·2/3 = 30; without 40, at 20 + 30/6 = 25
    assert curve_analysis.grid_error(bent, 1e-2) == pytest.approx(5 / 3)


def _row(n, log):
    return {"d": 5, "n": n, "sets": 2, "train": [10.0**log] * 2, "icl": [1.0] * 2}


KAPPAS = (0.2, 0.6, 1.0, 3.0, 20.0)


def test_an_even_fall_has_its_share_and_its_middle():
    means = -torch.tensor([math.log(kappa) for kappa in KAPPAS], dtype=torch.float64)
    logs = means[:, None].expand(-1, 4)
    share = curve_analysis.share_around(KAPPAS, logs)
    assert share.value == pytest.approx(math.log(5) / math.log(100))
    assert share.se == pytest.approx(0, abs=1e-12)
    assert curve_analysis.halfway(KAPPAS, logs).value == pytest.approx(math.log10(2))  # √(0.2·20)
    between = curve_analysis.share_around((0.2, 1.0, 20.0), logs[[0, 2, 4]])
    assert between.value == pytest.approx(share.value)  # a straight line, whatever the grid


def test_on_the_grid_it_is_the_share_of_four_means():
    logs = torch.randn(5, 12, dtype=torch.float64, generator=stream(0, "transition"))
    logs = logs - 3 * torch.arange(5, dtype=torch.float64)[:, None]
    found, expected = curve_analysis.share_around(KAPPAS, logs), share_of_fall(logs[[0, 1, 3, 4]])
    assert tuple(found) == pytest.approx(tuple(expected))


def test_bad_input_is_refused_of_transition():
    logs = torch.zeros(5, 3, dtype=torch.float64)
    with pytest.raises(ValueError, match="kappas must reach"):
        curve_analysis.share_around((1, 2, 3, 4, 5), logs)
    with pytest.raises(ValueError, match="rise"):
        curve_analysis.halfway((1, 3, 2, 4, 5), logs)
    with pytest.raises(ValueError, match="logs"):
        curve_analysis.halfway((1, 2), logs)


def test_bars_of_a_place_are_those_of_its_logarithm():
    place = Estimate(math.log(50.0), 0.1, 15)
    middle, (down, up) = curve_analysis.with_bars([place, Estimate(0.0, 0.0, 15)], [25.0, 4.0])
    assert middle.tolist() == pytest.approx([2.0, 0.25])
    assert down.tolist() == pytest.approx([2 - 2 * math.exp(-place.half_width), 0.0])
    assert up.tolist() == pytest.approx([2 * math.exp(place.half_width) - 2, 0.0])


@pytest.mark.parametrize("best", [0, 2])
def test_descents_go_from_the_best_point_below_the_peak_which_is_not_the_first(best):
    means = torch.tensor([1.0, 0.9, 0.8, 0.85, 0.3])
    means[best] = 0.5
    sets = means + torch.tensor([[-0.01], [0.01]])
    parts = curve_analysis.descents(sets, torch.tensor([7.0, 9.0]))
    low = max(best, 1)
    assert parts["falls first"].value == pytest.approx(float(means[0] - means[low]))
    assert parts["rises"].value == pytest.approx(8 - float(means[best]))
    assert parts["falls again"].value == pytest.approx(8 - 0.3)


def test_descents_count_as_many_points_below_the_peak_as_there_are():
    sets = torch.tensor([[4.0, 3.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.0]])
    at_peak = torch.tensor([8.0, 8.0])
    assert curve_analysis.descents(sets, at_peak, 2)["rises"].value == 5
    assert curve_analysis.descents(sets, at_peak, 3)["rises"].value == 6


def test_the_share_between_the_ends_is_all_and_between_two_of_the_list_their_part():
    kappas, heights = [0.2, 1.0, 4.0, 20.0], torch.tensor([3.0, 2.5, 1.0, 0.0])
    logs = heights[:, None] + torch.tensor([-0.1, 0.0, 0.1])
    assert curve_analysis.share_around(kappas, logs, (0.2, 20.0)).value == pytest.approx(1)
    assert curve_analysis.share_around(kappas, logs, (1.0, 4.0)).value == pytest.approx(0.5)


def test_disagreement_is_the_mean_square_over_pairs_of_networks():
    generator = torch.Generator().manual_seed(0)
    answers = torch.randn(2, 5, 3, dtype=torch.float64, generator=generator) + 7
    different, same = [], []
    networks = list(itertools.product(range(2), range(3)))
    for (n, one), (m, other) in itertools.combinations(networks, 2):
        pairs = same if one == other else different
        pairs.append(float((answers[n, :, one] - answers[m, :, other]).square().mean()))
    found = curve_analysis.disagreement(answers)
    assert found.different == pytest.approx(sum(different) / 12)
    assert found.same == pytest.approx(sum(same) / 3)


def test_a_disagreement_takes_two_lists_and_one_network_of_each_has_none_with_itself():
    alone = curve_analysis.disagreement(torch.tensor([[[1.0, 3.0]]]))
    assert alone.different == 4
    assert math.isnan(alone.same)
    with pytest.raises(ValueError, match="number of lists"):
        curve_analysis.disagreement(torch.zeros(2, 5, 1))
