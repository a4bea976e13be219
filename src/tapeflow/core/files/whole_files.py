"""Files that are there whole or as they were before, whatever happens while they are written.

A new file is written under a random name in the folder of the old one, which it then replaces.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO

# O_EXCL fails where anything has the name already, a link included, so that nobody can prepare the name.
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_LONGEST_NAME = 200  # of the 255 bytes of most file systems, less what is appended


@contextlib.contextmanager
def replacing(path: str, synced: bool = False) -> Iterator[BinaryIO]:
    """A new file to write, which takes the place of the one at `path` when the block ends without an error.

    A link at `path` stays, and its target is replaced; the new file has the permissions of the old one. What is not a
    regular file, such as a pipe or a device, is written to.

    With `synced` it is on the disk by then, which takes time, but outlives the machine.
    """
    if _is_special(path):
        with open(path, "wb") as file:
            yield file
        return
    temporary = None
    try:
        with new_file(temporary_name(path), like=path) as file:
            temporary = file.name
            yield file
            if synced:
                file.flush()
                os.fsync(file.fileno())
        replace(temporary, path)
    except BaseException as error:
        name_file(error, path)
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise


def temporary_name(path: str) -> str:
    """A random name in the folder of the file that `path` names or links to."""
    folder, name = os.path.split(os.path.realpath(path))
    while len(os.fsencode(name)) > _LONGEST_NAME:
        name = name[:-1]
    return os.path.join(folder, f"{name}.tmp-{secrets.token_hex(8)}")


def new_file(path: str, like: str | None = None) -> BinaryIO:
    """A file to write that was not there before, with the permissions of the file `like` where there is one.

    Raises FileExistsError where `path` is there already, if only as a link.
    """
    try:
        old = None if like is None else os.stat(like)
    except FileNotFoundError:
        old = None
    # One that will have another owner or fewer readers has none until then.
    file = open(  # noqa: SIM115 (closed by who writes)
        path, "wb", opener=lambda name, _: os.open(name, _NEW, 0o666 if old is None else 0o600)
    )
    if old is not None:
        try:
            _take_permissions(file.fileno(), old)
        except BaseException:
            file.close()
            os.unlink(path)
            raise
    return file


def _take_permissions(descriptor: int, old: os.stat_result) -> None:
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (old.st_uid, old.st_gid):
        with contextlib.suppress(PermissionError):  # only root gives files away
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)


def replace(temporary: str, path: str) -> None:
    """Lets a file take the place of the one that `path` names or links to."""
    os.replace(temporary, os.path.realpath(path))


def name_file(error: BaseException | None, path: str) -> None:
    """Lets an error of the system that names no file, as that of a full disk does, name this one."""
    if isinstance(error, OSError) and error.filename is None and error.errno is not None:
        error.filename = path


def replace_file(path: str, data: Any, synced: bool = False) -> None:
    """Writes a file so that a reader sees the old one or the new one, never half of it."""
    with replacing(path, synced) as file:
        file.write(data)


def _is_special(path: str) -> bool:
    """Whether `path` is there and is neither a regular file nor a folder."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
