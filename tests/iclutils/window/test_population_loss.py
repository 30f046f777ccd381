"""The exact loss of M = w·I: closed forms against Monte Carlo, the minimiser by second routes."""

import math

import pytest
import torch

from iclutils.randomness import stream
from iclutils.stats import mean_se
from iclutils.window import covariates, function_classes, prompts
from iclutils.window.theory import best_window, full_matrix, population_loss
from iclutils.window.theory.best_window import compare

ONE = torch.ones((), dtype=torch.float64)


@pytest.mark.parametrize(
    "function",
    [
        function_classes.Affine(4, 1.5),
        function_classes.ReLU(4, 1.5),
        function_classes.Cosine(4, 3.0),
    ],
)
@pytest.mark.parametrize("w", [0.0, 2.0, 25.0])
def test_three_routes_to_the_loss(function: function_classes.Affine, w: float) -> None:
    """Rotations integrated out, tasks integrated out (given contexts), and plain prompts."""
    d, n, sigma = 4, 12, 0.3
    exact = population_loss.sampled(d, n, stream(0, "exact"), contexts=4000)
    value, se = exact.at(function, sigma, w)
    draws = stream(1, "prompts", int(w))
    prompt = prompts.draw(function, covariates.Sphere(d), n, sigma, 1, (8000,), draws)
    gamma = torch.softmax(w * prompt.x @ prompt.query.mT, dim=-2)
    loss = full_matrix.context_loss(full_matrix.zonal(function), prompt.x, prompt.query, gamma)
    given = mean_se((loss.signal + sigma**2 * loss.concentration).squeeze(-1))
    answer = (prompt.y.unsqueeze(-2) @ gamma).squeeze(-2)
    plain = mean_se(((answer - prompt.target) ** 2).squeeze(-1))
    for other, other_se, _ in (given, plain):
        width = math.hypot(float(se), float(other_se))
        # 18 comparisons at 4.5 standard errors: 1e-4 false alarms
        assert abs(float(other) - float(value)) < 4.5 * width


def test_tail_beyond_the_last_degree_is_accounted_for() -> None:
    function = function_classes.ReLU(3)
    w = best_window.grid(50.0, 24)
    short, long = (
        population_loss.sampled(
            3, 10, stream(0, "tail"), contexts=400, w=w, degrees=population_loss.even_degrees(last)
        )
        for last in (48, 192)
    )
    # the same contexts; with 6·√50 ≈ 42 the tail's P_k average out
    torch.testing.assert_close(short.signal(function), long.signal(function), rtol=2e-3, atol=0)


def test_large_n_reaches_the_closed_form() -> None:
    d, n = 3, 20_000
    w = best_window.grid(20.0, 24)
    exact = population_loss.limit(d, n, w=w)
    degrees = population_loss.even_degrees(32)
    drawn = population_loss.sampled(d, n, stream(0, "large"), contexts=40, w=w, degrees=degrees)
    concentration = exact.concentration[0]
    for function in (
        function_classes.Affine(d),
        function_classes.ReLU(d),
        function_classes.Cosine(d, 2.0),
    ):
        # the closed form drops the signal's sampling variance, at most 2·K(1)·E Σγ²; 1e-4 is the
        # noise of 40 contexts
        slack = 2 * float(function.covariance(ONE)) * concentration + 1e-4
        assert bool(((drawn.signal(function) - exact.signal(function)).abs() < slack).all())
    # E Σγ² fluctuates over 40 contexts of 20 000 tokens and has a relative bias of about E Σγ²
    torch.testing.assert_close(drawn.concentration.mean(0), concentration, rtol=0.05, atol=0)


def test_best_window_is_a_minimum_of_the_loss_and_does_not_depend_on_the_grid() -> None:
    function = function_classes.ReLU(5)
    fine_grid = best_window.grid(200.0, 181)
    coarse = population_loss.sampled(5, 20, stream(0, "grid"), contexts=2000)
    fine = population_loss.sampled(5, 20, stream(0, "grid"), contexts=2000, w=fine_grid)
    for sigma in (0.01, 0.3, 1.0):
        best = coarse.best_window(function, sigma)
        other = fine.best_window(function, sigma)
        # the same contexts (chunks of another size regroup sums only); spline error h⁴ of the
        # coarse grid
        assert best.w == pytest.approx(other.w, rel=3e-3)
        near = torch.tensor([0.8 * other.w, other.w, 1.25 * other.w])
        below, here, above = fine.at(function, sigma, near)[0].tolist()
        assert here < min(below, above)


def test_loss_of_an_affine_class_by_hand() -> None:
    # n = 1: the weight is 1 whatever w, so the loss is E(f(x₁) − f(x))² + σ² = 2L²/(3d) + σ²
    one = population_loss.sampled(6, 1, stream(0, "hand"), contexts=400)
    loss, se = one.at(function_classes.Affine(6, 2.0), 0.5, 3.0)
    # 1e-12: rounding, for with mirrored contexts there may be no spread at all
    assert abs(float(loss) - 2 * 4 / 18 - 0.25) < 4 * float(se) + 1e-12
    assert float(one.noise(0.5)[7]) == pytest.approx(0.25)


def test_even_classes_switch_off() -> None:
    """The cosine loss is even in w: w = 0 is stationary, and best for small L or large σ."""
    exact = population_loss.sampled(5, 20, stream(0, "even"), contexts=2000)
    assert exact.best_window(function_classes.Cosine(5, 1.0), 1.0).w == 0.0
    assert exact.best_window(function_classes.Cosine(5, 0.1), 0.1).w == 0.0
    assert exact.best_window(function_classes.Cosine(5, 1.0), 0.01).w > 5


def test_sampling_term_of_the_closed_form() -> None:
    """The order 1/n of the signal (delta method) on drawn contexts; the next is (E Σγ²)²."""
    d, n = 4, 200
    w = best_window.grid(8.0, 16)
    exact = population_loss.limit(d, n, w=w, sampling=True)
    bare = population_loss.limit(d, n, w=w)
    drawn = population_loss.sampled(d, n, stream(0, "delta"), w=w, contexts=2000)
    for function in (
        function_classes.Affine(d),
        function_classes.ReLU(d),
        function_classes.Cosine(d, 2.0),
    ):
        value, se = drawn.at(function, 0.0, w)
        next_order = 4 * float(function.covariance(ONE)) * exact.concentration[0] ** 2
        assert bool(((value - exact.signal(function)).abs() < 5 * se + next_order).all())
        assert float(((value - bare.signal(function)) / se).max()) > 20


def test_the_loss_at_one_window_as_an_estimate() -> None:
    drawn = population_loss.sampled(3, 10, stream(0, "estimate"), contexts=200)
    function = function_classes.ReLU(3)
    value, se = drawn.at(function, 0.3, 4.0)
    assert drawn.estimate_at(function, 0.3, 4.0) == (float(value), float(se), 19)
    closed = population_loss.limit(3, 10).estimate_at(function, 0.3, 4.0)
    assert (closed.se, closed.dof) == (0, math.inf)


def test_how_many_tokens_a_window_averages_over() -> None:
    exact = population_loss.limit(3, 1000)
    # d = 3: E e^{wt} = sinh(w)/w, so E Σγ² = w coth(w)/n; 1e-4: the spline between grid points
    for w in (0.5, 7.0):
        assert exact.attended(w) == pytest.approx(1000 * math.tanh(w) / w, rel=1e-4)
    with pytest.raises(ValueError, match="w"):
        exact.attended(1e9)


def test_comparison_on_common_contexts_is_sharper_than_the_two_errors() -> None:
    exact = population_loss.sampled(5, 20, stream(0, "pairs"), contexts=2000)
    first, second = (exact.best_window(function_classes.ReLU(5, L), 0.01) for L in (3.0, 10.0))
    gap = compare(first, second)
    assert gap.value == pytest.approx(math.log(second.w / first.w))
    assert 0 < 4 * gap.se < gap.value
    assert gap.se < 0.1 * math.hypot(first.w_se / first.w, second.w_se / second.w)


@pytest.mark.parametrize("function", [function_classes.Affine, function_classes.ReLU])
@pytest.mark.parametrize("n", [10, 1000])
@pytest.mark.parametrize("d", [5, 20, 50, 200, 1000])
def test_a_minimum_is_found_where_the_noise_grows_by_many_powers_of_ten(
    function: type[function_classes.Affine], n: int, d: int
) -> None:
    """The closed form's noise grows as exp(w²/d): at d = 200 by 1e80 on the default grid."""
    task = function(d)
    coarse = population_loss.limit(d, n)
    best = coarse.best_window(task, 0.1)
    fine = population_loss.limit(d, n, w=best_window.grid(2 * best.w, 200)).best_window(task, 0.1)
    # the spline's error on steps of 17 % in w; the loss is flat about its minimum
    assert best.w == pytest.approx(fine.w, rel=5e-3)
    assert best.loss == pytest.approx(fine.loss, rel=5e-4)
    assert float(coarse.at(task, 0.1, fine.w)[0]) == pytest.approx(fine.loss, rel=5e-4)


@pytest.mark.parametrize("d", [2, 3, 6])
def test_best_window_exponents_of_the_closed_form(d: int) -> None:
    # classical: smooth tasks w^{-2} against noise w^{(d-1)/2}, tasks with a kink w^{-3/2}
    w = torch.logspace(-0.5, 5, 110, dtype=torch.float64)
    exact = population_loss.limit(d, 1, w=w)
    expected = {function_classes.Affine(d): (d + 3) / 2, function_classes.ReLU(d): (d + 2) / 2}
    for function, exponent in expected.items():
        growth = best_window.power(w, exact.optimal_for(function))
        # 5e-3: finite differences on 20 points a decade
        assert abs(growth.exponent - exponent) < 3 * growth.uncertainty + 5e-3
        at = float(exact.optimal_for(function)[50])
        # the same spline on both ways, and the minimum of a curve known to 1e-12 of its height
        assert exact.best_window(function, at**-0.5).w == pytest.approx(float(w[50]), rel=1e-3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: population_loss.sampled(1, 5, stream(0, "x")), ["d", "1"]),
        (lambda: population_loss.sampled(3, 0, stream(0, "x")), ["n", "0"]),
        (
            lambda: population_loss.sampled(3, 5, stream(0, "x"), contexts=4),
            ["contexts", "20", "4"],
        ),
        (
            lambda: population_loss.limit(3, 5, w=torch.tensor([1.0, 0.5, 2.0, 3.0])),
            ["w", "rising"],
        ),
        (
            lambda: population_loss.limit(3, 5).loss(function_classes.Affine(4), 0.1),
            ["d = 3", "d = 4"],
        ),
        (
            lambda: population_loss.limit(3, 5).loss(function_classes.Affine(3), -0.1),
            ["sigma", "-0.1"],
        ),
        (
            lambda: population_loss.limit(3, 5, w=best_window.grid(2.0)).best_window(
                function_classes.Affine(3), 0.01
            ),
            ["beyond", "2"],
        ),
        (
            lambda: population_loss.limit(3, 5).at(function_classes.Affine(3), 0.1, 1e4),
            ["w", "1000"],
        ),
        (lambda: population_loss.even_degrees(1), ["last", "1"]),
    ],
)
def test_bad_input_is_refused(call, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=words[0]) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


def test_the_term_of_drawn_tokens_is_that_of_sampled_contexts() -> None:
    """The correction of order 1/n, which the limit has for its tokens being drawn."""
    n = 300
    w = torch.tensor([1.0, 3.0, 6.0, 10.0], dtype=torch.float64)
    one = torch.tensor([1])
    drawn = population_loss.sampled(3, n, stream(0, "order"), contexts=20_000, w=w, degrees=one)
    found = population_loss.limit(3, n, w=w, degrees=one, sampling=True)
    gap = (drawn.parts.mean(0) - found.parts[0])[:, 0].abs()
    se = (drawn.parts.std(0) / population_loss.BATCHES**0.5)[:, 0]
    # five standard errors, and the next order of the delta method
    assert bool((gap < 5 * se + 3 * found.concentration[0] ** 2).all())
    assert bool((5 * se < 0.2 * found.concentration[0]).all()), "too wide to tell"


@pytest.mark.parametrize("sampling", [False, True])
def test_power_beyond_the_last_degree_counts(sampling: bool) -> None:
    """A narrow head sees nothing of high degrees, so that cutting them off changes nothing."""
    w = torch.tensor([0.0, 0.2, 0.5, 1.0], dtype=torch.float64)
    few = population_loss.limit(
        5, 100, w=w, degrees=population_loss.even_degrees(8), sampling=sampling
    )
    many = population_loss.limit(
        5, 100, w=w, degrees=population_loss.even_degrees(64), sampling=sampling
    )
    relu = function_classes.ReLU(5)
    # of degree 10 a window of 1 sees 1e-10
    torch.testing.assert_close(few.signal(relu), many.signal(relu), rtol=1e-6, atol=0)


def test_power_beyond_the_last_degree_counts_in_sampled_contexts_too() -> None:
    w = torch.tensor([0.0, 0.2, 0.5, 1.0], dtype=torch.float64)
    few, many = (
        population_loss.sampled(
            5, 20, stream(0, "tail"), contexts=1000, w=w, degrees=population_loss.even_degrees(last)
        )
        for last in (8, 64)
    )
    relu = function_classes.ReLU(5)
    # the same contexts; what is cut off is 1e-3 of the signal, its scatter a hundredth of that
    torch.testing.assert_close(few.signal(relu), many.signal(relu), rtol=1e-4, atol=0)


@pytest.mark.parametrize(
    ("d", "tenth", "half"), [(3, 0.02, 1.18), (5, 0.08, 1.57), (10, 0.28, 2.4)]
)
def test_the_expansion_is_as_good_as_is_said(d: int, tenth: float, half: float) -> None:
    """EΣγ² where the expansion has 0.1 and ½, against drawn contexts of 200 tokens."""
    n = 200
    fine = torch.logspace(0, 3, 1500, dtype=torch.float64)
    expanded = population_loss.limit(d, n, w=fine).concentration[0]
    at = [int((expanded - level).abs().argmin()) for level in (0.1, 0.5, 1.0)]
    w = torch.cat([torch.zeros(1), fine[at]])
    one = torch.tensor([1])
    drawn = population_loss.sampled(d, n, stream(0, "range"), contexts=600, w=w, degrees=one)
    ratio = expanded[at] / drawn.concentration.mean(0)[1:]
    # 3 %: five standard errors of the drawn contexts
    assert abs(float(ratio[0]) - 1) < tenth + 0.03
    assert 1.1 < float(ratio[1]) < half + 0.06
    assert float(ratio[2]) > 1.5, "where it is 1 it is far from what can be"


F64 = torch.float64


def values(t):
    return torch.stack([t, t.cos()], -1), t.square().unsqueeze(-1)


@pytest.mark.parametrize("at_once", [1, 10**6])
def test_sums_are_those_with_softmax_weights(monkeypatch, at_once):
    monkeypatch.setattr(population_loss, "AT_ONCE", at_once)
    t = 2 * torch.rand(3, 200, dtype=F64, generator=stream(0, "pooled")) - 1
    w = torch.tensor([0.0, 0.5, 30.0, 1e3, 1e5], dtype=F64)  # the last three lose sight of tokens
    found = population_loss.pooled(t, w, values)
    gamma = torch.softmax(w.unsqueeze(-1) * t.unsqueeze(1), -1)
    a, b = values(t)
    # a weight that softmax makes of w t = 1e5 is right to 1e5 roundings of 1e-16
    torch.testing.assert_close(found.weighted, gamma @ a, rtol=1e-10, atol=1e-13)
    torch.testing.assert_close(found.squared, gamma.square() @ b, rtol=1e-10, atol=1e-13)


def test_a_window_leaves_out_tokens_that_it_does_not_see(monkeypatch):
    monkeypatch.setattr(population_loss, "AT_ONCE", 1)
    t = torch.cat([torch.zeros(1, 50), torch.ones(1, 32)], 1).double()
    far = torch.tensor([population_loss.NOTHING - 1, population_loss.NOTHING + 1], dtype=F64)
    # the values of far tokens are so large that what is left of their mass shows
    huge = population_loss.pooled(
        t, far, lambda t: ((1e40 * (1 - t)).unsqueeze(-1), t.unsqueeze(-1))
    )
    near, nothing = huge.weighted.flatten().tolist()
    assert near > 0
    assert nothing == 0


def test_nothing_is_computed_of_tokens_that_no_window_sees(monkeypatch):
    monkeypatch.setattr(population_loss, "AT_ONCE", 1)
    t = torch.cat([torch.zeros(1, 50), torch.ones(1, 32)], 1).double()
    taken = []

    def count(t):
        taken.append(t.shape[1])
        return values(t)

    population_loss.pooled(t, torch.tensor([1e3, 1e5], dtype=F64), count)
    assert taken == [32]
