"""The fleet of whole transformers: against one written with torch's own layers, and each model apart from the others."""

import pytest
import torch
from torch.nn import functional

from iclutils import attention_layer, transformer
from iclutils.randomness import stream
from iclutils.transformer import Architecture


def _weights(architecture, count=2, seed=0):
    """Weights of which none is at a special value."""
    draw = stream(seed, "weights", architecture.d, architecture.blocks)
    return {name: w + 0.2 * torch.randn(w.shape, dtype=w.dtype, generator=draw)
            for name, w in architecture.start(seed, range(count), torch.float64).items()}


def _plain(architecture, weights, tokens):
    """One model, all tokens, layer by layer in torch.nn.functional; ``tokens: (m, T, d+1)``."""
    def dense(x, name, bias=None):
        return functional.linear(x, weights[name].T, None if bias is None else weights[bias][0])

    def norm(x, scale, shift):
        return functional.layer_norm(x, x.shape[-1:], weights[scale][0], weights[shift][0], 1e-6)

    h = dense(tokens, "embed", "embed bias")
    for i in range(architecture.blocks):
        x = h + functional.scaled_dot_product_attention(*(dense(h, f"{name} {i}") for name in "QKV"), is_causal=True)
        g = norm(x, f"scale {i}", f"shift {i}")
        for j in range(architecture.dense):
            x = dense(functional.gelu(x, approximate="tanh") if j else g, f"dense {i}.{j}", f"dense bias {i}.{j}")
        h = norm(g + x, f"last scale {i}", f"last shift {i}")
    return dense(h, "read", "read bias")[:, -1, 0]


@pytest.mark.parametrize(("blocks", "dense"), [(1, 0), (1, 1), (2, 1), (2, 2), (3, 1)])
def test_forward_is_the_transformer_of_torch_layers(blocks, dense):
    architecture = Architecture(3, blocks, dense)
    weights = _weights(architecture)
    tokens = torch.randn(2, 5, 6, 4, dtype=torch.float64, generator=stream(0, "tokens"))
    found = transformer.forward(architecture, weights, tokens)
    for b in range(2):
        expected = _plain(architecture, {name: w[b] for name, w in weights.items()}, tokens[b])
        assert torch.allclose(found[b], expected, atol=1e-12)  # rounding: 1e-16 times a few hundred operations


def test_the_gradient_is_that_of_the_plain_transformer():
    architecture = Architecture(3, 2, 1)
    weights = {name: w.requires_grad_() for name, w in _weights(architecture, 1).items()}
    tokens = torch.randn(1, 5, 6, 4, dtype=torch.float64, generator=stream(0, "tokens"))
    ours = torch.autograd.grad(transformer.forward(architecture, weights, tokens).sum(), list(weights.values()))
    plain = torch.autograd.grad(_plain(architecture, {k: w[0] for k, w in weights.items()}, tokens[0]).sum(),
                                list(weights.values()))
    for a, b in zip(ours, plain, strict=True):
        assert torch.allclose(a, b, atol=1e-11)


def test_parameters_and_start():
    # by hand: embedding (d+1)d + d; a block 3d² + 4d and d² + d for each dense layer; reading d + 1
    assert [Architecture(5, *b).parameters() for b in ((1, 0), (2, 1), (3, 1))] == [136, 291, 416]
    weights = Architecture(30, 1).start(0, range(2))
    assert weights["read"].dtype == torch.float32
    # 900 entries of variance 1/30, kurtosis below 3: relative standard error of the variance at most (2/900)^½ = 0.047
    assert abs(float(weights["Q 0"][0].var()) * 30 - 1) < 4 * 0.047
    assert float(weights["Q 0"].abs().max()) <= 2 / (0.8796 * 30**0.5)
    assert not torch.equal(weights["Q 0"][0], weights["Q 0"][1])
    assert torch.equal(Architecture(30, 1).start(0, [1])["Q 0"][0], weights["Q 0"][1])


@pytest.mark.parametrize(("blocks", "dense"), [(1, 0), (1, 1), (2, 1)])
def test_identifiable_parameters(blocks, dense):
    d = 3
    # each of the two norms of a block undoes one scale, without a dense layer only the last
    undone = 2 * blocks if dense else 1
    assert transformer.identifiable_parameters(Architecture(d, blocks, dense)) == \
        3 * blocks * d**2 + (5 - 2 * blocks) * d - (blocks + 1) - undone


def test_minibatches_are_tenths_and_match_plain_adamw():
    architecture, n = Architecture(3, 2, 1), 25
    fleet = attention_layer.draw_fleet([n, n], 3, 3, 0.1, 0)
    trained = transformer.train(architecture, fleet, 0, [3], rate=0.01, settle=0.0, dtype=torch.float64)[0]
    tokens, y = transformer.tokens_of(fleet, torch.float64)
    for b in range(2):
        one = {name: w[0].clone().requires_grad_() for name, w in architecture.start(0, [b], torch.float64).items()}
        optimiser = torch.optim.AdamW(list(one.values()), lr=0.01, weight_decay=1e-4)
        draw = stream(0, "minibatches", n)
        for _ in range(3):
            chosen = torch.randperm(n, generator=draw)[:2]  # ⌊25/10⌋
            optimiser.zero_grad()
            (_plain(architecture, one, tokens[b][chosen]) - y[b][chosen]).square().mean().backward()
            optimiser.step()
        for name, w in one.items():
            assert torch.allclose(w, trained[name][b], atol=1e-9), name


def test_one_models_data_do_not_touch_another():
    architecture = Architecture(3, 2, 1)
    fleet, other = (attention_layer.draw_fleet([20, 20], 3, 3, 0.1, seed) for seed in (0, 1))
    mixed = attention_layer.Fleet(*(torch.stack([getattr(fleet, k)[0], getattr(other, k)[1]]) for k in ("z", "y", "mask")))
    first, second = (transformer.train(architecture, f, 0, [20], dtype=torch.float64)[0] for f in (fleet, mixed))
    for name, w in first.items():
        assert torch.allclose(w[0], second[name][0], atol=1e-12)
    assert not torch.allclose(first["Q 0"][1], second["Q 0"][1])


def test_training_is_deterministic_lowers_the_loss_and_settles():
    architecture = Architecture(3, 1, 0)
    fleet = attention_layer.draw_fleet([20] * 4, 3, 3, 0.1, 0)
    brief, long = transformer.train(architecture, fleet, 0, [10, 400], rate=5e-3)
    again = transformer.train(architecture, fleet, 0, [400], rate=5e-3)[0]
    assert all(torch.equal(w, again[name]) for name, w in long.items())
    assert bool((transformer.losses(architecture, long, fleet) < transformer.losses(architecture, brief, fleet)).all())


def test_a_job_is_small_and_names_its_errors():
    settings = {"d": 3, "blocks": 1, "dense": 0, "n": 20, "sets": 2, "rho": 0.01, "steps": 20, "rate": 1e-3, "seed": 0}
    fresh, pooled = (transformer.job(tasks=tasks, **settings) for tasks in (None, 2))
    assert set(fresh) == {"train", "icl"}
    assert set(pooled) == {"train", "icl", "idg"}
    assert torch.tensor(pooled["idg"]).shape == (3, 2)


def test_bad_input_is_refused():
    fleet = attention_layer.draw_fleet([5, 6], 3, 3, 0.1, 0)
    with pytest.raises(ValueError, match="fleet must hold sets of one size"):
        transformer.train(Architecture(3, 1), fleet, 0, [1])
    fleet = attention_layer.draw_fleet([5, 5], 3, 3, 0.1, 0)
    with pytest.raises(ValueError, match="checkpoints must rise"):
        transformer.train(Architecture(3, 1), fleet, 0, [3, 2])
    with pytest.raises(ValueError, match="settle must be finite"):
        transformer.train(Architecture(3, 1), fleet, 0, [3], settle=2)
    with pytest.raises(ValueError, match="blocks must be at least 1"):
        Architecture(3, 0)
    with pytest.raises(ValueError, match="tokens must have shape"):
        transformer.forward(Architecture(4, 1), Architecture(4, 1).start(0, [0]), torch.zeros(1, 2, 3, 4))
