"""The linear layer's theory over the list of tasks: against trained reduced layers."""

import pytest

from iclutils.regression.prompts import Context
from iclutils.regression.setting import Setting, errors
from iclutils.regression.theory.diversity import layer_errors


def test_theory_is_near_a_trained_layer_and_falls_with_the_list():
    found = layer_errors(Context(20, 180, 0.01), 50, [4, 400], seed=0, draws=3)
    assert tuple(found.shape) == (2, 2, 3)
    assert bool((found[0, 0] > found[0, 1]).all())  # new tasks: worse with few on the list
    assert bool((found[1, 0] < found[1, 1]).all())
    trained = errors(Setting(20, 9, 20, 50, 0.01), [0.0], 0, 0)[0].log10()
    # at n = 20 000 for 420 numbers one training set is within a few per cent of the theory
    assert found[:, 1].mean(-1).tolist() == pytest.approx(trained.tolist(), abs=0.03)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="draws"):
        layer_errors(Context(4, 8, 0.01), 50, [4], seed=0, draws=0)
    with pytest.raises(ValueError, match="tau"):
        layer_errors(Context(4, 8, 0.01), 0, [4], seed=0, draws=1)
