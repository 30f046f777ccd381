"""The thermometers of chapter 1: the picture's answers against the package's softmax head."""

import pytest
import torch

from iclutils.window import attention
from tests.built_site import wait_until_drawn

PAGE = "book/chapters/01_attention_window.html"
COMPUTE = "settings => iclExplorers.explorers.hill.compute(settings)"
AT_HOME = {"w": 1, "star": 0, "height": 6, "sigma": 0.5}


@pytest.fixture(scope="module")
def page(browser, address):
    opened = browser.new_page(viewport={"width": 1366, "height": 900})
    opened.goto(address + PAGE)
    wait_until_drawn(opened)
    yield opened
    opened.close()


def on_circle(degrees):
    """Places on the circle as unit vectors."""
    turn = torch.tensor(degrees, dtype=torch.float64).deg2rad()
    return torch.stack([turn.cos(), turn.sin()], -1)


@pytest.mark.parametrize("w", [0, 1, 30, 3000])
def test_the_answer_is_that_of_a_softmax_head(page, w):
    found = page.evaluate(COMPUTE, AT_HOME | {"w": w, "star": 40})
    place, reading = zip(*found["readings"], strict=True)
    M = w * torch.eye(2, dtype=torch.float64)
    asked, answers = zip(*found["curve"], strict=True)
    gamma = attention.weights(M, on_circle(place), on_circle(asked))
    answer = torch.tensor(reading, dtype=torch.float64) @ gamma
    # both in double precision, weights of at most e^6000 relative to the largest
    assert answer.tolist() == pytest.approx(answers, abs=1e-9)
    own = attention.weights(M, on_circle(place), on_circle([40]))[:, 0]
    assert own.tolist() == pytest.approx(found["weights"], abs=1e-9)
    assert found["answer"] == pytest.approx(answers[asked.index(40)])


def test_between_the_two_ends_lies_a_better_window(page):
    """The first screen says so: the whole lake and the nearest thermometer are both worse."""
    off = [page.evaluate(COMPUTE, AT_HOME | {"w": w})["rows"][2][2] for w in (0, 30, 3000)]
    assert off[1] < off[2] < off[0]
