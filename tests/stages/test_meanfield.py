"""The mean-field flow against autograd of the loss, plain gradient descent, closed forms and sampled prompts."""

import math

import numpy as np
import pytest
import torch

from iclutils import meanfield
from iclutils.randomness import stream


def _loss(theta: torch.Tensor, p: torch.Tensor, k: int) -> torch.Tensor:
    """p_k L_k from the definition, on all K entries."""
    attention = (p.log() + theta).softmax(0)
    return 0.5 * p[k] * (attention - torch.nn.functional.one_hot(torch.tensor(k), len(p))).square().sum()


def test_an_error_that_holds_from_the_start_takes_no_time():
    """A dominant feature with p1 = 0.9 errs by ½(1 − p1)² and less than its square's share more, before it is trained."""
    found = meanfield.flow("dominant", 20, 0.9)
    start = 0.5 * (1 - 0.9) ** 2 * (1 + 1 / 19)
    assert 0.001 < start < 0.01
    assert (found.times[0.1], found.times[0.01]) == (0.0, 0.0)
    assert found.times[0.001] == pytest.approx(1 / (4 * 0.9 * 0.001), rel=0.2)    # the leading term, less what the start has
    assert found.error[0] == pytest.approx(start, rel=0.02)
    assert meanfield.flow("dominant", 20, 0.9, errors=(0.1,)).times == {0.1: 0.0}


def _probabilities(kind: str, K: int, p1: float) -> tuple[torch.Tensor, int]:
    p = torch.full((K,), (1 - p1) / (K - 1), dtype=torch.float64)
    p[0] = p1
    if kind == "balanced":
        p[:] = 1 / K
    return p, {"rare": 2, "dominant": 0, "balanced": 2}[kind]


@pytest.mark.parametrize("kind", meanfield.KINDS)
@pytest.mark.parametrize("entries", [(0.0, 0.0, 0.0), (1.7, -0.9, 0.2), (9.0, -2.5, -0.1)])
def test_velocity_is_minus_the_gradient_of_the_loss(kind, entries):
    K, p1 = 7, 0.6
    p, k = _probabilities(kind, K, p1)
    theta = torch.full((K,), entries[2], dtype=torch.float64)
    if kind == "rare":
        theta[0] = entries[1]
    theta[k] = entries[0]
    theta.requires_grad_(True)
    gradient, = torch.autograd.grad(_loss(theta, p, k), theta)
    found = meanfield.velocity(kind, K, p1, entries)
    # rounding: the definition cancels numbers of order one
    assert found[0] == pytest.approx(-float(gradient[k]), abs=1e-15, rel=1e-11)
    assert found[2] == pytest.approx(-float(gradient[-1]), abs=1e-15, rel=1e-9)
    if kind == "rare":
        assert found[1] == pytest.approx(-float(gradient[0]), abs=1e-15, rel=1e-9)


def test_full_column_descent_follows_the_flow():
    """Heun steps on all K entries by autograd, halved once: the difference to the flow is the O(h²) it should be."""
    K, p1, end = 6, 0.5, 60.0
    p, k = _probabilities("rare", K, p1)

    def force(theta):
        theta = theta.detach().requires_grad_(True)
        return -torch.autograd.grad(_loss(theta, p, k), theta)[0]

    target = meanfield.flow("rare", K, p1).solution(end)
    gaps = []
    for steps in (300, 600):
        theta, h = torch.zeros(K, dtype=torch.float64), end / steps
        for _ in range(steps):
            first = force(theta)
            theta = theta + h / 2 * (first + force(theta + h * first))
        gaps.append(np.abs(np.array([theta[k], theta[0], theta[-1]]) - target).max())
    assert gaps[1] < 1e-4
    assert gaps[0] / gaps[1] == pytest.approx(4, rel=0.1)


def test_descent_tends_to_the_flow_at_first_order_in_eta():
    K, p1, end = 10, 0.5, 200.0
    flow = meanfield.flow("rare", K, p1).solution(end)
    gaps = [np.abs(meanfield.descend("rare", K, p1, eta=end / n, steps=n)[0][-1] - flow).max() for n in (500, 1000)]
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize("kind", ["dominant", "balanced"])
@pytest.mark.parametrize("K", [3, 20, 5000])
def test_times_equal_the_closed_form(kind, K):
    flow = meanfield.flow(kind, K, 0.3)
    for error, t in flow.times.items():
        assert t == pytest.approx(meanfield.exact_time(kind, K, 0.3, error), rel=1e-6)  # rtol 1e-9 over ~ 1e2 steps


@pytest.mark.parametrize("K", [3, 40, 5000, 10**6])
def test_columns_sum_to_zero_and_masses_to_one(K):
    """Σ_m dB_m/dt = 0 exactly: softmax does not feel a common shift."""
    flow = meanfield.flow("rare", K, 0.5)
    total = flow.A + flow.B1 + (K - 2) * flow.B
    assert np.abs(total).max() < 1e-9 * flow.A.max() * 10
    mass = flow.attention[:, 0] + flow.attention[:, 1] + (K - 2) * flow.attention[:, 2]
    assert mass == pytest.approx(np.ones_like(mass), abs=1e-12)


def test_tighter_solver_moves_nothing():
    loose, tight = (meanfield.flow("rare", 5000, 0.5, rtol=r) for r in (1e-9, 1e-11))
    for error in loose.times:
        assert loose.times[error] == pytest.approx(tight.times[error], rel=1e-6)
    for name in loose.boundaries:
        assert abs(loose.boundaries[name].A - tight.boundaries[name].A) < 1e-6


def test_boundaries_are_where_their_formulas_say():
    K, p1 = 300, 0.4
    flow = meanfield.flow("rare", K, p1)
    lead, overtake, half = (flow.boundaries[n] for n in ("lead", "overtake", "half"))
    v = meanfield.velocity("rare", K, p1, (lead.A, lead.B1, lead.B))
    assert v[0] == pytest.approx(-v[1], rel=1e-6)
    assert abs(overtake.A - overtake.B1 - math.log(p1 * (K - 1) / (1 - p1))) < 1e-8
    others = (p1 * math.exp(half.B1 - half.A) * (K - 1) / (1 - p1) + (K - 2) * math.exp(half.B - half.A))
    assert others == pytest.approx(1, rel=1e-6)
    assert list(meanfield.flow("balanced", K, p1).boundaries) == ["half"]


def test_first_phase_threshold_is_one_over_root_K():
    for K in (10, 1000):
        assert meanfield.first_phase_threshold(K) == pytest.approx(K**-0.5, rel=1e-9)
        assert meanfield.flow("rare", K, 1.1 * K**-0.5).boundaries["lead"].t > 0
        assert meanfield.flow("rare", K, 0.9 * K**-0.5).boundaries["lead"].t == 0


def test_linear_time_by_descent():
    p, error, t, entry, h = 0.2, 0.01, 0.0, 0.0, 0.05
    while 0.5 * (1 - p * entry) ** 2 > error:
        entry += h * p * p * (1 - p * entry)
        t += h
    assert t == pytest.approx(meanfield.linear_time(p, error), rel=1e-3)  # h p³/2 relative, and one step


def test_saturated_error_and_value_gain_against_sampled_prompts():
    K, p1, N, B = 5, 0.5, 6, 200_000
    p, _ = _probabilities("rare", K, p1)
    drawn = torch.multinomial(p, B * N, replacement=True, generator=stream(0, "saturated")).reshape(B, N)
    a = torch.nn.functional.one_hot(drawn, K).double().mean(1)
    queries = torch.multinomial(p, B, replacement=True, generator=stream(0, "queries"))
    hit = torch.nn.functional.one_hot(queries, K).double()
    present = (a * hit).sum(1, keepdim=True) > 0
    a = torch.where(present, hit, a)
    rare = queries == 2
    errors = 0.5 * (a - hit).square().sum(1)[rare]
    se = float(errors.std() / len(errors) ** 0.5)
    assert float(errors.mean()) == pytest.approx(meanfield.saturated_error(K, p1, N), abs=4 * se)
    assert errors.mean() > math.exp(meanfield.log_floor(K, p1, N)[0])
    m1, m2 = float((a * hit).sum(1).mean()), float(a.square().sum(1).mean())
    gain = 1 - (1 - m1**2 / m2) / (1 - 2 * m1 + m2)
    # m1, m2 have standard errors below 1/(2√B) = 1.1e-3; the gain moves by at most ten times that here
    assert gain == pytest.approx(meanfield.value_gain(K, p1, N), abs=0.02)
    assert meanfield.value_gain(K, p1, N, value=0.5) > 0.2


@pytest.mark.parametrize(("call", "name"), [
    (lambda: meanfield.flow("rare", 2, 0.5), "K"), (lambda: meanfield.flow("rare", 9, 1.0), "p1"),
    (lambda: meanfield.flow("rare", 9, 0.5, errors=(0.6,)), "errors"), (lambda: meanfield.flow("odd", 9, 0.5), "kind"),
    (lambda: meanfield.exact_time("rare", 9, 0.5, 0.1), "kind"), (lambda: meanfield.linear_time(0.0, 0.1), "p"),
    (lambda: meanfield.descend("rare", 9, 0.5, eta=0.0, steps=3), "eta"),
    (lambda: meanfield.log_absence(0.1, 0), "N")])
def test_bad_arguments_are_named(call, name):
    with pytest.raises((ValueError, KeyError), match=name):
        call()
