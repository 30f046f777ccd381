"""Settings of the command line are read and put into the cell of parameters, or refused."""

import pytest
from nbformat import v4

from claimbook.check import settings


def notebook(source, tags=("parameters",)):
    cell = v4.new_code_cell(source, metadata={"tags": list(tags)})
    return v4.new_notebook(cells=[v4.new_code_cell("n = 1"), cell])


def test_values_are_read_as_python_writes_them():
    given = "n=100 sigma=0.3 flag=True sizes='(1, 2)'"
    assert settings.parse(given) == {"n": 100, "sigma": 0.3, "flag": True, "sizes": (1, 2)}
    assert settings.parse("") == {}


@pytest.mark.parametrize("word", ["n", "n=", "n=many", "=3 n=1 +"])
def test_a_word_that_is_no_setting_is_refused(word):
    with pytest.raises(ValueError, match="a setting must be like n=100; got "):
        settings.parse(word)


def test_a_parameter_gets_another_value_before_the_ledger_sees_it():
    page = notebook("d, n = 5, 20  # dimension, length\nledger = (d,\n  n)")
    settings.set_parameters(page, {"n": 7})
    scope = {}
    exec(page.cells[1].source, scope)
    assert (scope["d"], scope["n"], scope["ledger"]) == (5, 7, (5, 7))
    assert page.cells[0].source == "n = 1"


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (notebook("n = 1\nn = 2"), "n must be set once"),
        (notebook("d = 1"), "n must be set once"),
        (notebook("n = 1", tags=[]), "one cell tagged 'parameters'; found 0"),
    ],
)
def test_what_is_no_parameter_is_refused(page, message):
    with pytest.raises(ValueError, match=message):
        settings.set_parameters(page, {"n": 7})
