"""Numbers in displayed tables: a minus is a minus and a power of ten a power; words stay."""

import pytest

from iclutils.book.site.numbers import typeset, typeset_numbers, written


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("-0.50", "−0.50"),
        ("7.2e-05", "7.2&nbsp;· 10<sup>−5</sup>"),
        ("-1e+10", "−1&nbsp;· 10<sup>10</sup>"),
        ("0.331 ± 0.012", "0.331&nbsp;±&nbsp;0.012"),
        ("-0.5 (-1.2)", "−0.5 (−1.2)"),
        ("w^(d/2-1)", "w^(d/2-1)"),
        ("Theorem A-1", "Theorem A-1"),
        ("2024-05-01", "2024-05-01"),
        ("softmax", "softmax"),
    ],
)
def test_a_cell(written, read):
    assert typeset(written) == read


@pytest.mark.parametrize(
    ("number", "read"),
    [
        ("(-4.8 ± 1.8)e-04", "(−4.8 ± 1.8)\xa0· 10⁻⁴"),
        ("1.2e+12", "1.2\xa0· 10¹²"),
        ("0.331 ± 0.012", "0.331 ± 0.012"),
    ],
)
def test_a_line(number, read):
    assert written(number) == read


def test_only_cells_of_tables_are_touched():
    page = '<p>-1</p><td id="T_1_row0_col0" class="data" >-1</td><td>-1</td><pre>1e-5</pre>'
    assert typeset_numbers(page) == page.replace('class="data" >-1<', 'class="data" >−1<')
