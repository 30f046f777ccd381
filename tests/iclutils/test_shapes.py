"""The shapes in signatures are really checked."""

import pytest
import torch
from jaxtyping import Float, TypeCheckError, jaxtyped
from shapes import check
from torch import Tensor


@jaxtyped(typechecker=check)
def first(x: Float[Tensor, "n d"], count: float) -> Float[Tensor, " d"]:
    if count < 0:
        raise ValueError("count must be at least 0")
    return x.sum(int(count))


def test_a_wrong_shape_is_found_after_the_call():
    assert first(torch.ones(3, 2), 0).tolist() == [3, 3]
    with pytest.raises(TypeCheckError):
        first(torch.ones(3, 2), 1)
    with pytest.raises(TypeCheckError):
        first(torch.ones(3, 2, 2), 0)


def test_a_functions_own_error_comes_first():
    with pytest.raises(ValueError, match="count must"):
        first(torch.ones(3), -1)
