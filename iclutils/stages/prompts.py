r"""Prompts of orthonormal features (chapter 6): their probabilities, counts, tokens and labels.

A token is :math:`x = v_m` with probability :math:`p_m`, where the features :math:`v_1, \dots, v_K`
are orthonormal. The label of a token is :math:`y = \langle w, x\rangle` with a task
:math:`w \sim \mathcal N(0, I)` that all tokens of one prompt share.

Source: Huang, Cheng and Liang 2024, slides "ICL framework" and "Training Settings". Features are
numbered from 0 here: the dominant feature, the talk's :math:`v_1`, is number 0.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation

TOTAL = 1e-6  # by which probabilities may miss 1, in single precision too


def probabilities(K: int, p1: float) -> Float[Tensor, " K"]:
    r"""Make the probabilities of K ≥ 2 features: the first is ``p1``, the others share the rest.

    :math:`p_1` in (0, 1); :math:`p_1 = 1/K` is the balanced case. Raises ``ValueError`` for a K or
    a p1 out of range.

    >>> probabilities(3, 0.5).tolist()
    [0.5, 0.25, 0.25]
    """
    validation.whole("K", K, low=2)
    validation.in_range("p1", p1, 0.0, 1.0, open_low=True, open_high=True)
    p = torch.full((K,), (1 - p1) / (K - 1), dtype=torch.float64)
    p[0] = p1
    return p


def draw_counts(
    p: Float[Tensor, " K"], N: int, shape: Sequence[int], generator: torch.Generator
) -> Float[Tensor, "*shape K"]:
    r"""How often each feature occurs in a prompt, :math:`n \sim \mathrm{Multinomial}(N, p)`.

    ``p`` are the features' probabilities, ``N`` ≥ 1 the tokens of a prompt, ``shape`` the shape in
    which prompts are drawn. Counts are whole numbers in float64. They are drawn feature by feature
    from the conditional binomials, so that the work does not grow with N. Raises ``ValueError`` if
    ``p`` is no vector of probabilities or N is below 1, ``TypeError`` if ``shape`` is no sequence
    of whole numbers.

    >>> counts = draw_counts(probabilities(4, 0.7), 50, (2,), torch.Generator().manual_seed(0))
    >>> counts.sum(-1).tolist()
    [50.0, 50.0]
    """
    K = count_features(p)
    size = validation.sizes("shape", shape)
    left = torch.full(size, float(validation.whole("N", N)), dtype=torch.float64)
    mass = p.to(torch.float64).flip(0).cumsum(0).flip(0)
    counts = []
    for k in range(K - 1):
        share = float((p[k] / mass[k]).clamp(0, 1))
        count = torch.binomial(left, torch.full_like(left, share), generator=generator)
        counts.append(count)
        left = left - count
    return torch.stack([*counts, left], -1)


def feature_frame(K: int, d: int, generator: torch.Generator) -> Float[Tensor, "K d"]:
    r"""K orthonormal features in :math:`\mathbb R^d` as rows, Haar-distributed.

    Raises ``ValueError`` if K is below 1 or d below K.

    >>> frame = feature_frame(2, 5, torch.Generator().manual_seed(0))
    >>> torch.allclose(frame @ frame.T, torch.eye(2).double())
    True
    """
    validation.whole("d", d, low=validation.whole("K", K))
    gaussian = torch.randn(d, K, dtype=torch.float64, generator=generator)
    q, r = torch.linalg.qr(gaussian)
    signs = r.diagonal().sign()  # the decomposition whose r has a positive diagonal is unique
    frame: Tensor = (q * signs).T
    return frame


class Prompts(NamedTuple):
    """Prompts of explicit tokens: ``runs`` independent sets of ``prompts`` each.

    ``answer`` is the query's label without noise.
    """

    tokens: Float[Tensor, "runs prompts N d"]
    labels: Float[Tensor, "runs prompts N"]
    query: Float[Tensor, "runs prompts d"]
    answer: Float[Tensor, "runs prompts"]


def draw_prompts(
    p: Float[Tensor, " K"],
    frame: Float[Tensor, "K d"],
    N: int,
    runs: int,
    prompts: int,
    generator: torch.Generator,
    *,
    sigma: float = 0.0,
) -> Prompts:
    """Prompts as the talk draws them: N tokens and a query from the features, a task each.

    ``p`` are the features' probabilities, ``frame`` the features as rows; ``sigma`` ≥ 0 is the
    standard deviation of the noise of the labels, which the talk does not have. Raises
    ``ValueError`` if sigma is negative, a number of runs, prompts or tokens is below 1, ``p`` is no
    vector of probabilities, frame has not a row for each of them or the rows are not orthonormal.

    >>> generator = torch.Generator().manual_seed(0)
    >>> frame = feature_frame(3, 4, generator)
    >>> batch = draw_prompts(probabilities(3, 0.5), frame, 10, 1, 2, generator)
    >>> tuple(batch.tokens.shape), tuple(batch.labels.shape)
    ((1, 2, 10, 4), (1, 2, 10))
    """
    d = validation.shape("frame", frame, "K d", K=count_features(p))["d"]
    validation.orthonormal("frame, transposed,", frame.mT)
    for name, count in (("N", N), ("runs", runs), ("prompts", prompts)):
        validation.whole(name, count)
    tokens_in_all = runs * prompts * (N + 1)
    index = torch.multinomial(p, tokens_in_all, replacement=True, generator=generator)
    x = frame.index_select(0, index).reshape(runs, prompts, N + 1, d)
    w = torch.randn(runs, prompts, d, dtype=torch.float64, generator=generator)
    y = torch.einsum("rbnd,rbd->rbn", x, w)
    labels = y[:, :, :N]
    if validation.noise("sigma", sigma) > 0:
        noise = torch.randn(labels.shape, dtype=torch.float64, generator=generator)
        labels = labels + sigma * noise
    return Prompts(tokens=x[:, :, :N], labels=labels, query=x[:, :, N], answer=y[:, :, N])


def count_features(p: Float[Tensor, " K"]) -> int:
    """Count the features; ``ValueError`` where ``p`` is no vector of their probabilities."""
    K = validation.shape("p", p, "K")["K"]
    validation.within("p", p, 0.0, 1.0)
    if not abs(float(p.sum()) - 1) <= TOTAL:
        raise ValueError(f"p must sum to 1; it sums to {float(p.sum()):g}")
    return K
