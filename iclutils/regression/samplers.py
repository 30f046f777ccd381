r"""The reduced prompts of linear attention: exact moments, and an exact sampler, O(d) a prompt.

A prompt has tokens :math:`x_i \sim N(0, I_d/d)` with labels
:math:`y_i = \langle x_i, w\rangle + \epsilon_i`, :math:`\epsilon_i \sim N(0, \rho)`,
:math:`i \le \ell`, and a query :math:`x` with label :math:`y`. Linear attention sees its features
:math:`H_Z = xv^\top` alone, with the context vector (Lu et al., arXiv 2405.11751; slides,
"Predictor for :math:`y_{\ell+1}`") of length :math:`d + 1`

.. math::
    v = \Bigl[\tfrac d\ell\sum_i y_ix_i \;;\; \tfrac1\ell\sum_i y_i^2\Bigr].
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.products import product
from iclutils.randomness import chi_square, normal

LARGEST = 1e50  # of an entry of a task: powers of it are numbers too
MEMORY_LIMIT = 4e9  # bytes that the arrays of one problem may take


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a prompt's context is drawn from: dimension d ≥ 1, length ℓ ≥ 1, label noise ρ ≥ 0.

    Raises ``ValueError`` for a value out of its range, with its name.
    """

    d: int
    ell: int
    rho: float

    def __post_init__(self) -> None:
        validation.whole("d", self.d)
        validation.whole("ell", self.ell)
        validation.in_range("rho", self.rho, 0.0, LARGEST)


@dataclass(frozen=True)
class Prompts:
    """``n`` reduced prompts: the queries, their context vectors and the queries' labels.

    Raises ``ValueError`` where the three shapes do not belong together.
    """

    x: Float[Tensor, "n d"]
    v: Float[Tensor, "n d+1"]
    y: Float[Tensor, " n"]

    def __post_init__(self) -> None:
        sizes = validation.shape("x", self.x, "n d")
        validation.shape("v", self.v, "n e", n=sizes["n"], e=sizes["d"] + 1)
        validation.shape("y", self.y, "n", n=sizes["n"])


def draw_tasks(
    k: int, d: int, generator: torch.Generator, *, normalised: bool = False
) -> Float[Tensor, "k d"]:
    r"""Draw ``k`` tasks :math:`w \sim N(0, I_d)`, as the talk prints.

    ``normalised`` scales each to the norm :math:`\sqrt d`, as the authors' code does.
    Raises ``ValueError`` unless ``k`` and ``d`` are at least 1.
    """
    validation.whole("k", k)
    validation.whole("d", d)
    w = normal(k, d, generator=generator)
    if validation.flag("normalised", normalised):
        norm: Tensor = w.norm(dim=1, keepdim=True)
        return w * (math.sqrt(d) / norm)
    return w


def sample(
    tasks: Float[Tensor, "k d"],
    context: Context,
    generator: torch.Generator,
    *,
    n: int | None = None,
    covariance: Float[Tensor, "d d"] | None = None,
) -> Prompts:
    r"""Draw ``n`` prompts (k if not given) exactly, in O(d) each whatever ℓ.

    Prompt μ has the task ``tasks[μ mod k]``, so that the tasks are balanced. Along w and in the
    noise, the tokens enter through a 2 × 2 Wishart matrix W of ℓ degrees of freedom (Bartlett):

    .. math::
        \sum_i y_i^2 &= \tfrac{\|w\|^2}d W_{11} + 2\|w\|\sqrt{\tfrac\rho d}\,W_{12} + \rho W_{22},\\
        \sum_i y_i\tfrac{\langle x_i, w\rangle}{\|w\|}
        &= \tfrac{\|w\|}d W_{11} + \sqrt{\tfrac\rho d}\,W_{12}.

    Across w, given the labels, :math:`\sum_i y_ix_i` is :math:`N(0, \sum_i y_i^2/d)`.
    Tokens of the ``covariance`` :math:`C = LL^\top` over d, positive definite (identity if not
    given), are L times these, and the task w is to them what :math:`L^\top w` is to these.
    Raises ``ValueError`` where ``tasks`` is not (k, d) with the context's d or not finite, ``n`` is
    below 1, C is another, or the arrays would take more than ``MEMORY_LIMIT`` bytes.

    >>> tasks = torch.eye(3, dtype=torch.float64)
    >>> sample(tasks, Context(d=3, ell=8, rho=0.1), torch.Generator().manual_seed(0), n=5).v.shape
    torch.Size([5, 4])
    """
    d, ell, rho = context.d, context.ell, context.rho
    k = validation.shape("tasks", tasks, "k d", d=d)["k"]
    validation.within("tasks", tasks, -LARGEST, LARGEST)
    n = k if n is None else validation.whole("n", n)
    check_memory(n, d)
    if covariance is not None:
        root = _root(covariance, d)
        plain = sample(product(tasks.double(), root), context, generator, n=n)
        sums = product(plain.v[:, :d], root.T)
        return Prompts(product(plain.x, root.T), torch.cat([sums, plain.v[:, d:]], 1), plain.y)
    w = tasks.double() if n == k else tasks.double()[torch.arange(n) % k]
    norm = w.norm(dim=1)
    w11 = chi_square(ell, n, generator)
    t = normal(n, generator=generator)
    w22 = t.square() + (chi_square(ell - 1, n, generator) if ell > 1 else 0.0)
    w12 = w11.sqrt() * t
    along = norm * w11 / d + math.sqrt(rho / d) * w12
    labels = norm * (along + math.sqrt(rho / d) * w12) + rho * w22
    # in place: what is n × d would not stay in the processor's cache
    v = torch.empty(n, d + 1, dtype=torch.float64)
    sums = v[:, :d]
    spread = (labels.clamp_min(0) / d).sqrt() * (d / ell)
    torch.mul(normal(n, d, generator=generator), spread[:, None], out=sums)
    norm = norm.clamp_min(1e-200)  # of a task that is 0, too
    missing = along * (d / ell) - _dots(sums, w) / norm
    sums.addcmul_(w, (missing / norm)[:, None])
    v[:, d] = labels / ell
    x = normal(n, d, generator=generator).div_(math.sqrt(d))
    noise = normal(n, generator=generator)
    return Prompts(x, v, _dots(x, w) + math.sqrt(rho) * noise)


def _dots(a: Float[Tensor, "n d"], b: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """Multiply every row of ``a`` with its row of ``b``, without the n × d array of products."""
    return torch.from_numpy(np.einsum("nd,nd->n", a.numpy(), b.numpy()))


def _root(covariance: Float[Tensor, "d d"], d: int) -> Float[Tensor, "d d"]:
    """Cholesky's factor of a covariance of tokens, where it has one."""
    validation.shape("covariance", validation.finite("covariance", covariance), "d d", d=d)
    root: Tensor
    root, failed = torch.linalg.cholesky_ex(covariance)
    if int(failed):
        raise ValueError("covariance must be positive definite; it is not")
    return root


def check_memory(n: int, d: int) -> None:
    """Raise ``ValueError`` if ``n`` prompts of dimension ``d`` do not fit ``MEMORY_LIMIT``."""
    need = 8 * 6 * n * (d + 1)
    if need > MEMORY_LIMIT:
        raise ValueError(
            f"n·d is too large: n = {n} prompts at d = {d} need about {need / 1e9:.1f} GB, "
            f"{MEMORY_LIMIT / 1e9:.0f} GB are allowed; lower τ or d"
        )


def sample_naive(
    tasks: Float[Tensor, "k d"],
    context: Context,
    generator: torch.Generator,
    *,
    n: int | None = None,
    covariance: Float[Tensor, "d d"] | None = None,
) -> Prompts:
    r"""Draw the same prompts token by token, in O(ℓd) each, for any token covariance.

    Tokens are :math:`N(0, C/d)` with C the ``covariance``, positive definite (identity if not
    given). Raises ``ValueError`` as :func:`sample` does, and for
    another C.
    """
    d, ell, rho = context.d, context.ell, context.rho
    k = validation.shape("tasks", tasks, "k d", d=d)["k"]
    validation.within("tasks", tasks, -LARGEST, LARGEST)
    n = k if n is None else validation.whole("n", n)
    check_memory(n * (ell + 1), d)
    w = tasks.double()[torch.arange(n) % k]
    x = normal(n, ell + 1, d, generator=generator).div_(math.sqrt(d))
    if covariance is not None:
        x = product(x.view(-1, d), _root(covariance, d).T).view(n, ell + 1, d)
    y = product(x, w[:, :, None]).squeeze(2)
    y += math.sqrt(rho) * normal(n, ell + 1, generator=generator)
    sums = product(y[:, None, :ell], x[:, :ell]).squeeze(1)
    squares = y[:, :ell].square().mean(1, keepdim=True)
    return Prompts(x[:, ell], torch.cat([sums * (d / ell), squares], 1), y[:, ell])


def sample_orthonormal(context: Context, generator: torch.Generator, *, n: int) -> Prompts:
    r"""Draw the reduced prompts of chapter 6's tokens (chapter 7).

    The tokens are K orthonormal features, each with probability 1/K, where K is the context's d.
    In the features' frame a token is a unit vector. Every prompt has a task
    :math:`w \sim N(0, I_K)` of its own, and the query's label carries noise, as in
    :func:`sample`. Raises ``ValueError`` where ``n`` is below 1 or the
    arrays would take more than ``MEMORY_LIMIT`` bytes.
    """
    K, ell, rho = context.d, context.ell, context.rho
    validation.whole("n", n)
    check_memory(n * (ell + 1) // K + n, K)
    index = torch.randint(K, (n, ell + 1), generator=generator)
    w = normal(n, K, generator=generator)
    noise = normal(n, ell + 1, generator=generator)
    y = w.gather(1, index) + math.sqrt(rho) * noise
    sums = torch.zeros(n, K, dtype=torch.float64).scatter_add_(1, index[:, :ell], y[:, :ell])
    squares = y[:, :ell].square().mean(1, keepdim=True)
    query = torch.nn.functional.one_hot(index[:, ell], K).double()
    return Prompts(query, torch.cat([K / ell * sums, squares], 1), y[:, ell])
