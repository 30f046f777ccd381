r"""Whole transformers, many at once: embedding, blocks of attention, dense layers, read-out.

A token :math:`(x_i, y_i)` is embedded, :math:`h = E(x_i, y_i) + e`. Each of the blocks computes,
with a causal mask and one head,

.. math:: g = \mathrm{LN}\bigl(h + \operatorname{softmax}(hQ(hK)^\top/\sqrt d)\,hV\bigr),\qquad
          h \leftarrow \mathrm{LN}(g + f(g)),

f being some dense layers with gelu between them (none: f is what entered the first norm), and the
answer is read off the last token. This is what the authors of Lu et al. (PNAS 2025) train (their
public code, mletey/incontext-cleanup). A fleet of B models, each with its own prompts, is one
tensor program.

The weights stand in a dictionary under composed names, not in modules stacked by
``torch.func.stack_module_state``, because only written out can the last block be computed at the
query alone; the tests hold it against torch's own layers, and ``make bench`` times it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from iclutils import validation
from iclutils.randomness import stream
from iclutils.regression.training_sets import Fleet, draw_fleet

Weights = dict[str, Tensor]

# The standard deviation of a standard normal variable that is cut at two standard deviations.
CUT_NORMAL_SD = 0.87962566


@dataclass(frozen=True)
class Architecture:
    """Dimension ``d`` of x, number of ``blocks``, and of ``dense`` layers in each one's f.

    ``width`` is that of all that is between embedding and read-out, and d where it is 0.

    Raises ``ValueError`` where ``d`` is below 2, ``blocks`` below 1, or ``dense`` or ``width``
    below 0.
    """

    d: int
    blocks: int
    dense: int = 1
    width: int = 0

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2)
        validation.whole("blocks", self.blocks)
        validation.whole("dense", self.dense, low=0)
        validation.whole("width", self.width, low=0)
        object.__setattr__(self, "width", self.width or self.d)

    def shapes(self) -> dict[str, tuple[int, int]]:
        """Name and shape of every trained array; matrices act from the right, (inputs, outputs)."""
        d = self.width
        shapes = {"embed": (self.d + 1, d), "embed bias": (1, d)}
        for i in range(self.blocks):
            shapes |= {f"{name} {i}": (d, d) for name in "QKV"}
            norms = ("scale", "shift", "last scale", "last shift")
            shapes |= {f"{name} {i}": (1, d) for name in norms}
            shapes |= {f"dense {i}.{j}": (d, d) for j in range(self.dense)}
            shapes |= {f"dense bias {i}.{j}": (1, d) for j in range(self.dense)}
        return shapes | {"read": (d, 1), "read bias": (1, 1)}

    def parameters(self) -> int:
        """How many numbers are trained, identifiable or not."""
        return sum(math.prod(shape) for shape in self.shapes().values())

    def initial_weights(
        self, seed: int, models: Sequence[int], dtype: torch.dtype = torch.float32
    ) -> Weights:
        """Weights of the ``models``: scales one, matrices Gaussian, the rest zero.

        The Gaussian has variance 1/inputs and is cut at two of its standard deviations (the
        default of the authors' framework). A model is a number that names its random streams, so
        that its weights do not depend on which others are in the fleet.
        """
        weights = {}
        for name, shape in self.shapes().items():
            if shape[0] == 1:
                fill = 1.0 if "scale" in name else 0.0
                weights[name] = torch.full((len(models), *shape), fill, dtype=dtype)
            else:
                matrices = [
                    _cut_gaussian(shape, stream(seed, "start of transformer", name, self.width, b))
                    for b in models
                ]
                weights[name] = torch.stack(matrices).to(dtype)
        return weights


def _cut_gaussian(
    shape: tuple[int, int], generator: torch.Generator
) -> Float[Tensor, "inputs outputs"]:
    sd = 1 / (CUT_NORMAL_SD * math.sqrt(shape[0]))
    empty = torch.empty(shape, dtype=torch.float64)
    return torch.nn.init.trunc_normal_(empty, std=sd, a=-2 * sd, b=2 * sd, generator=generator)


def _layer_norm(
    x: Float[Tensor, "models rows d"],
    scale: Float[Tensor, "models 1 d"],
    shift: Float[Tensor, "models 1 d"],
    eps: float,
) -> Float[Tensor, "models rows d"]:
    return torch.addcmul(shift, functional.layer_norm(x, x.shape[-1:], eps=eps), scale)


def _after_attention(
    weights: Weights, i: int, dense: int, h: Float[Tensor, "models rows d"], eps: float
) -> Float[Tensor, "models rows d"]:
    """Run the rest of block ``i`` on ``h``, to which its attention has been added."""
    g = _layer_norm(h, weights[f"scale {i}"], weights[f"shift {i}"], eps)
    f = h if dense == 0 else g
    for j in range(dense):
        entered = functional.gelu(f, approximate="tanh") if j else f
        f = torch.baddbmm(weights[f"dense bias {i}.{j}"], entered, weights[f"dense {i}.{j}"])
    return _layer_norm(g + f, weights[f"last scale {i}"], weights[f"last shift {i}"], eps)


def _block(
    weights: Weights, i: int, dense: int, h: Float[Tensor, "models prompts t d"], eps: float
) -> Float[Tensor, "models prompts t d"]:
    """Block ``i`` on all tokens."""
    count, n, t, d = h.shape
    rows = h.reshape(count, n * t, d)
    qkv = torch.cat([weights[f"{name} {i}"] for name in "QKV"], 2)
    q, k, v = torch.bmm(rows, qkv).view(count, n, t, 3 * d).chunk(3, -1)
    attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=d**-0.5)
    added = rows + attended.reshape(count, n * t, d)
    return _after_attention(weights, i, dense, added, eps).view(count, n, t, d)


class _Spanned(NamedTuple):
    """Vectors c·A in the span of few rows: their coordinates c, and the rows A."""

    c: Float[Tensor, "models tokens m"]
    rows: Float[Tensor, "models m width"]


def _spanned_norm(
    h: _Spanned, scale: Float[Tensor, "models 1 d"], shift: Float[Tensor, "models 1 d"], eps: float
) -> _Spanned:
    """Normalise ``h``: its rows are centred, and one more, its coordinate 1, is the shift.

    The variance of c·A is the quadratic form of c with the covariances of the centred rows.
    """
    rows = h.rows - h.rows.mean(-1, keepdim=True)
    form = rows @ rows.mT / rows.shape[-1]
    variance = (torch.bmm(h.c, form) * h.c).sum(-1, keepdim=True)
    c = functional.pad(h.c * (variance + eps).rsqrt(), (0, 1), value=1.0)
    return _Spanned(c, torch.cat([rows * scale, shift], 1))


def _first_block(
    weights: Weights, tokens: Float[Tensor, "models prompts t e"], eps: float
) -> _Spanned:
    r"""Run the first of several blocks, with one dense layer, in the few dimensions of the tokens.

    With a 1 appended to a token z, h = zE for one matrix E, so that the scores are
    :math:`z\,(EQK^\top E^\top)z^\top` and what is added to h is :math:`(\mathrm{softmax}\,z)EV`:
    both lie in the span of 2(d + 2) rows. A norm adds one, its shift; a dense layer without a
    nonlinearity adds none.
    """
    count, n, t, e = tokens.shape
    z = functional.pad(tokens, (0, 1), value=1.0)
    embed = torch.cat([weights["embed"], weights["embed bias"]], 1)
    pull = (embed @ weights["Q 0"]) @ (embed @ weights["K 0"]).mT
    queries = torch.bmm(z.view(count, n * t, e + 1), pull).view(z.shape)
    scale = embed.shape[-1] ** -0.5
    seen = functional.scaled_dot_product_attention(queries, z, z, is_causal=True, scale=scale)
    both = torch.cat([z, seen], -1).view(count, n * t, -1)
    h = _Spanned(both, torch.cat([embed, embed @ weights["V 0"]], 1))
    g = _spanned_norm(h, weights["scale 0"], weights["shift 0"], eps)
    rows = g.rows + g.rows @ weights["dense 0.0"]
    rows = torch.cat([rows[:, :-1], rows[:, -1:] + weights["dense bias 0.0"]], 1)
    return _spanned_norm(_Spanned(g.c, rows), weights["last scale 0"], weights["last shift 0"], eps)


def forward(
    architecture: Architecture,
    weights: Weights,
    tokens: Float[Tensor, "models prompts t e"],
    *,
    eps: float = 1e-6,
) -> Float[Tensor, "models prompts"]:
    r"""Compute the answers of B models at the last token, each model with its own prompts.

    ``weights`` are those of an architecture's ``initial_weights`` or of
    :func:`iclutils.regression.transformer_training.train`; ``tokens``, of
    :func:`iclutils.regression.transformers.tokens_of`, hold the labels in their last entry, 0 for
    the query; ``eps``, zero or above, is added to the variance in the norms.

    Only what the answer needs is computed: the blocks before the last on all tokens, the last at
    the query q alone, where :math:`qQ(hK)^\top = (qQK^\top)h^\top` and softmax(·)hV =
    (softmax(·)h)V make keys and values of the other tokens unnecessary. With one block not even
    the other tokens' embedding is needed: its bias shifts all scores alike, which the softmax does
    not see. Of two blocks with one dense layer, wider than 2(d + 3), the first is computed in the
    span of a token and its mean, 2(d + 3) rows, whatever the width.

    Raises ``ValueError`` where a token has not d + 1 entries, ``KeyError`` for a missing weight.
    """
    validation.holds("weights", weights, architecture.shapes())
    validation.shape("tokens", tokens, "B m T e", e=architecture.d + 1)
    embed, bias = weights["embed"], weights["embed bias"]
    dense, last = architecture.dense, architecture.blocks - 1
    count, n, t, _ = tokens.shape
    if last == 0:
        query = torch.baddbmm(bias, tokens[:, :, -1], embed)
        pull = (query @ weights["Q 0"] @ weights["K 0"].mT) @ embed.mT
        seen = torch.baddbmm(bias, _seen(tokens, pull, architecture.width), embed)
    elif last == 1 and dense == 1 and architecture.width > 2 * (architecture.d + 3):
        first = _first_block(weights, tokens, eps)
        c = first.c.view(count, n, t, -1)
        query = c[:, :, -1] @ first.rows
        pull = (query @ weights["Q 1"] @ weights["K 1"].mT) @ first.rows.mT
        seen = _seen(c, pull, architecture.width) @ first.rows
    else:
        rows = torch.baddbmm(bias, tokens.reshape(count, n * t, -1), embed)
        h = rows.view(count, n, t, -1)
        for i in range(last):
            h = _block(weights, i, dense, h, eps)
        query = h[:, :, -1]
        pull = query @ weights[f"Q {last}"] @ weights[f"K {last}"].mT
        seen = _seen(h, pull, architecture.width)
    added = query + seen @ weights[f"V {last}"]
    final = _after_attention(weights, last, dense, added, eps)
    return torch.baddbmm(weights["read bias"], final, weights["read"])[..., 0]


def _seen(
    source: Float[Tensor, "models prompts t width"],
    pull: Float[Tensor, "models prompts width"],
    scale: int,
) -> Float[Tensor, "models prompts width"]:
    """Compute the mean of ``source`` under the query's attention, softmax(source·pull/√scale)."""
    scores = functional.softmax((source @ pull[..., None])[..., 0] * scale**-0.5, -1)
    return (scores[:, :, None] @ source)[:, :, 0]


def identifiable_parameters(
    architecture: Architecture, seed: int = 0, *, prompts: int | None = None, trials: int = 3
) -> int:
    """How many directions of the weights change the answer: the rank of the Jacobian.

    It is taken at random weights, on twice as many prompts as there are weights, and with exact
    norms (eps = 0): what eps = 10⁻⁶ makes of a scale that the norm undoes is no direction to
    train. The rank is that of almost all weights, and near bad ones rounding hides a direction:
    the highest of three counts, or of ``trials``.

    Where few of many weights matter, fewer ``prompts`` are enough, if they are more than the rank;
    a result that equals ``prompts`` says only that the rank is not smaller. Where there are more
    than four weights for each, the columns are first combined at random into as many as there are
    prompts, which keeps the rank of almost all tables.
    Raises ``ValueError`` where ``prompts`` or ``trials`` is below 1.

    >>> architecture = Architecture(3, blocks=1, dense=0)
    >>> architecture.parameters(), identifiable_parameters(architecture)
    (58, 33)
    >>> identifiable_parameters(architecture, prompts=40)
    33
    """
    d = architecture.d
    if prompts is None:
        prompts = 2 * architecture.parameters()
    validation.whole("prompts", prompts)
    fleet = draw_fleet([prompts], d, d, 0.1, seed, role="identifiable")
    tokens = tokens_of(fleet, torch.float64).tokens[0]
    ranks = []
    for trial in range(validation.whole("trials", trials)):
        generator = stream(seed, "identifiable weights", d, trial)
        weights = {
            name: w + 0.3 * torch.randn(w.shape, dtype=w.dtype, generator=generator)
            for name, w in architecture.initial_weights(seed, [trial], torch.float64).items()
        }
        derivatives = _derivatives(architecture, weights, tokens)
        if derivatives.shape[1] > 4 * prompts:
            derivatives = _combine_columns(derivatives, prompts, generator)
        ranks.append(int(torch.linalg.matrix_rank(derivatives, rtol=1e-12)))
    return max(ranks)


def _combine_columns(
    table: Float[Tensor, "rows columns"], number: int, generator: torch.Generator
) -> Float[Tensor, "rows number"]:
    """Add the columns, each times a random number, into ``number`` random groups of one size."""
    rows, columns = table.shape
    scale = torch.randn(columns, dtype=table.dtype, generator=generator)
    into = torch.randperm(columns, generator=generator) % number
    return table.new_zeros(rows, number).index_add_(1, into, table * scale)


def _derivatives(
    architecture: Architecture, weights: Weights, tokens: Float[Tensor, "prompts t e"]
) -> Float[Tensor, "prompts parameters"]:
    """Compute the derivatives of one model's answers, with exact norms, by its weights."""
    # a copy of the model for every prompt: one backward pass is the whole Jacobian
    copies = {name: w.repeat(len(tokens), 1, 1).requires_grad_() for name, w in weights.items()}
    answers = forward(architecture, copies, tokens[:, None], eps=0.0)
    rows = torch.autograd.grad(answers.sum(), list(copies.values()))
    return torch.cat([row.flatten(1) for row in rows], 1)


class Tokens(NamedTuple):
    """A fleet's prompts as a transformer reads them: the query last, its label zero; and y."""

    tokens: Float[Tensor, "models prompts t e"]
    y: Float[Tensor, "models prompts"]


def tokens_of(fleet: Fleet, dtype: torch.dtype = torch.float32) -> Tokens:
    """Make tokens of the prompts of a ``fleet``, in the precision ``dtype``.

    Raises ``ValueError`` where the sets have different sizes.
    """
    if not bool(fleet.mask.all()):
        raise ValueError(
            "fleet must hold sets of one size n: minibatches are a tenth of it; got several sizes"
        )
    return Tokens(fleet.z.mT.contiguous().to(dtype), fleet.y.to(dtype))


def losses(architecture: Architecture, weights: Weights, fleet: Fleet) -> Float[Tensor, " models"]:
    """Mean squared error of each model on its own prompts of ``fleet``, all sets of one size.

    Raises ``ValueError`` where the sets have different sizes.
    """
    read = weights["read"]
    tokens, y = (part.to(read.device) for part in tokens_of(fleet, read.dtype))
    with torch.no_grad():
        return (forward(architecture, weights, tokens) - y).square().mean(1).double().cpu()
