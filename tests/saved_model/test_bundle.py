"""Checkpoint files: round trips, checksums, what is damaged, what is interrupted."""

import os
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tapeflow as tf
from tapeflow.core.crc32c import crc32c, mask, unmask
from tapeflow.saved_model.bundle import BundleReader, data_path, index_path
from tapeflow.saved_model.bundle_writing import merge_bundles, write_bundle
from tapeflow.saved_model.table import read_table, write_table

BROKEN = (tf.errors.DataLossError, tf.errors.NotFoundError)


def bitwise_crc32c(data):
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = (state >> 1) ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


def test_checksum_of_the_standard():
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(b"") == 0


@pytest.mark.parametrize("size", [1, 511, 512, 513, 4096, 70001])
def test_checksum(size):
    data = random.Random(size).randbytes(size)
    expected = bitwise_crc32c(data)
    assert crc32c(data) == expected
    assert crc32c(data[size // 3 :], crc32c(data[: size // 3])) == expected
    assert unmask(mask(expected)) == expected


TENSORS = {
    "matrix": np.arange(12, dtype=np.float32).reshape(3, 4),
    "scalar": np.int64(-7),
    "strings": np.array([b"x", b"", b"long" * 100], object),
    "none": np.zeros([0, 3]),
    "bools": np.array([True, False]),
    "halves": np.arange(5, dtype=np.float16),
    "complex": np.array([1 + 2j]),
    "a/b.c": np.array(b"scalar string", object),
}


def test_round_trip(tmp_path):
    prefix = str(tmp_path / "ck")
    write_bundle(prefix, TENSORS)
    reader = BundleReader(prefix)
    assert reader.keys() == sorted(TENSORS)
    for key, value in TENSORS.items():
        read = reader.read(key)
        np.testing.assert_array_equal(read, value)
        assert reader.shape(key) == np.shape(value)
        assert read.dtype == np.asarray(value).dtype
    assert sorted(os.listdir(tmp_path)) == ["ck.data-00000-of-00001", "ck.index"]


def test_bfloat16(tmp_path):
    value = tf.cast([1.0, 2.5], tf.bfloat16).numpy()
    write_bundle(tmp_path / "ck", {"x": value})
    reader = BundleReader(tmp_path / "ck")
    assert reader.dtype("x") == tf.bfloat16
    np.testing.assert_array_equal(reader.read("x"), value)


def test_many_names_make_many_blocks(tmp_path):
    tensors = {f"layer_{i}/{'long' * 20}/kernel": np.float32(i) for i in range(5000)}
    write_bundle(tmp_path / "ck", tensors)
    reader = BundleReader(tmp_path / "ck")
    assert all(reader.read(name) == value for name, value in tensors.items())


@given(st.dictionaries(st.binary(max_size=12), st.binary(max_size=20), max_size=60))
def test_tables(entries):
    assert read_table(write_table(sorted(entries.items())), "t") == entries


def test_not_there(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        BundleReader(tmp_path / "ck")
    write_bundle(tmp_path / "ck", TENSORS)
    with pytest.raises(tf.errors.NotFoundError, match="Key nothing not found"):
        BundleReader(tmp_path / "ck").read("nothing")
    os.unlink(data_path(str(tmp_path / "ck"), 0, 1))
    with pytest.raises(tf.errors.NotFoundError):
        BundleReader(tmp_path / "ck").read("matrix")


def test_every_changed_byte_is_noticed(tmp_path):
    prefix = str(tmp_path / "ck")
    write_bundle(prefix, TENSORS)
    for path in (index_path(prefix), data_path(prefix, 0, 1)):
        with open(path, "rb") as file:
            sound = file.read()
        for at in range(0, len(sound), 7 if path.endswith("index") else 11):
            broken = bytearray(sound)
            broken[at] ^= 0x41
            with open(path, "wb") as file:
                file.write(broken)
            try:
                reader = BundleReader(prefix)
                values = {key: reader.read(key) for key in TENSORS}
            except BROKEN:
                continue
            # Padding between the parts of the footer means nothing.
            for key, value in TENSORS.items():
                np.testing.assert_array_equal(values[key], value)
        with open(path, "wb") as file:
            file.write(sound)


def read_all(prefix):
    reader = BundleReader(prefix)
    return [reader.read(key) for key in TENSORS]


def test_every_cut_is_noticed(tmp_path):
    prefix = str(tmp_path / "ck")
    write_bundle(prefix, TENSORS)
    for path in (index_path(prefix), data_path(prefix, 0, 1)):
        with open(path, "rb") as file:
            sound = file.read()
        for size in range(0, len(sound), 13):
            with open(path, "wb") as file:
                file.write(sound[:size])
            with pytest.raises(BROKEN):
                read_all(prefix)
        with open(path, "wb") as file:
            file.write(sound)


@given(st.binary(max_size=300))
def test_noise_is_no_table(data):
    with pytest.raises(tf.errors.DataLossError):
        read_table(data, "t")


def test_a_failed_save_leaves_the_last_one(tmp_path):
    write_bundle(tmp_path / "ck", {"x": np.float32(1)})
    with pytest.raises(tf.errors.InvalidArgumentError, match="numbers and strings"):
        write_bundle(tmp_path / "ck", {"x": np.float32(2), "y": np.array([object()])})
    assert BundleReader(tmp_path / "ck").read("x") == 1
    assert len(os.listdir(tmp_path)) == 2

