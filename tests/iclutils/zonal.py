"""The law of t = xᵀy, y uniform on the sphere, by quadrature: a second route to closed forms."""

import math

import numpy as np
import torch


def quadrature(d: int, points: int = 400) -> tuple[torch.Tensor, torch.Tensor]:
    """Nodes t and weights of the law of t: Gauss–Legendre in the angle."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    theta = math.pi * (torch.as_tensor(nodes) + 1) / 2
    weight = torch.as_tensor(weights) * theta.sin() ** (d - 2)
    return theta.cos(), weight / weight.sum()
