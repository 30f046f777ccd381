"""Means and slopes whose value is known, on fewer draws than the chapter's."""

import pytest
import torch

from iclutils.stats import estimate
from iclutils.window import label_statistics
from iclutils.window.theory.linear_attention import LinearUnit


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(label_statistics, "TASKS", 20_000)
    monkeypatch.setattr(label_statistics, "PROMPTS", 4_000)


def test_labels_are_centred_unless_their_offsets_are_not():
    means = label_statistics.mean_labels(3)
    assert list(means) == ["affine", "offset-in-0-L", "relu", "cosine", "random-sign"]
    for name in ("affine", "relu", "random-sign"):
        assert abs(means[name].value) < 4 * means[name].se
    half = means["offset-in-0-L"]
    assert abs(half.value - 0.5) < 4 * half.se
    assert means["cosine"].value > 10 * means["cosine"].se  # cos is even, its mean is not zero


def test_only_one_sided_labels_have_a_slope():
    slopes = label_statistics.value_slopes(3)
    assert list(slopes) == ["affine", "relu", "cosine", "one-sided"]
    one_sided = slopes.pop("one-sided").slope
    assert abs(one_sided.value) > 10 * one_sided.se
    for one in slopes.values():
        assert abs(one.slope.value) < 4.5 * one.slope.se  # the largest of five
    assert slopes["affine"].square > 0


def test_a_longer_m_changes_the_weights_of_softmax_alone():
    changes = label_statistics.weight_changes(3)
    assert changes["linear"].value < 1e-12
    assert changes["softmax"].value > 0.1
    assert changes["one-direction"].value > 10 * changes["one-direction"].se


def test_prompts_of_a_class_are_drawn_anew():
    first, second, _ = label_statistics.prompts_of(label_statistics.CLASSES[0], 3)
    assert first.x.shape[0] == 4_000
    assert not torch.equal(first.x, second.x)


@pytest.mark.parametrize("tasks", label_statistics.CLASSES[:2], ids=lambda one: one.name)
def test_labels_have_the_variance_of_their_class_and_noise_of_the_size_of_l(tasks):
    """E y² = F + L², L = 1, within 5 standard errors: 6e-7 false alarms."""
    prompts = label_statistics.prompts_of(tasks, 3)
    squares = torch.cat([one.y for one in prompts]).square().mean(1)  # tokens share their task
    measured = estimate(squares)
    assert prompts[0].y.shape[1] == label_statistics.TOKENS
    assert abs(measured.value - LinearUnit.of(tasks).power - 1.0) < 5 * measured.se
