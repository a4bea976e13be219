"""TFRecord files: records of bytes with their lengths and checksums, plain or compressed.

Each record is its length (uint64), the masked CRC-32C of that, the bytes, and the masked CRC-32C of these;
all numbers little-endian.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core.errors import DataLossError, FailedPreconditionError
from tapeflow.core.files.expansion import ExpandedFile
from tapeflow.core.files.file_system import _Translated
from tapeflow.core.files.paths import local_path, writable_path
from tapeflow.core.public import boundaries

_BLOCK = 1 << 18
_GZIP_BITS = 16  # added to the window bits to have gzip's headers


@api(v1="io.TFRecordCompressionType")
class TFRecordCompressionType:
    """How records are compressed, in 1.x."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


@api("io.TFRecordOptions")
class TFRecordOptions:
    """How a TFRecord file is written.

    Args:
      compression_type: "", "ZLIB" or "GZIP"; in 1.x also a `TFRecordCompressionType`, or another options object.
      compression_level, window_bits, compression_method, mem_level, compression_strategy: as zlib has them.
    """

    compression_type_map: ClassVar = {0: "", 1: "ZLIB", 2: "GZIP"}

    def __init__(
        self, compression_type: str | None = None, flush_mode=None, input_buffer_size=None,
        output_buffer_size=None, window_bits=None, compression_level=None, compression_method=None,
        mem_level=None, compression_strategy=None,
    ):
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: str | TFRecordOptions | None) -> str:
        """ "", "ZLIB" or "GZIP" of options, a compression type or its name. Raises ValueError for anything else."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if isinstance(options, int) and options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return options
        raise ValueError(f'Not a valid compression_type: "{options}"')

    def compressor(self) -> Any:
        """A zlib compressor, or None."""
        kind = self.get_compression_type_string(self)
        if not kind:
            return None
        bits = 15 if self.window_bits is None else abs(int(self.window_bits))
        return zlib.compressobj(
            -1 if self.compression_level is None else int(self.compression_level),
            zlib.DEFLATED if self.compression_method is None else int(self.compression_method),
            bits + _GZIP_BITS if kind == "GZIP" else bits,
            8 if self.mem_level is None else int(self.mem_level),
            0 if self.compression_strategy is None else int(self.compression_strategy),
        )


@api("io.TFRecordWriter")
class TFRecordWriter:
    """Writes records to a file, which it makes anew; a context manager.

    Raises FailedPreconditionError for writing after `close`.
    """

    def __init__(self, path: str, options: Any = None):
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        self._compressor = options.compressor()
        with _Translated(path):
            self._file: BinaryIO | None = self._open(writable_path(path))

    @staticmethod
    def _open(path: str) -> BinaryIO:
        return open(path, "wb", buffering=_BLOCK)

    def _opened(self) -> BinaryIO:
        if self._file is None:
            raise FailedPreconditionError(None, None, "Writer not initialized or previously closed")
        return self._file

    def write(self, record: Any) -> None:
        """Append one record: bytes, or text, which is written as UTF-8."""
        file = self._file or self._opened()
        if isinstance(record, str):
            record = record.encode("utf-8")
        whole = _native.frame_record(record)
        file.write(whole if self._compressor is None else self._compressor.compress(whole))

    def flush(self) -> None:
        """Hand what was written to the system."""
        file = self._opened()
        if self._compressor is not None:
            file.write(self._compressor.flush(zlib.Z_SYNC_FLUSH))
        file.flush()

    def close(self) -> None:
        """End the file; once more does nothing."""
        file = self._file
        if file is None:
            return
        if self._compressor is not None:
            file.write(self._compressor.flush())
        file.close()
        self._file = None

    def __enter__(self):
        return self

    def __exit__(self, kind: str | None, error, trace) -> None:
        self.close()


def records(path: str, compression: str = "") -> Iterator[bytes]:
    """The records of a TFRecord file.

    Raises NotFoundError for no such file, DataLossError for a record that is cut off or damaged.
    """
    with _Translated(path):
        file = open(local_path(path), "rb", buffering=0)  # noqa: SIM115 (closed below)
    with file:
        source: Any = ExpandedFile(file, path, cut_off=True) if compression else file
        left, start, wanted = b"", 0, 12  # what was not split, where in the file it begins, and what it lacks
        while True:
            # A damaged length does not ask for all memory at once: what is read doubles at most.
            if compression:
                source.check(len(left))
            block = source.read(max(_BLOCK, min(wanted - len(left), len(left))))
            left = left + block if left else block
            found, end, outcome, wanted = _native.split_records(left)
            yield from found
            if outcome:
                raise DataLossError(None, None, f"corrupted record at {start + end}")
            left, start = left[end:], start + end
            if not block:
                if left:
                    raise DataLossError(None, None, f"truncated record at {start}")
                return


@api(v1="io.tf_record_iterator")
def tf_record_iterator(path, options: str | None = None) -> Iterator[bytes]:
    """The records of a TFRecord file, one by one."""
    return records(path, TFRecordOptions.get_compression_type_string(options))


boundaries(globals())
