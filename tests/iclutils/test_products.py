"""Many small products: the same numbers as torch's own."""

import pytest
import torch

from iclutils.products import product
from iclutils.randomness import stream

F64 = torch.float64


def test_products_are_those_of_torch_for_views_and_broadcast_axes():
    draws = stream(0, "products")
    a = torch.randn(3, 1, 4, 5, generator=draws, dtype=F64)
    b = torch.randn(2, 6, 5, generator=draws, dtype=F64)
    # sums of five numbers in another order
    torch.testing.assert_close(product(a, b.mT), a @ b.mT)
    torch.testing.assert_close(product(a.mT, a), a.mT @ a)


def test_products_refuse_what_does_not_fit_or_carries_a_gradient():
    with pytest.raises(ValueError, match="mismatch"):
        product(torch.zeros(2, 3), torch.zeros(2, 3))
    with pytest.raises(RuntimeError, match="requires grad"):
        product(torch.zeros(2, 2, requires_grad=True), torch.eye(2))
