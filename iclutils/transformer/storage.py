"""Weights as text: sixteen bits for each number, for the record and for the explorer.

Every array of a network has a scale of its own: its largest entry is ±32767 of it. What is kept is
off by at most half a step, 1/65534 of the array's largest entry.
"""

import base64
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import validation
from iclutils.transformer.models import Architecture

LARGEST = 32767


def pack(architecture: Architecture, weights: Float[Tensor, " P"]) -> dict[str, Any]:
    """One network as ``{"scales": one number an array, "data": base64 text}``.

    The text is that of little-endian whole numbers of 16 bits, in the order of
    :meth:`.models.Architecture.shapes`. Raises ``ValueError`` for another number of weights, NaN or
    infinity.

    >>> architecture = Architecture(2, width=8, hidden=8)
    >>> weights = architecture.initial_weights(0, [0])[0]
    >>> off = unpack(architecture, pack(architecture, weights))[0] - weights
    >>> float(off.abs().max()) < 1e-4
    True
    """
    validation.shape("weights", weights, "P", P=architecture.parameters())
    validation.finite("weights", weights)
    scales, parts = [], []
    for array in architecture.named(weights.double().unsqueeze(0)).values():
        # four digits of a scale are enough, and it may not be below the largest entry
        scale = float(f"{1.0005 * float(array.abs().max()):.4g}") or 1.0
        scales.append(scale)
        parts.append((array.flatten() / scale * LARGEST).round())
    whole = torch.cat(parts).numpy().astype("<i2")
    return {"scales": scales, "data": base64.b64encode(whole.tobytes()).decode("ascii")}


def unpack(architecture: Architecture, *packed: dict[str, Any]) -> Float[Tensor, "networks P"]:
    """The weights of several networks, in double precision.

    Raises ``KeyError`` where one has no scales or data, ``ValueError`` where their number is not
    that of the architecture.
    """
    rows = []
    sizes = [a * b for a, b in architecture.shapes().values()]
    for one in packed:
        validation.holds("packed", one, ("scales", "data"))
        whole = np.frombuffer(base64.b64decode(one["data"]), dtype="<i2").astype(np.float64)
        if len(whole) != sum(sizes) or len(one["scales"]) != len(sizes):
            raise ValueError(f"packed must hold {sum(sizes)} weights; got {len(whole)}")
        scales = np.repeat(np.array(one["scales"], dtype=np.float64), sizes)
        rows.append(torch.from_numpy(whole * scales / LARGEST))
    return torch.stack(rows)
