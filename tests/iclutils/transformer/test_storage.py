"""Weights as text: there and back, and what sixteen bits leave."""

import pytest

from iclutils.transformer.models import Architecture
from iclutils.transformer.storage import LARGEST, pack, unpack

SMALL = Architecture(3, width=8, hidden=8)


def test_what_is_packed_comes_back_to_half_a_step():
    weights = SMALL.initial_weights(0, [0, 1]).double()
    found = unpack(SMALL, *(pack(SMALL, row) for row in weights))
    for ours, theirs in zip(
        SMALL.named(found).values(), SMALL.named(weights).values(), strict=True
    ):
        for one, other in zip(ours, theirs, strict=True):
            # half a step; the scale is at most 1.001 of the largest entry
            step = 1.0011 * float(other.abs().max()) / LARGEST
            assert float((one - other).abs().max()) <= 0.5 * step + 1e-15
    assert float(SMALL.named(found)["shift 0"].abs().max()) == 0


def test_the_network_of_the_page_fits_in_seventy_thousand_characters():
    architecture = Architecture(2)
    packed = pack(architecture, architecture.initial_weights(0, [0])[0])
    assert len(packed["data"]) < 69_000


def test_bad_input_is_refused():
    weights = SMALL.initial_weights(0, [0])[0]
    with pytest.raises(ValueError, match="weights must have shape"):
        pack(SMALL, weights[1:])
    with pytest.raises(ValueError, match="weights must be finite"):
        pack(SMALL, weights / 0)
    packed = pack(SMALL, weights)
    with pytest.raises(KeyError, match="packed must hold"):
        unpack(SMALL, {"data": packed["data"]})
    with pytest.raises(ValueError, match="packed must hold"):
        unpack(Architecture(2), packed)
