"""The containers: numbers and arrays, and what they refuse."""

import math

import numpy as np
import pytest
import torch

from iclutils.regression.phase import Phase


def test_numbers_stay_numbers_and_sequences_become_arrays():
    phase = Phase(10, math.inf, [0.5, 2.0], torch.tensor([0.25, 0.5]))
    assert phase.alpha == 10.0
    assert isinstance(phase.alpha, float)
    assert np.array_equal(phase.tau, [0.5, 2.0])
    assert np.array_equal(phase.q, [1.25 / 10, 1.5 / 10])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0.0}, "alpha must be finite"),
        ({"alpha": [1.0, 0.0]}, r"alpha must be finite and in \[1e-50, 1e\+50\]; got 0.0"),
        ({"kappa": -1.0}, "kappa must be finite"),
        ({"kappa": [math.inf, math.nan]}, "kappa must be finite"),
        ({"tau": 0.0}, "tau must be finite"),
        ({"tau": math.nan}, "tau must be finite"),
        ({"tau": [1.0, math.inf]}, "tau must be finite"),
        ({"rho": -0.1}, "rho must be finite"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(change, message):
    with pytest.raises(ValueError, match=message):
        Phase(**{"alpha": 1.0, "kappa": 0.5, "tau": 0.5, "rho": 0.1, **change})
