"""Named random streams: every draw is a function of (seed, role, index), never of what was drawn before."""

import hashlib

import torch

from iclutils import validation


def stream(seed: int, *role: str | int) -> torch.Generator:
    """Return an independent generator for the role, ``stream(0, "tasks", trial, block)``.

    The state is the first 63 bits of SHA-256 of the seed and the role's parts, so that skipping,
    re-ordering or parallelising other streams cannot change this one. Two different names give
    generators that are independent for all purposes of this book.

    Raises ``TypeError`` for a seed that is no whole number or a role part that is neither text nor
    a whole number, ``ValueError`` for a negative seed, an empty role or text that starts with "#".
    """
    validation.whole("seed", seed, low=0)
    if not role:
        raise ValueError("role must name what is drawn, for instance stream(seed, 'tasks', trial); got nothing")
    for part in role:
        if isinstance(part, bool) or not (isinstance(part, str) or hasattr(part, "__index__")):
            raise TypeError(f"role must be made of text and whole numbers; got {part!r}")
        if isinstance(part, str) and part.startswith("#"):  # "#1" would name the stream of the number 1
            raise ValueError(f"role must not hold text that starts with '#'; got {part!r}")
    key = "\x1f".join([str(int(seed)), *(part if isinstance(part, str) else f"#{int(part)}" for part in role)])
    state = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") >> 1
    return torch.Generator().manual_seed(state)
