"""Newton's method and fixed points, on arrays; both raise where they do not converge."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from iclutils import randomness

Array = NDArray[np.float64]


def newton(
    residual: Callable[[Array], tuple[Array, Array]],
    start: Array,
    *,
    name: str,
    tol: float = 1e-10,
    max_iterations: int = 200,
) -> Array:
    """Find the root of ``residual``, which returns value and slope, by Newton's method on an array.

    For a convex falling function and a ``start`` left of the root the iterates rise to the root
    and need no bracket. They stop after the first step that is below ``tol`` of the iterate,
    everywhere; the convergence is quadratic: the error left is of the order of ``tol`` squared.
    Raises ``RuntimeError``, with ``name``, where ``max_iterations`` steps do not get there.

    >>> newton(lambda x: (2 / x - 1, -2 / x**2), np.array([0.5, 1.0]), name="x").round(6)
    array([2., 2.])
    """
    x = randomness.start(start)
    largest = np.inf
    for _ in range(max_iterations):
        value, slope = residual(x)
        step = -value / slope
        x = x + step
        largest = float(np.max(np.abs(step / x)))
        if largest <= tol:
            return x
    raise RuntimeError(
        f"{name}: the relative step is {largest:.1e} after {max_iterations} Newton steps, "
        f"wanted {tol:.1e}"
    )


def fixed_point(
    update: Callable[[Float[np.ndarray, " m"]], Float[np.ndarray, " m"]],
    start: Float[np.ndarray, " m"],
    *,
    name: str,
    tol: float,
    max_rounds: int,
    memory: int = 5,
) -> Float[np.ndarray, " m"]:
    """Find the fixed point of ``update``, by Anderson's acceleration of ``x ← update(x)``.

    Each round takes the combination of the last ``memory`` + 1 rounds that has the least change.
    Stops where the mean absolute change by ``update`` is below ``tol``, and returns the updated
    vector. Raises ``RuntimeError``, with ``name``, where ``max_rounds`` rounds do not get there.

    >>> fixed_point(np.cos, np.ones(1), name="x", tol=1e-10, max_rounds=20).round(6)
    array([0.739085])
    """
    x = randomness.start(start)
    images: list[Array] = []
    changes: list[Array] = []
    size = np.inf
    for _ in range(max_rounds):
        image = update(x)
        images = [*images, image][-memory - 1 :]
        changes = [*changes, image - x][-memory - 1 :]
        size = float(np.abs(changes[-1]).mean())
        if size < tol:
            return image
        x = image
        if len(changes) > 1:
            steps = np.diff(np.stack(changes), axis=0)
            share = np.linalg.lstsq(steps.T, changes[-1], rcond=None)[0]
            x = image - share @ np.diff(np.stack(images), axis=0)
    raise RuntimeError(
        f"{name}: the mean change is {size:.1e} after {max_rounds} rounds, wanted {tol:.1e}"
    )
