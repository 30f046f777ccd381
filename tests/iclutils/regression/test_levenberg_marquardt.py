"""Training layers: against optimality by autograd, layers apart, and saying when it is not done."""

import pytest
import torch

from iclutils.randomness import stream
from iclutils.regression import levenberg_marquardt
from iclutils.regression.layers import Layers, slopes
from iclutils.regression.levenberg_marquardt import LeastSquares
from iclutils.regression.training_sets import Fleet, draw_fleet


def _gradient(layers, fleet):
    """Differentiate the sum of all layers' mean squared errors, by autograd."""
    u = layers.u.clone().requires_grad_()
    m = layers.m.clone().requires_grad_()
    Layers(u, m, layers.softmax).loss(fleet).sum().backward()
    return torch.cat([u.grad, m.grad.flatten(1)], 1)


def test_fit_reaches_a_stationary_point_and_interpolates_below_the_count():
    fleet = draw_fleet([6, 40], 3, 3, 0.1, 0)
    layers = levenberg_marquardt.fit(fleet, 0)
    loss = layers.loss(fleet)
    # 6 prompts, 15 parameters: an exact fit leaves rounding, (1e-16)² a prompt; seen is 1e-31
    assert float(loss[0]) < 1e-20
    # 40 prompts cannot be fitted: what is left is of the order of the noise, 0.1
    assert float(loss[1]) > 1e-4
    # a Newton method ends at rounding, 1e-16 times J of about ten; a stop short of it leaves 1e-3
    assert float(_gradient(layers, fleet).norm()) < 1e-6
    assert layers.converged.tolist() == [True, True]


@pytest.mark.parametrize("softmax", [False, True])
def test_layers_that_have_not_converged_are_named_and_refused(softmax):
    fleet = draw_fleet([6, 40, 40], 3, 3, 0.1, 0)
    message = r"fit: \d of 3 layers have not converged after 2 iterations: cosine .* up to 0\.\d+"
    with pytest.raises(RuntimeError, match=message):
        levenberg_marquardt.fit(fleet, 0, iterations=2, softmax=softmax)
    layers = levenberg_marquardt.fit(fleet, 0, iterations=2, softmax=softmax, unconverged=1.0)
    assert not bool(layers.converged.all())


def test_a_share_of_unconverged_layers_can_be_allowed():
    fleet = draw_fleet([6, 40], 3, 3, 0.1, 0)
    # in 15 iterations the layer that fits exactly is done, the other is not
    options = {"iterations": 15, "tolerance": 1e-9}
    layers = levenberg_marquardt.fit(fleet, 0, unconverged=0.5, **options)
    assert layers.converged.tolist() == [True, False]
    with pytest.raises(RuntimeError, match="1 of 2 layers have not converged"):
        levenberg_marquardt.fit(fleet, 0, unconverged=0.4, **options)


def test_layers_that_converge_slowly_take_further_rounds_and_the_others_stay():
    # one task and noisy labels: the residuals stay large, so the steps converge only linearly
    fleet = draw_fleet([60] * 8, 3, 3, 0.1, 0, tasks=1)
    once = levenberg_marquardt.fit(fleet, 0, iterations=25, unconverged=1.0)
    assert 0 < int(once.converged.sum()) < 8
    more = levenberg_marquardt.fit(fleet, 0, iterations=25, rounds=20)
    assert bool(more.converged.all())
    assert torch.equal(more.m[once.converged], once.m[once.converged])
    slow = ~once.converged
    assert bool((more.loss(fleet)[slow] < once.loss(fleet)[slow]).all())


def test_standing_still_is_not_converging():
    # a first step that is refused leaves the loss as it was; the criterion looks at the gradient
    fleet = draw_fleet([40] * 20, 3, 3, 0.1, 0)
    layers = levenberg_marquardt.fit(fleet, 0, iterations=1, unconverged=1.0)
    assert not bool(layers.converged.any())


@pytest.mark.parametrize("softmax", [False, True])
def test_the_cosine_is_that_of_the_gradient(softmax):
    # a second route: the gradient by autograd, the Jacobian column by column by differences
    fleet = draw_fleet([9], 2, 3, 0.1, 0)
    layers = levenberg_marquardt.fit(fleet, 0, iterations=3, softmax=softmax, unconverged=1.0)
    theta = torch.cat([layers.u[0], layers.m[0].flatten()])

    def residual(theta):
        at = Layers(theta[None, :3], theta[3:].reshape(1, 3, 2), softmax)
        own = [slice(i, i + 1) for i in range(9)]
        each = [Fleet(fleet.z[:, i], fleet.y[:, i], fleet.mask[:, i]) for i in own]
        return torch.cat([at.loss(one) for one in each]).sqrt()

    h = 1e-6
    columns = [
        (residual(theta + h * e) - residual(theta - h * e)) / (2 * h)
        for e in torch.eye(9, dtype=torch.float64)
    ]
    lengths = torch.stack(columns).norm(dim=1) * residual(theta).norm()
    # the loss is ‖r‖²/9, its gradient 2Jᵀr/9
    expected = (4.5 * _gradient(layers, fleet)[0].abs() / lengths).max()
    # central differences: h² = 1e-12 from the third derivative, 1e-16/h = 1e-10 from rounding
    assert float(layers.cosine[0]) == pytest.approx(float(expected), rel=1e-6)


def test_adamw_lowers_the_loss_and_keeps_models_apart():
    fleet = draw_fleet([10, 20], 3, 3, 0.1, 0)
    first, later = levenberg_marquardt.train(fleet, 0, [1, 300])
    assert bool((later.loss(fleet) < first.loss(fleet)).all())
    # the other model's data do not matter: exchange them
    other = draw_fleet([10, 20], 3, 3, 0.1, 1)
    mixed = Fleet(
        torch.stack([fleet.z[0], other.z[1]]),
        torch.stack([fleet.y[0], other.y[1]]),
        torch.stack([fleet.mask[0], other.mask[1]]),
    )
    again = levenberg_marquardt.train(mixed, 0, [300])[0]
    # the same operations, in batched products that may round otherwise: 300 steps of 1e-16, grown
    assert torch.allclose(again.u[0], later.u[0], atol=1e-10)
    assert not torch.allclose(again.u[1], later.u[1], atol=1e-3)


def test_bad_input_is_refused():
    fleet = draw_fleet([3], 2, 2, 0.1, 0)
    with pytest.raises(ValueError, match="iterations must be at least 1"):
        levenberg_marquardt.fit(fleet, 0, iterations=0)
    with pytest.raises(ValueError, match="rounds must be at least 1"):
        levenberg_marquardt.fit(fleet, 0, rounds=0)
    with pytest.raises(ValueError, match="tolerance must be finite"):
        levenberg_marquardt.fit(fleet, 0, tolerance=-1)
    with pytest.raises(ValueError, match="unconverged must be finite"):
        levenberg_marquardt.fit(fleet, 0, unconverged=2)
    with pytest.raises(ValueError, match="checkpoints must be at least 1"):
        levenberg_marquardt.train(fleet, 0, [0])
    with pytest.raises(ValueError, match="checkpoints must hold"):
        levenberg_marquardt.train(fleet, 0, [])
    with pytest.raises(ValueError, match="learning_rate must be finite"):
        levenberg_marquardt.train(fleet, 0, [1], learning_rate=0)


@pytest.mark.parametrize("softmax", [False, True])
def test_slopes_through_the_second_moment_are_those_by_tokens_and_by_autograd(softmax):
    fleet = draw_fleet([5, 9], 3, 4, 0.1, 0)
    draws = stream(0, "slopes")
    u = torch.randn(2, 4, dtype=torch.float64, generator=draws)
    m = torch.randn(2, 4, 3, dtype=torch.float64, generator=draws)
    problem = LeastSquares(fleet, softmax)
    by_tokens = slopes(fleet.z, u, m, softmax=softmax)
    counts = fleet.mask.bool()
    for fast, plain in zip(problem.slopes(u, m), by_tokens, strict=True):
        torch.testing.assert_close(fast[counts], plain[counts])
    found = torch.cat([problem.gradient(u, m).u, problem.gradient(u, m).m.flatten(1)], 1)
    torch.testing.assert_close(found, _gradient(Layers(u, m, softmax), fleet))


def test_layers_that_rest_end_where_the_others_do(monkeypatch):
    fleet = draw_fleet([6, 14, 40], 3, 3, 0.1, 0)
    rested = levenberg_marquardt.fit(fleet, 0, rounds=5)
    monkeypatch.setattr(levenberg_marquardt, "RESTING", 0.0)
    monkeypatch.setattr(levenberg_marquardt, "ROUNDING", 0.0)
    tireless = levenberg_marquardt.fit(fleet, 0, rounds=5)
    test = draw_fleet([200] * 3, 3, 3, 0.1, 0, role="test")
    # rest is at 1e-14 of the sum of squares, so at 1e-7 of the weights times their condition
    torch.testing.assert_close(rested.loss(test), tireless.loss(test), rtol=1e-5, atol=0)


def test_fresh_errors_are_those_of_other_prompts_in_rows():
    fleet = draw_fleet([40] * 4, 3, 3, 0.1, 0)
    layers = levenberg_marquardt.fit(fleet, 0)
    found = levenberg_marquardt.fresh_errors(layers, 3, 0.1, 0, each=2)
    other = draw_fleet([400] * 4, 3, 3, 0.1, 0, role="test")
    assert torch.equal(found, layers.loss(other).reshape(2, 2))
    assert bool((found.flatten() > layers.loss(fleet)).all())
    with pytest.raises(RuntimeError):
        levenberg_marquardt.fresh_errors(layers, 3, 0.1, 0, each=3)
