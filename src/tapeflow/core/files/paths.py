"""Names of files as TensorFlow reads them: plain paths, and those of its file systems `file://` and `ram://`."""

from __future__ import annotations

import atexit
import os
import posixpath
import re
import shutil
import tempfile
import threading
from typing import Any

from tapeflow.core.errors import UnimplementedError

SCHEMES = ["ram", "file", ""]

_SCHEME = re.compile(r"([a-zA-Z][0-9a-zA-Z.]*)://")
_RAM = "ram://"

# The folder of the files of `ram://`, and the process that made it.
_folder = ""
_owner = 0
_making = threading.Lock()


def plain_text(path: Any) -> str:
    """A path of any kind (str, bytes, PathLike) as str."""
    text = os.fspath(path)
    return os.fsdecode(text) if isinstance(text, bytes) else text


def local_path(path: Any) -> str:
    """The name that the operating system has for a file; a name of its own stays as it is.

    `file://host/name` is `/name`, of whatever host, as in TensorFlow. `ram://name` is a file that lives as long as the
    process: it lies in a temporary folder.

    Raises:
      UnimplementedError: for the other file systems of TensorFlow, such as `gs://` and `s3://`.
    """
    text = plain_text(path)
    found = _SCHEME.match(text)
    if found is None:
        return text
    scheme, rest = found[1], text[found.end() :]
    if scheme == "file":
        slash = rest.find("/")
        return rest[slash:] if slash >= 0 else ""
    if scheme == "ram":
        # No name leads out of the folder.
        return _ram_folder() + posixpath.normpath(f"/{rest}").rstrip("/")
    raise UnimplementedError(None, None, f"File system scheme '{scheme}' not implemented (file: '{text}')")


def folder_of(path: str) -> str:
    """The folder of a file, in its file system: "ram://" of "ram://name"."""
    folder, scheme = os.path.dirname(path), _SCHEME.match(path)
    return path[: scheme.end()] if scheme is not None and len(folder) < scheme.end() else folder


def shown_path(local: str, like: str) -> str:
    """A local name as the user writes it who wrote another, `like`, in the same file system."""
    if like.startswith(_RAM):
        return _RAM + local[len(_ram_folder()) + 1 :]
    return like[: len(like) - len(local_path(like))] + local


def writable_path(path: Any) -> str:
    """`local_path` of a file that is going to be written: `ram://` needs no folders to be made before."""
    local = local_path(path)
    if plain_text(path).startswith(_RAM):
        os.makedirs(os.path.dirname(local), exist_ok=True)
    return local


def _ram_folder() -> str:
    global _folder, _owner
    if not _folder:
        with _making:
            if not _folder:  # another thread may have made it meanwhile
                _folder, _owner = tempfile.mkdtemp(prefix="tapeflow-ram-"), os.getpid()
                atexit.register(_remove)
    return _folder


def _remove() -> None:
    if os.getpid() == _owner:  # not at the end of a forked process
        shutil.rmtree(_folder, ignore_errors=True)
