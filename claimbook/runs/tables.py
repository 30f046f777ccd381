"""The rows of a recorded sweep as a tensor."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


def table(
    rows: Sequence[Mapping[str, Any]], axes: Sequence[str], names: Sequence[str], **fixed: Any
) -> Float[Tensor, "..."]:
    """Lay out the results ``names`` of those rows that have the ``fixed`` settings.

    The tensor has one axis for each of the settings ``axes``, along which its values are in rising
    order, then one for ``names``; where a result is a list, its axes come last.

    >>> rows = [{"d": d, "n": n, "error": d / n} for n in (4, 2) for d in (1, 2)]
    >>> table(rows, ["d", "n"], ["error"])[..., 0].tolist()
    [[0.5, 0.25], [1.0, 0.5]]
    >>> table(rows, ["n"], ["error", "n"], d=2).tolist()
    [[1.0, 2.0], [0.5, 4.0]]

    Raises ``ValueError`` unless every combination of the axes' values occurs once.
    """
    chosen = [row for row in rows if all(row[key] == value for key, value in fixed.items())]
    levels = [sorted({row[axis] for row in chosen}) for axis in axes]
    cells = {tuple(row[axis] for axis in axes): [row[name] for name in names] for row in chosen}
    grid = list(itertools.product(*levels))
    if not chosen or len(chosen) != len(grid) or set(grid) != set(cells):
        raise ValueError(
            f"rows with {fixed} must hold every combination of {list(axes)} once; "
            f"got {len(chosen)} rows for {len(grid)} combinations"
        )
    found = torch.tensor([cells[point] for point in grid], dtype=torch.float64)
    return found.reshape(*map(len, levels), *found.shape[1:])
