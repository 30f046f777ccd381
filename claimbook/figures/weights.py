"""The trained weights behind a figure, which it carries so that a reader can take them home."""

import base64
import io
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

_CARRIED: WeakKeyDictionary[Figure, dict[str, Tensor]] = WeakKeyDictionary()


def carry_weights(figure: Figure, weights: Mapping[str, Tensor]) -> None:
    """Let ``figure`` carry the trained weights that it shows, by the names of their series.

    The site offers them beside the figure's data, as the file that :func:`npz` makes: the first
    index of an array counts the trained heads. Raises ``ValueError`` where there are none, or where
    one is not finite.
    """
    if not weights:
        raise ValueError("weights must name at least one tensor; got none")
    for name, tensor in weights.items():
        bad = int(tensor.isfinite().logical_not().sum())
        if bad:
            raise ValueError(f"weights[{name!r}] must be finite; {bad} of its entries are not")
    _CARRIED[figure] = {name: tensor.detach().cpu() for name, tensor in weights.items()}


def npz(figure: Figure) -> str:
    """The weights that a figure carries as an NPZ file in base64, empty where it carries none.

    ``numpy.load`` reads the file; the same weights give the same bytes.
    """
    carried = _CARRIED.get(figure)
    if carried is None:
        return ""
    file = io.BytesIO()
    arrays: dict[str, Any] = {name: tensor.numpy() for name, tensor in carried.items()}
    np.savez(file, **arrays)
    return base64.b64encode(file.getvalue()).decode("ascii")
