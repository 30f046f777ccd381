r"""The softmax and the linear attention unit of Collins et al., with losses and gradients in closed form.

After the paper's reparameterisation a unit is one matrix M. Shapes: ``M: (*B, d, d)``,
``x: (*B, n, d)``, ``query: (*B, q, d)``, weights ``(*B, n, q)``; leading axes broadcast.
"""

import torch

from iclutils import validation
from iclutils.prompts import Prompt

UNITS = ("softmax", "linear")


def weights(M: torch.Tensor, x: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    r"""Softmax attention weights, columns summing to one; ``(*B, n, q)``.

    $$\gamma_i = e^{x_i^\top M x_{n+1}} \big/ \textstyle\sum_j e^{x_j^\top M x_{n+1}}$$
    (Collins et al., eq. (ICL)).
    """
    _check(M, x, query)
    return torch.softmax(x @ M @ query.mT, dim=-2)


def predict(M: torch.Tensor, prompt: Prompt, unit: str = "softmax") -> torch.Tensor:
    r"""The unit's answers ``(*B, q)``: $\sum_i\gamma_i y_i$ (softmax) or $\sum_i y_i x_i^\top M x_{n+1}$ (linear).

    Collins et al., eq. (ICL) and Remark 2.2. Raises ``KeyError`` for an unknown unit.
    """
    validation.one_of("unit", unit, UNITS)
    _check(M, prompt.x, prompt.query)
    if unit == "linear":
        return (prompt.y.unsqueeze(-2) @ prompt.x @ M @ prompt.query.mT).squeeze(-2)
    return (prompt.y.unsqueeze(-2) @ weights(M, prompt.x, prompt.query)).squeeze(-2)


def loss_and_gradient(M: torch.Tensor, prompt: Prompt, unit: str = "softmax") -> tuple[torch.Tensor, torch.Tensor]:
    r"""Mean squared error over the queries, ``(*B,)``, and its gradient in M, ``(*B, d, d)``.

    With $r = \hat y - f(x_{n+1})$ the gradient is the query mean of $2 r\, g\, x_{n+1}^\top$, where
    $g = \sum_i\gamma_i(y_i - \hat y)x_i$ for softmax and $g = \sum_i y_i x_i$ for linear attention.
    """
    validation.one_of("unit", unit, UNITS)
    _check(M, prompt.x, prompt.query)
    return _loss_and_gradient(M, prompt, unit)


def _loss_and_gradient(M: torch.Tensor, prompt: Prompt, unit: str) -> tuple[torch.Tensor, torch.Tensor]:
    """The unchecked inner function of :func:`loss_and_gradient`, for training loops."""
    x, y, query = prompt.x, prompt.y, prompt.query
    q = query.shape[-2]
    if unit == "linear":
        pooled = y.unsqueeze(-2) @ x                                     # (*B, 1, d)
        residual = (pooled @ M @ query.mT).squeeze(-2) - prompt.target   # (*B, q)
        gradient = pooled.mT @ (residual.unsqueeze(-2) @ query)          # (*B, d, d)
    else:
        gamma = torch.softmax(x @ (M @ query.mT), dim=-2)                # (*B, n, q)
        answer = y.unsqueeze(-2) @ gamma                                 # (*B, 1, q)
        residual = answer.squeeze(-2) - prompt.target
        pull = gamma * (y.unsqueeze(-1) - answer) * residual.unsqueeze(-2)
        gradient = x.mT @ (pull @ query)
    return residual.square().mean(-1), (2 / q) * gradient


def effective_number(gamma: torch.Tensor) -> torch.Tensor:
    r"""How many tokens a query averages over, $n_\mathrm{eff} = 1/\sum_i\gamma_i^2$; ``(*B, n, q) → (*B, q)``."""
    validation.shape("gamma", gamma, "... n q")
    return 1 / gamma.square().sum(-2)


def half_mass_cap(gamma: torch.Tensor, x: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    """The window as a number: the angle (radians) of the smallest cap around the query that holds half of the weight.

    ``gamma: (*B, n, q)``, ``x: (*B, n, d)``, ``query: (*B, q, d)`` of unit length; returns ``(*B, q)``.
    """
    validation.shape("gamma", gamma, "... n q", n=x.shape[-2], q=query.shape[-2])
    angle = (x @ query.mT).clamp(-1, 1).arccos()
    angle, order = angle.expand(gamma.shape).sort(dim=-2)
    held = gamma.gather(-2, order).cumsum(-2)
    first = (held < 0.5 * held[..., -1:, :]).sum(-2, keepdim=True).clamp(max=gamma.shape[-2] - 1)
    return angle.gather(-2, first).squeeze(-2)


def _check(M: torch.Tensor, x: torch.Tensor, query: torch.Tensor) -> None:
    d = validation.shape("M", M, "... d d")["d"]
    validation.finite("M", M)
    validation.shape("x", x, "... n d", d=d)
    validation.shape("query", query, "... q d", d=d)
