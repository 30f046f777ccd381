"""The layer on counts against the layer on tokens, and its gradient against autograd."""

import pytest
import torch

from iclutils.randomness import stream
from iclutils.stages import attention
from iclutils.stages.prompts import draw_counts, draw_prompts, feature_frame, probabilities
from iclutils.stages.theory import equal_features
from iclutils.stats import mean_se


def normal(*shape, generator):
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def test_column_gradient_is_autograd_of_the_loss():
    p = probabilities(6, 0.5)
    counts = draw_counts(p, 9, (3, 40), stream(0, "counts"))
    theta = normal(3, 6, generator=stream(0, "theta")).requires_grad_(True)
    targets = torch.tensor([0, 3, 5])
    weights = (theta.unsqueeze(1) + counts.log()).softmax(-1)
    residual = weights - torch.eye(6, dtype=torch.float64)[targets].unsqueeze(1)
    loss = (p[targets] * 0.5 * residual.square().sum(-1).mean(-1)).sum()
    (expected,) = torch.autograd.grad(loss, theta)
    gradient, error = attention.column_gradient(theta.detach(), counts, targets, p)
    # rounding of a mean over 40 prompts; entries that cancel are small against the others
    torch.testing.assert_close(gradient, expected, rtol=1e-12, atol=1e-15)
    each = attention.prompt_errors(theta.detach(), counts, targets)
    torch.testing.assert_close(error, each.mean(-1))


@pytest.mark.parametrize("height", [1e3, -1e3])
def test_only_differences_of_logits_count_however_large(height):
    theta, counts = torch.tensor([0.0, 1.0]).double(), torch.tensor([[3.0, 1.0]]).double()
    # 1000 and 1001 are exact, and e^1000 is beyond the largest number
    assert torch.equal(
        attention.attention(theta + height, counts), attention.attention(theta, counts)
    )


@pytest.mark.parametrize("sigma", [0.0, 0.8])
def test_the_gradient_with_noise_is_the_derivative_of_the_errors(sigma):
    generator = stream(1, "gradient")
    p, targets = torch.tensor([0.4, 0.3, 0.2, 0.1]).double(), torch.tensor([0, 2])
    counts = draw_counts(p, 6, (2, 50), generator)
    theta = normal(2, 4, generator=generator).requires_grad_(True)
    errors = attention.prompt_errors(theta, counts, targets, sigma=sigma)
    (p[targets] * errors.mean(-1)).sum().backward()
    found, plain = attention.column_gradient(theta.detach(), counts, targets, p, sigma=sigma)
    assert torch.allclose(found, theta.grad, atol=1e-14)  # rounding of numbers of order one
    assert torch.allclose(plain, attention.prompt_errors(theta.detach(), counts, targets).mean(-1))


def test_tasks_integrate_to_the_reduced_loss():
    """The layer on explicit tokens and tasks against ½‖a − e_k‖² on the same prompts' counts."""
    K, d, N, prompts = 4, 6, 8, 40_000
    p, frame = probabilities(K, 0.5), feature_frame(K, d, stream(0, "frame"))
    theta = normal(K, K, generator=stream(0, "theta"))  # row m, column k
    W = (frame.T @ theta @ frame).unsqueeze(0)
    drawn = draw_prompts(p, frame, N, 1, prompts, stream(0, "prompts"))
    found = attention.predict(W, drawn.tokens, drawn.labels, drawn.query)
    squared = 0.5 * (found - drawn.answer).square()[0]
    counts = (drawn.tokens @ frame.T).round().sum(2)[0]
    k = (drawn.query @ frame.T).argmax(-1)[0]
    reduced = attention.prompt_errors(theta.T[k], counts.unsqueeze(1), k)[:, 0]
    mean, se, _ = mean_se(squared - reduced)
    assert abs(float(mean)) < 4 * float(se)
    assert float(se) < 0.04 * float(squared.mean())  # so that 4 SE would show a missing term


def test_gradient_in_the_full_space_is_the_column_gradient():
    """Averaged over tasks, autograd's gradient in Q moves each column by itself."""
    K, d, N, prompts, runs = 3, 4, 6, 3000, 20
    p, frame = probabilities(K, 0.5), feature_frame(K, d, stream(1, "frame"))
    theta = 0.5 * normal(K, K, generator=stream(1, "theta"))
    drawn = draw_prompts(p, frame, N, runs, prompts, stream(1, "prompts"))
    W = (frame.T @ theta @ frame).expand(runs, d, d).clone().requires_grad_(True)
    off = attention.predict(W, drawn.tokens, drawn.labels, drawn.query) - drawn.answer
    (gradient,) = torch.autograd.grad(0.5 * off.square().mean(1).sum(), W)
    mean, se, _ = mean_se(frame @ gradient @ frame.T)
    counts = draw_counts(p, N, (20_000,), stream(1, "counts"))
    columns, _ = attention.column_gradient(theta.T.contiguous(), counts, torch.arange(K), p)
    gap = (mean - columns.T).abs()
    assert (gap < 5 * se + 1e-3).all()  # 20 runs (Student's t), and the counts' own 1e-3


def test_errors_with_noise_are_those_of_sampled_labels():
    K, N, sigma = 5, 12, 0.7
    p, frame = torch.full((K,), 1 / K).double(), torch.eye(K).double()
    W = 1.5 * torch.eye(K).double()[None]
    drawn = draw_prompts(p, frame, N, 1, 40_000, stream(2, "labels"), sigma=sigma)
    off = attention.predict(W, drawn.tokens, drawn.labels, drawn.query) - drawn.answer
    mean, se, _ = mean_se(off.square()[0])
    assert abs(float(mean) - equal_features.Lookup(K, N).loss(1.5, sigma)) < 4 * float(se)


def test_label_keys_are_ignored_at_zero_weight():
    p, frame = probabilities(3, 0.5), feature_frame(3, 3, stream(0, "frame"))
    drawn = draw_prompts(p, frame, 5, 2, 7, stream(0, "prompts"))
    Q = normal(2, 3, 3, generator=stream(0, "Q"))
    full = torch.cat([Q, torch.zeros(2, 1, 3, dtype=torch.float64)], 1)
    with_row = attention.predict(full, drawn.tokens, drawn.labels, drawn.query)
    assert torch.equal(with_row, attention.predict(Q, drawn.tokens, drawn.labels, drawn.query))


def test_the_best_value_minimises_the_loss_of_scaled_labels():
    K = 4
    p = probabilities(K, 0.4)
    theta = normal(K, K, generator=stream(5, "theta"))
    counts = draw_counts(p, 7, (300,), stream(5, "counts"))
    a = attention.attention(theta, counts)

    def loss(nu):
        gap = nu * a - torch.eye(K).double().unsqueeze(1)
        return float(p @ (0.5 * gap.square().sum(-1).mean(-1)))

    best = attention.best_value(theta, counts, p)
    assert loss(best.nu) < min(loss(best.nu - 1e-3), loss(best.nu + 1e-3))
    # two sums over 300 prompts in another order
    assert best.gain == pytest.approx(1 - loss(best.nu) / loss(1.0), rel=1e-10)


def test_shapes_that_do_not_fit_are_named():
    theta, targets = torch.zeros(2, 3).double(), torch.tensor([0, 1])
    with pytest.raises(ValueError, match="counts must have shape"):
        attention.prompt_errors(theta, torch.ones(5, 4).double(), targets)
    with pytest.raises(ValueError, match="theta must have shape"):
        attention.prompt_errors(theta, torch.ones(5, 3).double(), torch.tensor([0]))
