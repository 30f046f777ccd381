"""The counts by hand; the chapter compares them with the ranks of the derivatives."""

import pytest

from iclutils.regression.layers import identifiable_parameters
from iclutils.regression.theory import parameter_counts
from iclutils.regression.transformers import Architecture
from iclutils.regression.transformers import identifiable_parameters as directions


def test_counts_are_the_ranks():
    assert parameter_counts.linear_layer(4) == identifiable_parameters(4, 0) == 24
    assert parameter_counts.softmax_layer(4) == identifiable_parameters(4, 0, softmax=True) == 25
    assert parameter_counts.transformer(3, 2) == directions(Architecture(3, 2, 1))
    assert parameter_counts.transformer(3, 1) == directions(Architecture(3, 1, 0)) == 33
    assert parameter_counts.transformer(3, 1, dense=True) == parameter_counts.transformer(3, 1) - 1
    assert parameter_counts.layer_with_biases(20) == 482
    wide = parameter_counts.wide_transformer(2)
    assert directions(Architecture(2, 2, width=20), prompts=wide + 5, trials=1) == wide == 437


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="d must"):
        parameter_counts.linear_layer(0)
    with pytest.raises(ValueError, match="blocks"):
        parameter_counts.transformer(3, 0)
    with pytest.raises(ValueError, match="d must be at least 2"):
        parameter_counts.wide_transformer(1)
    with pytest.raises(ValueError, match="prompts"):
        directions(Architecture(3, 1), prompts=0)
    with pytest.raises(ValueError, match="trials"):
        directions(Architecture(3, 1), trials=0)
    with pytest.raises(ValueError, match="high must be at least 4"):
        parameter_counts.softmax_power(3, 3)
