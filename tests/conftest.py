"""What all tests share: the towers' shapes are checked."""

from jaxtyping import install_import_hook
from towers import ROOMS

install_import_hook([f"iclutils.{room}" for room in ROOMS], "shapes.check")
