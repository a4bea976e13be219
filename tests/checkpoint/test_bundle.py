"""Checkpoint files: round trips, checksums, what is damaged, what is interrupted."""

import os
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tapeflow as tf
from tapeflow.checkpoint import slices
from tapeflow.checkpoint.bundle import BundleReader, data_path, index_path
from tapeflow.checkpoint.bundle_writing import merge_bundles, write_bundle
from tapeflow.checkpoint.slices import Part
from tapeflow.checkpoint.table import read_table, write_table
from tapeflow.core.files.crc32c import crc32c, mask, unmask

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


@pytest.mark.parametrize("size", [1, 511, 512, 513, 4096, 6143, 6144, 6145, 70001])
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


def test_values_are_arrays_of_their_own(tmp_path):
    write_bundle(tmp_path / "ck", TENSORS)
    reader = BundleReader(tmp_path / "ck")
    for key in TENSORS:
        value = reader.read(key)
        assert type(value) is np.ndarray
        assert value.flags.writeable
    reader.read("matrix")[:] = 0
    np.testing.assert_array_equal(reader.read("matrix"), TENSORS["matrix"])
    np.testing.assert_array_equal(reader.read_tensor("matrix"), TENSORS["matrix"])
    assert reader.read_tensor("strings") is None


def test_a_file_that_shrinks_while_it_is_read(tmp_path):
    write_bundle(tmp_path / "ck", {"a": np.ones(1000), "b": np.ones(1000)})
    reader = BundleReader(tmp_path / "ck")
    reader.read("a")
    os.truncate(data_path(str(tmp_path / "ck"), 0, 1), 9000)
    with pytest.raises(tf.errors.DataLossError, match=r"tensor b: .* ends 7000 bytes early"):
        reader.read("b")


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



# Shards, and parts of tensors.


def test_shards(tmp_path):
    write_bundle(tmp_path / "ck", [{"a": np.float32(1)}, {"b": np.arange(3)}, {}])
    names = sorted(os.listdir(tmp_path))
    assert names == [*(f"ck.data-{i:05d}-of-00003" for i in range(3)), "ck.index"]
    reader = BundleReader(tmp_path / "ck")
    assert reader.shards == 3
    assert reader.read("a") == 1
    np.testing.assert_array_equal(reader.read("b"), np.arange(3))


WHOLE = np.arange(24, dtype=np.float32).reshape(4, 6)


def parts():
    return [
        Part(WHOLE[:1], (4, 6), ((0, 1), None)),
        Part(WHOLE[1:, :2], (4, 6), ((1, 3), (0, 2))),
        Part(WHOLE[1:, 2:], (4, 6), ((1, 3), (2, 4))),
    ]


def test_parts_make_a_tensor(tmp_path):
    write_bundle(tmp_path / "ck", {"x": parts(), "y": np.int32(1)})
    reader = BundleReader(tmp_path / "ck")
    assert reader.keys() == ["x", "y"]
    assert reader.shape("x") == [4, 6]
    np.testing.assert_array_equal(reader.read("x"), WHOLE)
    np.testing.assert_array_equal(
        reader.read_slice("x", (4, 6), ((2, 2), (1, 3))), WHOLE[2:4, 1:4]
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not match the shape stored"):
        reader.read_slice("x", (4, 7), (None, None))


def test_a_missing_part_is_noticed(tmp_path):
    write_bundle(tmp_path / "ck", {"x": parts()[:2]})
    reader = BundleReader(tmp_path / "ck")
    np.testing.assert_array_equal(reader.read_slice("x", (4, 6), ((0, 1), None)), WHOLE[:1])
    with pytest.raises(tf.errors.DataLossError, match="not all of its parts"):
        reader.read("x")


@pytest.mark.parametrize("value", [0, -1, 1, 63, 64, -64, -65, 8191, 8192, 1 << 40, -(1 << 62)])
def test_keys_of_parts_are_in_order(value):
    """The code of LevelDB's ordered numbers: smaller numbers make smaller keys."""
    here = slices.key("x", ((value, 5),))
    assert slices.key("x", ((value - 1, 5),)) < here < slices.key("x", ((value + 1, 5),))


def test_key_of_a_part():
    # As TensorFlow 2.21 has written them.
    assert slices.key("b", ((0, 25),)) == b"\x00b\x00\x01\x01\x01\x80\x99"
    assert slices.key("b", ((117, 31),)) == b"\x00b\x00\x01\x01\x01\xc0u\x9f"
    assert slices.key("b", ((150, 75),)) == b"\x00b\x00\x01\x01\x01\xc0\x96\xc0K"


@pytest.mark.parametrize(
    "text", ["", "4", "4 5 0,2", "4 0,5", "4 -1,2", "x 0,1", "4 0,1:", "4 0;1", "9" * 30 + " 0,1"]
)
def test_slices_that_are_none(text):
    with pytest.raises(tf.errors.InvalidArgumentError):
        slices.parse(text)


def test_slices_as_text():
    assert slices.parse("4 6 1,3:-") == ((4, 6), ((1, 3), None))


def test_merged(tmp_path):
    write_bundle(tmp_path / "p0", {"a": np.float32(1)})
    write_bundle(tmp_path / "p1", [{"b": np.float32(2)}, {"c": np.array(b"s", object)}])
    merge_bundles([str(tmp_path / "p0"), str(tmp_path / "p1")], str(tmp_path / "all"), True)
    reader = BundleReader(tmp_path / "all")
    assert reader.shards == 3
    assert {key: reader.read(key).item() for key in reader.keys()} == {"a": 1, "b": 2, "c": b"s"}  # noqa: SIM118
    assert sorted(os.listdir(tmp_path))[-1] == "all.index"
    write_bundle(tmp_path / "again", {"a": np.float32(3)})
    with pytest.raises(tf.errors.InvalidArgumentError, match="in two checkpoints"):
        merge_bundles([str(tmp_path / "all"), str(tmp_path / "again")], str(tmp_path / "x"), False)


# Fuzz.


def damaged(rng, sound):
    """A file with bytes changed, cut out, put in or left off."""
    data = bytearray(sound)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data)) if data else 0
        kind = rng.randrange(4)
        if kind == 0 and data:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at : at + rng.randint(1, 40)]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.randint(1, 10))
        else:
            del data[at:]
    return bytes(data)


def fuzz(tmp_path, seed, count):
    rng = random.Random(seed)
    prefix = str(tmp_path / "ck")
    write_bundle(prefix, {**TENSORS, "parts": parts()})
    paths = index_path(prefix), data_path(prefix, 0, 1)
    sound = []
    for path in paths:
        with open(path, "rb") as file:
            sound.append(file.read())
    for _ in range(count):
        which = rng.randrange(2)
        with open(paths[which], "wb") as file:
            file.write(damaged(rng, sound[which]))
        try:
            reader = BundleReader(prefix)
            for key in reader.keys():  # noqa: SIM118
                value = reader.read(key)
                if key in TENSORS:
                    np.testing.assert_array_equal(value, TENSORS[key])
        except BROKEN:
            pass
        with open(paths[which], "wb") as file:
            file.write(sound[which])


def test_damaged_files(tmp_path):
    fuzz(tmp_path, 1, 150)


@pytest.mark.slow
def test_many_damaged_files(tmp_path):
    fuzz(tmp_path, 2, 5000)


def test_damaged_entries(tmp_path):
    """Sound tables whose messages say impossible things: checksums do not help there."""
    rng = random.Random(5)
    prefix = str(tmp_path / "ck")
    write_bundle(prefix, {**TENSORS, "parts": parts()})
    with open(index_path(prefix), "rb") as file:
        table = read_table(file.read(), "t")
    for _ in range(200):
        key = rng.choice(sorted(table))
        broken = {**table, key: damaged(rng, table[key])}
        with open(index_path(prefix), "wb") as file:
            file.write(write_table(sorted(broken.items())))
        try:
            reader = BundleReader(prefix)
            for name in reader.keys():  # noqa: SIM118
                reader.read(name)
        except BROKEN:
            pass


@pytest.mark.parametrize("read", [tf.compat.v1.train.NewCheckpointReader, tf.train.Checkpoint().read])
def test_what_exists_but_is_no_checkpoint_is_damaged(read, tmp_path):
    (tmp_path / "file").write_text("abc")
    for path in (tmp_path, tmp_path / "file"):
        with pytest.raises(tf.errors.DataLossError, match=f"Unable to open table file {path}"):
            read(str(path))
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        read(str(tmp_path / "none"))
