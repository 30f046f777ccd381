"""Numbers for a chapter's prose, which come from its run."""

from collections.abc import Mapping

from iclutils.ground.statistics import CONTRADICTED, SUPPORTED, UNDECIDED, Comparison


def tell(**values: object) -> None:
    """Glue values under their names for the page.

    After ``tell(slope="0.31")`` the prose shows the value by ``{glue:text}`slope```. Outside of a
    notebook nothing happens.
    """
    from IPython import get_ipython

    if get_ipython() is None:
        return
    from myst_nb import glue

    for name, value in values.items():
        glue(name, value, display=False)


def outcomes(comparisons: Mapping[str, Comparison]) -> str:
    """How many comparisons were supported, contradicted and undecided, as a phrase.

    >>> from iclutils.ground.statistics import greater
    >>> outcomes({"a": greater(1.0), "b": greater(-1.0)})
    '1 of 2 supported, 1 contradicted'
    """
    found = [comparison.outcome for comparison in comparisons.values()]
    rest = [f"{found.count(name)} {name}" for name in (CONTRADICTED, UNDECIDED) if name in found]
    return ", ".join([f"{found.count(SUPPORTED)} of {len(found)} {SUPPORTED}", *rest])
