"""Pages that are run otherwise: what the command line may ask for, and what it changes."""

import pytest
from nbformat import v4

from claimbook import files
from claimbook.check import reruns
from claimbook.runs import memo
from claimbook.runs.memo import ARITHMETIC, VARIANT


def notebook(source, tags=("parameters",)):
    cell = v4.new_code_cell(source, metadata={"tags": list(tags)})
    return v4.new_notebook(cells=[v4.new_code_cell("n = 1"), cell])


def test_a_parameter_gets_another_value_as_python_writes_it():
    words = "n=100 sigma=0.3 flag=True sizes='(1, 2)'"
    assert reruns.parse(words) == {"n": 100, "sigma": 0.3, "flag": True, "sizes": (1, 2)}
    page = notebook("d, n = 5, 20  # dimension, length")
    reruns.set_parameters(page, {"n": 7})
    scope = {}
    exec(page.cells[1].source, scope)
    assert (scope["d"], scope["n"], page.cells[0].source) == (5, 7, "n = 1")
    for page, message in (
        (notebook("d = 1"), r"must be one of \['d'\]; got 'n'"),
        (notebook("d = abs(n)"), r"must be one of \['d'\]; got 'n'"),  # read there, not set
        (notebook("n = 1", tags=[]), "one cell tagged 'parameters'; got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            reruns.set_parameters(page, {"n": 7})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        *((("n=1 " + word, "", ""), "a setting must be like n=100") for word in ("n", "n=", "n=a")),
        (("", "1 x", ""), "invalid literal"),
        *(
            (("", "", f"avx2 {word}"), f"must be one of .*; got '{word}'")
            for word in ("sse", "avx2:2", "perturbed:x", "perturbed:-1")
        ),
    ],
)
def test_another_word_is_refused(asked, message):
    with pytest.raises(ValueError, match=message):
        reruns.reruns(*asked)


def test_a_variant_tells_the_libraries_and_has_a_store_of_its_own(monkeypatch):
    default, avx2, perturbed = reruns.reruns("", "", "default avx2 perturbed")
    assert default.environment == {ARITHMETIC: "default", VARIANT: "default"}
    assert avx2.environment == {ARITHMETIC: "avx2", VARIANT: "avx2"}
    assert perturbed.environment == {VARIANT: "perturbed:1"}
    monkeypatch.setenv(VARIANT, "default")
    assert memo.folder().name == "default"
    monkeypatch.setattr(files, "settings", dict)
    with pytest.raises(ValueError, match="must name 'perturb'"):
        reruns.read_variant("perturbed")
