"""Sequences of Python as tensors, and what they are refused for."""

import weakref

import numpy as np
import pytest

import tapeflow as tf


class Odd(list):
    def __len__(self):
        return -1


class Columns:
    """A sequence by protocol only, whose item 0 does not exist, as in data frames."""

    def __len__(self):
        return 2

    def __getitem__(self, key):
        if key not in (1, 3):
            raise KeyError(key)
        return key

    def __iter__(self):
        return iter([1, 3])


@pytest.mark.parametrize(
    "value", [[1, [2]], [1, "a"], ["a", 1], [1.5, "a"], [True, 1], [1, 2, Odd([1])]]
)
def test_mixed_types(value):
    with pytest.raises(ValueError, match="with mixed types to Tensor"):
        tf.constant(value)


@pytest.mark.parametrize("value", [[[1], 2], [[1, 2], [3]], [[[1], 2], [3]]])
def test_ragged(value):
    with pytest.raises(ValueError, match="non-rectangular Python sequence"):
        tf.constant(value)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(2**63, None), ([2**72], None), (2**72, tf.int32), (10**310, tf.float64), (2**64, tf.uint64)],
)
def test_out_of_range_integer(value, dtype):
    with pytest.raises(ValueError, match="out-of-range integer"):
        tf.constant(value, dtype)


@pytest.mark.parametrize("value", [Odd(), [Odd([1])], [Odd([1]), [1, 2, 3]], [[Odd([1]), 2], 3]])
def test_length_that_fails(value):
    with pytest.raises(ValueError, match="should return >= 0"):
        tf.constant(value)


def test_sequence_by_protocol():
    np.testing.assert_array_equal(tf.constant(Columns()).numpy(), [1, 3])


def test_references_are_weakly_referable():
    tensor = tf.constant(1.0)
    reference = tensor.ref()
    weak = weakref.ref(reference)
    assert weak() is reference
    del reference
    assert weak() is None
