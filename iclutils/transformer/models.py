r"""A transformer with everything in it, many at once: blocks, heads, layer norms, dense layers.

A token is an example :math:`(x_i, y_i, 0)` or the query :math:`(x, 0, 1)`; it is embedded, and each
block computes

.. math:: h \leftarrow h + \mathrm{heads}(\mathrm{LN}(h)),\qquad
          h \leftarrow h + W_2\,\mathrm{gelu}(W_1\mathrm{LN}(h)),

where in every head all tokens attend to the examples. The answer is a linear function of the
query's last normed vector. No token attends to the query, so that several queries may share a
prompt. A fleet of N networks, each with its own prompts, is one tensor program: all its weights are
one matrix, a network a row.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from iclutils import validation
from iclutils.randomness import normal, start, stream

EPS = 1e-5  # added to the variance in the norms: torch's default

Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Architecture:
    """Dimension ``d`` of x, and the sizes of all that is between embedding and answer.

    ``hidden`` is the width of the dense layers, 0 for none. Raises ``ValueError`` where ``d`` is
    below 2, another size below 1 (``hidden``: 0), or ``width`` is no multiple of ``heads``.
    """

    d: int
    blocks: int = 2
    heads: int = 2
    width: int = 32
    hidden: int = 128

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2)
        for name in ("blocks", "heads", "width"):
            validation.whole(name, getattr(self, name))
        validation.whole("hidden", self.hidden, low=0)
        if self.width % self.heads:
            raise ValueError(f"width must be a multiple of heads; got {self.width}, {self.heads}")

    def shapes(self) -> dict[str, tuple[int, int]]:
        """Name and shape of every array; matrices act from the right, (inputs, outputs)."""
        d, hidden = self.width, self.hidden
        shapes = {"embed": (self.d + 2, d), "embed bias": (1, d)}
        for i in range(self.blocks):
            shapes |= {f"scale {i}": (1, d), f"shift {i}": (1, d)}
            shapes |= {f"{name} {i}": (d, d) for name in "QKVO"}
            shapes |= {f"{name} bias {i}": (1, d) for name in "QKVO"}
            if hidden:
                shapes |= {f"dense scale {i}": (1, d), f"dense shift {i}": (1, d)}
                shapes |= {f"up {i}": (d, hidden), f"up bias {i}": (1, hidden)}
                shapes |= {f"down {i}": (hidden, d), f"down bias {i}": (1, d)}
        return shapes | {"scale": (1, d), "shift": (1, d), "read": (d, 1), "read bias": (1, 1)}

    def parameters(self) -> int:
        """Count the numbers that are trained.

        >>> Architecture(2).parameters()
        25665
        """
        return sum(math.prod(shape) for shape in self.shapes().values())

    def initial_weights(self, seed: int, networks: Sequence[int]) -> Float[Tensor, "networks P"]:
        """First weights: matrices Gaussian of variance 1/inputs, scales one, the rest zero.

        A network is a number that names its random stream, so that its weights do not depend on
        which others are in the fleet.
        """
        rows = []
        for network in networks:
            generator = stream(seed, "first weights", self.blocks, self.heads, self.hidden, network)
            parts = []
            for name, shape in self.shapes().items():
                if shape[0] > 1:
                    array = normal(*shape, generator=generator) / math.sqrt(shape[0])
                else:
                    array = torch.full(shape, float("scale" in name), dtype=torch.float64)
                parts.append(array.flatten())
            rows.append(torch.cat(parts))
        return start(torch.stack(rows)).float()

    def named(self, weights: Float[Tensor, "networks P"]) -> Weights:
        """Split the one matrix into arrays by name, as views; each has a leading axis."""
        validation.shape("weights", weights, "N P", P=self.parameters())
        shapes = self.shapes()
        parts = torch.split(weights, [math.prod(shape) for shape in shapes.values()], 1)
        return {
            name: part.reshape(-1, *shape)
            for (name, shape), part in zip(shapes.items(), parts, strict=True)
        }


def _norm(
    h: Float[Tensor, "N rows width"], scale: Float[Tensor, "N 1 width"], shift: Tensor
) -> Float[Tensor, "N rows width"]:
    return torch.addcmul(shift, functional.layer_norm(h, h.shape[-1:], eps=EPS), scale)


def _linear(h: Tensor, weights: Weights, name: str, i: int) -> Float[Tensor, "N rows outputs"]:
    return torch.baddbmm(weights[f"{name} bias {i}"], h, weights[f"{name} {i}"])


def answers(
    architecture: Architecture,
    weights: Float[Tensor, "networks P"],
    x: Float[Tensor, "networks prompts n d"],
    y: Float[Tensor, "networks prompts n"],
    query: Float[Tensor, "networks prompts q d"],
    counts: Float[Tensor, "networks prompts n"] | None = None,
) -> Float[Tensor, "networks prompts q"]:
    """Compute the answers of N networks at the queries of their own prompts.

    Labels and answers are in the network's unit (:attr:`.samplers.Kinks.unit`). Where examples are
    equal, one may stand for all: ``counts`` says for how many, and 0 leaves it out. Only what the
    answer needs is computed: the last block is that of the queries alone. Raises ``ValueError``
    where the shapes do not belong together.
    """
    sizes = validation.shape("x", x, "N m n d", d=architecture.d)
    count, prompts, n, d = sizes["N"], sizes["m"], sizes["n"], sizes["d"]
    validation.shape("y", y, "N m n", N=count, m=prompts, n=n)
    q = validation.shape("query", query, "N m q d", N=count, m=prompts, d=d)["q"]
    mask = None
    if counts is not None:
        validation.shape("counts", counts, "N m n", N=count, m=prompts, n=n)
        # equal tokens have equal scores in every block: e^{score} n is e^{score + log n}
        mask = counts.log().view(count * prompts, 1, 1, n)
    named = architecture.named(weights)
    examples = torch.cat([x, y.unsqueeze(-1), torch.zeros_like(y).unsqueeze(-1)], -1)
    mark = torch.tensor([0.0, 1.0], dtype=query.dtype).expand(*query.shape[:-1], 2)
    queries = torch.cat([query, mark], -1)
    embed, bias = named["embed"], named["embed bias"]
    # the rows of the examples, then those of the queries
    seen = torch.baddbmm(bias, examples.reshape(count, prompts * n, d + 2), embed)
    h = torch.baddbmm(bias, queries.reshape(count, prompts * q, d + 2), embed)
    for i in range(architecture.blocks):
        last = i == architecture.blocks - 1
        normed = _norm(seen, named[f"scale {i}"], named[f"shift {i}"])
        k, v = (_linear(normed, named, name, i) for name in "KV")
        rows = h if last else torch.cat([seen, h], 1)
        own = _norm(h, named[f"scale {i}"], named[f"shift {i}"])
        from_queries = _attend(architecture, named, i, own, k, v, prompts, mask)
        if last:
            attended = from_queries
        else:
            from_examples = _attend(architecture, named, i, normed, k, v, prompts, mask)
            attended = torch.cat([from_examples, from_queries], 1)
        rows = rows + _linear(attended, named, "O", i)
        if architecture.hidden:
            normed = _norm(rows, named[f"dense scale {i}"], named[f"dense shift {i}"])
            up = functional.gelu(_linear(normed, named, "up", i), approximate="tanh")
            rows = rows + _linear(up, named, "down", i)
        h = rows if last else rows[:, prompts * n :]
        seen = seen if last else rows[:, : prompts * n]
    final = _norm(h, named["scale"], named["shift"])
    return torch.baddbmm(named["read bias"], final, named["read"]).view(count, prompts, q)


def _attend(
    architecture: Architecture,
    named: Weights,
    i: int,
    rows: Float[Tensor, "N rows width"],
    k: Float[Tensor, "N seen width"],
    v: Float[Tensor, "N seen width"],
    prompts: int,
    mask: Float[Tensor, "groups 1 1 n"] | None,
) -> Float[Tensor, "N rows width"]:
    """Compute what the heads of block ``i`` make of the examples for some rows, side by side.

    ``mask`` is added to the scores.
    """
    heads = architecture.heads

    def split(h: Tensor) -> Float[Tensor, "groups heads tokens size"]:
        count, rows, width = h.shape
        parts = h.view(count * prompts, rows // prompts, heads, width // heads)
        return parts.transpose(1, 2)

    q = split(_linear(rows, named, "Q", i))
    attended = functional.scaled_dot_product_attention(q, split(k), split(v), attn_mask=mask)
    return attended.transpose(1, 2).reshape(rows.shape)
