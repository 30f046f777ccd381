"""What the package says at an explorer's settings: the numbers that its page has to show.

Both sides evaluate the same formulas in double precision: the scripts by continued fractions,
bisection and an explicit Runge-Kutta method, the package by SciPy's Bessel functions, Brent's
method and LSODA. What differs is the package's cubic spline through its grid of w, the page's
search for the lowest place of a curve, and the steps of the flow (1e-8 each).
"""

import bisect
import functools
import math

import torch
from scipy.integrate import quad, solve_ivp
from scipy.special import hyp0f1

from claimbook import read_record
from iclutils.regression import curve_analysis
from iclutils.regression.theory import asymptotics
from iclutils.regression.theory.asymptotics import Phase
from iclutils.stages.theory import meanfield
from iclutils.stages.theory.equal_features import Lookup, limit_window
from iclutils.transformer import storage
from iclutils.transformer.evaluation import respond
from iclutils.transformer.models import Architecture
from iclutils.transformer.theory import kriging, lists
from iclutils.window import attention, function_classes
from iclutils.window.function_classes import CLASSES
from iclutils.window.low_rank_tasks import LowRankLink
from iclutils.window.prompts import Prompt
from iclutils.window.theory import best_window, linear_attention, low_rank, population_loss
from iclutils.window.theory.low_rank_problem import Case, Contexts
from iclutils.window.theory.population_loss import PopulationLoss

METHOD = """({family, d, n, L = 1, sigma}) => {
  const {method} = iclExplorers.population(family, d, n, L, sigma);
  return method === 'drawn' ? iclExplorers.drawn(d, n).t : []; }"""
GRID = best_window.grid(1e5, 481)
DRAWN_GRID = best_window.grid(1e5, 181)
TWO = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)  # a list of tasks


@functools.cache
def exact_loss(d, n, t=()):
    """Average the loss over the page's contexts, each n of its ``t``; without: the closed form."""
    if not t:
        return population_loss.limit(d, n, w=GRID, sampling=True)
    degrees = population_loss.even_degrees()
    contexts = torch.tensor(t, dtype=torch.float64).view(-1, n)
    found = population_loss.sum_contexts(contexts, d, DRAWN_GRID, degrees)
    parts = (found.parts / len(contexts)).unsqueeze(0)
    spread = (found.concentration / len(contexts)).unsqueeze(0)
    return PopulationLoss(d, n, DRAWN_GRID, degrees, parts, spread, 1 + spread)


def contexts_of(v8, at):
    """Return the scripts' drawn contexts where they average over some; none for the closed form."""
    return tuple(v8(METHOD, at))


def best_window(t, family, n, sigma, L, d):
    """Compute the best window and its loss; ``t`` are the drawn contexts, or none."""
    return exact_loss(d, n, t).best_window(function_classes.by_name(family, d, L), sigma)


def mismatch(t, ratio, family, n, sigma, d):
    """Compute the mismatch explorer's numbers."""
    trained, best = (best_window(t, family, n, sigma, L, d) for L in (1.0, ratio))
    there = function_classes.by_name(family, d, ratio)
    moved = float(exact_loss(d, n, t).at(there, sigma, trained.w)[0])
    return {
        "pretrained": trained.w,
        "matched": best.w,
        "moved": moved,
        "best": best.loss,
        "worse": moved / best.loss,
    }


@functools.cache
def two_errors(alpha, kappa, tau, rho, lam):
    """Both test errors of linear attention and its effective ridge; infinite at the peak itself."""
    found = asymptotics.errors(Phase(alpha=alpha, kappa=kappa, tau=tau, rho=rho), lam)
    return {"icl": found.icl, "idg": found.idg, "nu": found.nu}


def diversity(_, kappa, tau):
    """Compute the opening picture of chapter 5c, at its length of prompts, noise and ridge."""
    found = two_errors(10, kappa, tau, 0.01, 1e-5)
    return {"icl": found["icl"], "idg": found["idg"]}


@functools.cache
def flow(kind, K, p1):
    """Solve the mean-field flow of a column, until its error is far below what pictures show."""
    return meanfield.flow(kind, K, p1, errors=(0.1, 0.01, 0.001))


def passages(K, p1):
    """When a rare column's flow passes the target's half and the error 0.1."""
    rare = flow("rare", K, p1)
    return {"half": rare.boundaries["half"].t, "0.1": rare.times[0.1]}


def error_at(kind, K, p1, t):
    """Compute the prediction error of a column at a time of its flow."""
    entries = flow(kind, K, p1).solution(max(t, meanfield.START))
    return float(meanfield.Column.of(kind, K, p1).error(entries))


def plateau(_, done, K):
    """Compute the opening picture of chapter 6: a rare feature's error, a share of its axis on."""
    now = done / 100 * 1.25 * flow("rare", K, 0.5).times[0.1]
    return {"time": now, "error": max(0.003, error_at("rare", K, 0.5, now))}  # the scripts' end


def hill(_, w, star, height, sigma, readings):
    """Compute a softmax head's answer on the circle, from the page's ``readings``, in degrees."""
    place, reading = torch.tensor(readings, dtype=torch.float64).T
    M = w * torch.eye(2, dtype=torch.float64)
    asked = torch.arange(-180, 181, 2, dtype=torch.float64)
    gamma = attention.weights(M, on_circle(place), on_circle(asked))
    off = reading @ gamma - height * (asked - 60).deg2rad().cos()
    own = attention.weights(M, on_circle(place), on_circle(torch.tensor([float(star)])))
    return {
        "answer": float(reading @ own[:, 0]),
        "truth": height * math.cos(math.radians(star - 60)),
        "off": float(off.square().mean().sqrt()),
    }


def on_circle(degrees):
    """Places on the circle as unit vectors."""
    turn = degrees.double().deg2rad()
    return torch.stack([turn.cos(), turn.sin()], -1)


def offset(t, family, d, n, sigma, one, **constant):
    """Compute the missing constant's numbers; the tasks' is ``offset`` times the paper's."""
    without = linear_attention.LinearUnit.of(CLASSES[family](d, offset=False))
    own = constant["offset"] ** 2 / 3
    unit = linear_attention.LinearUnit(
        d=d, power=without.power + own, mean=without.mean + own, linear=without.linear
    )
    numbers = {
        "linear": unit.minimum(n, sigma),
        "constant": unit.minimum_with_constant(n, sigma),
        "softmax": best_window(t, family, n, sigma, 1.0, d).loss,
        "floor": unit.floor,
    }
    if one == "no":
        numbers["apart"] = numbers["linear"] / numbers["softmax"]
        del numbers["constant"]
        return numbers
    numbers["gained"] = numbers["linear"] / numbers["constant"]
    return numbers | {"left": numbers["constant"] / numbers["softmax"]}


def lookup(_, c, rho, K):
    """Compute the numbers of the letters."""
    N = max(1, math.floor(c * K + 0.5))
    head = Lookup(K, N)
    best = head.best_window(rho**0.5)
    unit = linear_attention.LinearUnit(d=K, power=1.0, mean=0.0, linear=1.0)

    def better(length):
        softmax = Lookup(K, length).best_window(rho**0.5).loss
        return softmax < unit.minimum(length, rho**0.5)

    longest = 64 * K
    crossing = math.nan
    if better(longest):
        crossing = bisect.bisect_left(range(1, longest), True, key=better) + 1
    return {
        "N": N,
        "w": best.w,
        "linear": unit.minimum(N, rho**0.5),
        "softmax": best.loss,
        "bayes": head.bayes(rho**0.5),
        "law": limit_window(N / rho),
        "crossing": crossing / K,
    }


def sample_of(case, x):
    """Make contexts of a low-rank problem from tokens ``x``, of each context the query last."""
    task = LowRankLink(case.B, case.link)
    value = task.of_latent(task.cubature() @ (x @ case.B).mT)
    return Contexts(x[:, :-1], x[:, -1], value[..., :-1], value[..., -1], case.sigma)


def directions(page_contexts, d, n, sigma, cv, wv, noneC, yoursC):
    """Compute the low-rank numbers at the page's best windows, the least of those near."""
    case = Case(link="linear", d=d, k=2, n=n, sigma=sigma, c_v=cv)

    def placed(point):
        return [*point["u"], *(cv * x for x in point["v"])]

    tokens = [[placed(x) for x in [*c["tokens"], c["query"]]] for c in page_contexts]
    sample = sample_of(case, torch.tensor(tokens, dtype=torch.float64))

    def loss(c, mass):
        M = c * case.family[0] + mass * case.family[1]
        return float(low_rank.loss_at(sample, M).mean())

    numbers = {}
    for name, at, share in (("none", noneC, 0.0), ("yours", yoursC, wv)):
        numbers[name] = loss(at, share * at)
        for factor in (0.8, 1.25):
            assert loss(factor * at, share * factor * at) > numbers[name] * (1 - 1e-3)
    return numbers


def cloud(_, c, g):
    """Compute centre and variance of the cloud in ten dimensions, the query at 0.2."""
    d, z = 10, 0.2

    def weight(x, power):
        rest = 1 - x * x
        factor = hyp0f1((d - 1) / 2, g * g * (1 - z * z) * rest / 4)
        return x**power * rest ** ((d - 3) / 2) * math.exp(c * z * x) * factor

    total, first, second = (quad(weight, -1, 1, (power,))[0] for power in range(3))
    centre = first / total
    return {"centre": centre, "variance": second / total - centre**2}


def parallel(_, angle, noise, **ridge):
    """Two equations, 20 and 20 - angle degrees steep, through (1, 0.5); the second label errs."""
    slopes = torch.deg2rad(torch.tensor([20.0, 20.0 - angle], dtype=torch.float64))
    A = torch.stack([-slopes.sin(), slopes.cos()], dim=1)
    made = torch.tensor([1.0, 0.5], dtype=torch.float64)
    y = A @ made + torch.tensor([0.0, noise], dtype=torch.float64)
    eye = torch.eye(2, dtype=torch.float64)
    w = torch.linalg.solve(A.T @ A + ridge["lambda"] * eye, A.T @ y)
    return {"w1": float(w[0]), "w2": float(w[1]), "size": float(w.norm())}


def window_flow():
    """Compute the window under gradient flow from 0 on the front page's loss, at three times."""
    loss, task = exact_loss(2, 60), function_classes.Affine(2, 4.0)

    def speed(_, w):
        h = 1e-4 * (1 + w[0])
        low, high = max(float(w[0]) - h, 0.0), float(w[0]) + h
        ends = [float(loss.at(task, 1.0, place)[0]) for place in (low, high)]
        return [(ends[0] - ends[1]) / (high - low)]

    times = [0.3, 10.0, 1000.0]
    found = solve_ivp(speed, (0, 1000), [0.0], t_eval=times, rtol=1e-7, atol=1e-9)
    return dict(zip(times, found.y[0], strict=True))


@functools.cache
def network():
    """Read the first network that was trained on three steepnesses at once, the longest."""
    jobs = read_record("08_whole_transformer")["jobs"]
    return max(jobs, key=lambda job: (len(job["steepness"]), job["steps"]))


def records():
    """Compute what ``influence_network.js`` and ``longer_curves.js`` have to hold."""
    job = network()
    given = {"unit": max(job["steepness"]), "w": job["w"], **job["weights"]}
    return {"network": given, "longer": authors_curves()}


def influence(_, moved, which, steep, star, readings):
    """Compute the network's and the head's answers at the star, from the page's ``readings``."""
    at, y = torch.tensor(readings, dtype=torch.float64).T
    x, query = on_circle(at), on_circle(torch.tensor([float(star)]))
    architecture = Architecture(2)
    weights = storage.unpack(architecture, network()["weights"])
    prompt = Prompt(x[None, None], 16 * y[None, None], query[None, None], query[None, None, :, 0])
    found = respond(architecture, weights, prompt, 16.0)
    J = found.influence[0, 0]
    gamma = kriging.softmax_weights(network()["w"], x, query)[0]
    return {
        "answer": float(found.answer),
        "said": 16 * float(gamma @ y),
        "own": float(J[which - 1]),
        "total": float(J.sum()),
    }


def method(_, slope, sigma, readings):
    """Compute the answers at 1 of ridge and of dMMSE with the tasks 1 and −1."""
    x, y = torch.tensor(readings, dtype=torch.float64).T
    prompt = x[None, :, None], y[None], torch.ones(1, 1, dtype=torch.float64), sigma**2
    listed = lists.by_heart(*prompt, TWO)
    return {"method": float(lists.ridge(*prompt).answer), "list": float(listed.answer)}


def soften(_, v):
    """Compute the answer of dMMSE to the label 0.8, and the number that suits −2 to 2 best."""
    labels = torch.linspace(-2, 2, 201, dtype=torch.float64)[:, None]
    ones = torch.ones_like(labels)
    answers = lists.by_heart(ones[:, None], labels, ones, v, TWO).answer
    times = float(answers @ labels[:, 0] / answers.square().sum())
    answer = float(answers[140])  # to the label 0.8
    return {"answer": answer, "times": times, "multiplied": times * answer}


@functools.cache
def authors_curves():
    """Smooth the authors' errors in twenty dimensions, by thousands of steps."""
    rows, errors = read_record("authors/wide_double_descent")["rows"], {}
    for k in (1, 3, 10, 30, 100, 300):
        theirs = curve_analysis.published_curve(rows, 20, checkpoint=k)
        tau, smooth = curve_analysis.smooth(theirs)
        errors[str(k)] = [float(f"{error:.4g}") for error in smooth]
    return {"prompts": [int(400 * at) for at in tau], "errors": errors}


def longer(_, steps):
    """Look at the authors' errors with five thousand prompts."""
    curves = authors_curves()
    error = dict(zip(curves["prompts"], curves["errors"][str(steps)], strict=True))
    return {"here": (error[4800] + error[5200]) / 2}


FUNCTIONS = (mismatch, offset, lookup, directions, cloud, parallel, hill, plateau)
FUNCTIONS += (diversity, influence, method, soften, longer)
EXPLORERS = {function.__name__: function for function in FUNCTIONS}
