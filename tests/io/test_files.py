"""Files: gfile, TFRecord files, checksums, reading and writing by ops, damaged records."""

import contextlib
import gzip
import struct

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.files.crc32c import crc32c, masked_crc32c
from tapeflow.ops.image.samples import bmp_bytes


def test_crc32c_of_the_rfc():
    """RFC 3720, appendix B.4."""
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43


def test_long_data_have_the_checksum_of_their_parts_in_turn():
    data = np.random.default_rng(1).integers(0, 256, 100_003, np.uint8).tobytes()
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    state = 0xFFFFFFFF
    for byte in data:
        state = table[(state ^ byte) & 255] ^ state >> 8
    assert crc32c(data) == state ^ 0xFFFFFFFF


@pytest.mark.parametrize("kind", [None, "", "ZLIB", "GZIP"])
def test_records_come_back(tmp_path, kind):
    path = str(tmp_path / "records")
    written = [b"", b"a", b"x" * 70_000, "\N{SNOWMAN}".encode()]
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(compression_type=kind)) as writer:
        for record in written[:-1]:
            writer.write(record)
        writer.write("\N{SNOWMAN}")
    assert list(tf.compat.v1.python_io.tf_record_iterator(path, kind)) == written


def test_a_record_is_framed_as_tensorflow_frames_it(tmp_path):
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"abc")
    with open(path, "rb") as file:
        content = file.read()
    length = struct.pack("<Q", 3)
    expected = (
        length
        + struct.pack("<I", masked_crc32c(length))
        + b"abc"
        + struct.pack("<I", masked_crc32c(b"abc"))
    )
    assert content == expected


def test_damaged_and_truncated_records_are_lost_data(tmp_path):
    path = tmp_path / "records"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"hello world")
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 64]) + whole[at + 1 :])
        with pytest.raises(tf.errors.DataLossError):
            list(tf.compat.v1.io.tf_record_iterator(str(path)))
    for at in range(1, len(whole)):
        path.write_bytes(whole[:at])
        with pytest.raises(tf.errors.DataLossError):
            list(tf.compat.v1.io.tf_record_iterator(str(path)))


def test_writing_after_close_fails(tmp_path):
    writer = tf.io.TFRecordWriter(str(tmp_path / "records"))
    writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError):
        writer.write(b"late")


def test_missing_files_are_not_found(tmp_path):
    missing = str(tmp_path / "missing")
    for call in (
        lambda: list(tf.compat.v1.io.tf_record_iterator(missing)),
        lambda: tf.io.read_file(missing),
        lambda: tf.io.gfile.GFile(missing).read(),
        lambda: tf.io.gfile.remove(missing),
        lambda: tf.io.gfile.rmtree(missing),
        lambda: tf.io.gfile.listdir(missing),
        lambda: tf.io.gfile.stat(missing),
        lambda: tf.io.gfile.copy(missing, missing + "2"),
    ):
        with pytest.raises(tf.errors.NotFoundError):
            call()


def test_gfile(tmp_path):
    gfile, root = tf.io.gfile, str(tmp_path)
    path = gfile.join(root, "deep", "er", "file.txt")
    gfile.makedirs(gfile.join(root, "deep", "er"))
    with gfile.GFile(path, "w") as file:
        file.write("one\ntwo\n")
    assert gfile.exists(path)
    assert not gfile.isdir(path)
    assert gfile.isdir(root)
    with gfile.GFile(path) as file:
        assert file.readline() == "one\n"
        assert list(file) == ["two\n"]
        assert file.size() == 8
        file.seek(0)
        assert file.read(3) == "one"
        assert file.tell() == 3
    assert gfile.GFile(path, "rb").read() == b"one\ntwo\n"
    assert gfile.stat(path).length == 8
    gfile.copy(path, path + "2")
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy(path, path + "2")
    gfile.copy(path, path + "2", overwrite=True)
    gfile.rename(path + "2", path + "3")
    assert gfile.glob(gfile.join(root, "deep", "er", "*.txt*")) == [path, path + "3"]
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.mkdir(gfile.join(root, "deep"))
    with pytest.raises(tf.errors.PermissionDeniedError):
        gfile.GFile(path, "w").read()
    gfile.rmtree(gfile.join(root, "deep"))
    assert gfile.listdir(root) == []


def test_gfile_removes_a_file_as_a_tree(tmp_path):
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").write_text("y")
    tf.io.gfile.rmtree(str(tmp_path / "a"))
    assert [each.name for each in tmp_path.iterdir()] == ["b"]


@pytest.mark.parametrize("content", [5, None, ["a"]])
def test_gfile_writes_text_and_bytes_only(tmp_path, content):
    path = tmp_path / "a"
    with tf.io.gfile.GFile(str(path), "wb") as file:
        file.write(memoryview(b"x"))
        with pytest.raises(TypeError):
            file.write(content)
    assert path.read_bytes() == b"x"


def test_ops_read_and_write(tmp_path):
    path = str(tmp_path / "new" / "file")
    tf.io.write_file(path, "text")
    assert tf.io.read_file(path).numpy() == b"text"
    assert tf.io.matching_files(str(tmp_path / "new" / "f*")).numpy().tolist() == [path.encode()]


def test_examples_parse_whole_and_never_crash_when_damaged():
    entry = b"\x0a\x01a\x12\x06\x1a\x04\x0a\x02\x01\x02"
    message = b"\x0a" + bytes([len(entry) + 2]) + b"\x0a" + bytes([len(entry)]) + entry
    features = {"a": tf.io.VarLenFeature(tf.int64)}
    assert tf.sparse.to_dense(
        tf.io.parse_single_example(message, features)["a"]
    ).numpy().tolist() == [1, 2]
    rng = np.random.default_rng(5)
    for _ in range(2000):
        bytes_ = bytearray(message[: rng.integers(0, len(message) + 1)])
        for _ in range(3):
            if bytes_:
                bytes_[rng.integers(len(bytes_))] = rng.integers(256)
        for call in (
            lambda data: tf.io.parse_single_example(data, features),
            lambda data: tf.io.parse_tensor(data, tf.int32),
        ):
            with contextlib.suppress(tf.errors.InvalidArgumentError):
                call(bytes(bytes_))


def test_damaged_images_raise():
    picture = np.arange(300, dtype=np.uint8).reshape(10, 10, 3)
    rng = np.random.default_rng(6)
    for whole in (tf.io.encode_png(picture).numpy(), tf.io.encode_jpeg(picture).numpy(), bmp_bytes(picture)):
        for _ in range(300):
            data = bytearray(whole[: rng.integers(1, len(whole) + 1)])
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
            with contextlib.suppress(tf.errors.InvalidArgumentError):
                tf.io.decode_image(bytes(data))


def test_headers_of_bmp_that_are_wrong_raise_or_are_read():
    whole = bmp_bytes(np.arange(300, dtype=np.uint8).reshape(10, 10, 3))
    rng = np.random.default_rng(7)
    for _ in range(2000):
        data = bytearray(whole)
        for _ in range(rng.integers(1, 4)):
            data[rng.integers(2, 54)] = rng.integers(256)
        with contextlib.suppress(tf.errors.InvalidArgumentError):
            assert tf.io.decode_bmp(bytes(data), channels=rng.choice([0, 3, 4])).dtype == tf.uint8


def test_decompress():
    assert tf.io.decode_compressed([gzip.compress(b"x")], "GZIP").numpy().tolist() == [b"x"]
