"""Small files that would expand to very much, in each reader of compressed data."""

import gzip
import io
import struct
import zlib

import numpy as np
import pytest
from effects import confined

import tapeflow as tf
from tapeflow.core.files import expansion
from tapeflow.core.files.crc32c import masked_crc32c

LIMIT = 1 << 22  # instead of the real one, to be quick
SIZE = LIMIT * 2
COMPRESS = {"GZIP": gzip.compress, "ZLIB": zlib.compress}


def _compressed(compression, start=b"", byte=b"\0"):
    """`start` and then very many of one byte."""
    deflate = zlib.compressobj(9, wbits=expansion.WINDOW_BITS[compression])
    return deflate.compress(start) + deflate.compress(byte * SIZE) + deflate.flush()


def _record_start():
    length = struct.pack("<Q", SIZE)
    return length + struct.pack("<I", masked_crc32c(length))


def _all(dataset):
    return [x.numpy() for x in dataset]


def _fixed(path, kind):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        queue = tf.queue.FIFOQueue(1, [tf.string], shapes=[[]])
        session.run(queue.enqueue([path]))
        return session.run(tf.compat.v1.FixedLengthRecordReader(7, encoding=kind).read(queue))


RECORD = _record_start()
# What reads a compressed file, and how the file begins.
READERS = {
    "records": (lambda path, kind: _all(tf.data.TFRecordDataset(path, kind)), RECORD),
    "1.x records": (lambda path, kind: list(tf.compat.v1.io.tf_record_iterator(
        path, tf.io.TFRecordOptions(compression_type=kind))), RECORD),
    "lines": (lambda path, kind: _all(tf.data.TextLineDataset(path, kind)), b""),
    "blocks": (lambda path, kind: _all(tf.data.FixedLengthRecordDataset(path, 7, compression_type=kind)), b""),
    "csv": (lambda path, kind: list(tf.data.experimental.CsvDataset(path, [tf.string], kind)), b'"'),
    "csv columns": (lambda path, kind: tf.data.experimental.make_csv_dataset(
        path, 1, compression_type=kind), b"a,b\n\""),
    "fixed reader": (_fixed, b""),
    "decode_compressed": (lambda path, kind: tf.io.decode_compressed(tf.io.read_file(path), kind), b""),
}  # fmt: skip


@pytest.fixture(scope="module", params=COMPRESS)
def compression(request):
    return request.param


@pytest.fixture(scope="module")
def bombs(tmp_path_factory, compression):
    folder = tmp_path_factory.mktemp("bombs")
    made = {}
    for _, start in READERS.values():
        path = folder / f"{len(made)}"
        if start not in made:
            path.write_bytes(_compressed(compression, start, b"x" if start else b"\0"))
            made[start] = str(path)
    return made


@pytest.mark.parametrize("name", READERS)
def test_what_expands_too_much(bombs, compression, name, monkeypatch):
    monkeypatch.setattr(expansion, "LARGEST", LIMIT)
    read, start = READERS[name]
    if name == "csv columns" and compression == "ZLIB":
        pytest.skip("it takes GZIP only")
    with pytest.raises(tf.errors.ResourceExhaustedError, match="expanded from"), confined(bombs[start]):
        read(bombs[start], compression)


@pytest.mark.parametrize("kind", COMPRESS)
def test_what_expands_to_little(kind):
    """Any ratio is fine where little comes of it, and any size where the ratio is usual."""
    data = bytes(expansion.LARGEST >> 4)
    assert tf.io.decode_compressed(COMPRESS[kind](data), kind).numpy() == data
    assert not expansion.expands_too_much(1 << 40, 1 << 36)


@pytest.mark.parametrize("kind", COMPRESS)
def test_expanded_is_what_was_compressed(rng, kind):
    for size in (0, 1, 1000, 1 << 18):
        data = rng.integers(0, 4, size, np.uint8).tobytes()
        packed = COMPRESS[kind](data)
        assert expansion.expanded(packed, kind, "") == data
        with expansion.ExpandedFile(io.BytesIO(packed), "f", kind) as file:
            assert b"".join(iter(lambda: file.read(1000), b"")) == data
        for cut in {1, len(packed) // 2, len(packed) - 1}:
            with pytest.raises((EOFError, zlib.error)):
                expansion.expanded(packed[:cut], kind, "")


def test_joined_gzip_members(tmp_path):
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        writer.write(b"a")
    once = (tmp_path / "records").read_bytes()
    (tmp_path / "records").write_bytes(once + once)
    assert _all(tf.data.TFRecordDataset(path, "GZIP")) == [b"a", b"a"]
    lines = gzip.compress(b"a\nb") + gzip.compress(b"c\n")
    (tmp_path / "lines").write_bytes(lines)
    assert _all(tf.data.TextLineDataset(str(tmp_path / "lines"), "GZIP")) == [b"a", b"bc"]
    assert tf.io.decode_compressed(lines + bytes(3), "GZIP").numpy() == b"a\nbc\n"
