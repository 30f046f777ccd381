"""The mean-field flow against gradient descent on all entries, closed forms, its own formulas."""

import math

import numpy as np
import pytest
import torch

from iclutils.stages.prompts import probabilities
from iclutils.stages.theory import meanfield
from iclutils.stages.theory.meanfield import DOMINANT, KINDS, OTHER, TARGET, Column


def test_an_error_that_holds_from_the_start_takes_no_time():
    """With p1 = 0.9 the dominant feature errs by ½(1 − p1)²(1 + 1/19) before it is trained."""
    found = meanfield.flow("dominant", 20, 0.9)
    start = 0.5 * (1 - 0.9) ** 2 * (1 + 1 / 19)
    assert 0.001 < start < 0.01
    assert (found.times[0.1], found.times[0.01]) == (0.0, 0.0)
    # the leading term, less what the start has
    assert found.times[0.001] == pytest.approx(1 / (4 * 0.9 * 0.001), rel=0.2)
    # the first time of the grid is e^(−2), when the error has moved by a percent
    assert found.error[0] == pytest.approx(start, rel=0.02)
    assert meanfield.flow("dominant", 20, 0.9, errors=(0.1,)).times == {0.1: 0.0}


def test_full_column_descent_follows_the_flow():
    """Heun steps on all K entries by autograd, halved once: the gap to the flow falls like h²."""
    K, p1, end, k = 6, 0.5, 60.0, 2
    p = probabilities(K, p1)
    target = torch.nn.functional.one_hot(torch.tensor(k), K)

    def force(theta):
        theta = theta.detach().requires_grad_(True)
        attention = (p.log() + theta).softmax(0)
        loss = 0.5 * p[k] * (attention - target).square().sum()
        return -torch.autograd.grad(loss, theta)[0]

    exact = meanfield.flow("rare", K, p1).solution(end)
    gaps = []
    for steps in (300, 600):
        theta, h = torch.zeros(K, dtype=torch.float64), end / steps
        for _ in range(steps):
            first = force(theta)
            theta = theta + h / 2 * (first + force(theta + h * first))
        gaps.append(np.abs(np.array([theta[k], theta[0], theta[-1]]) - exact).max())
    assert gaps[1] < 1e-4  # h² = 1e-2, times third derivatives of order p_k = 0.1 and its powers
    assert gaps[0] / gaps[1] == pytest.approx(4, rel=0.1)  # 2², to the next order in h


def test_descent_tends_to_the_flow_at_first_order_in_the_learning_rate():
    K, p1, end = 10, 0.5, 200.0
    exact = meanfield.flow("rare", K, p1).solution(end)
    gaps = []
    for steps in (500, 1000):
        found = meanfield.descend("rare", K, p1, learning_rate=end / steps, steps=steps)
        gaps.append(np.abs(found.entries[-1] - exact).max())
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.05)  # to the next order in the rate


@pytest.mark.parametrize("kind", ["dominant", "balanced"])
@pytest.mark.parametrize("K", [3, 20, 5000])
def test_times_equal_the_closed_form(kind, K):
    flow = meanfield.flow(kind, K, 0.3)
    for error, t in flow.times.items():
        exact = meanfield.exact_time(kind, K, 0.3, error)
        assert t == pytest.approx(exact, rel=1e-6)  # rtol 1e-9 over about 1e2 steps


@pytest.mark.parametrize("K", [3, 40, 5000, 10**6])
def test_columns_sum_to_zero_and_masses_to_one(K):
    """Σ_m dB_m/dt = 0 exactly: softmax does not feel a common shift."""
    flow = meanfield.flow("rare", K, 0.5)
    total = flow.A + flow.B1 + (K - 2) * flow.B
    # rtol 1e-9 of the largest entry, over the ten time scales that the solver passes
    assert np.abs(total).max() < 1e-9 * flow.A.max() * 10
    mass = flow.attention[:, 0] + flow.attention[:, 1] + (K - 2) * flow.attention[:, 2]
    assert mass == pytest.approx(np.ones_like(mass), abs=1e-12)  # rounding alone, 1e-16 a term


def test_tighter_solver_moves_nothing():
    loose, tight = (meanfield.flow("rare", 5000, 0.5, rtol=r) for r in (1e-9, 1e-11))
    for error, t in loose.times.items():
        assert t == pytest.approx(tight.times[error], rel=1e-6)  # rtol 1e-9 over 1e2 to 1e3 steps
    for name, passed in loose.boundaries.items():
        assert abs(passed.A - tight.boundaries[name].A) < 1e-6  # the same, for entries of order 10


def test_boundaries_are_where_their_formulas_say():
    K, p1 = 300, 0.4
    flow = meanfield.flow("rare", K, p1)
    lead, overtake, half = (flow.boundaries[n] for n in ("lead", "overtake", "half"))
    v = Column.of("rare", K, p1).velocity(np.array([lead.A, lead.B1, lead.B]))
    # the event is a root in log t, found to 4 eps, on a path that is interpolated to about 1e-8
    assert v[TARGET] == pytest.approx(-v[DOMINANT], rel=1e-6)
    assert abs(overtake.A - overtake.B1 - math.log(p1 * (K - 1) / (1 - p1))) < 1e-8
    ratio = p1 * (K - 1) / (1 - p1)
    others = ratio * math.exp(half.B1 - half.A) + (K - 2) * math.exp(half.B - half.A)
    assert others == pytest.approx(1, rel=1e-6)
    assert list(meanfield.flow("balanced", K, p1).boundaries) == ["half"]


def test_first_phase_threshold_is_one_over_root_K():
    for K in (10, 1000):
        # brentq's own tolerance is 2e-12, where p1 is at least 0.03
        assert meanfield.first_phase_threshold(K) == pytest.approx(K**-0.5, rel=1e-9)
        assert meanfield.flow("rare", K, 1.1 * K**-0.5).boundaries["lead"].t > 0
        assert meanfield.flow("rare", K, 0.9 * K**-0.5).boundaries["lead"].t == 0


def test_linear_time_by_descent():
    p, error, t, entry, h = 0.2, 0.01, 0.0, 0.0, 0.05
    while 0.5 * (1 - p * entry) ** 2 > error:
        entry += h * p * p * (1 - p * entry)
        t += h
    # h p³/2 relative, and one step
    assert t == pytest.approx(meanfield.linear_time(p, error), rel=1e-3)


@pytest.mark.parametrize("kind", ["rare", "dominant", "balanced"])
@pytest.mark.parametrize("off_target", [1.0, -1.0, 0.5])
def test_the_force_off_the_target_is_multiplied_on_all_of_it(kind, off_target):
    first = meanfield.descend(kind, 9, 0.5, learning_rate=0.1, steps=1, off_target=off_target)
    force = 0.1 * Column.of(kind, 9, 0.5).velocity(np.zeros(3))
    assert first.entries[1] == pytest.approx(force * [1, off_target, off_target])


def test_a_solver_that_does_not_get_there_says_so(monkeypatch):
    """With a tolerance of a thousandfold the steps lead anywhere, and the time runs out."""
    monkeypatch.setattr(meanfield, "LOOSEST", 1e3)
    with pytest.raises(RuntimeError, match=r"flow stopped at t = .* before the error was 0\.001"):
        meanfield.flow("rare", 20, 0.5, rtol=1e3)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: meanfield.flow("rare", 2, 0.5), "K"),
        (lambda: meanfield.flow("rare", 9, 1.0), "p1"),
        (lambda: meanfield.flow("rare", 9, 0.5, errors=(0.6,)), "errors"),
        (lambda: meanfield.flow("rare", 9, 0.5, points=1), "points"),
        (lambda: meanfield.flow("rare", 9, 0.5, rtol=0.0), "rtol"),
        (lambda: meanfield.flow("odd", 9, 0.5), "kind"),
        (lambda: meanfield.exact_time("rare", 9, 0.5, 0.1), "kind"),
        (lambda: meanfield.linear_time(0.0, 0.1), "p"),
        (lambda: meanfield.descend("rare", 9, 0.5, learning_rate=0.0, steps=3), "learning_rate"),
        (lambda: meanfield.descend("rare", 9, 0.5, learning_rate=1.0, steps=0), "steps"),
        (lambda: meanfield.first_phase_threshold(2), "K"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises((ValueError, KeyError), match=f"{name} must"):
        call()


def loss(theta, p, k):
    """p_k L_k from the definition, on all K entries."""
    attention = (p.log() + theta).softmax(0)
    target = torch.nn.functional.one_hot(torch.tensor(k), len(p))
    return 0.5 * p[k] * (attention - target).square().sum()


def of_kind(kind, K, p1):
    p = torch.full((K,), (1 - p1) / (K - 1), dtype=torch.float64)
    p[0] = p1
    if kind == "balanced":
        p[:] = 1 / K
    return p


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entries", [(0.0, 0.0, 0.0), (1.7, -0.9, 0.2), (9.0, -2.5, -0.1)])
def test_velocity_is_minus_the_gradient_of_the_loss(kind, entries):
    K, p1 = 7, 0.6
    p = of_kind(kind, K, p1)
    k = 0 if kind == "dominant" else 2
    theta = torch.full((K,), entries[OTHER], dtype=torch.float64)
    if kind == "rare":
        theta[0] = entries[DOMINANT]
    theta[k] = entries[TARGET]
    theta.requires_grad_(True)
    (gradient,) = torch.autograd.grad(loss(theta, p, k), theta)
    found = Column.of(kind, K, p1).velocity(np.array(entries))
    # rounding: the definition cancels numbers of order one
    assert found[TARGET] == pytest.approx(-float(gradient[k]), abs=1e-15, rel=1e-11)
    assert found[OTHER] == pytest.approx(-float(gradient[-1]), abs=1e-15, rel=1e-9)
    if kind == "rare":
        assert found[DOMINANT] == pytest.approx(-float(gradient[0]), abs=1e-15, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_error_is_the_loss_without_its_share(kind):
    K, p1, entries = 5, 0.4, np.array([[0.3, 2.0], [-0.2, -1.0], [0.0, 0.1]])
    p = of_kind(kind, K, p1)
    k = 0 if kind == "dominant" else 2
    column = Column.of(kind, K, p1)
    for i, found in enumerate(column.error(entries)):
        theta = torch.full((K,), entries[OTHER, i], dtype=torch.float64)
        if kind == "rare":
            theta[0] = entries[DOMINANT, i]
        theta[k] = entries[TARGET, i]
        # 1e-16 for each of a few operations on numbers of order one
        assert found == pytest.approx(float(loss(theta, p, k) / p[k]), rel=1e-13)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("rare", 2, 0.5), "K"),
        (("rare", 9, 1.0), "p1"),
        (("odd", 9, 0.5), "kind"),
    ],
)
def test_bad_arguments_are_named_of_column(arguments, name):
    with pytest.raises((ValueError, KeyError), match=f"{name} must"):
        Column.of(*arguments)


def test_the_fall_of_a_flow_is_relative_to_the_error_at_the_first_time():
    flow = meanfield.flow("rare", 30, 0.5, errors=(0.1,))
    early, late = (np.interp(share * flow.times[0.1], flow.t, flow.error) for share in (0.2, 1.0))
    assert flow.fall(0.2 * flow.times[0.1], flow.times[0.1]) == pytest.approx(1 - late / early)
    assert late == pytest.approx(0.1, rel=1e-2)  # the grid of times is not fine
    assert flow.fall(1.0, 1.0) == 0
    for start, end in ((-1.0, 1.0), (1.0, 2 * float(flow.t[-1]))):
        with pytest.raises(ValueError, match="must be finite and in"):
            flow.fall(start, end)
