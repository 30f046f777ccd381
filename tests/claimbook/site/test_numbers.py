"""Numbers in displayed tables: a minus is a minus and a power of ten a power; words stay."""

import pytest

from claimbook.site.numbers import typeset, typeset_numbers, written


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("-0.50", "−0.50"),
        ("7.2e-05", "7.2\xa0· 10⁻⁵"),
        ("-1e+10", "−10¹⁰"),
        ("0.331 ± 0.012", "0.331\xa0±\xa00.012"),
        ("-0.5 (-1.2)", "−0.5 (−1.2)"),
        ("1e-12", "10⁻¹²"),
        ("-0.00 ± 0.02", "0.00\xa0±\xa00.02"),
        ("−0.00", "0.00"),
        ("+0.00 ± 0.01", "0.00\xa0±\xa00.01"),
        ("+0.05", "+0.05"),
        ("-0.05", "−0.05"),
        ("w^(d/2-1)", "w<sup>d/2−1</sup>"),
        ("Σ^½, e_ICL", "Σ<sup>½</sup>, e<sub>ICL</sub>"),
        ("r^−(d+0)/2", "r^−(d+0)/2"),  # where an exponent without brackets ends is not known
        ("log of e_ICL/e_IDG", "log of e<sub>ICL</sub>/e<sub>IDG</sub>"),
        ("N = K^1.5. Longer: K^a", "N = K<sup>1.5</sup>. Longer: K<sup>a</sup>"),
        ("10^(-2) and 0.999^t", "10<sup>−2</sup> and 0.999<sup>t</sup>"),
        ("regression/training_jobs.py", "regression/training_jobs.py"),
        ("F^aff, w^*", "F^aff, w^*"),
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
        ("from 20 000 to 100 000 steps", "from 20\xa0000 to 100\xa0000 steps"),
        ("in 2000 1000000", "in 2000 1000000"),
    ],
)
def test_a_line(number, read):
    assert written(number) == read


def test_only_cells_of_tables_are_touched():
    page = '<p>-1</p><table class="docutils"><td>-1</td></table><pre>1e-5</pre>'
    styled = '<table id="T_1"><th id="T_1_row0" >{}</th><td id="T_1_row0_col0" >{}</td></table>'
    plain = '<table border="1" class="dataframe"><tr>\n<th>{}</th>\n<td>{}</td>\n</tr></table>'
    written = page + styled.format("relu", "-1") + plain.format("relu", "−0.00 ± 0.02") + page
    read = page + styled.format("ReLU", "−1") + plain.format("ReLU", "0.00\xa0±\xa00.02") + page
    assert typeset_numbers(written) == read
