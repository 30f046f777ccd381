"""One column's velocity against autograd of the loss on all K entries."""

import numpy as np
import pytest
import torch

from iclutils.stages.theory.column import DOMINANT, KINDS, OTHER, TARGET, Column


def loss(theta, p, k):
    """p_k L_k from the definition, on all K entries."""
    attention = (p.log() + theta).softmax(0)
    target = torch.nn.functional.one_hot(torch.tensor(k), len(p))
    return 0.5 * p[k] * (attention - target).square().sum()


def probabilities(kind, K, p1):
    p = torch.full((K,), (1 - p1) / (K - 1), dtype=torch.float64)
    p[0] = p1
    if kind == "balanced":
        p[:] = 1 / K
    return p


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entries", [(0.0, 0.0, 0.0), (1.7, -0.9, 0.2), (9.0, -2.5, -0.1)])
def test_velocity_is_minus_the_gradient_of_the_loss(kind, entries):
    K, p1 = 7, 0.6
    p = probabilities(kind, K, p1)
    k = 0 if kind == "dominant" else 2
    theta = torch.full((K,), entries[OTHER], dtype=torch.float64)
    if kind == "rare":
        theta[0] = entries[DOMINANT]
    theta[k] = entries[TARGET]
    theta.requires_grad_(True)
    (gradient,) = torch.autograd.grad(loss(theta, p, k), theta)
    found = Column.of(kind, K, p1).velocity(np.array(entries))
    # rounding: the definition cancels numbers of order one
    assert found[TARGET] == pytest.approx(-float(gradient[k]), abs=1e-15, rel=1e-11)
    assert found[OTHER] == pytest.approx(-float(gradient[-1]), abs=1e-15, rel=1e-9)
    if kind == "rare":
        assert found[DOMINANT] == pytest.approx(-float(gradient[0]), abs=1e-15, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_error_is_the_loss_without_its_share(kind):
    K, p1, entries = 5, 0.4, np.array([[0.3, 2.0], [-0.2, -1.0], [0.0, 0.1]])
    p = probabilities(kind, K, p1)
    k = 0 if kind == "dominant" else 2
    column = Column.of(kind, K, p1)
    for i, found in enumerate(column.error(entries)):
        theta = torch.full((K,), entries[OTHER, i], dtype=torch.float64)
        if kind == "rare":
            theta[0] = entries[DOMINANT, i]
        theta[k] = entries[TARGET, i]
        # 1e-16 for each of a few operations on numbers of order one
        assert found == pytest.approx(float(loss(theta, p, k) / p[k]), rel=1e-13)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("rare", 2, 0.5), "K"),
        (("rare", 9, 1.0), "p1"),
        (("odd", 9, 0.5), "kind"),
    ],
)
def test_bad_arguments_are_named(arguments, name):
    with pytest.raises((ValueError, KeyError), match=f"{name} must"):
        Column.of(*arguments)
