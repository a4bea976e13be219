"""Truth values from elsewhere may be any byte but 0: a mask of 0 and 255, seen as booleans, say. Kernels count on 1."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native

RAW = np.array([2, 1, 0, 255, 4, 8, 16, 3], np.uint8)
SIZES = [1, 320, 4096]  # small arrays are copied, large ones are shared where they can be


def bytes_of(size):
    return np.resize(RAW, size)


def read(raw, folder):
    path = folder / "elements"
    path.write_bytes(raw.tobytes())
    with path.open("rb") as file:
        return _native.read_tensor(file.fileno(), 0, tf.bool, (raw.size,))[0]


def exported(array):
    return tf.experimental.dlpack.from_dlpack(array.__dlpack__())


def proto_of(raw):
    proto = tf.make_tensor_proto(np.ones(raw.size, bool))
    proto.ClearField("bool_val")
    proto.tensor_content = raw.tobytes()
    return proto


DOORS = {
    "array": lambda raw, folder: tf.constant(raw.view(bool)),
    "strided": lambda raw, folder: tf.constant(np.repeat(raw, 2).view(bool)[::2]),
    "list of arrays": lambda raw, folder: tf.constant([raw.view(bool)])[0],
    "list of scalars": lambda raw, folder: tf.constant(list(raw.view(bool))),
    "memory": lambda raw, folder: tf.constant(memoryview(raw.view(bool))),
    "dlpack": lambda raw, folder: exported(raw.view(bool)),
    "strided dlpack": lambda raw, folder: exported(np.repeat(raw, 2).view(bool)[::2]),
    "bytes": lambda raw, folder: tf.io.decode_raw(raw.tobytes(), tf.bool),
    "proto": lambda raw, folder: tf.io.parse_tensor(proto_of(raw).SerializeToString(), tf.bool),
    "function": lambda raw, folder: tf.numpy_function(lambda: raw.view(bool), [], tf.bool),
    "variable": lambda raw, folder: (
        tf.Variable(np.zeros(raw.size, bool)).assign(raw.view(bool)).read_value()
    ),
    "dataset": lambda raw, folder: next(iter(tf.data.Dataset.from_tensors(raw.view(bool)))),
    "fed": lambda raw, folder: tf.function(lambda x: x)(raw.view(bool)),
    "file": read,
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("door", DOORS)
def test_any_byte_but_zero_is_true(door, size, tmp_path):
    raw = bytes_of(size)
    x = DOORS[door](raw, tmp_path)
    assert x.dtype == tf.bool
    assert x.numpy().tobytes() == (raw != 0).tobytes()


def test_what_is_made_of_them():
    raw = bytes_of(4096)
    x, true = tf.constant(raw.view(bool)), raw != 0
    assert tf.reduce_sum(tf.cast(x, tf.int32)) == true.sum()
    np.testing.assert_array_equal(tf.logical_and(x, True), true)
    np.testing.assert_array_equal(x == True, true)  # noqa: E712 (the operator)
    counted = tf.function(lambda x: tf.reduce_sum(tf.cast(x, tf.int32)))
    assert counted(x) == true.sum()


def test_arrays_of_zeros_and_ones_are_shared_still():
    array = np.ones(4096, bool)
    x = exported(array)
    assert np.shares_memory(np.asarray(memoryview(x)), array)
