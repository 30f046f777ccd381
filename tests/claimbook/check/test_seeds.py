"""The master seed: what another one leaves alone is named, unless it is known to stay."""

from claimbook.check.seeds import disguised_numbers, unmoved
from claimbook.ledger import Record
from claimbook.ledger.comparison import Comparison


def record(value: float, part: float = 2.0, half: float = 0.1) -> Record:
    """A row with a headline, one sampled part and nothing else."""
    parts = {"d = 5": Comparison(part, 0.1, "> 0", "supported")}
    return Record("00_mini", "a", "holds", value, half, parts, {}, {}, True)


def test_what_another_seed_leaves_alone_is_named_unless_it_is_exact():
    assert list(unmoved({"a": record(1.2)}, {"a": record(1.5)})) == [
        "a, part 'd = 5': 2 ± 0.1 did not move"
    ]
    found = list(unmoved({"a": record(1.5)}, {"a": record(1.5)}))
    assert found[0] == "a, the headline: 1.5 ± 0.1 did not move"
    exact = {"a": record(1.0, half=0.0)}
    assert len(list(unmoved(exact, exact))) == 1
    rounded = {"a": record(1.5, part=0.002 + 1e-14)}  # a difference, rounded as its terms are
    assert len(list(unmoved({"a": record(1.2, part=0.002)}, rounded))) == 1
    none = {"a": record(0.0)}  # a share of none
    assert len(list(unmoved(none, none))) == 1
    assert not list(unmoved(none, none, fixed=["a"]))


def test_what_is_fixed_may_stay_and_has_to():
    same, other = {"a": record(1.5)}, {"a": record(1.2)}
    assert not list(unmoved(same, same, fixed=["a"]))
    assert not list(unmoved(same, same, fixed=["a, the headline", "a, part 'd = *"]))
    assert not list(unmoved(other, same, fixed=["a, part 'd = 5'", "another page's row"]))
    assert list(unmoved(same, same, fixed=["a, part *"])) == [
        "a, the headline: 1.5 ± 0.1 did not move"
    ]
    for entry in ("a", "a, *"):  # of a row that moved in part, the other part has to be named
        assert list(unmoved(other, same, fixed=[entry])) == [
            f"{entry}: listed as fixed, but some of it moved"
        ]
    assert list(unmoved(same, same, fixed=["a", "a, control *"])) == [
        "a, control *: listed as fixed, but nothing in it is sampled"
    ]


def test_a_number_without_an_interval_that_moved_is_named_unless_it_is_listed():
    before, after = (
        {"a": Record("00_mini", "a", "holds", 1.0, 0.0, parts, {}, {}, True)}
        for parts in ({"d = 5": Comparison(two, 0.0, "> 0", "supported")} for two in (2.0, 2.1))
    )
    assert list(disguised_numbers(before, after)) == [
        "a, part 'd = 5': moved, but has no half-width: it was sampled"
    ]
    assert not list(disguised_numbers(before, after, drawn=["a, part 'd = *"]))
