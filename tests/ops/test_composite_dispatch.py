"""What stands in for functions of tensors where they are given ragged or sparse ones."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.composite_dispatch import dispatch

ROWS = [[3, 1, 4], [], [1, 5], [9]]
RT = tf.ragged.constant(ROWS)
DEEP = tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6], []]])

CASES = [
    (tf.abs, (-RT,), {}, ROWS),
    (tf.add, (RT, 1), {}, [[4, 2, 5], [], [2, 6], [10]]),
    (tf.add, (RT,), {"y": 1}, [[4, 2, 5], [], [2, 6], [10]]),
    (tf.cast, (RT, tf.float32), {}, ROWS),
    (tf.concat, ([RT, RT], 0), {}, ROWS + ROWS),
    (tf.concat, ([RT, RT],), {"axis": 1}, [row + row for row in ROWS]),
    (tf.stack, ([RT, RT],), {}, [ROWS, ROWS]),
    (tf.gather, (RT, [3, 0]), {}, [[9], [3, 1, 4]]),
    (tf.size, (RT,), {}, 6),
    (tf.rank, (DEEP,), {}, 3),
    (tf.reduce_sum, (RT,), {}, 23),
    (tf.reduce_sum, (RT, 0), {}, [13, 6, 4]),
    (tf.reduce_sum, (RT,), {"axis": 1}, [8, 0, 6, 9]),
    (tf.reduce_sum, (RT,), {"axis": 1, "keepdims": True}, [[8], [0], [6], [9]]),
    (tf.reduce_sum, (DEEP, 0), {}, [[5, 7, 6], [3]]),
    (tf.reduce_sum, (DEEP, 1), {}, [[4, 2], [], [4, 5, 6]]),
    (tf.reduce_sum, (DEEP, 2), {}, [[3, 3], [], [15, 0]]),
    (tf.reduce_sum, (DEEP, [0, 2]), {}, [18, 3]),
    (tf.reduce_prod, (RT, 1), {}, [12, 1, 5, 9]),
    (tf.reduce_max, (RT, 0), {}, [9, 5, 4]),
    (tf.reduce_min, (RT, 0), {}, [1, 1, 4]),
    (tf.reduce_mean, (tf.ragged.constant([[1.0, 2.0], [6.0]]), 1), {}, [1.5, 6.0]),
    (tf.reduce_any, (tf.ragged.constant([[True, False], [False]]), 1), {}, [True, False]),
    (tf.reduce_all, (tf.ragged.constant([[True, False], [True]]), 1), {}, [False, True]),
    (tf.strings.upper, (tf.ragged.constant([["a"], ["b", "c"]]),), {}, [[b"A"], [b"B", b"C"]]),
    (tf.expand_dims, (RT, 0), {}, [ROWS]),
]  # fmt: skip


def plain(value):
    return value.to_list() if isinstance(value, tf.RaggedTensor) else np.asarray(value).tolist()


@pytest.mark.parametrize(("function", "args", "kwargs", "expected"), CASES)
def test_ragged(function, args, kwargs, expected):
    assert plain(dispatch(function, args, kwargs)) == expected


def as_value(x):
    """`x` with the values of ragged tensors in their place, as a session gives them."""
    if isinstance(x, tf.RaggedTensor):
        inner = as_value(x.values) if isinstance(x.values, tf.RaggedTensor) else x.values.numpy()
        return tf.compat.v1.ragged.RaggedTensorValue(inner, x.row_splits.numpy())
    return [as_value(item) for item in x] if isinstance(x, list) else x


@pytest.mark.parametrize(("function", "args", "kwargs", "expected"), CASES)
def test_ragged_values(function, args, kwargs, expected):
    found = function(*[as_value(x) for x in args], **kwargs)
    assert plain(found) == expected


def test_sparse_values_are_mapped():
    sparse = tf.SparseTensor([[0, 1]], [-4.0], [2, 2])
    assert dispatch(tf.abs, (sparse,), {}).values.numpy().tolist() == [4.0]
    assert dispatch(tf.cast, (sparse, tf.int32), {}).dtype == tf.int32


def test_what_has_no_such_form_says_so():
    assert dispatch(tf.linalg.inv, (RT,), {}) is NotImplemented
    assert dispatch(tf.abs, (1,), {}) is NotImplemented
    assert dispatch(tf.exp, (tf.SparseTensor([[0]], [1.0], [2]),), {}) is NotImplemented
