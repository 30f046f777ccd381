"""What all tests share: the towers' shapes are checked."""

import importlib

from jaxtyping import install_import_hook

# whatever a checked module is the first to import is compiled anew, and these are large
for library in ("beartype", "scipy.integrate", "scipy.optimize", "scipy.stats", "torch"):
    importlib.import_module(library)
install_import_hook("iclutils", "shapes.check")
