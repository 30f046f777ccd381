"""What all tests share: the towers are imported with the shapes in their signatures checked."""

from jaxtyping import install_import_hook

install_import_hook(
    ["iclutils.ground", "iclutils.window", "iclutils.regression", "iclutils.stages"],
    "shapes.check",
)
