"""Bad input is refused by an error that names it: calls that once came back in silence.

Or that failed in somebody else's words. Each line is a call, the error, and words that it must say.
"""

import dataclasses
import itertools
import math
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from iclutils import sphere, stats
from iclutils.randomness import chi_square, stream
from iclutils.regression import (
    dmmse,
    experiment,
    layers,
    levenberg_marquardt,
    moments,
    ridge,
    samplers,
    training_sets,
    transformer_training,
    transformers,
)
from iclutils.regression.sweep_jobs import reduced_errors
from iclutils.regression.theory import asymptotics, equivalents
from iclutils.regression.theory.asymptotics import Phase
from iclutils.stages import attention as stage_attention
from iclutils.stages import prompts as stage_prompts
from iclutils.stages import training
from iclutils.stages.theory import equal_features, finite_prompts, meanfield, time_bounds
from iclutils.transformer.samplers import Kinks
from iclutils.window import (
    alignment,
    attention,
    covariates,
    evaluation,
    function_classes,
    low_rank_tasks,
    pretraining,
    transfer,
)
from iclutils.window import prompts as window_prompts
from iclutils.window.theory import (
    best_window,
    full_matrix,
    linear_attention,
    low_rank,
    low_rank_problem,
    misspecification,
    population_loss,
    theorem_4_4,
    value_weight,
)

NAN = math.nan
INF = math.inf


def draw() -> torch.Generator:
    return stream(0, "bad input")


def numbers(*entries: float) -> Tensor:
    return torch.tensor(entries, dtype=torch.float64)


def ones(*size: int) -> Tensor:
    return torch.ones(*size, dtype=torch.float64)


def spoilt(*size: int) -> Tensor:
    """Ones, and one NaN."""
    found = ones(*size)
    found.view(-1)[0] = NAN
    return found


EYE = torch.eye(3, dtype=torch.float64)
X = covariates.normalised(torch.randn(4, 3, generator=draw(), dtype=torch.float64))
GRID = numbers(0.0, 1.0, 2.0, 4.0, 8.0)
BAD_LABEL = window_prompts.Prompt(X, spoilt(4), X[:2], ones(2))
WINDOWS = value_weight.Windows(GRID, ones(4, 5), ones(4, 5), ones(4, 5), 1.0)
CASE = low_rank_problem.Case(link="linear", d=4, k=2, n=6, sigma=0.1)
CONTEXT = samplers.Context(d=3, ell=6, rho=0.1)
MOMENTS = moments.fresh_moments(CONTEXT)
OTHER_MOMENTS = moments.fresh_moments(samplers.Context(d=4, ell=6, rho=0.1))
POINT = experiment.Setting(d=4, alpha=1.0, kappa=0.5, tau=0.5, rho=0.1)
FLEET = training_sets.draw_fleet([8], 3, 4, 0.1, 0)
NETWORK = transformers.Architecture(3, blocks=1)
P = numbers(0.5, 0.25, 0.25)
FRAME = stage_prompts.feature_frame(3, 4, draw())
COUNTS = numbers(5.0, 2.0, 1.0).repeat(2, 1)
CONTEXTS = CASE.contexts(30, 0)
AFFINE_5 = function_classes.Affine(5)
WAVES = function_classes.Cosine(3)
LOSS = population_loss.limit(3, 50, w=best_window.grid(50, 12))
WINDOW = LOSS.best_window(function_classes.Affine(3), 0.5)
SETTING = pretraining.Setting(
    function=function_classes.Affine(3), covariates=covariates.Sphere(3), n=4, sigma=0.1
)
TASKS = {
    "affine": function_classes.Affine(3),
    "relu": function_classes.ReLU(3),
    "cosine": WAVES,
    "hills": function_classes.Hills(1.0),
    "distance": function_classes.Distance(3),
    "low rank": low_rank_tasks.LowRankLink(EYE[:, :2], "linear"),
}
NO_PROMPTS = samplers.Prompts(ones(0, 3), ones(0, 4), ones(0))


class Bad(NamedTuple):
    """A bad call, the words that its error says, and the kind of it."""

    call: Any
    words: str
    kind: type[Exception] = ValueError


SILENT = {  # once a value came, or NaN
    "characteristic of r² < 0": Bad(
        lambda: sphere.characteristic(numbers(-4.0), 3), "squared .* -4"
    ),
    "characteristic of NaN": Bad(
        lambda: sphere.characteristic(numbers(NAN), 3), "squared must be finite"
    ),
    "complex samples": Bad(
        lambda: stats.mean_se(torch.tensor([1 + 1j, 2])), "samples must be real", TypeError
    ),
    "dof 0 of a line": Bad(lambda: stats.line([0, 1, 2], [0, 1, 2], [1, 1, 1], dof=0), "dof .* 0"),
    "difference of an error NaN": Bad(
        lambda: stats.difference(stats.Estimate(1.0, NAN, 9), stats.Estimate(1.0, 0.1, 9)),
        "estimates must .*nan",
    ),
    "difference with −3 degrees of freedom": Bad(
        lambda: stats.difference(stats.Estimate(1.0, 0.1, -3), stats.Estimate(1.0, 0.1, 9)),
        "estimates must have positive degrees of freedom.*-3",
    ),
    "jackknife of NaN": Bad(
        lambda: stats.jackknife(lambda kept: float(kept.mean()), spoilt(4)),
        r"function\(samples\).* must be finite",
    ),
    "jackknife of nothing": Bad(lambda: stats.jackknife_se(ones(0)), "trials in without .* 0"),
    "directions in d = 0": Bad(
        lambda: function_classes.directions((2,), 0, draw()), "d must be at least 1; got 0"
    ),
    "effective number of no weight": Bad(
        lambda: evaluation.effective_number(torch.zeros(4, 1)), "sum of gamma .* is 0"
    ),
    "no degrees": Bad(
        lambda: population_loss.limit(3, 50, degrees=torch.tensor([], dtype=torch.int64)),
        "degrees must rise",
    ),
    "a degree twice": Bad(
        lambda: population_loss.limit(3, 50, degrees=torch.tensor([1, 1])), "degrees"
    ),
    "loss at σ < 0": Bad(lambda: WINDOWS.loss(-1.0), "sigma .* -1"),
    "value weight at σ < 0": Bad(lambda: WINDOWS.value_weight(-1.0), "sigma .* -1"),
    "−5 tokens": Bad(lambda: CASE.contexts(-5, 0), "tokens .* -5"),
    "error at ρ < 0": Bad(lambda: MOMENTS.error(ones(3, 4), -1.0), "rho .* -1"),
    "χ² of 0 degrees": Bad(lambda: chi_square(0, 3, draw()), "degrees must be at least 1; got 0"),
    "no ridges": Bad(lambda: experiment.errors(POINT, [], 0, 0), "ridges .* none"),
    "a layer without tokens": Bad(
        lambda: layers.linear_attention(ones(4, 1), ones(4, 4), ones(4, 4)), "columns of z.* 1"
    ),
    "a reduced model without tokens": Bad(
        lambda: layers.reduced_prediction(ones(4, 1), ones(3, 4)), "columns of z.* 1"
    ),
    "prompts of 0 tokens": Bad(
        lambda: stage_prompts.draw_prompts(P, FRAME, 0, 1, 2, draw()), "N .* 0"
    ),
    "a layer of d + 2 rows": Bad(
        lambda: stage_attention.predict(
            ones(1, 6, 4), ones(1, 2, 5, 4), ones(1, 2, 5), ones(1, 2, 4)
        ),
        "rows of W.* 6",
    ),
    "passage of level NaN": Bad(lambda: training.first_passage(GRID, GRID, NAN), "level .* nan"),
    "passage of NaN": Bad(
        lambda: training.first_passage(GRID, spoilt(5), 1.0), "values must be finite"
    ),
    "others at σ < 0": Bad(lambda: equal_features.Lookup(5, 8).others(-3.0), "sigma .* -3"),
    "a flow of tolerance 10": Bad(lambda: meanfield.flow("rare", 5, 0.5, rtol=10), "rtol .* 10"),
    "a diverging descent": Bad(
        lambda: meanfield.descend("rare", 5, 0.5, learning_rate=1e300, steps=4),
        r"learning_rate .* 1e\+300",
        RuntimeError,
    ),
    "the spectrum of degree −2": Bad(
        lambda: function_classes.Cosine(3).spectrum(torch.tensor([-2])), "degrees .* -2"
    ),
    "an affine spectrum of degree −2": Bad(
        lambda: function_classes.Affine(3).spectrum(torch.tensor([-2])), "degrees .* -2"
    ),
    "complement of NaN": Bad(lambda: low_rank_tasks.complement(spoilt(3, 2)), "B must be finite"),
    "ρ of M = 0": Bad(lambda: alignment.rho(0 * EYE, EYE[:, :2]), "M must not be zero"),
    "answer to a label NaN": Bad(
        lambda: attention.predict(EYE, BAD_LABEL), "prompt.y must be finite"
    ),
    "parabola through NaN": Bad(
        lambda: best_window.parabola_minimum(GRID, spoilt(5)), "loss must be finite"
    ),
    "label of tokens NaN": Bad(
        lambda: linear_attention.gaussian_label(spoilt(3, 3), EYE, 0.1), "tokens must be finite"
    ),
    "scaled by NaN": Bad(lambda: WINDOWS.scaled(NAN), "L .* nan"),
    "error of Γ = NaN": Bad(lambda: MOMENTS.error(spoilt(3, 4), 0.1), "gamma must be finite"),
    "dMMSE on tasks NaN": Bad(
        lambda: dmmse.dmmse_errors(spoilt(4, 3), 6, 0.1, draw(), 2, fresh=True),
        "tasks must be finite",
    ),
    "a diverging layer": Bad(
        lambda: levenberg_marquardt.train(FLEET, 0, [3], learning_rate=1e200),
        r"learning_rate .* 1e\+200",
        RuntimeError,
    ),
    "a diverging transformer": Bad(
        lambda: transformer_training.train(NETWORK, FLEET, 0, [3], learning_rate=1e30),
        r"learning_rate .* 1e\+30",
        RuntimeError,
    ),
    "attention to no token": Bad(
        lambda: stage_attention.attention(numbers(0, 0, 0), 0 * COUNTS), "counts must hold"
    ),
    "attention of θ = NaN": Bad(
        lambda: stage_attention.attention(spoilt(3), COUNTS), "theta must be finite"
    ),
    "closing till 1e4": Bad(lambda: equal_features.closing(8, INF, end=1e4), "end .* 10000"),
    "velocity at NaN": Bad(
        lambda: meanfield.velocity("rare", 5, 0.5, [NAN, 0, 0]), "entries .*nan"
    ),
    "the best value of no prompts": Bad(
        lambda: stage_attention.best_value(0 * EYE, ones(0, 3), P), "prompts in counts .* 0"
    ),
    "the best value of probabilities that sum to 2": Bad(
        lambda: stage_attention.best_value(0 * EYE, COUNTS, 2 * P), "p must .*"
    ),
    "a gradient of no prompts": Bad(
        lambda: stage_attention.column_gradient(0 * ones(1, 3), ones(0, 3), torch.tensor([1]), P),
        "prompts in counts .* 0",
    ),
    "a gradient with probabilities that sum to ½": Bad(
        lambda: stage_attention.column_gradient(0 * ones(1, 3), COUNTS, torch.tensor([1]), P / 2),
        "p must sum to 1; it sums to 0.5",
    ),
    "features twice as long": Bad(
        lambda: stage_prompts.draw_prompts(P, 2 * FRAME, 5, 1, 2, draw()),
        "frame, transposed, must have orthonormal",
    ),
    "entries of one feature": Bad(
        lambda: training.rare_and_dominant_entries(ones(1, 1)), "K must be at least 2; got 1"
    ),
    "the record nearest to NaN": Bad(
        lambda: training.Trajectory(GRID, ones(5, 2, 3), ones(5, 2)).nearest(NAN), "t must .*nan"
    ),
    "a solution after its end": Bad(
        lambda: meanfield.flow("rare", 5, 0.5).solution(1e9), r"t must be in .* 1000000000"
    ),
    "a solution at NaN": Bad(lambda: meanfield.flow("rare", 5, 0.5).solution(NAN), "t must .*nan"),
    "attention of one entry": Bad(
        lambda: meanfield.Column.of("rare", 5, 0.5).attention(np.zeros(1)),
        "entries must be three.* 1",
    ),
    "a bound for 2.5 features": Bad(
        lambda: time_bounds.rare_bound(2.5, 0.1), "K must be at least 2 and whole; got 2.5"
    ),
    "an error of 7 granted": Bad(lambda: finite_prompts.granted(5, 0.5, 9, 7.0), "error must .* 7"),
    "a margin of NaN": Bad(lambda: meanfield.step_margin(NAN, 1.0), "flow must .*nan"),
    "half-way from NaN": Bad(lambda: equivalents.half_way(0.5, NAN), "rival must .*nan"),
    "an extrapolation from NaN": Bad(
        lambda: asymptotics.extrapolation_margin(1.0, NAN), "before must .*nan"
    ),
    "the limit of NaN": Bad(
        lambda: asymptotics.extrapolated(lambda x: NAN, 10.0), "function must be finite at 10 and 1"
    ),
    "a force of NaN": Bad(
        lambda: meanfield.descend("rare", 5, 0.5, learning_rate=1, steps=2, off_target=NAN),
        "off_target .* nan",
    ),
}
SILENT |= {  # once a value, of something else than was asked for
    "a covariance at tokens of another d": Bad(
        lambda: full_matrix.zonal(AFFINE_5)(X, X), "tokens of the function .* d = 5; got .4, 3."
    ),
    "the loss of a function of another d": Bad(
        lambda: full_matrix.context_loss(full_matrix.zonal(AFFINE_5), X, X[:1], ones(4, 1) / 4),
        "function .* d = 5; got .1, 1, 3.",
    ),
    "parts of a function of another d": Bad(
        lambda: transfer.parts(EYE[None], AFFINE_5, X[None]), "function .* d = 5; got .* 3."
    ),
    "a setting of tasks in another d": Bad(
        lambda: pretraining.Setting(
            function=AFFINE_5, covariates=covariates.Sphere(3), n=4, sigma=0.1
        ),
        "function must live in d = 3, .* got d = 5",
    ),
    "hills off the circle": Bad(
        lambda: function_classes.Hills(1.0).evaluate({"b": ones(1)}, X), r"x .*\(4, 3\)"
    ),
    "tasks of another d": Bad(
        lambda: AFFINE_5.evaluate(function_classes.Affine(3).sample((1,), draw()), X),
        "w of task .* d = 5; got .1, 3.",
    ),
    "a ratio of 20 contexts to one": Bad(
        lambda: transfer.ratio(ones(20, 3), ones(1, 3)), "below .* contexts = 20, .* got .1, 3."
    ),
    "a ratio of 3 trials to 2": Bad(
        lambda: transfer.ratio(ones(20, 3), ones(20, 2)), "below .* T = 3; got .20, 2."
    ),
    "a move that is a row": Bad(
        lambda: theorem_4_4.move_cost(CONTEXTS, ones(4, 4), ones(4)), "move .* d = 4; got .4,."
    ),
    "logits of one context for all": Bad(
        lambda: low_rank.losses(CONTEXTS, ones(1, 6)), "logits .* N = 5, n = 6; got .1, 6."
    ),
    "slopes at logits of one context": Bad(
        lambda: low_rank.logit_slopes(CONTEXTS, ones(1, 6)), "logits .* N = 5, n = 6; got .1, 6."
    ),
    "a held matrix that is a row": Bad(
        lambda: low_rank.minimise(CONTEXTS, CASE.family, ones(2), fixed=ones(1, 4)),
        "fixed .* d = 4; got .1, 4.",
    ),
    "a slope in the L of waves": Bad(
        lambda: misspecification.slope_in_constant(LOSS, WAVES, 0.1, 1.0, 2.0),
        "learned must be one of .*affine.*; got 'cosine'",
        KeyError,
    ),
    "a least slope in the L of waves": Bad(
        lambda: misspecification.least_slope_in_constant(LOSS, WAVES, 0.1, 1.0, 2.0),
        "function must be one of .*affine.*; got 'cosine'",
        KeyError,
    ),
    "weights that sum to 6": Bad(
        lambda: full_matrix.context_loss(full_matrix.zonal(WAVES), X, X[:1], 1.5 * ones(4, 1)),
        "sum of gamma .* is 6",
    ),
    "the number of weights that sum to 6": Bad(
        lambda: evaluation.effective_number(1.5 * ones(4, 1)), "sum of gamma .* is 6"
    ),
    "the number of negative weights": Bad(
        lambda: evaluation.effective_number(numbers(-1.0, 2.0)[:, None]), "gamma .* is -1"
    ),
    "the lowest of a NaN": Bad(
        lambda: stats.lowest([stats.Estimate(NAN, 0.1, 9), stats.Estimate(1.0, 0.1, 9)]),
        "estimates must .*nan",
    ),
    "the lowest of none": Bad(lambda: stats.lowest([]), "estimates must .* got none"),
    "half the width of a negative error": Bad(
        lambda: stats.Estimate(1.0, -1.0, 9).half_width, "se must be zero or above; got -1"
    ),
    "attention of an entry NaN": Bad(
        lambda: meanfield.Column.of("rare", 5, 0.5).attention(np.array([1.0, 2.0, NAN])),
        "entries must be finite; .*nan",
    ),
    "tokens of second moment −I": Bad(
        lambda: linear_attention.best_matrix(-EYE, EYE, EYE, 5), "tokens .* eigenvalue.* -1"
    ),
    "tokens of unsymmetric second moments": Bad(
        lambda: linear_attention.best_matrix(EYE + EYE.roll(1, 1), EYE, EYE, 5),
        "tokens must be symmetric; .* 1",
    ),
    "a label of tasks −I": Bad(
        lambda: linear_attention.gaussian_label(EYE, -EYE, 0.1), "tasks .* eigenvalue.* -1"
    ),
    "a label on the sphere of tasks −I": Bad(
        lambda: linear_attention.sphere_label(-EYE, 0.1), "tasks .* eigenvalue.* -1"
    ),
    "angles of M = 0": Bad(
        lambda: alignment.largest_angle(0 * EYE, EYE[:, :1]),
        "M must have 1 eigenvalues .* as large",
    ),
    "angles of M = I": Bad(
        lambda: alignment.cosines(EYE, EYE[:, :2]), "M must have 2 eigenvalues .* as large"
    ),
    "n true tokens": Bad(
        lambda: linear_attention.LinearUnit.of(AFFINE_5).minimum(True, 0.1),
        "n must be a number; got True",
        TypeError,
    ),
}
CHOICES = {  # a choice by name, and a call that makes it
    "affine tasks": ("offset", lambda no: function_classes.Affine(3, offset=no)),
    "kinks": ("offset", lambda no: function_classes.ReLU(3, offset=no)),
    "pretraining": ("tied", lambda no: pretraining.pretrain([SETTING], tied=no)),
    "the value weight": ("free", lambda no: WINDOWS.best(0.1, free=no)),
    "a finite prompt": ("sampling", lambda no: population_loss.limit(3, 50, sampling=no)),
    "the signal": ("signal", lambda no: low_rank.logit_slopes(CONTEXTS, ones(5, 6), signal=no)),
    "the noise": ("noise", lambda no: low_rank.logit_slopes(CONTEXTS, ones(5, 6), noise=no)),
    "two windows": ("paired", lambda no: best_window.compare(WINDOW, WINDOW, paired=no)),
    "two windows' logs": ("log", lambda no: best_window.compare(WINDOW, WINDOW, log=no)),
    "steps": ("paired", lambda no: stats.steps(ones(3, 2), paired=no)),
    "a ratio": ("log", lambda no: stats.ratio(ones(3), ones(3), log=no)),
    "tasks": ("normalised", lambda no: samplers.draw_tasks(2, 3, draw(), normalised=no)),
    "moments": ("normalised", lambda no: moments.fresh_moments(CONTEXT, normalised=no)),
    "a point": ("normalised", lambda no: dataclasses.replace(POINT, normalised=no)),
    "the corner": ("corner", lambda no: experiment.equivalent(POINT, 0.1, 0, 0, corner=no)),
    "fresh tasks": (
        "fresh",
        lambda no: dmmse.dmmse_errors(ones(4, 3), 6, 0.1, draw(), 2, fresh=no),
    ),
    "an average": (
        "scaled",
        lambda no: dmmse.best_average(4, CONTEXT, 0, 1, 2, fresh=True, scaled=no),
    ),
    "a layer": (
        "softmax",
        lambda no: layers.layer_output(FLEET.z, ones(1, 4), ones(1, 4, 3), softmax=no),
    ),
    "a trained layer": (
        "softmax",
        lambda no: levenberg_marquardt.train(FLEET, 0, [1], softmax=no),
    ),
    "rare features": (
        "less_dominant",
        lambda no: training.rare_attention(ones(3, 3), COUNTS, less_dominant=no),
    ),
    "shuffled labels": ("shuffled", lambda no: Kinks(3, 5, 0.1, (1.0,), shuffled=no)),
}
UNCLEAR = {  # once the error was somebody else's
    "d of text": Bad(
        lambda: sphere.multiplicity(numbers(1.0), "3"), "d must be a whole number", TypeError
    ),
    "dim 5": Bad(lambda: stats.mean_se(ones(3), 5), "dim .* 5"),
    "a line through text": Bad(
        lambda: stats.line(["a", "b", "c"], [0, 1, 2]), "x must be numbers", TypeError
    ),
    "tokens of another d": Bad(
        lambda: function_classes.Affine(3).evaluate(
            function_classes.Affine(3).sample((2,), draw()), ones(2, 4)
        ),
        "x must have shape .* d = 3",
    ),
    "distances of tokens of another d": Bad(
        lambda: function_classes.Distance(3).evaluate(
            function_classes.Distance(3).sample((2,), draw()), ones(5, 4)
        ),
        "x must have shape .* d = 3",
    ),
    "a cosine's spectrum at d = 400": Bad(
        lambda: function_classes.Cosine(400).spectrum(torch.tensor([2])), "d .* 400"
    ),
    "size −1": Bad(lambda: function_classes.Affine(3).sample((-1,), draw()), "size .* -1"),
    "size 3": Bad(
        lambda: covariates.sample(covariates.Sphere(3), 3, draw()), "size .* tuple", TypeError
    ),
    "size of text": Bad(
        lambda: function_classes.symmetric_uniform("a", draw()), "size .* tuple", TypeError
    ),
    "tasks and tokens of two d": Bad(
        lambda: window_prompts.draw(
            function_classes.Affine(3), covariates.Sphere(4), 5, 0.1, 1, (2,), draw()
        ),
        "x must have shape .* d = 3",
    ),
    "a kernel of another k": Bad(
        lambda: low_rank_tasks.LowRankLink(EYE[:, :2], "linear").kernel(ones(2, 3), ones(2, 3)),
        "u must have shape .* k = 2",
    ),
    "a spline through NaN": Bad(
        lambda: best_window.spline_minima(GRID, spoilt(1, 5)), "loss must be finite"
    ),
    "a singular label": Bad(
        lambda: linear_attention.best_matrix(0 * EYE, 0 * EYE, 0 * EYE, 5), "label .* singular"
    ),
    "lemma's token 7": Bad(
        lambda: theorem_4_4.term_slopes(1.0, ones(3), 2, 10, 0, which=7), "which .* 7"
    ),
    "no τ": Bad(lambda: Phase(alpha=1, kappa=1, tau=[], rho=0.1), "tau must hold"),
    "τ of text": Bad(
        lambda: Phase(alpha=1, kappa=1, tau=["a"], rho=0.1), "tau must be a number", TypeError
    ),
    "α and τ that do not broadcast": Bad(
        lambda: Phase(alpha=[1, 2], kappa=1, tau=[1, 2, 3], rho=0.1), "alpha, .* must broadcast"
    ),
    "a phase of 0.5": Bad(lambda: asymptotics.errors(0.5, 0.1), "phase must be a Phase", TypeError),
    "moments of two d": Bad(
        lambda: equivalents.finite_equivalent(MOMENTS, OTHER_MOMENTS, 20, 0.1, 0.1),
        "fresh.cross .* d = 3",
    ),
    "an indefinite covariance": Bad(
        lambda: samplers.sample_naive(ones(2, 3), CONTEXT, draw(), covariance=-EYE),
        "covariance must be positive definite",
    ),
    "an indefinite covariance of the fast sampler": Bad(
        lambda: samplers.sample(ones(2, 3), CONTEXT, draw(), covariance=-EYE),
        "covariance must be positive definite",
    ),
    "a covariance of another d": Bad(
        lambda: samplers.sample_naive(ones(2, 3), CONTEXT, draw(), covariance=ones(2, 2)),
        "covariance must have shape .* d = 3",
    ),
    "dense of NaN": Bad(
        lambda: ridge.solve_dense(samplers.Prompts(spoilt(5, 3), ones(5, 4), ones(5)), 0.1),
        "prompts.x must be finite",
    ),
    "no prompts": Bad(lambda: ridge.solve(NO_PROMPTS, 0.1), "the number of prompts .* 0"),
    "α of two numbers": Bad(
        lambda: experiment.Setting(d=4, alpha=[1, 2], kappa=0.5, tau=0.5, rho=0.1),
        "alpha must be .* number",
        TypeError,
    ),
    "a ridge that is no list": Bad(
        lambda: experiment.errors(POINT, 0.1, 0, 0), "ridges must be a sequence", TypeError
    ),
    "a curve of no settings": Bad(lambda: experiment.curve([], 0.1, 0, 1), "settings .* none"),
    "a fleet of 5": Bad(lambda: training_sets.draw_fleet(5, 3, 4, 0.1, 0), "sizes .* 5", TypeError),
    "u of another length": Bad(
        lambda: layers.layer_output(FLEET.z, ones(1, 3), ones(1, 4, 3)),
        "u must have shape .* e = 4",
    ),
    "a missing weight": Bad(
        lambda: transformers.forward(NETWORK, {}, ones(1, 2, 5, 4)), "weights .*embed", KeyError
    ),
    "an absent device": Bad(
        lambda: transformer_training.train(NETWORK, FLEET, 0, [1], device="nowhere"),
        "device .* 'nowhere'",
    ),
    "counts of shape 2": Bad(
        lambda: stage_prompts.draw_counts(P, 5, 2, draw()), "shape .* 2", TypeError
    ),
    "a frame of another K": Bad(
        lambda: stage_prompts.draw_prompts(P, FRAME[:2], 5, 1, 2, draw()), "frame .* K = 3"
    ),
    "target 5 of K = 3": Bad(
        lambda: stage_attention.prompt_errors(0 * ones(1, 3), COUNTS, torch.tensor([5])),
        r"targets .*\[5\]",
    ),
    "targets that are not whole": Bad(
        lambda: training.train_reduced(
            P, 9, numbers(0, 1), learning_rate=1, steps=1, prompts=2, generator=draw()
        ),
        "targets must be whole numbers .*float64",
    ),
    "10⁴⁰⁰ tokens": Bad(lambda: finite_prompts.log_floor(5, 0.5, 10**400), "N must be .* inf"),
    "velocity at two entries": Bad(
        lambda: meanfield.velocity("rare", 5, 0.5, [0, 0]), "entries must be three"
    ),
    "κ of text": Bad(
        lambda: reduced_errors(
            d=4, alpha=1.0, kappa="many", tau=0.5, rho=0.1, ridge=0.1, trial=0, seed=0
        ),
        "kappa .* 'many'",
        KeyError,
    ),
}


@pytest.mark.parametrize("name", SILENT | UNCLEAR)
@pytest.mark.filterwarnings("ignore")
def test_it_is_refused_by_name(name: str) -> None:
    call, words, kind = (SILENT | UNCLEAR)[name]
    with pytest.raises(kind) as caught:
        call()
    assert re.search(words, str(caught.value), re.DOTALL), caught.value


def test_the_time_of_closing_does_not_depend_on_the_number_of_points() -> None:
    many = equal_features.closing(8, 32.0)
    for points in (3, 5, 9, 21, 51):
        few = equal_features.closing(8, 32.0, points=points)
        assert len(few.t) == points
        assert few.t[-1] == pytest.approx(many.t[-1], rel=1e-6)
        assert bool((np.diff(few.t) > 0).all())
    slow = equal_features.closing(8, INF, end=6.0, points=3)
    assert slow.t[-1] == pytest.approx(equal_features.closing(8, INF, end=6.0).t[-1], rel=1e-9)


def test_a_number_of_tasks_in_single_precision_is_taken() -> None:
    tasks_there = ones(2, 3)
    errors = [
        dmmse.dmmse_errors(given, 6, 0.1, draw(), 4, fresh=True)
        for given in (tasks_there, tasks_there.float())
    ]
    torch.testing.assert_close(*errors)


@pytest.mark.parametrize("choice", CHOICES)
def test_a_choice_is_true_or_false_and_no_text(choice: str) -> None:
    name, call = CHOICES[choice]
    with pytest.raises(TypeError, match=f"{name} must be True or False; got 'no'"):
        call("no")


@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(TASKS, 2)))
def test_tasks_of_another_class_are_refused(one: str, other: str) -> None:
    task = TASKS[other].sample((1,), draw())
    with pytest.raises(ValueError, match=r"task must have the parameters \[.*\]; got \["):
        TASKS[one].evaluate(task, ones(1, 4, TASKS[one].d))
