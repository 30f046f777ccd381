"""Prompts: noise on the context alone, of the right size."""

import pytest
import torch

from iclutils.randomness import stream
from iclutils.stats import mean_se
from iclutils.window import covariates, function_classes, prompts
from iclutils.window.low_rank_tasks import LowRankLink


def test_prompt_holds_noise_of_the_right_size() -> None:
    noisy, clean = (
        prompts.draw(
            function_classes.Affine(5),
            covariates.Sphere(5),
            50,
            sigma,
            2,
            (400,),
            stream(0, "prompts"),
        )
        for sigma in (0.3, 0.0)
    )
    mean, se, _ = mean_se(((noisy.y - clean.y) ** 2).flatten())
    assert abs(float(mean) - 0.09) < 4 * float(se)  # 4 standard errors: 6e-5 false alarms
    torch.testing.assert_close(noisy.target, clean.target)


def test_a_constant_coordinate_is_the_last_and_changes_nothing_else() -> None:
    law = covariates.Sphere(3)
    plain = prompts.draw(function_classes.Affine(3), law, 5, 0.1, 2, (4,), stream(0, "prompts"))
    longer = plain.with_constant()
    assert longer.x.shape == (4, 5, 4)
    assert longer.query.shape == (4, 2, 4)
    for part, whole in ((plain.x, longer.x), (plain.query, longer.query)):
        assert torch.equal(whole[..., :3], part)
        assert bool((whole[..., 3] == 1).all())
    assert longer.y is plain.y
    assert longer.target is plain.target


def test_classes_of_one_law_share_their_draws() -> None:
    """Every class sees what it would see alone, to the last digit."""
    B = torch.eye(5, dtype=torch.float64)[:, :2]
    classes = [LowRankLink(B, link) for link in ("linear", "quadratic")]

    def drawn(functions):  # type: ignore[no-untyped-def]
        draws = stream(0, "alike")
        return prompts.draw_alike(functions, covariates.Sphere(5), 4, 0.1, 2, (3,), draws)

    for one, function in zip(drawn(classes), classes, strict=True):
        (alone,) = drawn([function])
        assert all(torch.equal(getattr(one, name), getattr(alone, name)) for name in vars(one))
    with pytest.raises(ValueError, match="one law; got 2"):
        drawn([*classes, function_classes.Affine(5)])


def test_the_default_number_of_queries_is_the_root_of_n() -> None:
    assert [prompts.default_queries(n) for n in (1, 3, 4, 20, 25)] == [1, 1, 2, 4, 5]


@pytest.mark.parametrize(
    ("n", "sigma", "queries", "error", "words"),
    [
        (0, 0.1, 1, ValueError, ["n", "0"]),
        (4, -0.1, 1, ValueError, ["sigma", "-0.1"]),
        (4, 0.1, 0, ValueError, ["queries", "0"]),
        (4, 0.1, 1.5, TypeError, ["queries", "1.5"]),
    ],
)
def test_bad_input_is_refused(n, sigma, queries, error, words) -> None:  # type: ignore[no-untyped-def]
    law = covariates.Sphere(5)
    with pytest.raises(error) as caught:
        prompts.draw(function_classes.Affine(5), law, n, sigma, queries, (2,), stream(0, "x"))
    assert all(word in str(caught.value) for word in words), caught.value
