"""Named random streams.

Every draw is a function of (seed, role, index), never of what was drawn before it.
"""

import hashlib
import math
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function_unary

from iclutils import validation

GROUP = 16  # numbers that torch turns into normal ones together, eight pairs
MANY = 4096  # from so many numbers on ours is the faster way
AT_ONCE = 16384  # numbers that stay in the processor's cache, a multiple of GROUP

Start = TypeVar("Start", Tensor, np.ndarray)


def stream(seed: int, *role: str | int) -> torch.Generator:
    """Open an independent generator for a role, ``stream(0, "tasks", trial, block)``.

    The state is the first 63 bits of SHA-256 of the seed and the role's parts, so that skipping,
    re-ordering or parallelising other streams cannot change this one. Two different names give
    generators that are independent for all purposes of this book.

    Raises ``TypeError`` for a seed that is no whole number or a role part that is neither text nor
    a whole number, ``ValueError`` for a negative seed, an empty role or text that starts with "#".

    >>> first = torch.rand(2, generator=stream(0, "tasks", 3))
    >>> again = torch.rand(2, generator=stream(0, "tasks", 3))
    >>> other = torch.rand(2, generator=stream(0, "tasks", 4))
    >>> torch.equal(first, again), torch.equal(first, other)
    (True, False)
    """
    validation.whole("seed", seed, low=0)
    if not role:
        raise ValueError(
            "role must name what is drawn, for instance stream(seed, 'tasks', trial); got nothing"
        )
    key = "\x1f".join([str(int(seed)), *(_written(part) for part in role)])
    digest = hashlib.sha256(key.encode()).digest()
    state = int.from_bytes(digest[:8], "big") >> 1
    return torch.Generator().manual_seed(state)


def normal(*size: int, generator: torch.Generator) -> Tensor:
    """Draw standard normal numbers in double precision: ``torch.randn``'s, to the last digit.

    torch makes them of uniform ones by the formula of Box and Muller, one after the other; here it
    is applied to many at once. ``generator`` is left as ``torch.randn`` leaves it. Raises
    ``RuntimeError`` for a negative size.

    >>> ours = normal(3, 2000, generator=stream(0, "tasks"))
    >>> torchs = torch.randn(3, 2000, dtype=torch.float64, generator=stream(0, "tasks"))
    >>> float((ours - torchs).abs().max()) < 1e-14
    True
    """
    many = math.prod(size)
    if many < MANY:
        return torch.randn(size, dtype=torch.float64, generator=generator)
    numbers = torch.rand(many, dtype=torch.float64, generator=generator)
    for some in torch.split(numbers[: many - many % GROUP], AT_ONCE):
        _box_muller(some)
    if many % GROUP:  # torch draws the last group anew
        last = torch.rand(GROUP, dtype=torch.float64, generator=generator)
        numbers[-GROUP:] = _box_muller(last)
    return numbers.view(size)


def chi_square(degrees: int, n: int, generator: torch.Generator) -> Float[Tensor, " n"]:
    r"""``n`` draws of :math:`\chi^2` with ``degrees`` ≥ 1 degrees of freedom.

    They are NumPy's (torch has no gamma sampler that takes a generator), seeded by one draw. Raises
    ``ValueError`` where ``degrees`` or ``n`` is below 1.
    """
    validation.whole("degrees", degrees)
    validation.whole("n", n)
    seed = int(torch.randint(2**62, (), generator=generator))
    draws = 2 * np.random.default_rng(seed).standard_gamma(degrees / 2, n)
    return torch.as_tensor(draws)


def start(x: Start) -> Start:
    """Where a training, a solver or a flow starts: ``x`` itself.

    The name is a mark for :mod:`iclutils.perturbation`, which moves starts and draws by a
    few units in the last place, as another processor's rounding would move what follows.

    >>> start(torch.zeros(2)).tolist()
    [0.0, 0.0]
    """
    if isinstance(x, np.ndarray):
        return start(torch.from_numpy(x)).numpy()
    if has_torch_function_unary(x):
        moved: Tensor = handle_torch_function(start, (x,), x)
        return moved
    return x


def _box_muller(uniform: Tensor) -> Tensor:
    """Make uniform numbers normal in place, group by group: the first half with the second."""
    groups = uniform.view(-1, 2, GROUP // 2)
    radius = (1 - groups[:, 0]).log_().mul_(-2).sqrt_()
    angle = groups[:, 1] * (2 * math.pi)
    torch.mul(radius, angle.cos(), out=groups[:, 0])
    torch.mul(radius, angle.sin_(), out=groups[:, 1])
    return uniform


def _written(part: str | int) -> str:
    """Write a part of a role as text; whole numbers get a "#": "1" and 1 name two streams."""
    if isinstance(part, str):
        if part.startswith("#"):
            raise ValueError(f"role must not hold text that starts with '#'; got {part!r}")
        return part
    if isinstance(part, bool) or not hasattr(part, "__index__"):
        raise TypeError(f"role must be made of text and whole numbers; got {part!r}")
    return f"#{int(part)}"
