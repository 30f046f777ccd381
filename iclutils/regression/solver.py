r"""Linear attention on linear regression, reduced: the ridge problem for Γ, solved without its matrix, and its rivals.

The prediction of the reduced model is ⟨Γ, x vᵀ⟩ = xᵀΓv with the features of :mod:`iclutils.features`; pretraining is

    Γ = argmin Σ_μ (y_μ − ⟨Γ, x_μ v_μᵀ⟩)² + (n/d) λ ‖Γ‖²

(Lu et al., arXiv 2405.11751). Chapter 5 uses it. The design matrix has n rows of d(d+1) entries; it is never formed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from iclutils import features, validation
from iclutils.features import Moments, Prompts
from iclutils.randomness import stream

Apply = Callable[[torch.Tensor], torch.Tensor]


def linear_attention(z: torch.Tensor, value: torch.Tensor, key_query: torch.Tensor) -> torch.Tensor:
    r"""The output A(Z) = Z + (1/ℓ)(VZ)(KZ)ᵀ(QZ), with M = KᵀQ (slides, "Model").

    ``z: (..., d+1, ℓ+1)`` tokens and labels with a 0 for the query's label, ``value, key_query: (..., d+1, d+1)``.
    """
    rows, columns = list(validation.shape("z", z, "... e m").values())
    validation.shape("value", value, "... e e", e=rows), validation.shape("key_query", key_query, "... e e", e=rows)
    return z + (value @ z) @ (z.mT @ (key_query @ z)) / (columns - 1)


def reduced_weights(value: torch.Tensor, key_query: torch.Tensor) -> torch.Tensor:
    r"""The reduced parameter Γ = v₂₂ [M₁₁ᵀ/d, m₂₁] (slides, "Predictor for y_{ℓ+1}"); returns (d, d+1).

    Exact where the block v₂₁ (last row of V, first d columns) is zero. ``value, key_query: (..., d+1, d+1)``.
    """
    e = validation.shape("value", value, "... e e")["e"]
    validation.shape("key_query", key_query, "... e e", e=e)
    d = e - 1
    return value[..., d, d, None, None] * torch.cat([key_query[..., :d, :d].mT / d, key_query[..., d, :d, None]], -1)


def reduced_prediction(z: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
    r"""⟨Γ, H_Z⟩ with H_Z = x_{ℓ+1}[(d/ℓ)Σ y_i x_iᵀ, (1/ℓ)Σ y_i²], from the tokens.

    ``z: (..., d+1, ℓ+1)``, ``gamma: (..., d, d+1)``; returns (...).
    """
    rows, columns = list(validation.shape("z", z, "... e m").values())
    d, ell = rows - 1, columns - 1
    validation.shape("gamma", gamma, "... d e", d=d, e=rows)
    x, y = z[..., :d, :ell], z[..., d, :ell]
    v = torch.cat([d / ell * (x @ y[..., None])[..., 0], y.square().mean(-1, keepdim=True)], -1)
    return torch.einsum("...d,...de,...e->...", z[..., :d, ell], gamma, v)


@dataclass(frozen=True)
class Solution:
    """The minimiser Γ (d, d+1), the iterations spent and the relative residual of the linear system."""

    gamma: torch.Tensor
    iterations: int
    residual: float


def _conjugate_gradients(apply: Apply, b: torch.Tensor, tol: float, budget: int, precondition: Apply) -> tuple[torch.Tensor, int]:
    x, r = torch.zeros_like(b), b.clone()
    p = s = precondition(r)
    rs, goal = float((r * s).sum(dtype=torch.float64)), tol * float(b.norm())
    for step in range(1, budget + 1):
        q = apply(p)
        length = rs / float((p * q).sum(dtype=torch.float64))
        x.add_(p, alpha=length), r.sub_(q, alpha=length)
        if float(r.norm()) <= goal:
            return x, step
        s = precondition(r)
        rs, old = float((r * s).sum(dtype=torch.float64)), rs
        p = s + (rs / old) * p
    return x, budget


def solve(prompts: Prompts, lam: float, *, tol: float = 1e-7, max_iterations: int = 20000) -> Solution:
    r"""Minimise Σ(y_μ − x_μᵀΓv_μ)² + (n/d)λ‖Γ‖² by conjugate gradients; no matrix larger than n × (d+1) is formed.

    For n < d(d+1) in the dual, Γ = Σ a_μ x_μ v_μᵀ and (K + (n/d)λ)a = y with K = XXᵀ∘VVᵀ; above in the primal,
    preconditioned by (Σ v vᵀ/n + λ)⁻¹. A product with the design matrix is two matrix products, xᵀΓv. Inner
    iterations run in single precision, residuals and updates in double (iterative refinement), down to the
    relative residual ``tol``. ``x: (n, d)``, ``v: (n, d+1)``, ``y: (n,)``; ``lam ≥ 0`` (``lam > 0`` where n = d(d+1)).
    Raises ``ValueError``, and ``RuntimeError`` where ``max_iterations`` do not reach ``tol``.
    """
    n, d = validation.shape("prompts.x", prompts.x, "n d").values()
    validation.shape("prompts.v", prompts.v, "n e", n=n, e=d + 1), validation.shape("prompts.y", prompts.y, "n", n=n)
    validation.nonnegative("lam", lam), validation.positive("tol", tol)
    dual, ridge = n < d * (d + 1), n * lam / d
    if lam == 0 and n == d * (d + 1):
        raise ValueError(f"lam must be positive where n = d(d+1) = {n}; got 0")

    def operators(dtype: torch.dtype) -> tuple[Apply, Apply, Apply]:
        x, v = prompts.x.to(dtype), prompts.v.to(dtype)

        def forward(gamma: torch.Tensor) -> torch.Tensor:
            return torch.linalg.vecdot(x @ gamma, v)

        def adjoint(a: torch.Tensor) -> torch.Tensor:
            return x.T @ (a[:, None] * v)

        if dual:
            return (lambda a: forward(adjoint(a)) + ridge * a), adjoint, (lambda a: a)
        factor = torch.linalg.cholesky(prompts.v.T @ prompts.v / n + max(lam, 1e-12) * torch.eye(d + 1, dtype=torch.float64))
        inverse = torch.cholesky_inverse(factor).to(dtype)
        return (lambda g: adjoint(forward(g)) + ridge * g), adjoint, (lambda g: g @ inverse)

    double, single = operators(torch.float64), operators(torch.float32)
    b = prompts.y.double() if dual else double[1](prompts.y.double())
    solution, r, spent = torch.zeros_like(b), b, 0
    norm, left, work = float(b.norm()), 1.0, single
    while left > tol and spent < max_iterations:
        dtype = torch.float32 if work is single else torch.float64
        goal = max(0.3 * tol / left, 1e-4) if work is single else 0.3 * tol / left
        step, used = _conjugate_gradients(work[0], r.to(dtype), goal, max_iterations - spent, work[2])
        solution, spent = solution + step.double(), spent + used
        r = b - double[0](solution)
        left, before = float(r.norm()) / norm, left
        work = double if left > 0.1 * before else work
    if not left <= tol:
        raise RuntimeError(f"solve: residual {left:.1e} after {spent} iterations, wanted {tol:.1e}; raise max_iterations or lam")
    return Solution(double[1](solution) if dual else solution, spent, left)


def solve_dense(prompts: Prompts, lam: float) -> torch.Tensor:
    """The same minimiser from the normal equations with the d(d+1)-square matrix: the plain way; returns Γ (d, d+1)."""
    n, d = prompts.x.shape
    design = (prompts.x[:, :, None] * prompts.v[:, None, :]).reshape(n, -1)
    gram = design.T @ design + n * lam / d * torch.eye(design.shape[1], dtype=torch.float64)
    return torch.cholesky_solve((design.T @ prompts.y)[:, None], torch.linalg.cholesky(gram)).reshape(d, d + 1)


@dataclass(frozen=True)
class Setting:
    """A point of the phase diagram at finite d: α = ℓ/d, κ = k/d (``math.inf``: a fresh task a prompt), τ = n/d², ρ."""

    d: int
    alpha: float
    kappa: float
    tau: float
    rho: float
    normalised: bool = False

    def __post_init__(self) -> None:
        validation.whole("d", self.d, low=2), validation.nonnegative("rho", self.rho)
        for name in ("alpha", "tau") if self.kappa == math.inf else ("alpha", "tau", "kappa"):
            validation.positive(name, getattr(self, name))

    @property
    def ell(self) -> int:
        """Context length ℓ = αd, rounded, at least 1."""
        return max(1, round(self.alpha * self.d))

    @property
    def n(self) -> int:
        """Number of pretraining prompts n = τd², rounded, at least 1."""
        return max(1, round(self.tau * self.d**2))

    @property
    def k(self) -> int:
        """Number of pretraining tasks k = κd, rounded, at least 1; n for κ = ∞."""
        return self.n if self.kappa == math.inf else max(1, round(self.kappa * self.d))

    def tasks(self, seed: int, trial: int) -> torch.Tensor:
        """The pretraining tasks of one trial, (k, d): a function of (seed, trial, k, d) alone."""
        return features.draw_tasks(self.k, self.d, stream(seed, "tasks", self.d, self.k, trial), normalised=self.normalised)

    def prompts(self, seed: int, trial: int) -> Prompts:
        """The pretraining prompts of one trial, balanced over its tasks."""
        generator = stream(seed, "prompts", self.d, self.ell, self.n, self.k, trial)
        return features.sample(self.tasks(seed, trial), self.ell, self.rho, generator, n=self.n)

    def moments(self, seed: int, trial: int) -> tuple[Moments, Moments]:
        """Exact moments of the features on this trial's pretraining tasks and on fresh tasks (equal for κ = ∞)."""
        fresh = features.fresh_moments(self.d, self.ell, self.rho, normalised=self.normalised)
        if self.kappa == math.inf:
            return fresh, fresh
        counts = torch.bincount(torch.arange(self.n) % self.k, minlength=self.k)
        return features.moments(self.tasks(seed, trial), self.ell, self.rho, counts), fresh

    def other_prompts(self, seed: int, trial: int, m: int) -> tuple[torch.Tensor, Prompts]:
        """About ``m`` more prompts on this trial's tasks (fresh ones for κ = ∞), and those tasks; none is trained on."""
        if self.kappa == math.inf:
            tasks = features.draw_tasks(m, self.d, stream(seed, "other tasks", self.d, trial), normalised=self.normalised)
        else:
            tasks = self.tasks(seed, trial)
        generator = stream(seed, "other prompts", self.d, self.ell, len(tasks), trial)
        return tasks, features.sample(tasks, self.ell, self.rho, generator, n=max(1, m // len(tasks)) * len(tasks))


def errors(setting: Setting, ridges: Sequence[float], seed: int, trial: int, *, tol: float = 1e-5) -> torch.Tensor:
    """Draw one pretraining set, train Γ for each ridge, return the exact (e_ICL, e_IDG), shape (len(ridges), 2).

    The default residual ``tol`` of the solver leaves a relative error of about 1e-6 in the test errors.
    """
    prompts = setting.prompts(seed, trial)
    train, fresh = setting.moments(seed, trial)
    found = []
    for lam in ridges:
        gamma = solve(prompts, lam, tol=tol).gamma
        found.append([fresh.error(gamma, setting.rho), train.error(gamma, setting.rho)])
    return torch.tensor(found, dtype=torch.float64)


def curve(settings: Sequence[Setting], lam: float, seed: int, trials: int) -> torch.Tensor:
    """:func:`errors` for every setting and trial at one ridge; returns (trials, len(settings), 2)."""
    validation.whole("trials", trials)
    return torch.stack([torch.stack([errors(s, [lam], seed, t)[0] for s in settings]) for t in range(trials)])


def dmmse_errors(tasks: torch.Tensor, ell: int, rho: float, generator: torch.Generator, contexts: int, *,
                 fresh: bool) -> torch.Tensor:
    r"""Test errors of dMMSE, the posterior mean under the uniform prior on the k pretraining tasks; returns (contexts,).

    .. math:: \hat w = \sum_j p_j w_j, \quad p_j \propto \exp\Bigl(-\tfrac1{2\rho}\sum_i (y_i - \langle x_i, w_j\rangle)^2\Bigr),
        \qquad e = \rho + \|\hat w - w\|^2/d

    The query is integrated out. The tokens enter through XᵀX alone, drawn as a Wishart matrix (Bartlett): O(d²)
    a context whatever ℓ ≥ d. ``tasks: (k, d)``, ``rho > 0``; ``fresh`` draws w ~ N(0, I_d), else from ``tasks``.
    """
    k, d = validation.shape("tasks", tasks, "k d").values()
    validation.whole("ell", ell, low=d), validation.positive("rho", rho), validation.whole("contexts", contexts)
    normal = torch.randn(contexts, d, d, dtype=torch.float64, generator=generator).tril(-1)
    chi = torch.stack([features.chi_square(ell - i, contexts, generator) for i in range(d)], 1).sqrt()
    root = (normal + torch.diag_embed(chi)) / math.sqrt(d)
    if fresh:
        w = torch.randn(contexts, d, dtype=torch.float64, generator=generator)
    else:
        w = tasks[torch.randint(k, (contexts,), generator=generator)]
    noise = torch.randn(contexts, d, dtype=torch.float64, generator=generator)
    seen = torch.einsum("cdi,cd->ci", root, w) + math.sqrt(rho) * noise  # Rᵀw + noise: XᵀX = RRᵀ, Xᵀε = √ρ R·noise
    away = (seen[:, None] - torch.einsum("cdi,kd->cki", root, tasks)).square().sum(2)
    estimate = torch.softmax(-away / (2 * rho), 1) @ tasks
    return rho + (estimate - w).square().sum(1) / d


def job(*, d: int, alpha: float, kappa: float | str, tau: float, rho: float, ridge: float, trial: int,
        seed: int) -> dict[str, float]:
    """One point of a recorded sweep, see :mod:`iclutils.sweeps`; ``kappa`` may be the text "inf"."""
    icl, idg = errors(Setting(d, alpha, float(kappa), tau, rho), [ridge], seed, trial)[0].tolist()
    return {"icl": icl, "idg": idg}


def diversity_job(*, d: int, alpha: float, kappa: float, tau: float, rho: float, ridge: float, contexts: int, trial: int,
                  seed: int) -> dict[str, float]:
    """:func:`job`, and the mean errors of dMMSE on the same pretraining tasks over ``contexts`` contexts of each kind."""
    setting = Setting(d, alpha, kappa, tau, rho)
    found = job(d=d, alpha=alpha, kappa=kappa, tau=tau, rho=rho, ridge=ridge, trial=trial, seed=seed)
    for key, fresh in (("dmmse_icl", True), ("dmmse_idg", False)):
        generator = stream(seed, key, d, setting.ell, setting.k, trial)
        found[key] = float(dmmse_errors(setting.tasks(seed, trial), setting.ell, rho, generator, contexts, fresh=fresh).mean())
    return found
