"""Weights as text: sixteen bits for each number, for the record and for the explorer.

Every array of a network has a scale of its own: its largest entry is ±32767 of it. What is kept is
off by at most half a step, 1/65534 of the array's largest entry.
"""

import base64
from collections.abc import Mapping
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
    arrays = architecture.named(weights.double().unsqueeze(0))
    return pack_arrays({name: array[0] for name, array in arrays.items()})


def pack_arrays(arrays: Mapping[str, Float[Tensor, "inputs outputs"]]) -> dict[str, Any]:
    """Arrays of any network in the form of :func:`pack`, in their order.

    Raises ``ValueError`` for NaN or infinity.
    """
    scales, parts = [], []
    for name, array in arrays.items():
        array = validation.finite(name, array).double()
        # four digits of a scale are enough, and it may not be below the largest entry
        scale = float(f"{1.0005 * float(array.abs().max()):.4g}") or 1.0
        scales.append(scale)
        parts.append((array.flatten() / scale * LARGEST).round())
    whole = torch.cat(parts).numpy().astype("<i2")
    return {"scales": scales, "data": base64.b64encode(whole.tobytes()).decode("ascii")}


def unpack(architecture: Architecture, *packed: dict[str, Any]) -> Float[Tensor, "networks P"]:
    """Unpack the weights of several networks, in double precision.

    Raises ``KeyError`` where one has no scales or data, ``ValueError`` where their number is not
    that of the architecture.
    """
    rows = []
    for one in packed:
        arrays = unpack_arrays(architecture.shapes(), one)
        rows.append(torch.cat([array.flatten() for array in arrays.values()]))
    return torch.stack(rows)


def unpack_arrays(
    shapes: Mapping[str, tuple[int, int]], packed: Mapping[str, Any]
) -> dict[str, Float[Tensor, "inputs outputs"]]:
    """Arrays that :func:`pack_arrays` packed, in double precision, by name and in their order.

    Raises what :func:`unpack` raises.
    """
    validation.holds("packed", packed, ("scales", "data"))
    sizes = [a * b for a, b in shapes.values()]
    whole = np.frombuffer(base64.b64decode(packed["data"]), dtype="<i2").astype(np.float64)
    if len(whole) != sum(sizes) or len(packed["scales"]) != len(sizes):
        raise ValueError(f"packed must hold {sum(sizes)} weights; got {len(whole)}")
    scales = np.repeat(np.array(packed["scales"], dtype=np.float64), sizes)
    parts = torch.split(torch.from_numpy(whole * scales / LARGEST), sizes)
    return {
        name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)
    }
