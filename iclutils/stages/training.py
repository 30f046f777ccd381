r"""Training a softmax attention layer on orthonormal features, sampled and reduced (chapter 6).

A token is :math:`x = v_m` with probability :math:`p_m`, its label :math:`y = \langle w, x\rangle` with
:math:`w \sim \mathcal N(0, I)`. One head with keys and queries consolidated in Q reads
:math:`\hat y = \sum_i \mathrm{softmax}_i(x_i^\top Q\, x_{\rm query})\, y_i` and descends
:math:`L(Q) = \tfrac12\mathbb E(\hat y - \langle w, x_{\rm query}\rangle)^2` from Q = 0. Two routes:

*sampled*   prompts, tasks and the full Q in a random orthonormal frame, gradients by autograd;
*reduced*   tasks integrated out, :math:`\mathbb E_w(\hat y - y)^2 = (1-\mathrm{Attn}_k)^2 + \sum_{m\ne k}\mathrm{Attn}_m^2`:
            a prompt matters through its feature counts n ~ Multinomial(N, p) alone, and column k of Q
            in the feature frame, :math:`\theta_m = v_m^\top Q v_k`, moves by itself:

.. math:: \frac{\partial L}{\partial \theta_m} = p_k \mathbb E_n\, a_m \Big(g_m - \sum_j a_j g_j\Big), \quad
          a_m = \frac{n_m e^{\theta_m}}{\sum_j n_j e^{\theta_j}}, \quad g_m = a_m - \delta_{mk}.

Source: Huang, Cheng and Liang 2024, slides "ICL framework" to "Training Settings". Relative to the talk:
:math:`A_k = \theta_k` and :math:`B_{k,m} = \theta_m` of column k; time is t = η · steps; features are numbered from 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from iclutils import validation

Tensor = torch.Tensor
F64 = torch.float64


def probabilities(K: int, p1: float) -> Tensor:
    """Feature probabilities ``(K,)``: the first is ``p1``, the others share the rest; ``p1 = 1/K`` is balanced."""
    validation.whole("K", K, low=2)
    validation.in_range("p1", p1, 0.0, 1.0, open_low=True, open_high=True)
    p = torch.full((K,), (1 - p1) / (K - 1), dtype=F64)
    p[0] = p1
    return p


def draw_counts(p: Tensor, N: int, shape: Sequence[int], generator: torch.Generator) -> Tensor:
    """Feature counts n ~ Multinomial(N, p) of prompts of N tokens, ``(*shape, K)`` in float64.

    Drawn feature by feature from the conditional binomials, so that the work does not grow with N.
    """
    K = validation.shape("p", p, "K")["K"]
    left = torch.full(tuple(shape), float(validation.whole("N", N)), dtype=F64)
    mass = p.to(F64).flip(0).cumsum(0).flip(0)
    counts = []
    for k in range(K - 1):
        share = float((p[k] / mass[k]).clamp(0, 1))
        counts.append(torch.binomial(left, torch.full_like(left, share), generator=generator))
        left = left - counts[-1]
    return torch.stack([*counts, left], -1)


def attention(theta: Tensor, counts: Tensor) -> Tensor:
    """The mass ``(..., B, K)`` on each feature; ``theta: (..., K)`` one column of Q, ``counts: (..., B, K)``."""
    weight = counts * (theta - theta.amax(-1, keepdim=True)).exp().unsqueeze(-2)
    return weight / weight.sum(-1, keepdim=True)


def _residual(theta: Tensor, counts: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    K = validation.shape("theta", theta, "C K", C=len(targets))["K"]
    validation.shape("counts", counts, "... B K", K=K)
    a = attention(theta, counts)
    return a, a - torch.nn.functional.one_hot(targets, K).to(a.dtype).unsqueeze(-2)


def prompt_errors(theta: Tensor, counts: Tensor, targets: Tensor, *, sigma: float = 0.0) -> Tensor:
    r"""Each prompt's :math:`\tfrac12\lVert a - e_k\rVert^2`, whose mean is :math:`\mathcal L_k`.

    ``theta: (C, K)``, C columns with ``targets: (C,)``; ``counts: (B, K)`` or ``(C, B, K)``; returns ``(C, B)``.
    Label noise adds :math:`\tfrac12\sigma^2\sum_m a_m^2/n_m` (chapter 7).
    """
    a, g = _residual(theta, counts, targets)
    errors = 0.5 * g.square().sum(-1)
    if validation.nonnegative("sigma", sigma) > 0:
        errors = errors + 0.5 * sigma**2 * (a.square() / counts.clamp(min=1)).sum(-1)
    return errors


def column_gradient(theta: Tensor, counts: Tensor, targets: Tensor, p: Tensor, *, sigma: float = 0.0) -> tuple[Tensor, Tensor]:
    r"""The gradient :math:`\partial L/\partial\theta` of C columns (module equation), and their errors.

    ``theta: (C, K)``, ``counts: (C, B, K)`` or ``(B, K)``, ``targets: (C,)``, ``p: (K,)``; the
    expectation is over the B prompts given. Returns ``(C, K)`` and :math:`\mathcal L_k` ``(C,)``.
    Label noise (chapter 7) adds :math:`\sigma^2a_m/n_m` to :math:`g_m`; the errors returned are without it.
    """
    a, g = _residual(theta, counts, targets)
    force = g + sigma**2 * a / counts.clamp(min=1) if validation.nonnegative("sigma", sigma) > 0 else g
    inner = (a * force).sum(-1, keepdim=True)
    return p[targets].unsqueeze(-1) * (a * (force - inner)).mean(-2), 0.5 * g.square().sum(-1).mean(-1)


def best_value(theta: Tensor, counts: Tensor, p: Tensor) -> tuple[float, float]:
    r"""The best label weight ν at a fixed Q, :math:`\nu^* = m_1/m_2`, and its relative gain :math:`1 - L(\nu^*)/L(1)`.

    :math:`2L(\nu) = 1 - 2\nu m_1 + \nu^2 m_2`, :math:`m_1 = \sum_k p_k\mathbb E\,a_k`,
    :math:`m_2 = \sum_k p_k\mathbb E\lVert a\rVert^2`; ``theta: (K, K)``, row k the column of query k; ``counts: (B, K)``.
    """
    K = validation.shape("p", p, "K")["K"]
    a, g = _residual(theta, counts, torch.arange(K))
    m1 = float(p @ a.mean(-2).diagonal())
    m2 = float(p @ a.square().sum(-1).mean(-1))
    return m1 / m2, 1 - (1 - m1**2 / m2) / float(p @ g.square().sum(-1).mean(-1))


@dataclass(frozen=True)
class Trajectory:
    """Recorded training: ``t: (P,)``, columns ``theta: (P, C, K)`` and their errors ``error: (P, C)`` on the batch."""

    t: Tensor
    theta: Tensor
    error: Tensor

    def entry(self, targets: Tensor, m: int | None = None) -> Tensor:
        """``A_k`` (m = None) or ``B_{k,m}`` of each column, ``(P, C)``."""
        index = targets if m is None else torch.full_like(targets, m)
        return self.theta.gather(-1, index.expand(self.theta.shape[:2]).unsqueeze(-1)).squeeze(-1)

    def nearest(self, t: float) -> int:
        """The index of the record nearest to time t."""
        return int((self.t - t).abs().argmin())


def _records(steps: int, points: int) -> set[int]:
    """About ``points`` steps, half of them evenly and half of them geometrically spaced: phases differ by decades."""
    grid = torch.linspace(0, 1, points // 2, dtype=F64)
    return {int(i) for i in (steps**grid).round()} | {int(i) for i in (steps * grid).round()}


def train_reduced(p: Tensor, N: int, targets: Tensor, *, eta: float, steps: int, prompts: int,
                  generator: torch.Generator, points: int = 200, verbose: bool = False, sigma: float = 0.0) -> Trajectory:
    """Route 2: descent on C independent columns with tasks integrated out and fresh counts every step.

    ``p: (K,)``, prompt length N, ``targets: (C,)`` the feature of each column (repeat one for replicates: every
    column has prompts of its own), ``prompts`` prompts a step. Starts at 0 and records about ``points`` steps,
    half of them geometrically and half evenly spaced. ``verbose`` prints the errors ten times; ``sigma`` is label noise.
    Raises ``ValueError`` out of range.
    """
    K = validation.shape("p", p, "K")["K"]
    validation.shape("targets", targets, "C")
    validation.positive("eta", eta), validation.whole("steps", steps), validation.whole("prompts", prompts)
    theta = torch.zeros(len(targets), K, dtype=F64)
    keep, record = _records(steps, validation.whole("points", points, low=2)), []
    chunk = max(1, 200_000 // (len(targets) * prompts * K))
    for step in range(steps + 1):
        if step % chunk == 0:
            blocks = draw_counts(p, N, (chunk, len(targets), prompts), generator)
        gradient, error = column_gradient(theta, blocks[step % chunk], targets, p, sigma=sigma)
        if step in keep:
            record.append((eta * step, theta, error))
        if verbose and step % max(1, steps // 10) == 0:
            print(f"t = {eta * step:.1f}: mean error {float(error.mean()):.4f}")
        theta = theta - eta * gradient
    t, columns, errors = zip(*record, strict=True)
    return Trajectory(torch.tensor(t, dtype=F64), torch.stack(columns), torch.stack(errors))


def feature_frame(K: int, d: int, generator: torch.Generator) -> Tensor:
    """K orthonormal features in R^d as rows ``(K, d)``, Haar-distributed; d ≥ K."""
    validation.whole("d", d, low=validation.whole("K", K))
    q, r = torch.linalg.qr(torch.randn(d, K, dtype=F64, generator=generator))
    return (q * r.diagonal().sign()).T


def readings(theta: Tensor) -> Tensor:
    """Of whole column sets ``(..., K, K)`` ([k, m], column k first): the means over rare columns of A_k and B_{k,1}, and A_1."""
    diagonal = theta.diagonal(dim1=-2, dim2=-1)
    return torch.stack([diagonal[..., 1:].mean(-1), theta[..., 1:, 0].mean(-1), diagonal[..., 0]], -1)


def first_passage(t: Tensor, values: Tensor, level: float) -> Tensor:
    """When ``values: (P, ...)`` first rise above ``level``, linear between the records ``t: (P,)``; inf if they never do."""
    validation.shape("t", t, "P", P=len(values))
    above = values > level
    after = above.to(torch.int64).argmax(0).clamp(min=1)
    low, high = values.gather(0, (after - 1).unsqueeze(0))[0], values.gather(0, after.unsqueeze(0))[0]
    share = ((level - low) / (high - low)).clamp(0, 1)
    time = t[after - 1] + share * (t[after] - t[after - 1])
    return torch.where(above.any(0), time, torch.full_like(time, torch.inf))


@dataclass(frozen=True)
class Sampled:
    """Route 1's record: ``t: (P,)``, ``theta: (P, R, K, K)`` with [k, m] = v_mᵀQv_k (column k first), and the trained ``W``."""

    t: Tensor
    theta: Tensor
    W: Tensor


def predict(W: Tensor, tokens: Tensor, labels: Tensor, query: Tensor) -> Tensor:
    r"""The layer as the talk writes it: :math:`\hat y = \sum_i \mathrm{softmax}_i(E_i^\top W E_{\rm query})\, y_i`.

    ``tokens: (R, B, N, d)``, ``labels: (R, B, N)``, ``query: (R, B, d)``; ``W: (R, d, d)`` is Q, reading
    the features alone, or ``(R, d+1, d)`` is the part of the full key–query matrix that a query with label
    slot 0 can feel, whose last row reads the labels as keys. Returns ``(R, B)``.
    """
    d = validation.shape("tokens", tokens, "R B N d")["d"]
    keyed = torch.einsum("rde,rbe->rbd", W, query)
    scores = torch.einsum("rbnd,rbd->rbn", tokens, keyed[..., :d])
    if W.shape[-2] == d + 1:
        scores = scores + labels * keyed[..., d:]
    return (scores.softmax(-1) * labels).sum(-1)


def draw_prompts(p: Tensor, frame: Tensor, N: int, runs: int, prompts: int,
                 generator: torch.Generator, *, sigma: float = 0.0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Prompts as the talk draws them: tokens ``(R, B, N, d)``, labels, queries ``(R, B, d)`` and answers ``(R, B)``.

    ``sigma`` is the noise of the labels; the talk has none, and the answers never have.
    """
    d = frame.shape[1]
    index = torch.multinomial(p, runs * prompts * (N + 1), replacement=True, generator=generator)
    x = frame[index].reshape(runs, prompts, N + 1, d)
    w = torch.randn(runs, prompts, d, dtype=F64, generator=generator)
    y = torch.einsum("rbnd,rbd->rbn", x, w)
    labels = y[:, :, :N]
    if validation.nonnegative("sigma", sigma) > 0:
        labels = labels + sigma * torch.randn(labels.shape, dtype=F64, generator=generator)
    return x[:, :, :N], labels, x[:, :, N], y[:, :, N]


def train_sampled(p: Tensor, frame: Tensor, N: int, *, eta: float, steps: int, prompts: int, runs: int,
                  generator: torch.Generator, W: Tensor | None = None, points: int = 200, verbose: bool = False,
                  sigma: float = 0.0) -> Sampled:
    """Route 1: stochastic gradient descent, R = ``runs`` independent models as one program, gradients by autograd.

    ``frame: (K, d)`` orthonormal rows, N tokens a prompt, ``prompts`` fresh prompts (and tasks) a step for each run.
    Starts at ``W`` (see :func:`predict` for its two shapes) or Q = 0. ``verbose`` prints the loss ten times; ``sigma`` is
    label noise.
    Raises ``ValueError`` out of range.
    """
    d = validation.shape("frame", frame, "K d", K=len(p))["d"]
    validation.positive("eta", eta), validation.whole("steps", steps)
    validation.whole("runs", runs), validation.whole("prompts", prompts), validation.whole("N", N)
    W = torch.zeros(runs, d, d, dtype=F64) if W is None else W.clone()
    keep, record = _records(steps, points), []
    for step in range(steps + 1):
        if step in keep:
            record.append((eta * step, torch.einsum("md,rde,ke->rkm", frame, W[:, :d], frame)))
        tokens, labels, query, answer = draw_prompts(p, frame, N, runs, prompts, generator, sigma=sigma)
        W.requires_grad_(True)
        loss = 0.5 * (predict(W, tokens, labels, query) - answer).square().mean(1).sum()
        gradient, = torch.autograd.grad(loss, W)
        W = W.detach() - eta * gradient
        if verbose and step % max(1, steps // 10) == 0:
            print(f"t = {eta * step:.1f}: batch loss {float(loss) / runs:.4f}")
    t, columns = zip(*record, strict=True)
    return Sampled(torch.tensor(t, dtype=F64), torch.stack(columns), W)
