"""Whole files as strings."""

from __future__ import annotations

import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError, NotFoundError
from tapeflow.core.files import file_system
from tapeflow.core.files.globbing import matching_paths
from tapeflow.core.files.paths import local_path
from tapeflow.core.public import public
from tapeflow.ops import shapes
from tapeflow.ops.string.rows import texts
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


def _name(filename: Any, what: str = "filename") -> str:
    if np.ndim(filename):
        raise invalid(
            f"Input {what} tensor must be scalar, but had shape: {shape_text(np.shape(filename))}"
        )
    name = local_path(filename[()] if isinstance(filename, np.ndarray) else filename)
    if "\0" in name:
        raise invalid(f"Input {what} holds a null character: {name!r}")
    return name


@op("ReadFile", "filename: string -> contents: string", ranks="filename: 0",
    shape=shapes.scalar, stateful=True, touches="files")
def ReadFile(xp: ModuleType, filename: Array):
    name = _name(filename)
    try:
        with open(name, "rb") as file:
            return np.array(file.read(), object)
    except OSError as error:
        raise file_system.as_error(error, name) from None


ReadFile.gradient(None)


@ReadFile.samples
def _(rng: SampleGenerator):
    yield Sample(np.array(os.devnull.encode(), object), expect=np.array(b"", object))
    yield Sample(np.array(b"/there/is/no/such/file", object), raises=NotFoundError)
    yield Sample(texts("a", "b"), raises=InvalidArgumentError)


@op("WriteFile", "filename: string, contents: string ->", ranks="filename: 0, contents: 0",
    shape=shapes.fixed(), stateful=True, touches="files")
def WriteFile(xp, filename, contents):
    name = _name(filename)
    if np.ndim(contents):
        raise invalid(
            f"Contents tensor must be scalar, but had shape: {shape_text(np.shape(contents))}"
        )
    try:
        folder = os.path.dirname(name)
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(name, "wb") as file:
            file.write(contents[()] if isinstance(contents, np.ndarray) else contents)
    except OSError as error:
        raise file_system.as_error(error, name) from None
    return ()


WriteFile.gradient(None)


@WriteFile.samples
def _(rng: SampleGenerator):
    yield Sample(np.array(os.devnull.encode(), object), np.array(b"text", object), expect=())
    yield Sample(texts("a", "b"), np.array(b"text", object), raises=InvalidArgumentError)
    yield Sample(
        np.array(os.devnull.encode(), object), texts("a", "b"), raises=InvalidArgumentError
    )


@op("MatchingFiles", "pattern: string -> filenames: string", ranks="pattern: 0-1",
    shape=shapes.vector, stateful=True, touches="files")
def MatchingFiles(xp: ModuleType, pattern: Array):
    if pattern.ndim > 1:
        raise invalid(
            f"Input patterns tensor must be scalar or vector, but had shape: {shape_text(pattern.shape)}"
        )
    found = [os.fsencode(name) for text in pattern.ravel() for name in matching_paths(text)]
    return np.array(sorted(found), object)


MatchingFiles.gradient(None)


@MatchingFiles.samples
def _(rng: SampleGenerator):
    yield Sample(np.array(os.devnull.encode(), object), expect=texts(os.devnull))
    yield Sample(texts("/there/is/no/*", os.devnull), expect=texts(os.devnull))
    yield Sample(np.array([[b"a"]], object), raises=InvalidArgumentError)


@api("io.read_file", v1="read_file")
@public
def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """The bytes of a file, a scalar string. Raises NotFoundError."""
    return ReadFile(filename)


@api("io.write_file", v1="write_file")
@public
def write_file(filename: str, contents: str, name: str | None = None):
    """Write a string to a file, making its directory if there is none.

    Args:
      filename: the path, a scalar string.
      contents: what to write, a scalar string.
      name: a name for the operation (optional).

    Returns:
      None in eager execution, in a graph the operation that writes.
    """
    return WriteFile(filename, contents)


@api("io.matching_files", v1="matching_files")
@public
def matching_files(pattern: TensorLike, name: str | None = None) -> Tensor:
    """The names of the files that match a pattern or one of several, sorted."""
    return MatchingFiles(pattern)
