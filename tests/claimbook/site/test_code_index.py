"""The functions that a check's numbers come from, read from the source of a page."""

import ast

import pytest

from claimbook.site.code_index import checks, functions_behind, imported_names, parse

IMPORTS = "from iclutils.window import attention, pretraining as trained\n"
IMPORTS += "from iclutils.window.theory.rates import exponent\nfrom iclutils import stats\n"
PLACE = "iclutils.window."
CHECK = "ledger.check('a', parts, value=value, controls={'x': attention.control()});"


def behind(source):
    """Return what stands behind the check at the end of a page; ``a record`` is a sweep's."""
    names = imported_names(IMPORTS) | {"a record": f"{PLACE}sweeps.job"}
    *before, last = ast.parse(f"{source}\n{CHECK}").body
    [(claim, estimates)] = checks(last)
    assert claim == "a"
    functions = functions_behind(parse(estimates, names), [parse(one, names) for one in before])
    return " ".join(name.removeprefix(PLACE) for name in functions)


@pytest.mark.parametrize(
    ("source", "functions"),
    [
        ("parts = exponent(2)", "theory.rates.exponent"),
        ("value = exponent(2)", "theory.rates.exponent"),
        (
            "M = trained.pretrain(1)\nparts = {'d': attention.weights(M)}",
            "attention.weights pretraining.pretrain",
        ),
        ("def f(d):\n    return attention.weights(d)\nparts = f(2)", "attention.weights"),
        ("parts = {}\nfor d in (1, 2):\n    parts[d] = exponent(d)", "theory.rates.exponent"),
        ("parts = exponent(1)\nparts |= attention.a()", "attention.a theory.rates.exponent"),
        ("parts = read_record('a record')['jobs']", "sweeps.job"),
        # no part of it: what is overwritten, what a comprehension sets, what all pages share
        ("parts = exponent(1)\nparts = attention.weights(2)", "attention.weights"),
        ("d = exponent(1)\nparts = [attention.weights(d) for d in (1, 2)]", "attention.weights"),
        ("parts = stats.estimate(attention.weights(1))", "attention.weights"),
        ("parts = attention.weights(trained.Setting(3))", "attention.weights"),
    ],
)
def test_functions_are_followed_back_from_the_check_but_not_from_its_controls(source, functions):
    assert behind(source) == functions
