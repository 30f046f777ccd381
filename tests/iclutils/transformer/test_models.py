"""The fleet of whole transformers: against one written with torch's own layers."""

import math

import pytest
import torch
from torch import nn

from iclutils.randomness import normal, stream
from iclutils.transformer.models import Architecture, answers


def prompts(count=2, d=3, n=5, q=2, seed=0):
    generator = stream(seed, "prompts of a test", count, d, n, q)
    x = normal(count, 4, n, d, generator=generator)
    y = normal(count, 4, n, generator=generator)
    return x, y, normal(count, 4, q, d, generator=generator)


def scattered(architecture, count=2):
    """Weights of which none is at a special value."""
    start = architecture.initial_weights(0, range(count)).double()
    return start + 0.2 * normal(*start.shape, generator=stream(0, "scatter"))


def plain_answers(architecture, weights, x, y, query):
    """One network and one prompt with torch's layers, all tokens in every block, and a mask."""
    named = {name: part[0] for name, part in architecture.named(weights[None]).items()}

    def linear(name, bias):
        layer = nn.Linear(*named[name].shape).double()
        layer.weight.data, layer.bias.data = named[name].T, named[bias][0]
        return layer

    def norm(h, scale, shift):
        return nn.functional.layer_norm(h, h.shape[-1:], named[scale][0], named[shift][0])

    n, width = len(x), architecture.width
    seen = torch.cat([x, y[:, None], torch.zeros(n, 1)], 1)
    asked = torch.cat([query, torch.tensor([[0.0, 1.0]]).expand(len(query), 2)], 1)
    h = linear("embed", "embed bias")(torch.cat([seen, asked]).double())
    hidden_from = torch.arange(len(h)).expand(len(h), -1) >= n
    for i in range(architecture.blocks):
        heads = nn.MultiheadAttention(width, architecture.heads, batch_first=True).double()
        heads.in_proj_weight.data = torch.cat([named[f"{name} {i}"].T for name in "QKV"])
        heads.in_proj_bias.data = torch.cat([named[f"{name} bias {i}"][0] for name in "QKV"])
        heads.out_proj.weight.data = named[f"O {i}"].T
        heads.out_proj.bias.data = named[f"O bias {i}"][0]
        normed = norm(h, f"scale {i}", f"shift {i}")[None]
        h = h + heads(normed, normed, normed, attn_mask=hidden_from, need_weights=False)[0][0]
        if architecture.hidden:
            normed = norm(h, f"dense scale {i}", f"dense shift {i}")
            up = nn.functional.gelu(linear(f"up {i}", f"up bias {i}")(normed), approximate="tanh")
            h = h + linear(f"down {i}", f"down bias {i}")(up)
    return linear("read", "read bias")(norm(h, "scale", "shift"))[n:, 0]


@pytest.mark.parametrize(
    "sizes", [(1, 1, 8, 0), (1, 2, 8, 16), (2, 1, 8, 16), (2, 2, 8, 0), (3, 4, 8, 12)]
)
def test_the_answers_are_those_of_torchs_layers(sizes):
    architecture = Architecture(3, *sizes)
    weights = scattered(architecture)
    x, y, query = prompts()
    found = answers(architecture, weights, x, y, query)
    for network in range(2):
        for prompt in range(4):
            at = network, prompt
            with torch.no_grad():
                plain = plain_answers(architecture, weights[network], x[at], y[at], query[at])
            # rounding: 1e-16 times a few hundred operations
            assert torch.allclose(found[at], plain, atol=1e-12)


def test_one_example_stands_for_equal_ones():
    architecture = Architecture(3, width=8, hidden=16)
    weights = scattered(architecture)
    x, y, query = prompts()
    counts = torch.tensor([2.0, 1.0, 3.0, 1.0, 0.0])
    every = counts.int()
    repeated = (part.repeat_interleave(every, dim=2) for part in (x, y))
    found = answers(architecture, weights, x, y, query, counts.expand(y.shape))
    # rounding, as above
    assert torch.allclose(found, answers(architecture, weights, *repeated, query), atol=1e-12)


def test_queries_of_one_prompt_do_not_see_each_other():
    architecture = Architecture(3, width=8, hidden=16)
    weights = scattered(architecture)
    x, y, query = prompts()
    together = answers(architecture, weights, x, y, query)
    alone = answers(architecture, weights, x, y, query[:, :, 1:])
    # rounding, as above
    assert torch.allclose(together[..., 1:], alone, atol=1e-12)


def test_parameters_and_first_weights():
    # by hand: embedding (d+2)·8 + 8; a block 2·8 + 4(64 + 8), and 2·8 + 2·8·16 + 16 + 8 for its
    # dense layers; 2·8 for the last norm, 8 + 1 to read
    assert Architecture(3, 2, 2, 8, 16).parameters() == 48 + 2 * (304 + 296) + 16 + 9
    assert Architecture(3, 1, 2, 8, 0).parameters() == 48 + 304 + 25
    architecture = Architecture(2)
    weights = architecture.initial_weights(0, [0, 5])
    assert torch.equal(weights[1], architecture.initial_weights(0, [5])[0])
    assert not torch.equal(weights[0], weights[1])
    named = architecture.named(weights)
    assert float(named["scale 0"].min()) == 1
    assert float(named["up bias 1"].abs().max()) == 0
    # 4096 numbers of variance 1/32: five standard errors of a variance
    assert abs(float(named["up 0"][0].var()) * 32 - 1) < 5 * math.sqrt(2 / 4096)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="width must be a multiple of heads"):
        Architecture(2, heads=3)
    with pytest.raises(ValueError, match="blocks must be at least 1"):
        Architecture(2, blocks=0)
    with pytest.raises(ValueError, match="hidden must be at least 0"):
        Architecture(2, hidden=-1)
    architecture = Architecture(3, width=8, hidden=0)
    x, y, query = prompts()
    weights = scattered(architecture)
    with pytest.raises(ValueError, match="weights must have shape"):
        answers(architecture, weights[:, 1:], x, y, query)
    with pytest.raises(ValueError, match="y must have shape"):
        answers(architecture, weights, x, y[:, :, 1:], query)
    with pytest.raises(ValueError, match="query must have shape"):
        answers(architecture, weights, x, y, query[..., 1:])
    with pytest.raises(ValueError, match="counts must have shape"):
        answers(architecture, weights, x, y, query, y[..., 1:])
