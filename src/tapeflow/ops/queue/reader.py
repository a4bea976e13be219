"""Readers of 1.x: `tf.TextLineReader` and the others, which take names of files from queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.files.tf_record import TFRecordOptions
from tapeflow.core.public import public_methods
from tapeflow.ops.queue.queue_state import Queue
from tapeflow.ops.queue.reader_state import (
    ExampleReader,
    FileReader,
    FixedReader,
    LineReader,
    Reader,
    WorkReader,
)
from tapeflow.ops.signature import integer
from tapeflow.ops.state.resource_op import expect, resource_op

if TYPE_CHECKING:
    from tapeflow.ops.queue.queues import FIFOQueue

_NAMED = {"container": "", "shared_name": ""}
_EAGER = (
    "Readers are not supported when eager execution is enabled. Instead, please use tf.data to get data into your "
    "model."
)


def _scalar(attrs: Any, inputs: Any) -> list[Any]:
    return [()]


def _reader(handle: Any) -> Reader:
    return expect(handle, Reader, "reader")


@resource_op("WholeFileReaderV2", "-> reader_handle: resource", _NAMED, _scalar, makes=True, touches="files")
def WholeFileReaderV2(name: str):
    return FileReader(name)


@resource_op("IdentityReaderV2", "-> reader_handle: resource", _NAMED, _scalar, makes=True)
def IdentityReaderV2(name: str):
    return WorkReader(name)


@resource_op("TextLineReaderV2", "-> reader_handle: resource", {"skip_header_lines": 0, **_NAMED}, _scalar,
             makes=True, touches="files")  # fmt: skip
def TextLineReaderV2(name: str, skip_header_lines: int):
    return LineReader(name, skip_header_lines)


@resource_op("TFRecordReaderV2", "-> reader_handle: resource", {**_NAMED, "compression_type": ""}, _scalar,
             makes=True, touches="files")  # fmt: skip
def TFRecordReaderV2(name: str, compression_type: str):
    return ExampleReader(name, compression_type)


@resource_op(
    "FixedLengthRecordReaderV2", "-> reader_handle: resource",
    {"header_bytes": 0, "record_bytes": integer, "footer_bytes": 0, "hop_bytes": 0,
     **_NAMED, "encoding": ""}, _scalar, makes=True, touches="files",
)  # fmt: skip
def FixedLengthRecordReaderV2(
    name: str, header_bytes: int, record_bytes: int, footer_bytes: int, hop_bytes: int, encoding: str
):
    return FixedReader(name, header_bytes, record_bytes, footer_bytes, hop_bytes, encoding)


@resource_op("ReaderReadV2", "reader_handle: resource, queue_handle: resource -> key: string, value: string",
             shapes=lambda attrs, inputs: [(), ()], patience=2, touches="files")  # fmt: skip
def ReaderReadV2(reader_handle: Any, queue_handle: Queue):
    return [_text(x) for x in _reader(reader_handle).read(expect(queue_handle, Queue, "queue"))]


@resource_op(
    "ReaderReadUpToV2",
    "reader_handle: resource, queue_handle: resource, num_records: int64 -> keys: string, values: string",
    shapes=lambda attrs, inputs: [(None,), (None,)], patience=2, touches="files",
)  # fmt: skip
def ReaderReadUpToV2(reader_handle: LineReader, queue_handle: Queue, num_records: Tensor):
    found = _reader(reader_handle).read_up_to(
        expect(queue_handle, Queue, "queue"), int(num_records.numpy())
    )
    return [_texts(column) for column in zip(*found, strict=True)]


@resource_op("ReaderNumRecordsProducedV2", "reader_handle: resource -> records_produced: int64", shapes=_scalar)
def ReaderNumRecordsProducedV2(reader_handle: WorkReader):
    return _reader(reader_handle).produced


@resource_op("ReaderNumWorkUnitsCompletedV2", "reader_handle: resource -> units_completed: int64", shapes=_scalar)
def ReaderNumWorkUnitsCompletedV2(reader_handle: Array):
    return _reader(reader_handle).finished


@resource_op("ReaderSerializeStateV2", "reader_handle: resource -> state: string", shapes=_scalar)
def ReaderSerializeStateV2(reader_handle: WorkReader):
    return _text(_reader(reader_handle).serialize())


@resource_op("ReaderRestoreStateV2", "reader_handle: resource, state: string ->")
def ReaderRestoreStateV2(reader_handle: WorkReader, state: Tensor):
    _reader(reader_handle).restore(state.numpy())


@resource_op("ReaderResetV2", "reader_handle: resource ->")
def ReaderResetV2(reader_handle: WorkReader):
    _reader(reader_handle).reset()


def _text(value: bytes) -> Any:
    return _texts(value)


def _texts(values: Any) -> Any:
    box = np.empty((), object) if isinstance(values, bytes) else np.empty(len(values), object)
    box[...] = values
    return _native.tensor_of(box, dtypes.string)


@api(v1="ReaderBase")
@public_methods
class ReaderBase:
    """Gives records of what a queue names, in graphs.

    Args:
      reader_ref: the resource tensor of the reader.
      supports_serialize: whether it can tell where it is.

    Raises RuntimeError if operations run eagerly.
    """

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False):
        if context.executing_eagerly():
            raise RuntimeError(_EAGER)
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self):
        """The resource tensor of the reader."""
        return self._reader_ref

    @property
    def supports_serialize(self):
        """Whether it can tell where it is."""
        return self._supports_serialize

    def read(self, queue: FIFOQueue, name: str | None = None):
        """(key, value) of the next record: string scalars. Its run takes a name from `queue` where one is needed."""
        return tuple(ReaderReadV2(self._reader_ref, _ref(queue), name=name))

    def read_up_to(self, queue: FIFOQueue, num_records: int, name: str | None = None):
        """(keys, values) of the next records, `num_records` at most: string vectors."""
        number = convert_to_tensor(num_records, dtypes.int64)
        return tuple(ReaderReadUpToV2(self._reader_ref, _ref(queue), number, name=name))

    def num_records_produced(self, name: str | None = None):
        """How many records it gave: an int64 tensor."""
        return ReaderNumRecordsProducedV2(self._reader_ref, name=name)

    def num_work_units_completed(self, name: str | None = None):
        """How many works it finished: an int64 tensor."""
        return ReaderNumWorkUnitsCompletedV2(self._reader_ref, name=name)

    def serialize_state(self, name: str | None = None):
        """Where it is: a string tensor. Its run raises UnimplementedError for readers that cannot tell."""
        return ReaderSerializeStateV2(self._reader_ref, name=name)

    def restore_state(self, state, name: str | None = None):
        """Goes on from where `serialize_state` was run. Raises ValueError for what is no scalar."""
        state = convert_to_tensor(state, dtypes.string)
        state.shape.assert_has_rank(0)
        return ReaderRestoreStateV2(self._reader_ref, state, name=name)

    def reset(self, name: str | None = None):
        """Begins anew."""
        return ReaderResetV2(self._reader_ref, name=name)


def _ref(queue: Any) -> Any:
    return getattr(queue, "queue_ref", queue)


@api(v1="WholeFileReader")
@public_methods
class WholeFileReader(ReaderBase):
    """Gives whole files: keys are their names, values what is in them."""

    def __init__(self, name: str | None = None):
        super().__init__(WholeFileReaderV2(name=name), supports_serialize=False)


@api(v1="TextLineReader")
@public_methods
class TextLineReader(ReaderBase):
    """Gives the lines of text files, without the first `skip_header_lines`."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None):
        super().__init__(TextLineReaderV2(skip_header_lines=skip_header_lines or 0, name=name))


@api(v1="FixedLengthRecordReader")
@public_methods
class FixedLengthRecordReader(ReaderBase):
    """Gives records of `record_bytes` bytes.

    Args:
      header_bytes, footer_bytes: what stands around them.
      hop_bytes: from one record to the next, if not its length.
      encoding: "ZLIB" or "GZIP" for compressed files.
    """

    def __init__(
        self, record_bytes: int, header_bytes: int | None = None, footer_bytes: int | None = None,
        hop_bytes: int | None = None, name: str | None = None, encoding=None,
    ):  # fmt: skip
        ref = FixedLengthRecordReaderV2(
            record_bytes=record_bytes, header_bytes=header_bytes or 0, footer_bytes=footer_bytes or 0,
            hop_bytes=hop_bytes or 0, encoding=encoding or "", name=name,
        )  # fmt: skip
        super().__init__(ref)


@api(v1="TFRecordReader")
@public_methods
class TFRecordReader(ReaderBase):
    """Gives the records of TFRecord files."""

    def __init__(self, name: str | None = None, options=None):
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(TFRecordReaderV2(name=name, compression_type=compression))


@api(v1="LMDBReader")
@public_methods
class LMDBReader(ReaderBase):
    """LMDB files cannot be read: making one raises UnimplementedError."""

    def __init__(self, name: str | None = None, options=None):
        raise UnimplementedError(
            None, None, "LMDBReader: LMDB files cannot be read. Convert them to TFRecord files."
        )


@api(v1="IdentityReader")
@public_methods
class IdentityReader(ReaderBase):
    """Gives what the queue names, as keys and as values."""

    def __init__(self, name: str | None = None):
        super().__init__(IdentityReaderV2(name=name), supports_serialize=True)
