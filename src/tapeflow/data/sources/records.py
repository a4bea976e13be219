"""Datasets of the lines and records of files."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.files.expansion import ExpandedFile
from tapeflow.core.files.file_system import _Translated
from tapeflow.core.files.paths import local_path
from tapeflow.core.files.tf_record import records
from tapeflow.core.public import boundaries
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data.arguments import integer, require
from tapeflow.data.building import build
from tapeflow.data.dataset import Dataset
from tapeflow.data.dataset_class import is_dataset
from tapeflow.data.element import DatasetSpec
from tapeflow.data.iteration.passes import Counted
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.flattening import flat_mapped, interleaved
from tapeflow.data.transform.record import record

_STRING = TensorSpec([], dtypes.string)
_BLOCK = 1 << 18


def filenames_dataset(filenames):
    """A dataset of names from a string, a list, a string tensor or a dataset of strings. Raises TypeError."""
    if isinstance(filenames, Dataset):
        spec = filenames.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype != dtypes.string:
            raise TypeError(
                "The `filenames` argument must contain `tf.string` elements. Got a dataset of "
                f"`{getattr(spec, 'dtype', spec)!r}` elements."
            )
        if not spec.shape.is_compatible_with([]):
            raise TypeError(
                "The `filenames` argument must contain `tf.string` elements of shape [] (i.e. scalars). Got a "
                f"dataset of element shape {spec.shape!r}."
            )
        return filenames
    if isinstance(filenames, os.PathLike):
        filenames = os.fspath(filenames)
    elif isinstance(filenames, (list, tuple)):
        filenames = [os.fspath(name) if isinstance(name, os.PathLike) else name for name in filenames]
    names = convert_to_tensor(filenames, dtypes.string if isinstance(filenames, list) and not filenames else None)
    if names.dtype != dtypes.string:
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements. Got "
            f"`{names.dtype!r}` elements."
        )
    flat = np.asarray(names.numpy(), object).reshape(-1)
    return Dataset.from_tensor_slices(convert_to_tensor(flat, dtypes.string))


def opened(path, compression: str):
    """A reader of a file's bytes, decompressed. Raises NotFoundError, and InvalidArgumentError for its compression."""
    if compression not in ("", "GZIP", "ZLIB"):
        raise InvalidArgumentError(None, None, f"Unsupported compression_type: {compression}.")
    with _Translated(path):
        file = open(local_path(path), "rb", buffering=0 if compression else -1)  # noqa: SIM115 - closed by who reads
    return ExpandedFile(file, path, compression) if compression else file


def lines_of(path: str, compression: str):
    """The lines of a text file as bytes, without their ends."""
    with opened(path, compression) as file:
        left: list[bytes] = []  # the parts of a line whose end was not seen yet
        held = 0
        while block := file.read(_BLOCK):
            first, *lines = block.split(b"\n")
            left.append(first)
            held += len(first)
            if compression:
                file.check(held)
            if lines:
                yield b"".join(left).removesuffix(b"\r")
                left = [lines.pop()]
                held = len(left[0])
                for line in lines:
                    yield line.removesuffix(b"\r")
        if held:
            yield b"".join(left).removesuffix(b"\r")


def blocks_of(path: str, compression: str, size: int, header: int, footer: int):
    """The records of one length of a file. Raises InvalidArgumentError where they do not fill it."""
    with opened(path, compression) as file:
        content = bytearray()
        if not compression:
            total = os.fstat(file.fileno()).st_size
            body = total - header - footer
            _check_body(path, body, size, header, footer)
            file.seek(header)
            for _ in range(body // size):
                yield file.read(size)
            return
        while block := file.read(_BLOCK):
            content += block
            file.check(len(content))
    body = len(content) - header - footer
    _check_body(path, body, size, header, footer)
    for start in range(header, header + body, size):
        yield bytes(content[start : start + size])


def _check_body(path: str, body: int, size: int, header: int, footer: int):
    if body < 0 or body % size:
        raise InvalidArgumentError(
            None,
            None,
            f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file \"{path}\" has body length "
            f"{body} bytes, which is not an exact multiple of the record length ({size} bytes).",
        )


def _per_file(kind: str, filenames: Any, num_parallel_reads: int | None, read: Callable[..., Any]):
    """A dataset of what `read(path)` yields for each file."""
    names = filenames_dataset(filenames)

    def one(name: Tensor):
        path = name.numpy().decode()
        return build((kind, lambda: Counted(lambda: _tensors(read(path))), _STRING))

    reader = _Reader(one, kind)
    if num_parallel_reads is None:
        made = flat_mapped(names, reader)
    else:
        count = integer(num_parallel_reads, kind)
        made = interleaved(names, reader, None if count == -1 else count, 1, count)
    return build((kind, parts_of(made).start, made.element_spec), *([names] if kind == "TFRecord" else []))


class _Reader:
    """A function of the name of a file, in the place of a traced one."""

    spread = False
    inputs = ()

    def __init__(self, read: Callable[..., Any], kind: str):
        self._read = read
        self.transformation = kind
        self.spec = DatasetSpec(_STRING)

    def begun(self):
        return self._read


def _tensors(found: Iterable[bytes]):
    """Strings as tensors, without a call of Python for each, which would take longer than all that is done here."""
    return map(_native.convert, found, itertools.repeat(dtypes.string))


class _FileDataset(Dataset):
    """A dataset of files, whose names may be tensors of a graph."""

    def __init__(self, made: Dataset):
        self.__dict__.update(made.__dict__)


def text_of(value):
    """A string from None, str, bytes or a string tensor."""
    if value is None:
        return ""
    if hasattr(value, "numpy"):
        value = value.numpy()
    return value.decode() if isinstance(value, bytes) else str(value)


def _check_buffer(buffer_size, lowest: int, op: str):
    """Raises InvalidArgumentError for a negative size. Files are read in blocks of a fixed size."""
    if buffer_size is not None:
        require(integer(buffer_size, op) >= lowest, "`buffer_size` must be >= 0", op)


@record("text_lines")
def text_lines(
    filenames: Sequence[str] | str, compression_type: str | None, buffer_size: int | str | None,
    num_parallel_reads: int | None = None,
):
    """The lines of text files as a dataset."""
    _check_buffer(buffer_size, 0, "TextLineDataset")
    kind = text_of(compression_type)
    return _per_file("TextLine", filenames, num_parallel_reads, lambda path: lines_of(path, kind))


def _one_by_one(call: dict[str, Any]):
    """The inputs of a node of files that are read one after another, and are not a dataset."""
    if is_dataset(call["filenames"]) or call["num_parallel_reads"] is not None:
        return None
    return call


_ABSENT = {"compression_type": "", "buffer_size": 0}
_INPUTS = "filenames: string, compression_type: string, buffer_size: int64"
text_lines.node(
    "TextLineDataset", f"{_INPUTS} -> handle: variant", {"metadata": ""}, stateful=True, touches="files",
    writes=_one_by_one, absent=_ABSENT,
)  # fmt: skip


@record("tf_records")
def tf_records(
    filenames: Tensor | str, compression_type: str | None, buffer_size: int | None,
    num_parallel_reads: int | None = None,
):
    """The records of TFRecord files as a dataset."""
    _check_buffer(buffer_size, -1, "TFRecordDataset")
    kind = text_of(compression_type)

    def read(path: str):
        if kind not in ("", "GZIP", "ZLIB"):
            raise InvalidArgumentError(None, None, f"Unsupported compression_type:{kind}.")
        return records(path, kind)

    return _per_file("TFRecord", filenames, num_parallel_reads, read)


tf_records.node(
    "TFRecordDataset", f"{_INPUTS} -> handle: variant", {"metadata": ""}, stateful=True, touches="files",
    writes=_one_by_one, absent=_ABSENT,
)  # fmt: skip
tf_records.node(
    "TFRecordDatasetV2", f"{_INPUTS}, byte_offsets: int64 -> handle: variant", {"metadata": ""}, stateful=True,
    touches="files", written=False,
)  # fmt: skip


@record("fixed_length_records")
def fixed_length(
    filenames: str, record_bytes: int, header_bytes: int | None, footer_bytes: int | None, buffer_size: int | None,
    compression_type: str | None = "", num_parallel_reads: int | None = None,
):
    """Records of one length as a dataset."""
    op = "FixedLengthRecordDatasetV2"
    _check_buffer(buffer_size, 0, op)
    size = integer(record_bytes, op)
    header = 0 if header_bytes is None else integer(header_bytes, op)
    footer = 0 if footer_bytes is None else integer(footer_bytes, op)
    if size <= 0 or header < 0 or footer < 0:
        raise InvalidArgumentError(
            None,
            None,
            f"`record_bytes` must be > 0 and the others >= 0, got record_bytes={size}, "
            f"header_bytes={header}, footer_bytes={footer} [Op:{op}]",
        )
    kind = text_of(compression_type)
    return _per_file(
        "FixedLengthRecord",
        filenames,
        num_parallel_reads,
        lambda path: blocks_of(path, kind, size, header, footer),
    )


_LENGTHS = "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64"
fixed_length.node(
    "FixedLengthRecordDataset", f"{_LENGTHS} -> handle: variant", {"metadata": ""}, stateful=True, touches="files",
    written=False,
)  # fmt: skip
fixed_length.node(
    "FixedLengthRecordDatasetV2", f"{_LENGTHS}, compression_type: string -> handle: variant", {"metadata": ""},
    stateful=True, touches="files", writes=_one_by_one, absent={**_ABSENT, "header_bytes": 0, "footer_bytes": 0},
)  # fmt: skip


class TextLineDataset(_FileDataset):
    """The lines of text files, string scalars without their ends.

    Args:
      filenames: a file or several: a string, strings, a string tensor or a dataset of strings.
      compression_type: "" (or None), "ZLIB" or "GZIP".
      buffer_size: accepted; how much is read at once is not set by it.
      num_parallel_reads: how many files are read at once, in turn; None for one after another.
      name: the name of the dataset in a graph.
    """

    _shown_as = "TextLineDatasetV2"

    def __init__(
        self, filenames: Sequence[str] | str, compression_type: str | None = None,
        buffer_size: int | str | None = None, num_parallel_reads: int | None = None, name: str | None = None,
    ):
        super().__init__(text_lines(filenames, compression_type, buffer_size, num_parallel_reads))


class TFRecordDataset(_FileDataset):
    """The records of TFRecord files, string scalars.

    When it is reached, a file that is not there raises NotFoundError, and damaged records DataLossError.

    Args:
      filenames: a file or several: a string, strings, a string tensor or a dataset of strings.
      compression_type: "" (or None), "ZLIB" or "GZIP".
      buffer_size: accepted; how much is read at once is not set by it.
      num_parallel_reads: how many files are read at once, in turn; None for one after another.
      name: the name of the dataset in a graph.
    """

    _shown_as = "TFRecordDatasetV2"

    def __init__(
        self, filenames: Tensor | str, compression_type: str | None = None, buffer_size: int | None = None,
        num_parallel_reads: int | None = None, name: str | None = None,
    ):
        super().__init__(tf_records(filenames, compression_type, buffer_size, num_parallel_reads))


class FixedLengthRecordDataset(_FileDataset):
    """The records of files of records of one length, string scalars.

    Args:
      filenames: a file or several: a string, strings, a string tensor or a dataset of strings.
      record_bytes: the length of a record in bytes.
      header_bytes: how many bytes are before the first; None for 0.
      footer_bytes: how many bytes are after the last; None for 0.
      buffer_size: accepted; how much is read at once is not set by it.
      compression_type: "" (or None), "ZLIB" or "GZIP".
      num_parallel_reads: how many files are read at once, in turn; None for one after another.
      name: the name of the dataset in a graph.
    """

    _shown_as = "FixedLengthRecordDatasetV2"

    def __init__(
        self, filenames: str, record_bytes: int, header_bytes: int | None = None, footer_bytes: int | None = None,
        buffer_size: int | None = None, compression_type: str | None = None, num_parallel_reads: int | None = None,
        name: str | None = None,
    ):
        super().__init__(
            fixed_length(
                filenames, record_bytes, header_bytes, footer_bytes, buffer_size, compression_type, num_parallel_reads
            )
        )


boundaries(globals())
