"""The trained layer: against attention itself, its derivatives against autograd, its training against optimality."""

import pytest
import torch

from iclutils import attention_layer, linear_icl
from iclutils.randomness import stream


def _weights(count, d):
    draw = stream(0, "weights", d)
    return (torch.randn(count, d + 1, dtype=torch.float64, generator=draw),
            torch.randn(count, d + 1, d, dtype=torch.float64, generator=draw))


def test_layer_output_is_linear_attention_at_the_query():
    d, ell, draw = 3, 5, stream(0, "full")
    fleet = attention_layer.draw_fleet([7, 7], d, ell, 0.1, 0)
    value, mixing = torch.randn(2, d + 1, d + 1, dtype=torch.float64, generator=draw)
    full = linear_icl.linear_attention(fleet.z, value, mixing)[..., d, ell]
    u, m = value[d].expand(2, -1), mixing[:, :d].expand(2, -1, -1)
    assert torch.allclose(full, attention_layer.layer_output(fleet.z, u, m), atol=1e-12)


def test_softmax_layer_is_torch_attention():
    d = 3
    fleet = attention_layer.draw_fleet([7], d, 5, 0.1, 0)
    u, m = _weights(1, d)
    tokens = fleet.z[0].mT
    query = (fleet.z[0, :, :d, -1] @ m[0].T)[:, None]
    out = torch.nn.functional.scaled_dot_product_attention(query, tokens, tokens @ u[0][:, None], scale=1.0)
    assert torch.allclose(attention_layer.layer_output(fleet.z, u, m, softmax=True)[0], out[:, 0, 0], atol=1e-12)


@pytest.mark.parametrize("softmax", [False, True])
def test_jacobian_is_the_derivative(softmax):
    d = 3
    fleet = attention_layer.draw_fleet([4], d, 4, 0.1, 0)
    u, m = _weights(1, d)

    def output(theta):
        return attention_layer.layer_output(fleet.z, theta[None, :d + 1], theta[d + 1:].reshape(1, d + 1, d), softmax=softmax)[0]

    by_autograd = torch.autograd.functional.jacobian(output, torch.cat([u[0], m[0].flatten()]))
    assert torch.allclose(attention_layer.jacobian(fleet.z, u, m, softmax=softmax)[0], by_autograd, atol=1e-12)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_identifiable_parameters(d):
    # u and M up to one common scale: (d+1) + d(d+1) − 1
    assert attention_layer.identifiable_parameters(d) == d * (d + 2)
    # the softmax fixes the scale
    assert attention_layer.identifiable_parameters(d, softmax=True) == (d + 1) ** 2


def test_fit_reaches_a_stationary_point_and_interpolates_below_the_count():
    fleet = attention_layer.draw_fleet([6, 40], 3, 3, 0.1, 0)
    layers = attention_layer.fit(fleet, 0)
    loss = layers.loss(fleet)
    assert float(loss[0]) < 1e-20
    assert float(loss[1]) > 1e-4
    u, m = layers.u.clone().requires_grad_(), layers.m.clone().requires_grad_()
    attention_layer.Layers(u, m).loss(fleet).sum().backward()
    assert float(u.grad.norm() + m.grad.norm()) < 1e-6


def test_adamw_lowers_the_loss_and_keeps_models_apart():
    fleet = attention_layer.draw_fleet([10, 20], 3, 3, 0.1, 0)
    first, later = attention_layer.train(fleet, 0, [1, 300])
    assert bool((later.loss(fleet) < first.loss(fleet)).all())
    # the other model's data do not matter: exchange them
    other = attention_layer.draw_fleet([10, 20], 3, 3, 0.1, 1)
    mixed = attention_layer.Fleet(*(torch.stack([getattr(fleet, k)[0], getattr(other, k)[1]]) for k in ("z", "y", "mask")))
    assert torch.allclose(attention_layer.train(mixed, 0, [300])[0].u[0], later.u[0], atol=1e-10)


def test_fleets_share_tasks_but_not_prompts_between_roles():
    train = attention_layer.draw_fleet([8], 3, 200, 0.0, 0, tasks=1)
    test = attention_layer.draw_fleet([8], 3, 200, 0.0, 0, tasks=1, role="test")
    assert not torch.equal(train.z, test.z)
    solve = [torch.linalg.lstsq(f.z[0, 0, :3, :-1].T, f.z[0, 0, 3, :-1]).solution for f in (train, test)]
    assert torch.allclose(*solve)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="sizes must be at least 1"):
        attention_layer.draw_fleet([0], 3, 3, 0.1, 0)
    with pytest.raises(ValueError, match="rho must be finite"):
        attention_layer.draw_fleet([3], 3, 3, -0.1, 0)
    with pytest.raises(ValueError, match="iterations must be at least 1"):
        attention_layer.fit(attention_layer.draw_fleet([3], 2, 2, 0.1, 0), 0, iterations=0)
