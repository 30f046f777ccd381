"""The authors' pickled histories of training, read without running anything that they name.

Lu et al. publish, for each trained network, a pickle of two lists, ``train`` and ``test``, with a
record of metrics for each checkpoint. Its numbers are scalars of JAX and NumPy. A pickle may name
any function to be called; here it gets only the six stand-ins of :data:`KNOWN`, which make plain
numbers of plain bytes, and no JAX is needed.
"""

import io
import pickle
import struct
from typing import Any

FORMATS = {"f4": "<f", "i4": "<i"}


class _Record(dict[str, Any]):
    """A record of metrics by name."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.update(state)


class _Type:
    """A type of numbers, by its name in NumPy."""

    def __init__(self, name: str, *_: object) -> None:
        self.name = name

    def __setstate__(self, state: object) -> None:
        """The byte order, which is little-endian for these types."""


class _Nothing:
    """What stands for an array before it has its numbers."""

    def __init__(self, *_: object) -> None:
        pass


def _scalar(_make: object, _arguments: object, state: tuple[Any, ...], _kind: object) -> float:
    """The number of an array with one entry, from its bytes."""
    _, shape, kind, _, content = state
    if shape != ():
        raise pickle.UnpicklingError(f"a history must hold single numbers; got shape {shape}")
    [number] = struct.unpack(FORMATS[kind.name], content)
    return float(number)


KNOWN: dict[tuple[str, str], Any] = {
    ("jax._src.array", "_reconstruct_array"): _scalar,
    ("numpy.core.multiarray", "_reconstruct"): _Nothing,
    ("numpy", "ndarray"): _Nothing,
    ("numpy", "dtype"): _Type,
    ("traintheory", "Metrics"): _Record,
    ("trainmini", "Metrics"): _Record,
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """A stand-in for what the pickle names; raises ``UnpicklingError`` for anything else."""
        if (module, name) not in KNOWN:
            raise pickle.UnpicklingError(f"a history must not name {module}.{name}")
        return KNOWN[module, name]


def losses(content: bytes) -> dict[str, list[float]]:
    """The losses ``train`` and ``test`` of a history at each of its checkpoints.

    Raises ``pickle.UnpicklingError`` where the pickle names anything but the metrics and numbers.
    """
    history = _Reader(io.BytesIO(content)).load()
    return {name: [record["loss"] for record in history[name]] for name in ("train", "test")}
