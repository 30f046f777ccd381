"""What the search for one ridge spares the search for the next."""

import torch
from torch import Tensor

KEPT = 64  # the most directions to keep of one ridge for another


class Span:
    """Directions that were searched with one ridge, and their images without it.

    For another ridge the images are known, too: the best vector of the span is a start for it.
    """

    def __init__(self) -> None:
        self.directions: list[Tensor] = []
        self.images: list[Tensor] = []

    def add(self, direction: Tensor, image: Tensor) -> None:
        """Keep a direction and its image, while there are few."""
        if len(self.directions) < KEPT:
            size = direction.norm()
            self.directions.append((direction / size).double().flatten())
            self.images.append((image / size).double().flatten())

    def best(self, b: Tensor, ridge: float) -> Tensor:
        """The vector of the span that solves the system in the span (Galerkin); 0 for none."""
        if not self.directions:
            return torch.zeros_like(b)
        directions, images = torch.stack(self.directions), torch.stack(self.images)
        square = directions @ (images + ridge * directions).T
        share = torch.linalg.lstsq(square, (directions @ b.flatten())[:, None]).solution
        found: Tensor = share.T @ directions
        return found.view_as(b)
