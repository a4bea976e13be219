"""Snappy: what its bytes stand for, and errors for others."""

import struct

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.checkpoint.table import read_table, write_table
from tapeflow.core.files import snappy
from tapeflow.core.files.crc32c import crc32c, mask
from tapeflow.core.files.wire import varint


def plain(data):
    """Bytes as they are, up to 60."""
    return bytes([(len(data) - 1) << 2]) + data


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"\0", b""),
        (b"\5" + plain(b"hello"), b"hello"),
        (b"\x0c" + plain(b"abc") + bytes([(9 - 4) << 2 | 1, 3]), b"abc" * 4),  # which reads what it writes
        (b"\6" + plain(b"abc") + bytes([2 << 2 | 2, 3, 0]), b"abcabc"),
        (b"\5" + plain(b"abc") + bytes([1 << 2 | 3, 2, 0, 0, 0]), b"abcbc"),
        (b"\x80\2" + bytes([60 << 2, 255]) + bytes(range(256)), bytes(range(256))),
        (b"\x80\4" + bytes([61 << 2, 255, 1]) + bytes(range(256)) * 2, bytes(range(256)) * 2),
        (b"\x83\2" + plain(b"abc") + bytes([63 << 2 | 2, 3, 0]) * 4, (b"abc" * 100)[:259]),
        (b"\x84\x10" + plain(b"abcd") + bytes([61 << 2, 255, 7]) + bytes(2048), b"abcd" + bytes(2048)),
    ],
)
def test_what_bytes_stand_for(data, wanted):
    assert snappy.expanded(data) == wanted
    assert snappy.expanded(memoryview(data)) == wanted


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "varint"),
        (b"\6" + plain(b"hello"), "stand for 5, not for 6"),
        (b"\4" + plain(b"hello"), "more than the 4"),
        (b"\5" + plain(b"hello")[:-1], "cut off"),
        (b"\5\xf0", "cut off"),
        (b"\x0c" + plain(b"abc") + bytes([2, 9, 0]), "a copy begins 9 bytes before, of 3"),
        (b"\x0c" + plain(b"abc") + bytes([2, 0, 0]), "a copy begins 0 bytes before"),
        (b"\xff\xff\xff\xff\x0f" + plain(b"abc"), "cannot stand for 4294967295"),
    ],
)
def test_other_bytes_are_errors(data, message):
    with pytest.raises(ValueError, match=message):
        snappy.expanded(data)


def checked(block, method):
    """A block of a table with the method and the checksum that are behind it."""
    return block + bytes([method]) + struct.pack("<I", mask(crc32c(bytes([method]), crc32c(block))))


def compressed(entries):
    """A table of two blocks, the first of which has the entries, compressed: all bytes as they are."""
    tail = struct.pack("<2I", 0, 1)
    block = b"".join(bytes([0, len(key), len(value)]) + key + value for key, value in entries) + tail
    block = varint(len(block)) + bytes([60 << 2, len(block) - 1]) + block
    index = b"\0\1" + bytes([len(varint(len(block))) + 1]) + b"z" + b"\0" + varint(len(block)) + tail
    first = checked(block, 1)
    place = varint(len(first)) + varint(len(index))
    return first + checked(index, 0) + (b"\0\0" + place).ljust(40, b"\0") + write_table([])[-8:]


def test_blocks_of_tables_may_be_compressed():
    entries = [(b"a", b"1"), (b"key", b"value" * 20)]
    data = compressed(entries)
    assert read_table(data, "") == dict(entries)
    other = data.replace(b"value", b"vague", 1)
    with pytest.raises(tf.errors.DataLossError, match="checksum mismatch"):
        read_table(other, "")


def test_indices_of_checkpoints_may_be_compressed(tmp_path):
    v = tf.Variable([1.0, 2.0])
    path = tf.train.Checkpoint(v=v).write(str(tmp_path / "c"))
    index = tmp_path / "c.index"
    plain_table = read_table(index.read_bytes(), "")
    small = [(key, value) for key, value in sorted(plain_table.items()) if len(value) < 128]
    assert len(small) > 1
    index.write_bytes(compressed(small))
    np.testing.assert_array_equal(tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE"), v)
