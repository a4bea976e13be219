"""Files in HDF5: how they are written whole, and told from others."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any

from tapeflow.core import extras
from tapeflow.core.files.whole_files import replace_file


def h5py():
    """The library for HDF5. Raises ImportError, saying what needs it, where it is not installed."""
    return extras.load("h5py", "Saving and loading weights as HDF5")


def hdf5(fill: Callable[..., Any]):
    """The bytes of an HDF5 file that `fill` has written to."""
    content = io.BytesIO()
    with h5py().File(content, "w") as file:
        fill(file)
    return content.getbuffer()


def write_hdf5(path: str, fill: Callable[..., Any]):
    """Writes the HDF5 file that `fill` fills: made in memory, as HDF5 itself does not survive a disk that is full."""
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    replace_file(path, hdf5(fill))


def is_hdf5(path: str):
    """Whether the file is there and holds HDF5."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        archive = file.read(4) == b"PK\x03\x04"  # its member may be HDF5 that begins where HDF5 may, at byte 1024 or so
    return not archive and h5py().is_hdf5(path)


def is_h5_name(path: str):
    """Whether a file of this name holds HDF5."""
    return path.endswith((".h5", ".hdf5", ".keras"))
