r"""Whole transformers, many at once: embedding, blocks of softmax attention and a dense layer, trained in minibatches.

A token (x_i, y_i) is embedded, h = E(x_i, y_i) + e. Each of the blocks computes, with a causal mask and one head,

    g = LN(h + softmax(hQ(hK)ᵀ/√d) hV),    h ← LN(g + f(g)),

f being ``dense`` dense layers with gelu between them (none: f(g) stays what entered the norm), and the answer is read off the
last token. This is what the authors of Lu et al. (PNAS 2025) train (their public code, mletey/incontext-cleanup). A fleet
of B models, each with its own prompts, is one tensor program. Page 5b uses it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional

from iclutils import attention_layer, validation
from iclutils.attention_layer import Fleet
from iclutils.randomness import stream

Weights = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Architecture:
    """Width ``d`` (that of x too), the number of ``blocks`` and of ``dense`` layers in each block's f; raises ``ValueError``."""

    d: int
    blocks: int
    dense: int = 1

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2), validation.whole("blocks", self.blocks)
        validation.whole("dense", self.dense, low=0)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every trained array; matrices act from the right, (inputs, outputs)."""
        d = self.d
        found: dict[str, tuple[int, ...]] = {"embed": (d + 1, d), "embed bias": (1, d)}
        for i in range(self.blocks):
            found |= {f"{name} {i}": (d, d) for name in "QKV"}
            found |= {f"{name} {i}": (1, d) for name in ("scale", "shift", "last scale", "last shift")}
            found |= {f"dense {i}.{j}": (d, d) for j in range(self.dense)}
            found |= {f"dense bias {i}.{j}": (1, d) for j in range(self.dense)}
        return found | {"read": (d, 1), "read bias": (1, 1)}

    def parameters(self) -> int:
        """How many numbers are trained, identifiable or not."""
        return sum(math.prod(shape) for shape in self.shapes().values())

    def start(self, seed: int, models: Sequence[int], dtype: torch.dtype = torch.float32) -> Weights:
        """Weights of the ``models``, numbers that name their streams: scales one, matrices Gaussian, the rest zero.

        The Gaussian has variance 1/inputs and is cut at two standard deviations (the authors' framework's default).
        """
        found = {}
        for name, shape in self.shapes().items():
            if shape[0] == 1:
                found[name] = torch.full((len(models), *shape), float("scale" in name), dtype=dtype)
            else:
                sd = 1 / (0.87962566 * math.sqrt(shape[0]))  # the cut takes 0.8796 of the standard deviation
                found[name] = torch.stack([torch.nn.init.trunc_normal_(
                    torch.empty(shape, dtype=torch.float64), std=sd, a=-2 * sd, b=2 * sd,
                    generator=stream(seed, "start of transformer", name, self.d, b)) for b in models]).to(dtype)
        return found


def _norm(x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor, eps: float) -> torch.Tensor:
    return torch.addcmul(shift, functional.layer_norm(x, x.shape[-1:], eps=eps), scale)


def _rest(weights: Weights, i: int, dense: int, h: torch.Tensor, eps: float) -> torch.Tensor:
    """What a block does after its attention, ``h: (B, m, d)``, the attended added."""
    g = _norm(h, weights[f"scale {i}"], weights[f"shift {i}"], eps)
    f = h if dense == 0 else g
    for j in range(dense):
        f = torch.baddbmm(weights[f"dense bias {i}.{j}"], functional.gelu(f, approximate="tanh") if j else f,
                          weights[f"dense {i}.{j}"])
    return _norm(g + f, weights[f"last scale {i}"], weights[f"last shift {i}"], eps)


def forward(architecture: Architecture, weights: Weights, tokens: torch.Tensor, *, eps: float = 1e-6) -> torch.Tensor:
    r"""The answers of B models at the last token; ``tokens: (B, m, T, d+1)``, each weight (B, ...); returns (B, m).

    ``eps`` is added to the variance in the norms. Only what the last token's answer needs is computed: the blocks before the
    last on all tokens, the last at the query, where qKᵀhᵀ = (qKᵀ)hᵀ and softmax(·)hV = (softmax(·)h)V make keys and values of
    the other tokens unnecessary.
    """
    validation.shape("tokens", tokens, "B m T e", e=architecture.d + 1)
    count, m, t = tokens.shape[:3]
    d, last = architecture.d, architecture.blocks - 1
    embed, bias = weights["embed"], weights["embed bias"]
    if last == 0:
        source, query = tokens, torch.baddbmm(bias, tokens[:, :, -1], embed)
    else:
        h = torch.baddbmm(bias, tokens.reshape(count, m * t, d + 1), embed)
        for i in range(last):
            mixed = torch.bmm(h, torch.cat([weights[f"{name} {i}"] for name in "QKV"], 2)).view(count, m, t, 3 * d)
            q, k, v = mixed.split(d, -1)
            attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=d**-0.5)
            h = _rest(weights, i, architecture.dense, h + attended.reshape(count, m * t, d), eps)
        source = h.view(count, m, t, d)
        query = source[:, :, -1]
    pull = query @ weights[f"Q {last}"] @ weights[f"K {last}"].mT
    if last == 0:  # the embedding's bias shifts all scores alike, which softmax does not see
        pull = pull @ embed.mT
    scores = functional.softmax((source @ pull[..., None])[..., 0] * d**-0.5, -1)
    seen = (scores[:, :, None] @ source)[:, :, 0]
    if last == 0:
        seen = torch.baddbmm(bias, seen, embed)
    h = _rest(weights, last, architecture.dense, query + seen @ weights[f"V {last}"], eps)
    return torch.baddbmm(weights["read bias"], h, weights["read"])[..., 0]


def identifiable_parameters(architecture: Architecture, seed: int = 0) -> int:
    """How many directions of the weights change the answer: the rank of the Jacobian at random weights, on many prompts.

    With exact norms (eps = 0): what eps = 10⁻⁶ makes of a scale that the norm undoes is no direction to train.
    """
    d, total = architecture.d, architecture.parameters()
    tokens, _ = tokens_of(attention_layer.draw_fleet([2 * total], d, d, 0.1, seed, role="identifiable"), torch.float64)
    found = 0
    for trial in range(3):  # the rank is that of almost all weights, and near bad ones rounding hides a direction
        draw = stream(seed, "identifiable weights", d, trial)
        # a copy of the weights for every prompt: one backward pass is the whole Jacobian
        many = {name: (w + 0.3 * torch.randn(w.shape, dtype=w.dtype, generator=draw)).repeat(2 * total, 1, 1).requires_grad_()
                for name, w in architecture.start(seed, [trial], torch.float64).items()}
        answers = forward(architecture, many, tokens[0][:, None], eps=0.0)
        rows = torch.autograd.grad(answers.sum(), list(many.values()))
        found = max(found, int(torch.linalg.matrix_rank(torch.cat([row.flatten(1) for row in rows], 1), rtol=1e-12)))
    return found


def tokens_of(fleet: Fleet, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    """The prompts of a fleet whose sets are of one size as tokens (B, n, ℓ+1, d+1), the query last, and labels (B, n)."""
    if not bool(fleet.mask.all()):
        raise ValueError("fleet must hold sets of one size n: minibatches are a tenth of it; got several sizes")
    return fleet.z.mT.contiguous().to(dtype), fleet.y.to(dtype)


def losses(architecture: Architecture, weights: Weights, fleet: Fleet) -> torch.Tensor:
    """Mean squared error of each model on its own prompts of ``fleet``; returns (B,)."""
    tokens, y = tokens_of(fleet, weights["read"].dtype)
    with torch.no_grad():
        return (forward(architecture, weights, tokens) - y).square().mean(1).double()


def train(architecture: Architecture, fleet: Fleet, seed: int, checkpoints: Sequence[int], *, rate: float = 1e-3,
          settle: float = 0.2, dtype: torch.dtype = torch.float32) -> list[Weights]:
    """Train B models by AdamW, each on its set of n prompts, in minibatches of ⌊n/10⌋; the weights after each checkpoint.

    A minibatch is drawn without replacement, afresh for every step and at the same places in all sets. The learning
    rate is ``rate`` and falls linearly to zero over the last share ``settle`` of the steps; weight decay is 10⁻⁴. ``checkpoints``
    rise. Raises ``ValueError``.
    """
    validation.positive("rate", rate), validation.in_range("settle", settle, 0, 1)
    for step in checkpoints:
        validation.whole("checkpoints", step)
    if list(checkpoints) != sorted(set(checkpoints)):
        raise ValueError(f"checkpoints must rise; got {list(checkpoints)}")
    tokens, y = tokens_of(fleet, dtype)
    count, n = y.shape
    batch, draw, steps = max(1, n // 10), stream(seed, "minibatches", n), checkpoints[-1]
    weights = {name: w.requires_grad_() for name, w in architecture.start(seed, range(count), dtype).items()}
    optimiser = torch.optim.AdamW(list(weights.values()), lr=rate, weight_decay=1e-4, fused=True)
    kept = []
    for step in range(1, steps + 1):
        if settle:
            optimiser.param_groups[0]["lr"] = rate * min(1.0, (steps - step + 1) / (settle * steps))
        chosen = torch.randperm(n, generator=draw)[:batch]
        optimiser.zero_grad()
        error = forward(architecture, weights, tokens.index_select(1, chosen)) - y.index_select(1, chosen)
        error.square().mean(1).sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if step in checkpoints:
            kept.append({name: w.detach().clone() for name, w in weights.items()})
    return kept


def job(*, d: int, blocks: int, dense: int, n: int, tasks: int | None, sets: int, rho: float, steps: int, rate: float,
        seed: int) -> dict[str, list[list[float]]]:
    """One fleet of a recorded sweep, see :mod:`iclutils.sweeps`: ``sets`` sets of n prompts at α = 1.

    After a twentieth, a quarter and all of the ``steps``: the error on the training set, on fresh tasks and, where prompts
    share ``tasks`` tasks, on those; each (3, sets), to four digits.
    """
    architecture = Architecture(d, blocks, dense)
    fleet = attention_layer.draw_fleet([n] * sets, d, d, rho, seed, tasks=tasks)
    tests = {"train": fleet, "icl": attention_layer.draw_fleet([1000] * sets, d, d, rho, seed, role="test")}
    if tasks is not None:
        tests["idg"] = attention_layer.draw_fleet([1000] * sets, d, d, rho, seed, tasks=tasks, role="test")
    trained = train(architecture, fleet, seed, [steps // 20, steps // 4, steps], rate=rate)
    return {name: [[float(f"{e:.4g}") for e in losses(architecture, w, test).tolist()] for w in trained]
            for name, test in tests.items()}
