"""The posterior mean: against sampling from the prior itself, its influence, its error."""

import math

import pytest
import torch

from iclutils.randomness import normal, stream
from iclutils.transformer.samplers import Kinks, draw_kinks
from iclutils.transformer.theory.kriging import expected_error, kriging_weights
from iclutils.transformer.theory.posterior import features, posterior_mean
from iclutils.window.function_classes import ReLU


def test_the_features_make_the_task():
    tasks = ReLU(2).sample((5,), stream(0, "features"))
    x = draw_kinks(Kinks(2, 4, 1.0, (1.0,)), 1, (5,), stream(0, "features' places")).x
    A = features(x, tasks["w"])[torch.arange(5), torch.arange(5)]
    c = torch.stack([tasks["l1"], tasks["l2"], tasks["b"]], 1)
    # rounding
    assert torch.allclose((A @ c[..., None])[..., 0], ReLU(2).evaluate(tasks, x), atol=1e-14)


@pytest.mark.parametrize("steepness", [(2.0,), (1.0, 4.0)])
def test_mean_and_influence_are_those_of_tasks_drawn_from_the_prior(steepness):
    prompt = draw_kinks(Kinks(2, 3, 1.0, steepness), 1, (4,), stream(0, "few examples"))
    found = posterior_mean(
        prompt.x, prompt.y, prompt.query[:, 0], 1.0, steepness, stream(0, "posterior"), draws=200
    )
    many = 200_000
    choice = torch.randint(len(steepness), (many,), generator=stream(0, "choice"))
    L = torch.tensor(steepness, dtype=torch.float64)[choice]
    tasks = ReLU(2).sample((many,), stream(0, "prior"))
    for i in range(4):
        both = torch.cat([prompt.x[i], prompt.query[i]]).expand(many, 4, 2)
        f = L[:, None] * ReLU(2).evaluate(tasks, both)
        y = prompt.y[i].clone().requires_grad_()
        weight = (-(y - f[:, :3]).square().sum(1) / 2).softmax(0)
        mean = weight @ f[:, 3]
        # of a weighted sum of fixed draws the slope is exact
        (slope,) = torch.autograd.grad(mean, y)
        effective = 1 / float(weight.detach().square().sum())
        spread = math.sqrt(float(weight.detach() @ (f[:, 3] - float(mean.detach())).square()))
        # five standard errors of the plain sample; ours has as many draws of better places
        assert abs(float(found.mean[i] - mean.detach())) < 5 * spread / effective**0.5
        # products of two deviations, of at most 4 each
        assert torch.allclose(found.influence[i], slope, atol=5 * 4 * spread / effective**0.5)


def test_it_errs_less_than_the_best_linear_weights():
    kinks = Kinks(2, 24, 1.0, (16.0,))
    prompt = draw_kinks(kinks, 1, (150,), stream(0, "errors"))
    found = posterior_mean(
        prompt.x, prompt.y, prompt.query[:, 0], 1.0, (16.0,), stream(0, "errors' draws")
    )
    error = (found.mean - prompt.target[:, 0]).square()
    J = kriging_weights(kinks.covariance, prompt.x, prompt.query, 1.0)
    linear = expected_error(kinks.covariance, J, prompt.x, prompt.query, 1.0)[:, 0]
    gap = linear - error
    assert float(gap.mean()) > 4 * float(gap.std()) / 150**0.5


def test_bad_input_is_refused():
    prompt = draw_kinks(Kinks(2, 4, 1.0, (1.0,)), 1, (2,), stream(0, "bad"))
    given = prompt.x, prompt.y, prompt.query[:, 0]
    generator = stream(0, "bad draws")
    with pytest.raises(ValueError, match="sigma must be finite"):
        posterior_mean(*given, 0.0, (1.0,), generator)
    with pytest.raises(ValueError, match="steepness must be finite"):
        posterior_mean(*given, 1.0, (0.0,), generator)
    with pytest.raises(ValueError, match="y must have shape"):
        posterior_mean(prompt.x, prompt.y[:, 1:], prompt.query[:, 0], 1.0, (1.0,), generator)
    far = 1000 + normal(2, 4, generator=generator)
    with pytest.raises(RuntimeError, match="draws must be more"):
        posterior_mean(prompt.x, far, prompt.query[:, 0], 0.01, (1.0,), generator, draws=1)
