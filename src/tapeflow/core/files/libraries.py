"""Libraries of operations that were compiled for TensorFlow: none can be loaded, and these functions say so."""

from __future__ import annotations

import os

from tapeflow.api import api
from tapeflow.core.annotations import PathLike
from tapeflow.core.errors import NotFoundError
from tapeflow.core.public import boundary


@api("load_op_library")
@boundary
def load_op_library(library_filename: PathLike) -> None:
    """Raise the error with which TensorFlow rejects a library of operations that it cannot load.

    Kernels that were compiled for TensorFlow call its C++ functions, which are not here. Programs that have another
    way, as many do, take it on this error.

    Args:
      library_filename: the path of the library.

    Raises:
      NotFoundError: always; its text says whether the file is there.
    """
    path = os.fspath(library_filename)
    if not os.path.exists(path):
        raise NotFoundError(None, None, f"{path}: cannot open shared object file: No such file or directory")
    raise NotFoundError(None, None, f"{path}: kernels that were compiled for TensorFlow cannot be loaded")


@api("load_library")
@boundary
def load_library(library_location: PathLike) -> None:
    """Raise the error with which TensorFlow rejects a library of kernels, or a folder of such, that it cannot load.

    Args:
      library_location: the path of a library, or of a folder; one without libraries is accepted.

    Raises:
      OSError: where there is no such path.
      NotFoundError: for a library.
    """
    path = os.fspath(library_location)
    if not os.path.exists(path):
        raise OSError(f"The file or folder to load kernel libraries from does not exist.: {path!r}")
    found = [path]
    if os.path.isdir(path):
        found = [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(".so")]
    for library in found:
        load_op_library(library)
