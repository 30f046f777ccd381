"""Named random streams.

Every draw is a function of (seed, role, index), never of what was drawn before it.
"""

import hashlib

import torch

from iclutils.ground import validation


def stream(seed: int, *role: str | int) -> torch.Generator:
    """An independent generator for a role, ``stream(0, "tasks", trial, block)``.

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


def _written(part: str | int) -> str:
    """A part of a role as text; whole numbers get a "#", so that "1" and 1 name two streams."""
    if isinstance(part, str):
        if part.startswith("#"):
            raise ValueError(f"role must not hold text that starts with '#'; got {part!r}")
        return part
    if isinstance(part, bool) or not hasattr(part, "__index__"):
        raise TypeError(f"role must be made of text and whole numbers; got {part!r}")
    return f"#{int(part)}"
