"""Tensors read from files of raw elements."""

import os

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native


@pytest.fixture
def values():
    return np.random.default_rng(0).normal(size=(300, 501)).astype(np.float32)  # several blocks, the last one cut


@pytest.fixture
def file(tmp_path, values):
    path = tmp_path / "raw"
    path.write_bytes(b"before" + values.tobytes())
    number = os.open(path, os.O_RDONLY)
    yield number
    os.close(number)


def test_elements_and_checksum(file, values):
    tensor, crc = _native.read_tensor(file, 6, tf.float32, values.shape)
    np.testing.assert_array_equal(tensor, values)
    assert crc == _native.crc32c(values)
    part, crc = _native.read_tensor(file, 6 + 501 * 4, tf.float32, (501,))
    np.testing.assert_array_equal(part, values[1])
    assert crc == _native.crc32c(values[1])


def test_a_variable_takes_the_memory(file, values):
    variable = tf.Variable(np.zeros_like(values))
    variable.assign(_native.read_tensor(file, 6, tf.float32, values.shape)[0])
    variable.assign_add(np.ones_like(values))
    np.testing.assert_array_equal(variable, values + 1)
    np.testing.assert_array_equal(_native.read_tensor(file, 6, tf.float32, values.shape)[0], values)


def test_nothing_to_read(file):
    tensor, crc = _native.read_tensor(file, 0, tf.int64, (0, 5))
    assert (tensor.shape, crc) == ([0, 5], 0)


def test_the_end_of_the_file(file, values):
    with pytest.raises(EOFError, match="ends 1 bytes early"):
        _native.read_tensor(file, 7, tf.float32, values.shape)


@pytest.mark.parametrize("sizes", [(-1,), (2**62, 4), (1,) * 255, (1 << 45,)])
def test_sizes_that_no_tensor_has(file, sizes):
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)):
        _native.read_tensor(file, 0, tf.float32, sizes)


def test_what_is_not_raw(file):
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype string are not raw"):
        _native.read_tensor(file, 0, tf.string, (1,))
    with pytest.raises(OSError, match="descriptor"):
        _native.read_tensor(-1, 0, tf.float32, (1,))
    with pytest.raises(TypeError):
        _native.read_tensor(file, 0, tf.float32, ("a",))
