"""The fleet of whole transformers: against one written with torch's own layers."""

import pytest
import torch
from torch.nn import functional

from iclutils.randomness import stream
from iclutils.regression import transformers
from iclutils.regression.training_sets import draw_fleet
from iclutils.regression.transformers import Architecture


def _weights(architecture, count=2, seed=0):
    """Weights of which none is at a special value."""
    generator = stream(seed, "weights", architecture.d, architecture.blocks)
    start = architecture.initial_weights(seed, range(count), torch.float64)
    return {
        name: w + 0.2 * torch.randn(w.shape, dtype=w.dtype, generator=generator)
        for name, w in start.items()
    }


def _tokens(count):
    generator = stream(0, "tokens")
    return torch.randn(2, 5, 6, 4, dtype=torch.float64, generator=generator)[:count]


def plain_forward(architecture, weights, tokens):
    """One model, all tokens, layer by layer in torch.nn.functional; ``tokens: (n, t, d+1)``."""

    def linear(x, name, bias=None):
        return functional.linear(x, weights[name].T, None if bias is None else weights[bias][0])

    def norm(x, scale, shift):
        return functional.layer_norm(x, x.shape[-1:], weights[scale][0], weights[shift][0], 1e-6)

    h = linear(tokens, "embed", "embed bias")
    for i in range(architecture.blocks):
        q, k, v = (linear(h, f"{name} {i}") for name in "QKV")
        x = h + functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        g = norm(x, f"scale {i}", f"shift {i}")
        for j in range(architecture.dense):
            entered = functional.gelu(x, approximate="tanh") if j else g
            x = linear(entered, f"dense {i}.{j}", f"dense bias {i}.{j}")
        h = norm(g + x, f"last scale {i}", f"last shift {i}")
    return linear(h, "read", "read bias")[:, -1, 0]


@pytest.mark.parametrize("width", [3, 4, 14])  # 14 > 2(d + 3): the first block in the tokens' span
@pytest.mark.parametrize(("blocks", "dense"), [(1, 0), (1, 1), (2, 1), (2, 2), (3, 1)])
def test_forward_is_the_transformer_of_torch_layers(blocks, dense, width):
    architecture = Architecture(3, blocks, dense, width)
    weights = _weights(architecture)
    tokens = _tokens(2)
    found = transformers.forward(architecture, weights, tokens)
    for b in range(2):
        own = {name: w[b] for name, w in weights.items()}
        expected = plain_forward(architecture, own, tokens[b])
        # rounding: 1e-16 times a few hundred operations
        assert torch.allclose(found[b], expected, atol=1e-12)


@pytest.mark.parametrize("width", [3, 14])
def test_the_gradient_is_that_of_the_plain_transformer(width):
    architecture = Architecture(3, 2, 1, width)
    weights = {name: w.requires_grad_() for name, w in _weights(architecture, 1).items()}
    tokens = _tokens(1)
    answers = transformers.forward(architecture, weights, tokens)
    ours = torch.autograd.grad(answers.sum(), list(weights.values()))
    own = {name: w[0] for name, w in weights.items()}
    plain_answers = plain_forward(architecture, own, tokens[0])
    plain = torch.autograd.grad(plain_answers.sum(), list(weights.values()))
    for a, b in zip(ours, plain, strict=True):
        # rounding as above, and the norms' gradients divide by standard deviations below one
        assert torch.allclose(a, b, atol=1e-11)


def test_parameters_and_initial_weights():
    # by hand: embedding (d+1)d + d; a block 3d² + 4d and d² + d for each dense layer; reading d + 1
    sizes = ((1, 0), (2, 1), (3, 1))
    assert [Architecture(5, *size).parameters() for size in sizes] == [136, 291, 416]
    weights = Architecture(30, 1).initial_weights(0, range(2))
    assert weights["read"].dtype == torch.float32
    # 900 entries of variance 1/30, kurtosis below 3: relative standard error of the variance at
    # most (2/900)^½ = 0.047, and four of them
    assert abs(float(weights["Q 0"][0].var()) * 30 - 1) < 4 * 0.047
    assert float(weights["Q 0"].abs().max()) <= 2 / (0.8796 * 30**0.5)
    assert not torch.equal(weights["Q 0"][0], weights["Q 0"][1])
    alone = Architecture(30, 1).initial_weights(0, [1])
    assert torch.equal(alone["Q 0"][0], weights["Q 0"][1])


@pytest.mark.parametrize(("blocks", "dense"), [(1, 0), (1, 1), (2, 1)])
def test_identifiable_parameters(blocks, dense):
    d = 3
    # each of the two norms of a block undoes one scale, without a dense layer only the last
    undone = 2 * blocks if dense else 1
    expected = 3 * blocks * d**2 + (5 - 2 * blocks) * d - (blocks + 1) - undone
    assert transformers.identifiable_parameters(Architecture(d, blocks, dense)) == expected


def test_losses_are_mean_squared_errors_of_the_answers():
    architecture = Architecture(3, 1, 0)
    fleet = draw_fleet([7, 7], 3, 4, 0.1, 0)
    weights = _weights(architecture)
    found = transformers.losses(architecture, weights, fleet)
    for b in range(2):
        own = {name: w[b] for name, w in weights.items()}
        error = plain_forward(architecture, own, fleet.z[b].mT) - fleet.y[b]
        # rounding: 1e-16 times a few hundred operations
        assert float(found[b]) == pytest.approx(float(error.square().mean()), rel=1e-12)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="blocks must be at least 1"):
        Architecture(3, 0)
    with pytest.raises(ValueError, match="d must be at least 2"):
        Architecture(1, 1)
    with pytest.raises(ValueError, match="dense must be at least 0"):
        Architecture(3, 1, -1)
    with pytest.raises(ValueError, match="width must be at least 0"):
        Architecture(3, 1, 1, -1)
    with pytest.raises(ValueError, match="fleet must hold sets of one size"):
        transformers.tokens_of(draw_fleet([5, 6], 3, 3, 0.1, 0))
    weights = Architecture(4, 1).initial_weights(0, [0])
    with pytest.raises(ValueError, match="tokens must have shape"):
        transformers.forward(Architecture(4, 1), weights, torch.zeros(1, 2, 3, 4))
