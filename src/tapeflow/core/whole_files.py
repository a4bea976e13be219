"""Files that are there whole or as they were before, whatever happens while they are written."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: str, synced: bool = False) -> Iterator[BinaryIO]:
    """A new file to write, which takes the place of the one at `path` when the block ends without an error.

    With `synced` it is on the disk by then, which takes time, but outlives the machine.
    """
    temporary = f"{path}.tmp{os.getpid()}-{threading.get_ident()}"
    try:
        with open(temporary, "wb") as file:
            yield file
            if synced:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        name_file(error, path)
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def name_file(error: BaseException | None, path: str) -> None:
    """Lets an error of the system that names no file, as that of a full disk does, name this one."""
    if isinstance(error, OSError) and error.filename is None and error.errno is not None:
        error.filename = path


def replace_file(path: str, data: bytes, synced: bool = False) -> None:
    """Writes a file so that a reader sees the old one or the new one, never half of it."""
    with replacing(path, synced) as file:
        file.write(data)
