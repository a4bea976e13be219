"""Tensors of strings in messages whose content is their lengths and bytes, as TensorFlow's optimizers write them."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf


def _proto(content, *sizes):
    made = tf.make_tensor_proto(["x"], shape=[1])
    del made.string_val[:]
    made.tensor_shape.CopyFrom(tf.TensorShape(sizes).as_proto())
    made.tensor_content = content
    return made


def test_strings_of_content():
    long = b"l" * 300
    found = tf.make_ndarray(_proto(b"\x01\x00\xac\x02\x02" + b"a" + long + b"bc", 2, 2))
    np.testing.assert_array_equal(found, np.array([[b"a", b""], [long, b"bc"]], object))


@pytest.mark.parametrize("content", [b"\x02a", b"\x01ab", b"\x80", b"\x01\x01a"])
def test_malformed_content(content):
    with pytest.raises(ValueError, match="malformed"):
        tf.make_ndarray(_proto(content, 1))


def test_more_strings_than_bytes():
    with pytest.raises(ValueError, match="strings"):
        tf.make_ndarray(_proto(b"\x00", 1 << 40))
