"""The two expectations of the isotropic loss, sampled over contexts and their mirror images."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from iclutils.ground import sphere
from iclutils.window.covariates import Sphere, sample
from iclutils.window.theory import curves
from iclutils.window.theory.pooled import pooled


class Parts(NamedTuple):
    """The two expectations in the module's equation, or their sums over contexts."""

    parts: Float[Tensor, "windows degrees"]
    concentration: Float[Tensor, " windows"]


def batch(
    d: int,
    n: int,
    w: Float[Tensor, " windows"],
    degrees: Int[Tensor, " degrees"],
    contexts: int,
    generator: torch.Generator,
) -> Parts:
    """Means over one batch of contexts and their mirror images."""
    parts = torch.zeros(len(w), len(degrees), dtype=torch.float64)
    concentration = torch.zeros(len(w), dtype=torch.float64)
    # a context and its mirror image, weights and their squares: four times its size
    step = max(1, curves.CHUNK // (4 * n * max(len(w), len(degrees))))
    for start in range(0, contexts, step):
        size = min(step, contexts - start)
        t = sample(Sphere(d), (size, n), generator)[..., 0]
        # with each context its mirror image, so that the loss of an even class is even in w exactly
        more = given_products(torch.cat([t, -t]), d, w, degrees)
        parts = parts + more.parts
        concentration = concentration + more.concentration
    return Parts(parts / (2 * contexts), concentration / (2 * contexts))


def given_products(
    t: Float[Tensor, "contexts n"],
    d: int,
    w: Float[Tensor, " windows"],
    degrees: Int[Tensor, " degrees"],
) -> Parts:
    """Sums over contexts of the two expectations, for given products t of tokens and query."""

    def values(t: Tensor) -> tuple[Tensor, Tensor]:
        P = sphere.gegenbauer(t, d, degrees)  # (contexts, tokens, degrees)
        return P, torch.nn.functional.pad(P.square(), (0, 1), value=1.0)

    weighted, squared = pooled(t, w, values)
    own, spread = squared[..., :-1], squared[..., -1]
    parts = (1 - weighted).square() + spread.unsqueeze(-1) - own
    return Parts(parts.sum(0), spread.sum(0))
