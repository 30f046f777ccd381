"""What all tests share: the towers' shapes are checked, and no slow machine turns a test red."""

import importlib

from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

# whatever a checked module is the first to import is compiled anew, and these are large
for library in ("beartype", "scipy.integrate", "scipy.optimize", "scipy.stats", "torch"):
    importlib.import_module(library)
install_import_hook("iclutils", "shapes.check")

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")
