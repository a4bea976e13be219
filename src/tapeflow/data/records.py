"""Datasets of the lines and records of files."""

from __future__ import annotations

import gzip
import os
import zlib

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import DataLossError, InvalidArgumentError, NotFoundError
from tapeflow.core.tensor_spec import TensorSpec
from tapeflow.core.tf_record import records
from tapeflow.data import deferring
from tapeflow.data.dataset import Dataset

_STRING = TensorSpec([], dtypes.string)


def _paths(filenames):
    """Paths from a string, a list, a string tensor or a dataset of strings."""
    if isinstance(filenames, Dataset):
        return lambda: (value.numpy().decode() for value in filenames)
    names = convert_to_tensor(
        os.fspath(filenames) if isinstance(filenames, os.PathLike) else filenames
    )
    if names.dtype != dtypes.string:
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements. Got "
            f"`{names.dtype!r}` elements."
        )
    flat = (
        [name.decode() for name in names.numpy().ravel()]
        if names.shape.rank
        else [names.numpy().decode()]
    )
    return lambda: iter(flat)


def _read(path, compression):
    """The bytes of a file, decompressed. Raises NotFoundError or DataLossError."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        raise NotFoundError(None, None, f"{path}; No such file or directory") from None
    try:
        if compression == "GZIP":
            return gzip.decompress(content)
        if compression == "ZLIB":
            return zlib.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise DataLossError(None, None, f"{path}: not a {compression} file: {error}") from None
    if compression not in (None, ""):
        raise InvalidArgumentError(None, None, f"Unsupported compression_type: {compression!r}.")
    return content


class _FileDataset(Dataset):
    """A dataset of files, whose names may be tensors of a graph."""

    def __init__(self, source, *args):
        self.__dict__.update(deferring.make(source, args, {}).__dict__)


def text_lines(filenames, compression_type):
    """The lines of text files as a dataset."""
    paths = _paths(filenames)

    def elements():
        for path in paths():
            lines = _read(path, _text(compression_type)).split(b"\n")
            if not lines[-1]:
                lines.pop()
            for line in lines:
                yield convert_to_tensor(line.removesuffix(b"\r"), dtypes.string)

    return Dataset("TextLine", elements, _STRING)


def tf_records(filenames, compression_type):
    """The records of TFRecord files as a dataset."""
    paths = _paths(filenames)
    compression = _text(compression_type)

    def elements():
        for path in paths():
            for record in records(path, compression):
                yield convert_to_tensor(record, dtypes.string)

    return Dataset("TFRecord", elements, _STRING)


def _text(value):
    """A string from None, str, bytes or a string tensor."""
    if value is None:
        return ""
    if hasattr(value, "numpy"):
        value = value.numpy()
    return value.decode() if isinstance(value, bytes) else str(value)


class TextLineDataset(_FileDataset):
    """The lines of text files, without their ends."""

    def __init__(
        self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None
    ):
        super().__init__(text_lines, filenames, compression_type)


class TFRecordDataset(_FileDataset):
    """The records of TFRecord files, string scalars.

    Args:
      filenames: a string, strings, a string tensor or a dataset of strings.
      compression_type: "" (or None), "ZLIB" or "GZIP".

    When it is reached, a file raises NotFoundError, and damaged records DataLossError.
    """

    def __init__(
        self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None
    ):
        super().__init__(tf_records, filenames, compression_type)


def fixed_length(filenames, record_bytes, header_bytes, footer_bytes, compression_type):
    """Records of one length as a dataset."""
    paths = _paths(filenames)
    size, header, footer = int(record_bytes), int(header_bytes or 0), int(footer_bytes or 0)
    if size <= 0 or header < 0 or footer < 0:
        raise InvalidArgumentError(
            None,
            None,
            f"`record_bytes` must be > 0 and the others >= 0, got record_bytes={size}, "
            f"header_bytes={header}, footer_bytes={footer} [Op:FixedLengthRecordDatasetV2]",
        )

    def elements():
        for path in paths():
            content = _read(path, _text(compression_type))
            body = content[header : len(content) - footer]
            if len(content) < header + footer or len(body) % size:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Excess bytes: the body of {path} has {len(body)} bytes, which is not a "
                    f"multiple of the record length ({size} bytes).",
                )
            for start in range(0, len(body), size):
                yield convert_to_tensor(body[start : start + size], dtypes.string)

    return Dataset("FixedLengthRecord", elements, _STRING)


class FixedLengthRecordDataset(_FileDataset):
    """Records of `record_bytes` bytes between a header and a footer."""

    def __init__(
        self,
        filenames,
        record_bytes,
        header_bytes=None,
        footer_bytes=None,
        buffer_size=None,
        compression_type=None,
        num_parallel_reads=None,
        name=None,
    ):
        super().__init__(
            fixed_length, filenames, record_bytes, header_bytes, footer_bytes, compression_type
        )
