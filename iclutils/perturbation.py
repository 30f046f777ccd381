"""Draws and starts moved by rounding: what another processor might have made of them.

A sum is rounded one way with one set of instructions and another way with another. What a book
shows must not hang on that. So a run is repeated with every draw and every start changed by a
relative :math:`2^9\\varepsilon\\xi`, with ε of the tensor's own precision and ξ standard normal;
a number that then moves further than its own digits say is no property of a model.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from iclutils import randomness

SIZE = 2.0**9  # in units of ε
UNIFORM = {torch.rand, torch.rand_like}  # in [0, 1), where they stay
DRAWS = UNIFORM | {
    torch.randn,
    torch.randn_like,
    torch.normal,
    Tensor.normal_,
    Tensor.uniform_,
    Tensor.exponential_,
    Tensor.log_normal_,
    Tensor.cauchy_,
}
NUMPYS = (  # draws of numpy.random.Generator that are no whole numbers
    "random",
    "uniform",
    "normal",
    "standard_normal",
    "multivariate_normal",
    "standard_gamma",
    "gamma",
    "chisquare",
    "exponential",
    "standard_exponential",
    "beta",
    "standard_t",
)


def perturb(xi: int) -> None:
    """From here on move every draw of torch and NumPy and every start in this process.

    ``xi`` seeds the changes, which have a stream of their own: the draws' streams stay as they are.
    """
    _Generator.perturbation = Perturbation(xi)
    _Generator.perturbation.__enter__()  # type: ignore[no-untyped-call]
    plain = np.random.default_rng

    def default_rng(seed: Any = None) -> np.random.Generator:
        return _Generator(plain(seed).bit_generator)

    np.random.default_rng = default_rng


class Perturbation(TorchFunctionMode):
    """Moves what torch draws, and what a training, solver or flow starts from.

    A training in plain torch starts from what asks for its gradient.

    >>> first, again = (randomness.stream(0, "example") for _ in range(2))
    >>> plain = torch.randn(3, dtype=torch.float64, generator=first)
    >>> with Perturbation(1):
    ...     moved = torch.randn(3, dtype=torch.float64, generator=again)
    >>> 0 < float((moved / plain - 1).abs().max()) < 1e-12
    True
    """

    def __init__(self, xi: int) -> None:
        super().__init__()
        self._generator = randomness.stream(xi, "perturbation")

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call ``func``, and move what it returns where that is a draw or a start."""
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if func is randomness.start:
            return self.moved(result)
        begins = func is Tensor.requires_grad_ or kwargs.get("requires_grad", False)
        if func in DRAWS or (begins and result.requires_grad):
            with torch.no_grad():
                result.copy_(self.moved(result, bounded=func in UNIFORM))
        return result

    def moved(self, x: Tensor, *, bounded: bool = False) -> Tensor:
        """``x`` changed by a relative 2⁹ε·ξ, a zero by that size; ``bounded`` stays in [0, 1)."""
        if not x.is_floating_point():
            return x
        xi = torch.empty(x.shape, dtype=torch.float64).normal_(generator=self._generator)
        step = (SIZE * torch.finfo(x.dtype).eps * xi).to(x)
        near = torch.where(x == 0, step, x + x * step)
        return torch.where((near < 0) | (near >= 1), x, near) if bounded else near


class _Generator(np.random.Generator):
    """NumPy's, whose draws are moved."""

    perturbation: Perturbation


def _moves(name: str) -> Callable[..., Any]:
    """Make a method of NumPy's generator that moves what it draws."""
    draw = getattr(np.random.Generator, name)

    @functools.wraps(draw)
    def moved(self: _Generator, *args: Any, **kwargs: Any) -> Any:
        numbers = torch.from_numpy(np.asarray(draw(self, *args, **kwargs)))
        near = self.perturbation.moved(numbers, bounded=name == "random").numpy()
        return near if near.ndim else float(near)

    return moved


for _name in NUMPYS:
    setattr(_Generator, _name, _moves(_name))
