"""Labels stand at their place along the curve and cover neither curves nor each other."""

import numpy as np
import pytest

from claimbook import figures
from claimbook.figures import labels, svg

X = np.linspace(0, 1, 50)


def boxes_in(ax):
    """Return the boxes of the labels in pixels, once they are put."""
    labels.put_labels(ax.get_figure())
    ax.get_figure().draw_without_rendering()
    return {text.get_text(): text.get_window_extent() for text in ax.texts if text.get_visible()}


CURVES = {
    "diagonal": lambda ax, at: figures.curve(ax, X, X, "it", "target", at=at, text="word"),
    "along the panel": lambda ax, at: figures.horizontal(ax, 0.5, "word", "exact", at=at),
    "seen in part": lambda ax, at: figures.curve(ax, [0, 9], [0, 9], "word", "exact", at=at),
}


@pytest.mark.parametrize(
    ("curve", "at", "point"),
    [
        *(("diagonal", at, (at, at)) for at in (0.2, 0.5, 0.8)),
        ("along the panel", 0.25, (0.25, 0.5)),
        ("seen in part", 0.5, (0.5, 0.5)),
    ],
)
def test_a_label_stands_beside_its_place_and_keeps_it(ax, curve, at, point):
    CURVES[curve](ax, at)
    figures.curve(ax, [0, 1], [7, 8], "outside", "exact", at=0.5)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    first, box = boxes_in(ax), boxes_in(ax)["word"]
    assert first.keys() == {"word"}, "the other curve is not seen"
    assert first["word"].bounds == box.bounds, "where it is put once it stays"
    middle = np.mean(box.get_points(), axis=0)
    slack = box.size / 2 + 2 * labels.GAP + 0.03 * ax.bbox.size
    assert (np.abs(middle - ax.transData.transform(point)) <= slack).all()


def test_no_label_covers_a_curve_or_another_label(ax):
    for name, height, kind in (("one", 0.4, "ICL"), ("two", 0.55, "IDG"), ("three", 0.7, "other")):
        figures.curve(ax, X, height + 0 * X, name, kind, at=0.5)
    figures.vertical(ax, 0.5, "count", "exact")
    ax.set(ylim=(0, 1))
    boxes = boxes_in(ax)
    crowd = np.concatenate(list(labels.obstacles(ax)))
    assert len(boxes) == 3
    assert not any(box.padded(-2).count_contains(crowd) for box in boxes.values())
    assert svg.lettering(ax.get_figure())["faults"] == []


def test_labels_at_ends_stand_one_above_the_other_in_order(ax):
    ends = [(1 + i / 50) for i in range(5)]
    for i, end in enumerate(ends):
        figures.curve(ax, X, end * X, f"{i}", "exact", at=1)
    ax.set(xlim=(0, 2), ylim=(0, 2))
    boxes = [boxes_in(ax)[f"{i}"] for i in range(5)]
    assert np.diff([box.y0 for box in boxes]).min() >= labels.LINE
    points = ax.transData.transform([(1, end) for end in ends])
    assert all(box.x0 > point[0] for box, point in zip(boxes, points, strict=True))
    centre = np.mean([(box.y0 + box.y1) / 2 for box in boxes])
    assert centre == pytest.approx(points[:, 1].mean(), abs=3)


def test_a_label_before_the_start_stands_to_its_left_in_the_colour_of_its_curve_but_darker(ax):
    figures.curve(ax, [1, 2], [1, 2], "start", (1.0, 0.5, 0.0), at=0)
    ax.set(xlim=(0, 2))
    assert boxes_in(ax)["start"].x1 < ax.transData.transform((1, 1))[0]
    assert ax.texts[0].get_color() == pytest.approx([0.7, 0.35, 0.0])
