"""Local files as `tf.io.gfile` sees them: the functions of `os` with TensorFlow's errors, and `GFile`."""

from __future__ import annotations

import os
import shutil
from typing import Any, NamedTuple

from tapeflow.core import errors
from tapeflow.core.files.globbing import matching_paths
from tapeflow.core.public import boundaries


def text_path(path: Any) -> str:
    """A path of any kind (str, bytes, PathLike, `file://`) as str."""
    text = os.fspath(path)
    text = os.fsdecode(text) if isinstance(text, bytes) else text
    return text.removeprefix("file://")


def as_error(error: OSError, path: str) -> errors.OpError:
    """TensorFlow's error for one of the system."""
    kinds: list[tuple[type[OSError], Any]] = [
        (FileNotFoundError, errors.NotFoundError),
        (FileExistsError, errors.AlreadyExistsError),
        (PermissionError, errors.PermissionDeniedError),
        (IsADirectoryError, errors.FailedPreconditionError),
        (NotADirectoryError, errors.FailedPreconditionError),
    ]
    for kind, ours in kinds:
        if isinstance(error, kind):
            return ours(None, None, f"{path}; {error.strerror}")
    text = error.strerror or str(error)
    if "not empty" in text:
        return errors.FailedPreconditionError(None, None, f"{path}; {text}")
    return errors.UnknownError(None, None, f"{path}; {text}")


class _Translated:
    """Turns errors of the system about `path` into TensorFlow's."""

    def __init__(self, path: str):
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: str | None, error, trace) -> None:
        if isinstance(error, OSError) and not isinstance(error, errors.OpError):
            raise as_error(error, self._path) from None


def exists(path: str) -> bool:
    """Whether there is a file or a directory of that name."""
    return os.path.exists(text_path(path))


def isdir(path) -> bool:
    """Whether `path` is a directory."""
    return os.path.isdir(text_path(path))


def listdir(path) -> list[str]:
    """The names in a directory. Raises NotFoundError if there is no such directory."""
    path = text_path(path)
    if not os.path.isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {path}")
    return os.listdir(path)


def mkdir(path) -> None:
    """Make a directory. Raises AlreadyExistsError, or NotFoundError where its parent is missing."""
    path = text_path(path)
    with _Translated(path):
        os.mkdir(path)


def makedirs(path) -> None:
    """Make a directory and its parents, as far as they are missing."""
    path = text_path(path)
    with _Translated(path):
        os.makedirs(path, exist_ok=True)


def remove(path: str) -> None:
    """Delete a file. Raises NotFoundError."""
    path = text_path(path)
    with _Translated(path):
        os.remove(path)


def rmtree(path) -> None:
    """Delete a directory with all that is in it, or a file. Raises NotFoundError."""
    path = text_path(path)
    if not os.path.exists(path):
        raise errors.NotFoundError(None, None, f"{path}; No such file or directory")
    with _Translated(path):
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.remove(path)


def copy(src: str, dst: str, overwrite: bool = False) -> None:
    """Copy a file.

    Args:
      src: the path of the file.
      dst: the path of the copy.
      overwrite: whether a file that is there is replaced.

    Raises:
      AlreadyExistsError: where there is one and `overwrite` is not set.
      NotFoundError: where there is no file at `src`.
    """
    src, dst = text_path(src), text_path(dst)
    _require_free(dst, overwrite)
    with _Translated(src):
        shutil.copyfile(src, dst)


def rename(src: str, dst: str, overwrite: bool = False) -> None:
    """Move a file or directory.

    Args:
      src: its path.
      dst: its new path.
      overwrite: whether a file that is there is replaced.

    Raises:
      AlreadyExistsError: where there is one and `overwrite` is not set.
      NotFoundError: where there is nothing at `src`.
    """
    src, dst = text_path(src), text_path(dst)
    _require_free(dst, overwrite)
    with _Translated(src):
        os.replace(src, dst)


def _require_free(path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists")


def glob(pattern) -> list[str]:
    """The files that match a pattern, or one of several, of any iterable; `*` does not cross directories."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    return [name for p in patterns for name in matching_paths(p)]


def join(path: str, *paths):
    """Put parts of a path together.

    Args:
      path: the first part.
      *paths: the parts after it; one that is absolute replaces those before.

    Returns:
      The path.

    >>> tf.io.gfile.join("a", "b")
    'a/b'
    """
    return os.path.join(path, *paths)


def walk(top, topdown: bool = True, onerror=None):
    """Go through a directory and all below it.

    Args:
      top: the path of the directory.
      topdown: whether a directory comes before those in it.
      onerror: a function of the error where a directory cannot be read; None: that is passed over.

    Returns:
      A generator of (path of a directory, names of directories in it, names of files in it).
    """
    top = text_path(top)
    try:
        names = listdir(top)
    except errors.NotFoundError as error:
        if onerror:
            onerror(error)
        return
    folders = [n for n in names if os.path.isdir(os.path.join(top, n))]
    here = (top, folders, [n for n in names if n not in folders])
    if topdown:
        yield here
    for folder in folders:
        yield from walk(os.path.join(top, folder), topdown, onerror)
    if not topdown:
        yield here


class FileStatistics(NamedTuple):
    """Length in bytes, time of the last change in nanoseconds, whether it is a directory."""

    length: int
    mtime_nsec: int
    is_directory: bool


def stat(path) -> FileStatistics:
    """What is known of a file. Raises NotFoundError."""
    path = text_path(path)
    with _Translated(path):
        found = os.stat(path)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(path))


def get_registered_schemes() -> list[str]:
    """The kinds of addresses that files may have."""
    return ["", "file"]


_MODES = {"r", "w", "a", "r+", "w+", "a+"}


class GFile:
    """A local file, opened when it is first read or written.

    Text is UTF-8; with "b" in the mode it is bytes. Raises PermissionDeniedError for reading what was opened for
    writing and the reverse, NotFoundError for a file that is not there.
    """

    def __init__(self, name: str, mode: str = "r"):
        self._file: Any = None
        if str(mode).replace("b", "") not in _MODES:
            raise errors.InvalidArgumentError(None, None, f"mode is not 'r' or 'w' or 'a': {mode}")
        self._name = name
        self._mode = mode

    @property
    def name(self):
        return self._name

    @property
    def mode(self):
        return self._mode

    def _opened(self, write: bool) -> Any:
        plain = self._mode.replace("b", "")
        if write and plain == "r":
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        if not write and plain in ("w", "a"):
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        if self._file is None:
            path = text_path(self._name)
            with _Translated(path):
                self._file = open(path, plain + "b")  # noqa: SIM115 (closed by `close`)
        return self._file

    def _shown(self, data: bytes):
        return data if "b" in self._mode else data.decode("utf-8")

    def read(self, n: int = -1):
        """The next `n` bytes, or all that is left."""
        with _Translated(text_path(self._name)):
            return self._shown(self._opened(False).read(n))

    def readline(self):
        """The next line with its end; empty at the end of the file."""
        with _Translated(text_path(self._name)):
            return self._shown(self._opened(False).readline())

    def readlines(self):
        """All lines that are left."""
        return list(self)

    def write(self, file_content) -> None:
        """Append text or bytes. Raises TypeError for anything else."""
        data = file_content.encode("utf-8") if isinstance(file_content, str) else file_content
        self._opened(True).write(memoryview(data))

    def size(self) -> int:
        """The length of the file in bytes."""
        return stat(self._name).length

    def seek(self, offset=None, whence=0, position: int | None = None) -> None:
        """Go to `offset`, from the start (0), the current place (1) or the end (2)."""
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(
                None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            )
        offset = position if offset is None else offset
        file = self._opened(False)
        size = os.fstat(file.fileno()).st_size
        target = offset + (0, file.tell(), size)[whence]
        if not target >= 0:
            raise errors.InvalidArgumentError(None, None, f"Cannot seek to {target}")
        if target > size:
            raise errors.OutOfRangeError(None, None, f"Cannot seek to {target} of {size} bytes")
        file.seek(target)

    def seekable(self) -> bool:
        """Whether `seek` works."""
        return True

    def tell(self) -> int:
        """The current place."""
        reading = "r" in self._mode or "+" in self._mode
        return self._opened(not reading).tell()

    def flush(self) -> None:
        """Hand what was written to the system."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Write what is pending and close the file."""
        if "w" in self._mode or "a" in self._mode:
            self._opened(True)  # an empty file is a file
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, kind: str | None, error, trace) -> None:
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def next(self):
        """The next line. Raises StopIteration at the end."""
        return self.__next__()


boundaries(globals())
