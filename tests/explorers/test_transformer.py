"""A whole transformer in the scripts: its weights, answers and influences are the package's."""

import pytest
import torch

from claimbook.site.lecture import FOLDER
from iclutils.randomness import normal, stream
from iclutils.transformer import storage
from iclutils.transformer.evaluation import influence
from iclutils.transformer.models import Architecture, answers
from tests.explorers import package

FOUND = """(packed, examples, at) => { const X = iclExplorers, net = X.unpacked(packed);
  return {answer: X.answerOf(net, X.memoryOf(net, examples), at), read: net['read bias'][0],
    up: [...net['up 1']].slice(0, 5), influence: X.influenceOf(net, examples, at)}; }"""


@pytest.mark.parametrize("at", [-170.0, 33.0])
def test_answers_and_influences_are_the_package_s(v8, at):
    """At weights of which none is at a special value."""
    architecture = Architecture(2)
    start = architecture.initial_weights(0, [0]).double()
    scattered = start + 0.1 * normal(*start.shape, generator=stream(0, "scatter"))
    packed = storage.pack(architecture, scattered[0])
    weights = storage.unpack(architecture, packed)
    generator = stream(0, "examples")
    place = torch.sort(360 * torch.rand(9, generator=generator, dtype=torch.float64) - 180).values
    y = normal(9, generator=generator)
    x, query = package.on_circle(place), package.on_circle(torch.tensor([at]))

    def answer(labels):
        return answers(architecture, weights, x[None, None], labels, query[None, None])[..., 0]

    expected = influence(answer, y[None, None])
    found = v8(FOUND, packed, torch.stack([place, y], 1).tolist(), at)
    named = architecture.named(weights)
    # rounding
    assert found["read"] == pytest.approx(float(named["read bias"]), abs=1e-15)
    assert found["up"] == pytest.approx(named["up 1"].flatten()[:5].tolist(), abs=1e-15)
    # torch's attention is rounded to 1e-8
    assert found["answer"] == pytest.approx(float(expected.answer), abs=1e-7)
    assert found["influence"] == pytest.approx(expected.influence.flatten().tolist(), abs=1e-7)


def test_the_page_s_network_is_the_record_s():
    """Otherwise write ``package.network_script()`` there."""
    script = (FOLDER / "influence_network.js").read_text(encoding="utf8")
    assert script == package.network_script()
    assert len(script) < 70_500  # 70 kB of weights, and their names
