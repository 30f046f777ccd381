"""Labels stand at their place along the curve and cover neither curves nor each other."""

import numpy as np
import pytest
from matplotlib.transforms import Bbox

from claimbook import figures
from claimbook.figures import checks, labels

X = np.linspace(0, 1, 50)


@pytest.fixture
def ax():
    return figures.panels(1, 1)[1][0]


def placed(ax):
    """The labels' boxes and their points on the curves, in pixels, once they are placed."""
    figure = ax.get_figure()
    labels.put_labels(figure)
    figure.draw_without_rendering()
    boxes = {text.get_text(): Bbox(text.get_window_extent()) for text in ax.texts}
    points = {text.get_text(): ax.transData.transform(text.xy) for text in ax.texts}
    return boxes, points


def test_a_label_has_the_colour_of_its_curve_only_darker(ax):
    figures.curve(ax, X, X, "rare", (1.0, 0.5, 0.0), at=0.5)
    (text,) = ax.texts
    assert text.get_color() == pytest.approx([0.7, 0.35, 0.0])


@pytest.mark.parametrize("at", [0.2, 0.5, 0.8])
def test_a_label_stands_beside_its_place_along_the_curve(ax, at):
    figures.curve(ax, X, X, "rare", "target", at=at, text="word")
    boxes, points = placed(ax)
    place = ax.transData.inverted().transform(points["word"])
    assert place == pytest.approx([at, at], abs=0.03)
    gap = np.abs(
        np.array(
            [(boxes["word"].x0 + boxes["word"].x1) / 2, (boxes["word"].y0 + boxes["word"].y1) / 2]
        )
        - points["word"]
    )
    assert (gap <= np.array([boxes["word"].width, boxes["word"].height]) / 2 + 2 * labels.GAP).all()


def test_no_label_covers_a_curve_or_another_label(ax):
    for name, height, kind in (("one", 0.4, "ICL"), ("two", 0.55, "IDG"), ("three", 0.7, "other")):
        figures.curve(ax, X, height + 0 * X, name, kind, at=0.5)
    figures.vertical(ax, 0.5, "count", "exact")
    ax.set(ylim=(0, 1))
    boxes, _ = placed(ax)
    crowd = np.concatenate(list(labels.obstacles(ax)))
    for box in boxes.values():
        assert not box.padded(-2).count_contains(crowd)
    assert checks.lettering(ax.get_figure())["faults"] == []


def test_labels_at_ends_stand_one_above_the_other_in_order(ax):
    for i in range(5):
        figures.curve(ax, X, (1 + i / 50) * X, f"{i}", "exact", at=1)
    ax.set(xlim=(0, 2), ylim=(0, 2))
    boxes, points = placed(ax)
    heights = [boxes[f"{i}"].y0 for i in range(5)]
    assert heights == sorted(heights)
    assert np.diff(heights).min() >= labels.LINE
    assert all(boxes[name].x0 > points[name][0] for name in boxes)
    middle = np.mean([points[name][1] for name in points])
    centre = np.mean([(box.y0 + box.y1) / 2 for box in boxes.values()])
    assert centre == pytest.approx(middle, abs=3)


def test_labels_at_ends_stay_in_the_panel(ax):
    for i in range(4):
        figures.curve(ax, X, 0 * X + i / 50, f"{i}", "exact", at=1)
        figures.curve(ax, X, 0 * X + 1 - i / 50, f"{9 - i}", "exact", at=1)
    ax.set(xlim=(0, 2), ylim=(0, 1))
    boxes, _ = placed(ax)
    heights = sorted(box.y0 for box in boxes.values())
    assert np.diff(heights).min() >= labels.LINE
    assert min(heights) > ax.bbox.y0
    assert max(box.y1 for box in boxes.values()) < ax.bbox.y1


def test_a_label_before_the_start_stands_to_its_left(ax):
    figures.curve(ax, [1, 2], [1, 2], "start", "exact", at=0)
    ax.set(xlim=(0, 2))
    boxes, points = placed(ax)
    assert boxes["start"].x1 < points["start"][0]


def test_the_label_of_a_line_along_the_panel_is_at_a_share_of_its_width(ax):
    figures.horizontal(ax, 0.5, "chance", "exact", at=0.25)
    ax.set(xlim=(10, 20), ylim=(0, 1))
    _, points = placed(ax)
    place = ax.transData.inverted().transform(points["chance"])
    assert place == pytest.approx([12.5, 0.5], abs=0.1)


def test_only_what_is_seen_of_a_curve_counts(ax):
    figures.curve(ax, [0, 10], [0, 10], "cut", "exact", at=0.5)
    figures.curve(ax, [0, 1], [7, 8], "outside", "exact", at=0.5)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    _, points = placed(ax)
    assert ax.transData.inverted().transform(points["cut"]) == pytest.approx([0.5, 0.5], abs=0.05)
    assert [text.get_text() for text in ax.texts if text.get_visible()] == ["cut"]


def test_a_short_mark_is_in_no_label_s_way(ax):
    figures.vertical(ax, 0.5, "mark", "exact", ymax=0.05)
    assert not list(labels.obstacles(ax))
    figures.vertical(ax, 0.5, "line", "exact")
    assert len(list(labels.obstacles(ax))) == 1


def test_a_label_keeps_its_place_when_it_is_asked_for_again(ax):
    figures.curve(ax, X, X**2, "rare", "target", at=0.5)
    first, _ = placed(ax)
    second, _ = placed(ax)
    assert first["rare"].bounds == second["rare"].bounds


@pytest.mark.parametrize("heights", [[0.0, 10.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1.5, 9.0, 9.5]])
def test_heights_move_by_as_little_as_can_be(heights):
    heights_apart = labels.spread(heights, 2.0)
    assert np.diff(heights_apart).min() >= 2.0 - 1e-12
    assert np.mean(heights_apart) == pytest.approx(np.mean(heights))
    if np.diff(heights).min() >= 2.0:
        assert heights_apart.tolist() == heights
