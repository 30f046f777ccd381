"""What all tests share: the towers' shapes are checked."""

# before the hook: what a checked module is the first to import is compiled anew
import scipy.integrate
import scipy.optimize
import scipy.stats
import torch  # noqa: F401
from jaxtyping import install_import_hook
from shapes import check  # noqa: F401
from towers import ROOMS

install_import_hook([f"iclutils.{room}" for room in ROOMS], "shapes.check")
