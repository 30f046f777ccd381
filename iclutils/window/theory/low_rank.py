r"""The softmax unit's population loss on low-rank tasks, and its minimum over a space of matrices.

Tasks and label noise are integrated out, covariates are one large fixed sample
(:mod:`iclutils.window.theory.low_rank_problem`):

.. math::

   \mathcal L(M) = E_x\Big[E_a\big(\textstyle\sum_i\gamma_i f_a(x_i)-f_a(x_{n+1})\big)^2
     + \sigma^2\sum_i\gamma_i^2\Big]

(Collins et al., eq. (ICL) and Appendix H). M runs through :math:`\sum_p\theta_pE_p` for a basis of
matrices, so that the whole space of symmetric matrices and the two-parameter family
:math:`cBB^\top+eB_\perp B_\perp^\top` are one code. Chapter 4 uses it.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from iclutils import randomness, validation
from iclutils.products import product
from iclutils.stats import Estimate
from iclutils.window.theory.low_rank_problem import Contexts

FLATTEST = 1e-6  # of the largest curvature: flatter directions are taken to be this curved
SHORTEST = 1e-6  # of a Newton step: it is not halved further


class _NewtonStep(NamedTuple):
    """A step downhill, the fall of the loss that it promises twice, and the least curvature."""

    move: Float[Tensor, " P"]
    decrement: float
    least_curvature: float


class Derivatives(NamedTuple):
    """The gradient of each context's loss in θ, and the Hessian of the mean loss."""

    gradient: Float[Tensor, "N P"]
    hessian: Float[Tensor, "P P"]


@dataclass(frozen=True)
class Minimum:
    """A minimiser θ on a sample, its sandwich covariance, the loss and the Hessian there."""

    theta: Float[Tensor, " P"]
    covariance: Float[Tensor, "P P"]
    loss: float
    steps: int

    @property
    def se(self) -> Float[Tensor, " P"]:
        """Standard errors of θ as an estimate of the population minimiser."""
        return self.covariance.diagonal().sqrt()

    def coefficient(self, p: int) -> Estimate:
        """One entry of θ; its degrees of freedom, those of thousands of contexts, are infinite.

        Raises ``ValueError`` where p is no index of θ.
        """
        validation.whole("p", p, low=0, high=len(self.theta) - 1)
        return Estimate(float(self.theta[p]), float(self.se[p]), math.inf)


def symmetric_basis(frame: Float[Tensor, "d d"]) -> Float[Tensor, "P d d"]:
    """Make a basis of all P = d(d+1)/2 symmetric matrices, in an orthonormal ``frame``.

    In the order of ``torch.triu_indices``; the coefficient of entry (i, j) is the entry of
    ``frame.T @ M @ frame``. Raises ``ValueError`` where ``frame`` is not square.
    """
    d = validation.shape("frame", frame, "d d")["d"]
    i, j = torch.triu_indices(d, d)
    outer = frame[:, i].T.unsqueeze(-1) * frame[:, j].T.unsqueeze(-2)
    return torch.where((i == j).view(-1, 1, 1), outer, outer + outer.mT)


def logit_design(sample: Contexts, basis: Float[Tensor, "P d d"]) -> Float[Tensor, "N n P"]:
    r"""Return the :math:`\phi_{ip}=x_i^\top E_px_{n+1}`: at θ the logits are :math:`\phi\theta`."""
    return product(sample.x, torch.einsum("pde,ne->ndp", basis, sample.query))


def loss_at(sample: Contexts, M: Float[Tensor, "d d"]) -> Float[Tensor, " N"]:
    """Compute the loss of each context at a matrix M; differences of two matrices are paired.

    Raises ``ValueError`` where M has not the tokens' dimension or is not finite.
    """
    validation.shape("M", validation.finite("M", M), "d d", d=sample.query.shape[-1])
    return losses(sample, logit_design(sample, M.unsqueeze(0)).squeeze(-1))


def losses(sample: Contexts, logits: Float[Tensor, "N n"]) -> Float[Tensor, " N"]:
    """Compute the loss of each context at given logits, one for each of its tokens.

    Raises ``ValueError`` for logits of another shape.
    """
    _one_a_token("logits", sample, logits)
    return _attend(sample, logits).loss


def logit_slopes(
    sample: Contexts,
    logits: Float[Tensor, "N n"],
    *,
    signal: bool = True,
    noise: bool = True,
) -> Float[Tensor, "N n"]:
    r"""Slopes of each context's loss in its logits, of the signal's part, the noise's, or both.

    These are the :math:`\partial\ell/\partial\ln\alpha_i` of Lemmas H.3 and H.4, whose logits are
    :math:`c\,u_i^\top u+\ln\alpha_i`. Raises ``ValueError`` for logits of another shape.
    """
    _one_a_token("logits", sample, logits)
    for name, part in (("signal", signal), ("noise", noise)):
        validation.flag(name, part)
    return _slopes(sample, _attend(sample, logits), signal=signal, noise=noise)


def derivatives(
    sample: Contexts,
    phi: Float[Tensor, "N n P"],
    logits: Float[Tensor, "N n"],
) -> Derivatives:
    r"""Gradients and Hessian in closed form.

    ``phi`` says how the ``logits`` move with θ. With :math:`\bar\phi=\sum_i\gamma_i\phi_i`,
    :math:`\hat\phi_i=\phi_i-\bar\phi` and the logit gradient g, which sums to zero, the gradient
    is :math:`\sum_ig_i\hat\phi_i` and the Hessian

    .. math::

       2\,\overline{s_fs_f^\top}+\sum_i\big(2\sigma^2\gamma_i^2+g_i\big)\hat\phi_i\hat\phi_i^\top,
       \qquad s_f = \sum_i\gamma_if(x_i)\hat\phi_i

    Raises ``ValueError`` for logits of another shape.
    """
    _one_a_token("logits", sample, logits)
    return _derivatives(sample, Design(phi), _attend(sample, logits))


class Design(NamedTuple):
    r"""How logits move with θ: :math:`\phi_{ip}=\sum_r t_{ir}E_{rp}`, without E where it is I.

    For many matrices :math:`E_p` the tokens are those of the context and
    :math:`E_{\cdot p}=E_px_{n+1}`: the N·n·P numbers of :func:`logit_design` are not needed.
    """

    tokens: Float[Tensor, "N n r"]
    lift: Float[Tensor, "N r P"] | None = None

    @classmethod
    def of(cls, sample: Contexts, basis: Float[Tensor, "P d d"]) -> "Design":
        """Return the design of a basis of matrices, in the form with fewer numbers."""
        if len(basis) <= basis.shape[-1]:
            return cls(logit_design(sample, basis))
        return cls(sample.x, torch.einsum("pde,ne->ndp", basis, sample.query))

    def logits(self, theta: Float[Tensor, " P"]) -> Float[Tensor, "N n"]:
        """Return the logits at θ."""
        if self.lift is None:
            return self.tokens @ theta
        return product(self.tokens, (self.lift @ theta).unsqueeze(-1)).squeeze(-1)


def _one_a_token(name: str, sample: Contexts, logits: Float[Tensor, "N n"]) -> None:
    N, n = sample.x.shape[:2]
    validation.shape(name, logits, "N n", N=N, n=n)


class _Attended(NamedTuple):
    """The weights of each context, the answer minus the target of every task, and the loss."""

    gamma: Float[Tensor, "N n"]
    residual: Float[Tensor, "N Q"]
    loss: Float[Tensor, " N"]


def _attend(sample: Contexts, logits: Float[Tensor, "N n"]) -> _Attended:
    mass = (logits - logits.amax(-1, keepdim=True)).exp_()
    gamma = mass.div_(mass.sum(-1, keepdim=True))
    residual = product(sample.value, gamma.unsqueeze(-1)).squeeze(-1) - sample.target
    loss = residual.square().mean(-1)
    if sample.sigma:
        loss = loss + sample.sigma**2 * gamma.square().sum(-1)
    return _Attended(gamma, residual, loss)


def _slopes(
    sample: Contexts, at: _Attended, *, signal: bool = True, noise: bool = True
) -> Float[Tensor, "N n"]:
    """Compute the slopes of each context's loss in its logits."""
    gamma = at.gamma
    pull = torch.zeros_like(gamma)
    if signal:
        pulled = product(at.residual.unsqueeze(-2), sample.value).squeeze(-2)
        pull = pull + 2 * pulled / at.residual.shape[-1]
    if noise:
        pull = pull + 2 * sample.sigma**2 * gamma
    return gamma * (pull - (gamma * pull).sum(-1, keepdim=True))


def _derivatives(sample: Contexts, design: Design, at: _Attended) -> Derivatives:
    """As :func:`derivatives`, in the coordinates of the tokens until the contexts are summed."""
    gamma = at.gamma.unsqueeze(-1)
    g = _slopes(sample, at).unsqueeze(-1)
    centred = design.tokens - product(gamma.mT, design.tokens)
    of_tasks = product(sample.value, gamma * centred)
    gradient = product(g.mT, centred).squeeze(-2)
    bend = g + 2 * sample.sigma**2 * gamma.square()
    hessian = product((bend * centred).mT, centred)
    hessian += product(of_tasks.mT, of_tasks).mul_(2 / sample.value.shape[1])
    if design.lift is None:
        return Derivatives(gradient, hessian.mean(0))
    lifted = product(hessian, design.lift).flatten(0, 1)
    whole = design.lift.flatten(0, 1).T @ lifted / len(gradient)
    return Derivatives(product(gradient.unsqueeze(-2), design.lift).squeeze(-2), whole)


def minimise(
    sample: Contexts,
    basis: Float[Tensor, "P d d"],
    start: Float[Tensor, " P"],
    *,
    fixed: Float[Tensor, "d d"] | None = None,
    limit: int = 60,
    tolerance: float = 1e-10,
) -> Minimum:
    r"""Minimise :math:`\mathcal L(F+\sum_p\theta_pE_p)` by Newton's method with halved steps.

    ``start`` is the first θ and ``fixed`` the part F of M that is held, zero by default. The
    covariance is the sandwich :math:`H^{-1}\,\overline{gg^\top}\,H^{-1}/N`: how far the
    minimiser on this sample is from the one on the population. Raises ``ValueError`` where the
    shapes do not fit together, ``RuntimeError`` where after ``limit`` steps the Newton decrement,
    relative to the loss, is above ``tolerance`` or the Hessian is not positive.

    >>> from iclutils.window.theory.low_rank_problem import Case
    >>> case = Case(link="linear", d=3, k=1, n=4, sigma=0.5)
    >>> sample = case.contexts(4000, seed=0)
    >>> best = minimise(sample, case.family, start=torch.tensor([1.0, 0.0], dtype=torch.float64))
    >>> c, e = best.theta.tolist()  # mass on B, and next to none on the spurious directions
    >>> 0.5 < c < 5 and abs(e) < 0.5
    True
    """
    validation.shape("basis", basis, "P d d", d=sample.query.shape[-1])
    validation.shape("start", start, "P", P=basis.shape[0])
    fixed_logits = None
    if fixed is not None:
        validation.shape("fixed", validation.finite("fixed", fixed), "d d", d=basis.shape[-1])
        fixed_logits = logit_design(sample, fixed.unsqueeze(0)).squeeze(-1)
    design = Design.of(sample, basis)
    return descend(
        sample, design, start, fixed_logits=fixed_logits, limit=limit, tolerance=tolerance
    )


def descend(
    sample: Contexts,
    design: Design,
    start: Float[Tensor, " P"],
    *,
    fixed_logits: Float[Tensor, "N n"] | None = None,
    limit: int = 60,
    tolerance: float = 1e-10,
) -> Minimum:
    """As :func:`minimise`, for logits that move by a ``design`` from ``fixed_logits``."""

    def attended(theta: Tensor) -> _Attended:
        logits = design.logits(theta)
        return _attend(sample, logits if fixed_logits is None else fixed_logits + logits)

    if fixed_logits is not None:
        _one_a_token("fixed_logits", sample, fixed_logits)
    theta = randomness.start(start.clone())
    at = attended(theta)
    loss = float(at.loss.mean())
    decrement = math.inf
    for step in range(limit):
        each, hessian = _derivatives(sample, design, at)
        move, decrement, least_curvature = _newton_step(each.mean(0), hessian)
        if decrement <= tolerance * loss and least_curvature > 0:
            return Minimum(theta, sandwich(each, hessian), loss, step)
        size = 1.0
        at = attended(theta - size * move)
        while float(at.loss.mean()) > loss and size > SHORTEST:
            size /= 2
            at = attended(theta - size * move)
        theta = theta - size * move
        loss = float(at.loss.mean())
    raise RuntimeError(
        f"minimise did not converge in {limit} steps: the Newton decrement is {decrement:.1e} at a "
        f"loss of {loss:.3g}, {tolerance:g} of it is allowed"
    )


def sandwich(each: Float[Tensor, "N P"], hessian: Float[Tensor, "P P"]) -> Float[Tensor, "P P"]:
    r"""Compute :math:`H^{-1}\,\overline{gg^\top}\,H^{-1}/N`, a minimiser's covariance."""
    count = len(each)
    inverse: Tensor = torch.linalg.inv(hessian)
    return inverse @ (each.T @ each / count) @ inverse / count


def linear_mass(n: int, d: int, k: int, sigma: float) -> float:
    r"""Compute the mass of linear attention's minimiser on B, affine link, x uniform on the sphere.

    .. math:: c = \Big[\frac{k+2}{d+2}+(4+\sigma^2)k+\frac{n-1}{d}\Big]^{-1}

    Derived in chapter 4. Raises ``ValueError`` for d below 2, k outside 1..d, n below 1 or a
    negative ``sigma``.

    >>> round(linear_mass(n=50, d=10, k=2, sigma=0.1), 4)
    0.0755
    """
    validation.whole("d", d, low=2)
    validation.whole("k", k, low=1, high=d)
    validation.whole("n", n)
    validation.noise("sigma", sigma)
    return 1 / ((k + 2) / (d + 2) + (4 + sigma**2) * k + (n - 1) / d)


def _newton_step(gradient: Float[Tensor, " P"], hessian: Float[Tensor, "P P"]) -> _NewtonStep:
    """Compute the move to subtract; negative or tiny curvature is made positive."""
    curvature, directions = torch.linalg.eigh(hessian)
    positive = curvature.abs().clamp(min=FLATTEST * float(curvature.abs().max()))
    move: Tensor = directions @ ((directions.T @ gradient) / positive)
    return _NewtonStep(move, float(gradient @ move), float(curvature[0]))


def linear_minimum(sample: Contexts, basis: Float[Tensor, "P d d"]) -> Minimum:
    r"""Linear attention's own minimiser, by least squares on its answers.

    .. math::

       \mathcal L_{LA}(M) = E\Big[\big(\textstyle\sum_if_a(x_i)x_i^\top Mx_{n+1}-f_a(x_{n+1})\big)^2
         + \sigma^2\sum_i(x_i^\top Mx_{n+1})^2\Big]

    is a quadratic form in θ, so the minimiser solves one linear system. Its covariance is that of
    :func:`minimise`. Raises ``ValueError`` where the ``basis`` has
    not the tokens' dimension.
    """
    validation.shape("basis", basis, "P d d", d=sample.query.shape[-1])
    phi = logit_design(sample, basis)
    pooled = product(sample.value, phi)  # (N, Q, P)
    signal = 2 * product(pooled.mT, pooled) / pooled.shape[1]
    second = signal + 2 * sample.sigma**2 * product(phi.mT, phi)
    first = 2 * (pooled * sample.target.unsqueeze(-1)).mean(1)
    hessian = second.mean(0)
    theta = torch.linalg.solve(hessian, first.mean(0))
    each = second @ theta - first
    loss = float(sample.target.square().mean() - 0.5 * first.mean(0) @ theta)
    return Minimum(theta, sandwich(each, hessian), loss, 1)
