"""The looks in which pages are worked: width and theme."""

import pytest

WIDE, NARROW = LOOKS = [(1280, "light"), (390, "dark")]  # two corners; test_site.py has the others


def name_of(look):
    return f"{look[0]}-{look[1]}"


# what is worked by keyboard: where there is least room
ON_THE_NARROW = pytest.mark.parametrize(
    "window", [NARROW], ids=name_of, indirect=True, scope="module"
)
