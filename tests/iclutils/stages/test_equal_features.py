"""A window on features against enumeration, Gaussian conditioning, chapter 1's loss, the flow."""

import itertools
import math

import numpy as np
import pytest
import torch

from iclutils.randomness import stream
from iclutils.regression.moments import moments
from iclutils.regression.ridge import solve
from iclutils.regression.samplers import Context, draw_tasks, sample_naive, sample_orthonormal
from iclutils.stages.theory import equal_features, meanfield
from iclutils.stats import mean_se
from iclutils.window import attention, function_classes
from iclutils.window.theory import full_matrix as population_matrix
from iclutils.window.theory import linear_attention
from iclutils.window.theory.low_rank import linear_mass


def contexts(K, N):
    """Every context of N tokens out of K features, one-hot (K^N, N, K), all equally likely."""
    index = torch.tensor(list(itertools.product(range(K), repeat=N)))
    return torch.nn.functional.one_hot(index, K).double()


@pytest.mark.parametrize(
    ("K", "N", "w", "sigma"),
    [
        (3, 5, 1.3, 0.7),
        (4, 4, 0.0, 2.0),
        (5, 3, 6.0, 0.1),
    ],
)
def test_the_loss_is_chapter_1s_on_every_context(K, N, w, sigma):
    x = contexts(K, N)
    query = torch.eye(K).double()[:1].expand(len(x), 1, K)
    gamma = attention.weights(w * torch.eye(K).double(), x, query)
    signal, spread = population_matrix.context_loss(lambda a, b: a @ b.mT, x, query, gamma)
    head = equal_features.Lookup(K, N)
    # means over at most 256 contexts, each term rounded to 1e-16
    enumerated = float((signal + sigma**2 * spread).mean())
    assert head.loss(w, sigma) == pytest.approx(enumerated, rel=1e-12)
    assert head.cells(w) == pytest.approx(N * float(spread.mean()), rel=1e-12)


@pytest.mark.parametrize("sigma", [0.3, 1.5])
def test_the_bayes_error_is_that_of_gaussian_conditioning(sigma):
    K, N = 3, 5
    x, query = contexts(K, N), torch.eye(K).double()[0]
    cross = x @ query
    inverse = torch.linalg.inv(x @ x.mT + sigma**2 * torch.eye(N).double())
    left = 1 - torch.einsum("bi,bij,bj->b", cross, inverse, cross)
    # inverses of condition up to 1 + N/σ² = 57, rounded to 1e-16
    assert equal_features.Lookup(K, N).bayes(sigma) == pytest.approx(float(left.mean()), rel=1e-12)


@pytest.mark.parametrize(
    ("K", "N", "sigma"),
    [
        (8, 4, 0.5),
        (8, 32, 1.0),
        (64, 256, 2.0),
        (512, 256, 0.1),
    ],
)
def test_the_best_window_is_a_minimum_and_near_its_law(K, N, sigma):
    head = equal_features.Lookup(K, N)
    w, loss = head.best_window(sigma)
    assert loss <= min(head.loss(w - 1e-3, sigma), head.loss(w + 1e-3, sigma))
    # the bound of chapter 7's claim ch7-window-log
    assert abs(w - equal_features.limit_window(N / sigma**2)) < 2 / (K - 1) + 1 / N
    bayes = head.bayes(sigma)
    assert bayes < loss < bayes * (1 + head.others(sigma))
    assert head.others(sigma) > 1 / (K - 1)


def test_a_scaled_answer_is_the_best_multiple():
    """By a search over the multiple c, on every context of three letters."""
    K, N, sigma, w = 3, 4, 0.7, 1.2
    head = equal_features.Lookup(K, N)
    counts = torch.nn.functional.one_hot(contexts(K, N).argmax(-1), K).sum(1).double()
    gamma = counts * torch.tensor([math.exp(w), 1.0, 1.0]).double()  # asked for the first letter
    gamma = gamma / gamma.sum(-1, keepdim=True)
    power = gamma.square().sum(-1)  # of the answer's signal; its noise is shared by equal letters
    noise = (gamma.square() / counts.clamp(min=1)).sum(-1) * sigma**2
    losses = [
        float((1 - 2 * c * gamma[:, 0] + c**2 * (power + noise)).mean())
        for c in np.linspace(0, 2, 2001)
    ]
    assert losses[1000] == pytest.approx(head.loss(w, sigma))  # c = 1
    # the step of c is 1e-3, and the loss is a parabola in c
    assert head.scaled_loss(w, sigma) == pytest.approx(min(losses), abs=1e-6)


@pytest.mark.parametrize(("K", "N", "sigma"), [(8, 32, 1.0), (40, 20, 0.3)])
def test_the_excess_over_bayes_is_within_its_bound(K, N, sigma):
    head = equal_features.Lookup(K, N)
    bayes = head.bayes(sigma)
    assert head.excess_share(bayes, sigma) == 0
    assert 0 < head.excess_share(head.best_window(sigma).loss, sigma) <= 1
    # the bound itself, by its definition
    assert head.excess_share(bayes * (1 + head.others(sigma)), sigma) == pytest.approx(1)


def test_the_bound_on_the_excess_by_hand():
    """K = 3, N = 2: counts 0, 1, 2 at 4/9, 4/9, 1/9, and 2, 1 or (for none) 1 other letters."""
    each = [0.75 / 2, 0.75, 0.75]  # (1 − q + σ²) / left, q = 1/2 and σ² = 1/4
    expected = 0.5 + (4 * each[0] + 4 * each[1] + each[2]) / 9
    assert equal_features.Lookup(3, 2).others(0.5) == pytest.approx(expected)


def test_the_window_without_noise_and_bad_sizes_are_refused():
    with pytest.raises(ValueError, match="sigma"):
        equal_features.Lookup(8, 8).best_window(0.0)
    with pytest.raises(ValueError, match="K"):
        equal_features.Lookup(2, 8)
    with pytest.raises(ValueError, match="end"):
        equal_features.closing(8, math.inf)
    with pytest.raises(ValueError, match="Lambda"):
        equal_features.limit_window(0.0)
    with pytest.raises(ValueError, match=r"Lambda must be .* 1e\+100"):
        equal_features.closing(8, 1.5e100)


@pytest.mark.parametrize(("w", "Lambda"), [(0.5, 3.0), (3.0, 40.0), (5.0, math.inf)])
def test_the_limit_is_approached_like_one_over_the_counts(w, Lambda):
    K = 6
    limit = equal_features.limit_loss(w, K, Lambda)
    gaps = []
    for N in (1000, 10_000):
        gaps.append(abs(equal_features.Lookup(K, N).loss(w, (N / Lambda) ** 0.5) - limit))
    assert gaps[1] < 0.12 * gaps[0] + 1e-15  # 1/10, and a tenth of that for the next order


def test_the_closing_window_is_chapter_6s_flow_and_its_closed_form():
    K = 12
    time, w = equal_features.closing(K, math.inf, end=6.0)
    flow = meanfield.flow("balanced", K, 0.5, errors=(0.01,))
    for error in (0.1, 0.01):
        s = math.sqrt(2 * error * (K - 1) / K)
        at = np.interp(math.log((1 / s - 1) * (K - 1)), w, time)
        exact = meanfield.exact_time("balanced", K, 0.5, error)
        assert at == pytest.approx(exact, rel=1e-6)  # 4001 points, linear between
    entries = flow.solution(100.0)
    # 4001 points on a range of 6, linear between: (6/4000)² of second derivatives of order one
    assert np.interp(100.0, time, w) == pytest.approx(float(entries[0] - entries[2]), abs=1e-5)


def test_the_closing_time_is_chapter_7s_sum_of_four_terms():
    for K, v in ((8, 32.0), (8, 128.0), (40, 5.0)):
        line = v**2 / 2 + (3 * K - 2) * v + 3 * (K - 1) ** 2 * math.log1p(v)
        time = (line + (K - 1) ** 3 * v / (1 + v)) / K
        s = (K - 1) / (K + v)
        error = s**2 * K / (2 * (K - 1))
        assert time == pytest.approx(meanfield.exact_time("balanced", K, 0.5, error), rel=1e-12)


@pytest.mark.parametrize("Lambda", [5.0, 200.0])
def test_the_flow_with_noise_goes_down_the_limit_loss_and_ends_at_its_minimum(Lambda):
    K = 7
    time, w = equal_features.closing(K, Lambda)
    assert w[-1] == pytest.approx(math.log1p(Lambda), abs=2e-6)  # it stops 1e-6 before its end
    below, least, above = (
        equal_features.limit_loss(math.log1p(Lambda) + step, K, Lambda)
        for step in (-1e-3, 0.0, 1e-3)
    )
    assert least < min(below, above)
    # A − B moves by (1 + 1/(K−1)) of the slope of ½L, and a column is asked for in a share 1/K
    i = len(w) // 2
    rise = equal_features.limit_loss(w[i] + 1e-4, K, Lambda) - equal_features.limit_loss(
        w[i] - 1e-4, K, Lambda
    )
    slope = 0.5 * rise / 2e-4
    speed = (w[i + 1] - w[i - 1]) / (time[i + 1] - time[i - 1])
    assert speed == pytest.approx(-slope / (K - 1), rel=1e-4)  # differences of second order


# -------------------------------------------- linear attention's matrix for any covariances


def test_the_matrix_is_the_minimiser_from_the_exact_moments_of_chapter_5():
    d, ell, rho = 5, 11, 0.3
    w = draw_tasks(7, d, stream(4, "tasks"))
    # with −w beside w the last feature has nothing to say
    exact = moments(torch.cat([w, -w]), Context(d=d, ell=ell, rho=rho))
    gamma = torch.linalg.solve(exact.second, exact.cross.mT).mT[:, :d]
    tasks, tokens = w.T @ w / 7, torch.eye(d).double() / d
    found = linear_attention.best_matrix(
        tokens, tasks, linear_attention.gaussian_label(tokens, tasks, rho**0.5), ell
    )
    assert torch.allclose(ell / d * found, gamma, atol=1e-12)


def test_the_matrix_on_anisotropic_tokens_is_what_least_squares_finds():
    d, ell, rho = 3, 8, 0.5
    spectrum, tasks = torch.tensor([0.4, 1.0, 1.6]).double(), torch.tensor([2.0, 1.0, 0.0]).double()
    found = []
    for i in range(8):
        w = draw_tasks(20_000, d, stream(5, "tasks", i)) * tasks.sqrt()
        draws = stream(5, "tokens", i)
        prompts = sample_naive(
            w, Context(d=d, ell=ell, rho=rho), draws, covariance=torch.diag(spectrum)
        )
        found.append(solve(prompts, 0.0).gamma[:, :d])
    mean, se, _ = mean_se(torch.stack(found))
    tokens, covariance = torch.diag(spectrum) / d, torch.diag(tasks)
    label = linear_attention.gaussian_label(tokens, covariance, rho**0.5)
    exact = ell / d * linear_attention.best_matrix(tokens, covariance, label, ell)
    assert (
        float(((mean - exact).abs() / se).max()) < 8
    )  # 9 entries, 8 sets: Student's t with 7 degrees, 8e-4 in all


@pytest.mark.parametrize(
    "function", [function_classes.Affine(5, 1.7), function_classes.Affine(4, 0.6, offset=False)]
)
def test_the_matrix_on_the_sphere_is_chapter_3s(function):
    d, L = function.d, function.L
    eye = torch.eye(d).double()
    label = linear_attention.sphere_label(
        L**2 / 3 * eye / d, 0.4, L**2 / 3 if function.offset else 0.0
    )
    found = linear_attention.best_matrix(eye / d, L**2 / 3 * eye / d, label, 13)
    assert torch.allclose(
        found, linear_attention.LinearUnit.of(function).minimiser(13, 0.4) * eye, atol=1e-12
    )


def test_the_matrix_on_low_rank_tasks_is_chapter_4s():
    d, k = 7, 3
    tasks = torch.diag((torch.arange(d) < k).double() / k)
    found = linear_attention.best_matrix(
        torch.eye(d).double() / d, tasks, linear_attention.sphere_label(tasks, 0.2, 4.0), 20
    )
    assert torch.allclose(found, linear_mass(20, d, k, 0.2) * k * tasks, atol=1e-12)


def test_labels_second_moments_are_those_of_draws():
    d, sigma, generator = 3, 0.6, stream(6, "draws")
    tasks = torch.diag(torch.tensor([2.0, 0.5, 0.0]).double())
    u = torch.randn(200_000, d, dtype=torch.float64, generator=generator) @ tasks.sqrt()
    z = torch.randn(200_000, d, dtype=torch.float64, generator=generator)
    root = torch.tensor([[1.0, 0.3, 0.0], [0.0, 0.8, 0.2], [0.0, 0.0, 0.5]]).double()
    noise = sigma * torch.randn(200_000, dtype=torch.float64, generator=generator)
    for x, exact in (
        (z @ root.T, linear_attention.gaussian_label(root @ root.T, tasks, sigma)),
        (z / z.norm(dim=1, keepdim=True), linear_attention.sphere_label(tasks, sigma)),
    ):
        y = (u * x).sum(1) + noise
        mean, se, _ = mean_se(y.square()[:, None, None] * x[:, :, None] * x[:, None, :])
        assert float(((mean - exact).abs() / se).max()) < 5  # 9 entries


def test_prompts_of_features_have_the_second_moments_of_the_sphere():
    K, ell, rho = 4, 9, 0.5
    prompts = sample_orthonormal(Context(d=K, ell=ell, rho=rho), stream(7, "features"), n=100_000)
    assert torch.equal(prompts.x.sum(1), torch.ones(100_000).double())
    assert bool((prompts.x.max(1).values == 1).all())
    g = prompts.v[:, :K] * ell / K
    mean, se, _ = mean_se(g[:, :, None] * g[:, None, :])
    exact = (
        ell / K * (1 + rho + (ell - 1) / K) * torch.eye(K).double()
    )  # a = E‖g‖²/d of chapter 3, F = c₁ = 1
    assert float(((mean - exact).abs() / se).max()) < 5  # 16 entries
    mean, se, _ = mean_se(prompts.v[:, K])
    assert abs(float(mean) - 1 - rho) < 4 * float(se)
    mean, se, _ = mean_se(prompts.y.square())
    assert abs(float(mean) - 1 - rho) < 4 * float(se)
    with pytest.raises(ValueError, match="n"):
        sample_orthonormal(Context(d=K, ell=ell, rho=rho), stream(7, "features"), n=0)


def test_a_head_pays_for_other_noise_and_nothing_at_home():
    head = equal_features.Lookup(8, 80)
    noisy = equal_features.price(head, 1.0, head, 3.0)
    frozen = head.best_window(1.0).w
    assert noisy == head.loss(frozen, 3.0) / head.best_window(3.0).loss > 1
    assert equal_features.price(head, 1.0, head, 1.0) == 1


def test_the_scaled_loss_is_least_over_windows_and_below_the_unscaled_one():
    head = equal_features.Lookup(8, 4)
    fine = min(head.scaled_loss(w, 1.0) for w in np.linspace(0, 12, 2401))
    # between neighbours of the grid, a twentieth apart, the loss has a parabola's bottom
    assert head.least_scaled_loss(1.0) == pytest.approx(fine, rel=1e-4)
    assert head.least_scaled_loss(1.0) < head.best_window(1.0).loss
    long = equal_features.Lookup(8, 2000)  # whose best window is wider than the first of the grid
    assert long.least_scaled_loss(1.0) == pytest.approx(long.best_window(1.0).loss, rel=1e-3)


def test_a_closed_window_reads_the_right_letters_alone():
    head, sigma = equal_features.Lookup(8, 24), 0.7
    # without the letter it answers as before training, by the average of what it cannot tell apart
    n, p = head.counts, head.probabilities
    seen = float(p[n > 0] @ (sigma**2 / n[n > 0]))
    absent = float(p[n == 0].sum()) * (1 + 1 / 7 + (6 / 7 + sigma**2) / 24)
    least = head.best_window(sigma).loss
    assert head.cost_of_closing(sigma) == pytest.approx((seen + absent) / least - 1, rel=1e-9)
    with pytest.raises(ValueError, match="sigma must be"):
        head.cost_of_closing(0.0)


def test_a_training_without_noise_closes_to_the_window_of_a_noise_at_its_time():
    K, Lambda = 8, 12.0
    t, w = equal_features.closing(K, math.inf, end=4.0)
    at = float(np.interp(math.log1p(Lambda), w, t))
    # the window's flow by Simpson's rule on 4000 intervals, straight lines between them
    assert equal_features.closing_time(K, Lambda) == pytest.approx(at, rel=1e-5)
    for K, Lambda, words in ((2, 1.0, "K must be"), (8, 0.0, "Lambda must be")):
        with pytest.raises(ValueError, match=words):
            equal_features.closing_time(K, Lambda)
