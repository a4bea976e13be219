"""`tf.resource_loader`: files that lie beside a program."""

from __future__ import annotations

import inspect
import os
from typing import Any

from tapeflow.core.public import boundaries

__all__ = [
    "get_data_files_path",
    "get_path_to_datafile",
    "get_root_dir_with_all_resources",
    "load_resource",
    "readahead_file_path",
]


def _folder_of_caller(depth: int) -> str:
    frame: Any = inspect.currentframe()
    for _ in range(depth):
        frame = frame.f_back
    return os.path.dirname(os.path.abspath(inspect.getfile(frame.f_code)))


def get_data_files_path() -> str:
    """The folder of the file that calls this."""
    return _folder_of_caller(2)


def get_root_dir_with_all_resources() -> str:
    """The folder of the file that calls this."""
    return _folder_of_caller(2)


def get_path_to_datafile(path: str) -> str:
    """A path below the folder of the file that calls this."""
    return os.path.join(_folder_of_caller(2), path)


def load_resource(path: str) -> bytes:
    """The bytes of a file below the folder of the file that calls this. Raises OSError for none."""
    with open(os.path.join(_folder_of_caller(2), path), "rb") as file:
        return file.read()


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """`path`: files are read as they are needed."""
    return path


boundaries(globals())
