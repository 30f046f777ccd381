"""The experiment at finite size: streams, and what a setting refuses."""

import pytest
import torch

from iclutils.regression.setting import Setting, curve, errors


def test_errors_are_a_function_of_seed_and_trial():
    setting = Setting(6, 3, 0.5, 0.5, 0.1)
    first = errors(setting, [0.1, 1.0], 0, 0)
    assert torch.equal(first, errors(setting, [0.1, 1.0], 0, 0))
    assert torch.equal(first[1:], errors(setting, [1.0], 0, 0))
    assert not torch.equal(first, errors(setting, [0.1, 1.0], 0, 1))
    both = curve([setting], 0.1, 0, 2)
    assert both.shape == (2, 1, 2)
    assert torch.equal(both[0, 0], first[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0.0}, "alpha must be finite"),
        ({"kappa": 0.0}, "kappa must be finite"),
        ({"tau": -1.0}, "tau must be finite"),
        ({"rho": -1.0}, "rho must be finite"),
        ({"d": 1}, "d must be at least 2"),
    ],
)
def test_settings_out_of_range_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Setting(**{"d": 5, "alpha": 1.0, "kappa": 1.0, "tau": 1.0, "rho": 0.1, **change})


def test_a_curve_needs_a_trial():
    with pytest.raises(ValueError, match="trials must be at least 1"):
        curve([Setting(6, 3, 0.5, 0.5, 0.1)], 0.1, 0, 0)
