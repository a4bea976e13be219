"""Sizes and dtypes that follow from numbers at the edges of int32 and int64; see size_calls.py for many more."""

import numpy as np
import pytest

import tapeflow as tf


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize(
    ("bounds", "dtype", "expected"),
    [
        ((0, 1 << 33, 1 << 31), "int64", [0, 1 << 31, 2 << 31, 3 << 31]),
        ((0, 1 << 31, 1 << 31), "int64", [0]),
        (((1 << 31) - 2, 1 << 31), "int64", [(1 << 31) - 2, (1 << 31) - 1]),
        ((0, (1 << 31) - 1, 1 << 30), "int32", [0, 1 << 30]),
        ((0, -(1 << 31), -(1 << 30)), "int32", [0, -(1 << 30)]),
        ((0, -(1 << 31) - 1, -(1 << 31)), "int64", [0, -(1 << 31)]),
        ((-(1 << 63), (1 << 63) - 1, (1 << 63) - 1), "int64", None),
        ((0.0, 1 << 33, 1 << 32), "float32", [0.0, 2.0**32]),
        ((0, 3, 1.5), "float32", [0.0, 1.5]),
    ],
)
def test_range_has_the_dtype_that_holds_all_three(bounds, dtype, expected, staged):
    call = tf.function(lambda: tf.range(*bounds)) if staged else (lambda: tf.range(*bounds))
    if expected is None:  # more than int64 counts
        expected = [-(1 << 63), -1, (1 << 63) - 2]
    found = call()
    assert found.dtype.name == dtype
    assert found.numpy().tolist() == expected


BEYOND = [
    lambda n: tf.range(n),
    lambda n: tf.zeros([0, n]),
    lambda n: tf.fill([n], 0),
    lambda n: tf.eye(n),
    lambda n: tf.random.uniform([n]),
    lambda n: tf.random.stateless_normal([n], [1, 2]),
    lambda n: tf.reshape([1], [n]),
    lambda n: tf.repeat([1], n),
    lambda n: tf.constant([1, 2])[n:],
    lambda n: tf.constant([1, 2])[::n],
    lambda n: tf.constant([1, n]),
]


@pytest.mark.parametrize("number", [1 << 63, -(1 << 63) - 1, 1 << 64])
@pytest.mark.parametrize("call", BEYOND)
def test_numbers_beyond_64_bits_are_value_errors(call, number):
    with pytest.raises(ValueError, match="out-of-range integer"):
        call(number)


def test_stack_of_numbers_has_the_dtype_that_holds_all():
    assert tf.stack([1, 1 << 31]).dtype == tf.int64


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize(
    "call", [lambda: tf.shape(tf.zeros([1 << 31, 0])), lambda: tf.shape(tf.zeros([0, 1 << 40]))]
)
def test_shapes_that_int32_cannot_hold_are_errors(call, staged):
    with pytest.raises(tf.errors.InvalidArgumentError):
        (tf.function(call) if staged else call)()


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.split([1, 2], 1 << 40),
        lambda: tf.unstack([1, 2], 1 << 40),
        lambda: tf.dynamic_partition([1], [0], 1 << 40),
    ],
)
def test_lists_of_outputs_are_bounded(call, staged):
    with pytest.raises(ValueError, match="Number of outputs is too big: 1099511627776"):
        (tf.function(call) if staged else call)()


def test_sizes_beyond_memory_are_resource_exhausted_errors():
    for call in (
        lambda: tf.repeat([1, 2], 1 << 50),
        lambda: tf.repeat([1, 2], [1, (1 << 63) - 1]),
        lambda: tf.ragged.range(1 << 50),
        lambda: tf.TensorArray(tf.int32, 1 << 50),
    ):
        with pytest.raises(tf.errors.ResourceExhaustedError):
            call()


def test_saturate_cast_of_infinities_is_the_largest_number():
    found = tf.saturate_cast(tf.constant([np.inf, -np.inf], tf.float16), tf.int32)
    assert found.numpy().tolist() == [65504, -65504]


def test_datasets_of_many_elements():
    assert [int(i) for i, _ in tf.data.Dataset.range(3).enumerate(-1)] == [-1, 0, 1]
    twice = tf.data.Dataset.from_tensor_slices([1, 2]).interleave(
        lambda _: tf.data.Dataset.range(2), cycle_length=1 << 31
    )
    assert [int(x) for x in twice] == [0, 0, 1, 1]


def test_ragged_range_counts_at_the_least_integer():
    least = -(1 << 63)
    assert tf.ragged.range([0, 5, 0], [least, 0, 7], [least, -2, 3]).to_list() == [
        [0],
        [5, 3, 1],
        [0, 3, 6],
    ]


@pytest.mark.parametrize("rows", [2, np.int64(2), np.uint8(2)])
@pytest.mark.parametrize("columns", [3, np.int64(3), np.int32(3)])
def test_an_identity_takes_sizes_of_any_kind_of_integers(rows, columns):
    for sizes in ((rows, columns), (tf.constant(rows), columns)):
        assert tf.eye(*sizes).numpy().tolist() == np.eye(2, 3).tolist()
