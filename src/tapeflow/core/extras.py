"""Libraries that the base installation does without, and the extras of the package that bring them."""

from __future__ import annotations

import importlib
from types import ModuleType

# The library's top module: its name, and the extra.
_EXTRAS = {
    "grpc": ("grpcio", "cluster"), "h5py": ("h5py", "hdf5"), "PIL": ("Pillow", "image"), "scipy": ("SciPy", "scipy"),
}  # fmt: skip


def load(module: str, purpose: str) -> ModuleType:
    """Import an optional library.

    Args:
      module: what to import, such as "scipy.ndimage".
      purpose: what needs it, as the beginning of a sentence.

    Raises:
      ImportError: it is not installed; the message names the extra to install.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library, extra = _EXTRAS[module.partition(".")[0]]
        message = f"{purpose} requires {library}, which is not installed: pip install 'tapeflow[{extra}]'"
        raise ImportError(message) from error
