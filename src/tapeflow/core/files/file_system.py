"""Local files as `tf.io.gfile` sees them: the functions of `os` with TensorFlow's errors, and `GFile`."""

from __future__ import annotations

import os
import shutil
from typing import Any, NamedTuple

from tapeflow.core import errors
from tapeflow.core.files.globbing import matching_paths
from tapeflow.core.files.paths import SCHEMES, local_path, plain_text, writable_path
from tapeflow.core.public import boundaries


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

    def __init__(self, path: Any):
        self._path = plain_text(path)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: str | None, error, trace) -> None:
        if isinstance(error, OSError) and not isinstance(error, errors.OpError):
            raise as_error(error, self._path) from None


def exists(path: str) -> bool:
    """Whether there is a file or a directory of that name."""
    return os.path.exists(local_path(path))


def isdir(path) -> bool:
    """Whether `path` is a directory."""
    try:
        return os.path.isdir(local_path(path))
    except errors.UnimplementedError:
        return False


def listdir(path) -> list[str]:
    """The names in a directory. Raises NotFoundError if there is no such directory."""
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {plain_text(path)}")
    return os.listdir(local_path(path))


def mkdir(path) -> None:
    """Make a directory. Raises AlreadyExistsError, or NotFoundError where its parent is missing."""
    with _Translated(path):
        os.mkdir(writable_path(path))


def makedirs(path) -> None:
    """Make a directory and its parents, as far as they are missing."""
    with _Translated(path):
        os.makedirs(local_path(path), exist_ok=True)


def remove(path: str) -> None:
    """Delete a file. Raises NotFoundError."""
    with _Translated(path):
        os.remove(local_path(path))


def rmtree(path) -> None:
    """Delete a directory with all that is in it, or a file. Raises NotFoundError."""
    local = local_path(path)
    if not os.path.exists(local):
        raise errors.NotFoundError(None, None, f"{plain_text(path)}; No such file or directory")
    with _Translated(path):
        if os.path.isdir(local):
            shutil.rmtree(local)
        else:
            os.remove(local)


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
    _require_free(dst, overwrite)
    with _Translated(src):
        shutil.copyfile(local_path(src), writable_path(dst))


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
    _require_free(dst, overwrite)
    with _Translated(src):
        os.replace(local_path(src), writable_path(dst))


def _require_free(path: str, overwrite: bool) -> None:
    if not overwrite and exists(path):
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
    top = plain_text(top)
    try:
        names = listdir(top)
    except errors.NotFoundError as error:
        if onerror:
            onerror(error)
        return
    folders = [n for n in names if isdir(os.path.join(top, n))]
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
    with _Translated(path):
        local = local_path(path)
        found = os.stat(local)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(local))


def get_registered_schemes() -> list[str]:
    """The kinds of addresses that files may have."""
    return [*SCHEMES]


_MODES = {"r", "w", "a", "r+", "w+", "a+"}


class GFile:
    """A file, opened when it is first read or written, for each of the two on its own.

    What is read begins at the start of the file, after what was written to it if that was flushed. A file that is
    written is a new one, with "r+" too, unless "a" is in the mode. One that was closed is opened again when it is used.

    Args:
      name: the path.
      mode: "r", "w", "a", "r+", "w+" or "a+"; with "b" in it, what is read is bytes.
      encoding: that of text.

    Raises PermissionDeniedError for reading what was opened for writing and the reverse, NotFoundError for a file that
    is not there.
    """

    def __init__(self, name: str, mode: str = "r", encoding: str = "utf-8"):
        self._reader: Any = None
        self._writer: Any = None
        plain = str(mode).replace("b", "")
        if plain not in _MODES:
            raise errors.InvalidArgumentError(
                None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'"
            )
        self._reads, self._writes = plain not in ("w", "a"), plain != "r"
        self._name, self._mode, self._encoding = name, mode, encoding

    @property
    def name(self):
        return self._name

    @property
    def mode(self):
        return self._mode

    def _read_file(self) -> Any:
        if not self._reads:
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        if self._reader is None:
            with _Translated(self._name):
                self._reader = open(local_path(self._name), "rb")  # noqa: SIM115 (closed by `close`)
        return self._reader

    def _written_file(self) -> Any:
        if not self._writes:
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        if self._writer is None:
            with _Translated(self._name):
                path = writable_path(self._name)
                self._writer = open(path, "ab") if "a" in self._mode else open(path, "wb")  # noqa: SIM115 (closed below)
        return self._writer

    def _shown(self, data: bytes):
        return data if "b" in self._mode else data.decode(self._encoding)

    def read(self, n: int = -1):
        """The next `n` bytes, or all that is left."""
        file = self._read_file()
        if n < -1:
            raise errors.InvalidArgumentError(None, None, f"Can't read a negative number of bytes: {n}")
        with _Translated(self._name):
            return self._shown(file.read(n))

    def readline(self):
        """The next line with its end; empty at the end of the file."""
        with _Translated(self._name):
            return self._shown(self._read_file().readline())

    def readlines(self):
        """All lines that are left."""
        return list(self)

    def write(self, file_content) -> None:
        """Append text or bytes. Raises TypeError for anything else."""
        file = self._written_file()
        if isinstance(file_content, str):
            file_content = file_content.encode(self._encoding)
        elif not isinstance(file_content, (bytes, bytearray, memoryview)):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        file.write(file_content)

    def size(self) -> int:
        """The length of the file in bytes."""
        return stat(self._name).length

    def seek(self, offset=None, whence=0, position: int | None = None) -> None:
        """Go to `offset`, from the start (0), the current place (1) or the end (2), in what is read."""
        file = self._read_file()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(
                None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            )
        size = os.fstat(file.fileno()).st_size
        wanted: Any = position if offset is None else offset
        target = wanted + (0, file.tell(), size)[whence]
        if not target >= 0:
            raise errors.InvalidArgumentError(None, None, f"Seeking to a negative position: {target}")
        if target > size:
            raise errors.OutOfRangeError(None, None, "reached end of file")
        file.seek(target)

    def seekable(self) -> bool:
        """Whether `seek` works."""
        return True

    def tell(self) -> int:
        """The current place in what is read, or that of a file which is only written."""
        return (self._read_file() if self._reads else self._written_file()).tell()

    def flush(self) -> None:
        """Hand what was written to the system."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Write what is pending and close the file."""
        for file in (self._reader, self._writer):
            if file is not None:
                file.close()
        self._reader = self._writer = None

    def __del__(self) -> None:
        self.close()

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
