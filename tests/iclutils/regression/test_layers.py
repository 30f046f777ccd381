"""The attention layer: against attention itself, and its derivatives against autograd."""

import pytest
import torch

from iclutils.randomness import stream
from iclutils.regression import layers
from iclutils.regression.training_sets import draw_fleet


def _weights(count, d):
    generator = stream(0, "weights", d)
    u = torch.randn(count, d + 1, dtype=torch.float64, generator=generator)
    m = torch.randn(count, d + 1, d, dtype=torch.float64, generator=generator)
    return u, m


# 1e-12 here: rounding of 1e-16, times a few hundred operations on numbers below about ten


def test_layer_output_is_linear_attention_at_the_query():
    d, ell = 3, 5
    fleet = draw_fleet([7, 7], d, ell, 0.1, 0)
    generator = stream(0, "full")
    value, mixing = torch.randn(2, d + 1, d + 1, dtype=torch.float64, generator=generator)
    full = layers.linear_attention(fleet.z, value, mixing)[..., d, ell]
    u, m = value[d].expand(2, -1), mixing[:, :d].expand(2, -1, -1)
    assert torch.allclose(full, layers.layer_output(fleet.z, u, m), atol=1e-12)


def test_softmax_layer_is_torch_attention():
    d = 3
    fleet = draw_fleet([7], d, 5, 0.1, 0)
    u, m = _weights(1, d)
    tokens = fleet.z[0].mT
    query = (fleet.z[0, :, :d, -1] @ m[0].T)[:, None]
    values = tokens @ u[0][:, None]
    out = torch.nn.functional.scaled_dot_product_attention(query, tokens, values, scale=1.0)
    found = layers.layer_output(fleet.z, u, m, softmax=True)
    assert torch.allclose(found[0], out[:, 0, 0], atol=1e-12)


@pytest.mark.parametrize("softmax", [False, True])
def test_jacobian_is_the_derivative(softmax):
    d = 3
    fleet = draw_fleet([4], d, 4, 0.1, 0)
    u, m = _weights(1, d)

    def output(theta):
        parts = theta[None, : d + 1], theta[d + 1 :].reshape(1, d + 1, d)
        return layers.layer_output(fleet.z, *parts, softmax=softmax)[0]

    theta = torch.cat([u[0], m[0].flatten()])
    by_autograd = torch.autograd.functional.jacobian(output, theta)
    found = layers.jacobian(fleet.z, u, m, softmax=softmax)[0]
    assert torch.allclose(found, by_autograd, atol=1e-12)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_identifiable_parameters(d):
    # u and M up to one common scale: (d+1) + d(d+1) − 1
    assert layers.identifiable_parameters(d) == d * (d + 2)
    # the softmax fixes the scale
    assert layers.identifiable_parameters(d, softmax=True) == (d + 1) ** 2


def test_loss_is_the_mean_over_a_layers_own_prompts():
    fleet = draw_fleet([3, 5], 3, 3, 0.1, 0)
    u, m = _weights(2, 3)
    found = layers.Layers(u, m).loss(fleet)
    for b, n in enumerate((3, 5)):
        error = layers.layer_output(fleet.z, u, m)[b, :n] - fleet.y[b, :n]
        # the same sum in another order: the last digit of 1e-16 may differ
        assert float(found[b]) == pytest.approx(float(error.square().mean()), rel=1e-14)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="d must be at least 1"):
        layers.identifiable_parameters(0)


def test_reduction_is_exact_without_the_dropped_block():
    """Equal up to rounding, 1e-12; with the block the answers differ by far more than 0.1."""
    d, ell = 4, 6
    draw = stream(0, "weights")
    z = torch.randn(50, d + 1, ell + 1, dtype=torch.float64, generator=draw)
    z[:, d, ell] = 0
    value, key_query = torch.randn(2, d + 1, d + 1, dtype=torch.float64, generator=draw)
    gamma = layers.reduced_weights(value, key_query)
    answer = layers.reduced_prediction(z, gamma)
    full = layers.linear_attention(z, value, key_query)[:, d, ell]
    assert not torch.allclose(full, answer, atol=0.1)
    value[d, :d] = 0
    bare = layers.linear_attention(z, value, key_query)[:, d, ell]
    assert torch.allclose(bare, answer, atol=1e-12)
