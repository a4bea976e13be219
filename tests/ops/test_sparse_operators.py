"""Products and quotients of sparse and dense tensors by operators."""

import numpy as np
import pytest

import tapeflow as tf

DENSE = np.array([[3.0, 4.0], [5.0, 6.0]])
SPARSE = np.array([[1.0, 0.0], [0.0, 2.0]])


def sparse():
    return tf.sparse.from_dense(SPARSE)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_operators(wrap):
    dense = tf.constant(DENSE)
    for found, expected in wrap(
        lambda: [
            (tf.sparse.to_dense(sparse() * dense), SPARSE * DENSE),
            (tf.sparse.to_dense(dense * sparse()), SPARSE * DENSE),
            (tf.sparse.to_dense(sparse() / dense), SPARSE / DENSE),
        ]
    )():
        np.testing.assert_allclose(found, expected)


def test_what_has_no_sparse_result_is_refused():
    for call in (lambda: tf.constant(DENSE) / sparse(), lambda: tf.constant(DENSE) + sparse(), lambda: 2.0 * sparse()):
        with pytest.raises((TypeError, ValueError)):
            call()
