"""What all tests share: the towers' shapes are checked; an option says how often to kill."""

import pytest
from jaxtyping import install_import_hook

install_import_hook(
    ["iclutils.ground", "iclutils.window", "iclutils.regression", "iclutils.stages"],
    "shapes.check",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--moments",
        type=int,
        default=1,
        help="kill chapters and builds at so many moments with each signal",
    )


@pytest.fixture(scope="session")
def moments(request: pytest.FixtureRequest) -> int:
    return request.config.getoption("--moments")
