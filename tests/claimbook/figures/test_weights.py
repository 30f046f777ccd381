"""The trained weights that a figure carries come out of its file as they went in."""

import base64
import io

import numpy as np
import pytest
import torch

from claimbook import figures
from claimbook.figures.svg import as_svg
from claimbook.figures.weights import npz


def test_they_go_with_the_picture_and_come_back():
    figure, (axes,) = figures.panels(1, 1)
    axes.plot([1, 2], [1, 2], label="_a")
    assert npz(figure) == ""
    assert "npz" not in as_svg(figure)[1]
    heads = torch.arange(8.0, dtype=torch.float64).reshape(2, 2, 2)
    figures.carry_weights(figure, {"affine, L = 0.1": heads, "columns of Q": heads[0]})
    carried = as_svg(figure)[1]["npz"]
    assert carried == npz(figure)
    loaded = np.load(io.BytesIO(base64.b64decode(carried)))
    assert sorted(loaded) == ["affine, L = 0.1", "columns of Q"]
    assert (loaded["affine, L = 0.1"] == heads.numpy()).all()
    assert loaded["columns of Q"].dtype == np.float64


def test_what_is_no_weight_is_refused():
    figure, _ = figures.panels(1, 1)
    with pytest.raises(ValueError, match="weights must name at least one tensor"):
        figures.carry_weights(figure, {})
    with pytest.raises(ValueError, match=r"weights\['a'\] must be finite; 1 of its entries"):
        figures.carry_weights(figure, {"a": torch.tensor([1.0, float("nan")])})
