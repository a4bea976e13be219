"""Slices of stacks of operators are the operators of the slices of their matrices."""

import numpy as np
import pytest

import tapeflow as tf

L = tf.linalg


def numbers(*shape):
    return tf.constant(np.arange(1.0, np.prod(shape) + 1.0, dtype=np.float32).reshape(shape))


def diagonal():
    return L.LinearOperatorDiag(numbers(3, 4, 2))


OPERATORS = [
    lambda: L.LinearOperatorZeros(2, batch_shape=[3, 4]),
    lambda: L.LinearOperatorIdentity(2, batch_shape=[3, 4]),
    lambda: L.LinearOperatorScaledIdentity(2, numbers(3, 4)),
    diagonal,
    lambda: L.LinearOperatorDiag(numbers(1, 4, 2), is_non_singular=True),
    lambda: L.LinearOperatorFullMatrix(numbers(3, 4, 2, 3)),
    lambda: L.LinearOperatorLowerTriangular(numbers(3, 1, 2, 2)),
    lambda: L.LinearOperatorToeplitz(numbers(3, 4, 2), numbers(3, 4, 2)),
    lambda: L.LinearOperatorPermutation(tf.tile([[[1, 0]]], [3, 4, 1]), dtype=tf.float32),
    lambda: L.LinearOperatorHouseholder(numbers(3, 4, 2)),
    lambda: L.LinearOperatorTridiag(numbers(3, 4, 3, 2)),
    lambda: L.LinearOperatorTridiag([numbers(3, 4, 2)] * 3, diagonals_format="sequence"),
    lambda: L.LinearOperatorCirculant(tf.complex(numbers(3, 4, 2), 0.0)),
    lambda: L.LinearOperatorCirculant2D(tf.complex(numbers(3, 4, 2, 2), 0.0)),
    lambda: L.LinearOperatorLowRankUpdate(diagonal(), numbers(3, 4, 2, 1)),
    lambda: L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(numbers(2)), numbers(3, 4, 2, 1), numbers(3, 4, 1)),
    lambda: L.LinearOperatorComposition([diagonal(), L.LinearOperatorDiag(numbers(2))]),
    lambda: L.LinearOperatorKronecker([diagonal(), L.LinearOperatorFullMatrix(numbers(4, 2, 2))]),
    lambda: L.LinearOperatorBlockDiag([diagonal(), L.LinearOperatorFullMatrix(numbers(1, 2, 2))]),
    lambda: L.LinearOperatorBlockLowerTriangular(
        [[diagonal()], [L.LinearOperatorFullMatrix(numbers(4, 2, 2)), diagonal()]]
    ),
    lambda: L.LinearOperatorDiag([[[1.0, 2.0]], [[3.0, 4.0]]]),
    lambda: L.LinearOperatorAdjoint(L.LinearOperatorFullMatrix(numbers(3, 4, 2, 2))),
    lambda: L.LinearOperatorInversion(diagonal()),
]
SLICES = [
    np.s_[0], np.s_[1:], np.s_[:, ::2], np.s_[..., 0], np.s_[:, tf.newaxis], np.s_[tf.newaxis, ..., 1:3],
    np.s_[0, ...], np.s_[...], [slice(1, -1), slice(0, 1)],
]  # fmt: skip


@pytest.mark.parametrize("make", OPERATORS)
def test_slices(make):
    operator = make()
    dense, last = operator.to_dense().numpy(), operator.batch_shape[1] - 1
    for picked in [*SLICES, np.s_[-1, last]]:
        part = operator[picked]
        several = picked if isinstance(picked, (list, tuple)) else (picked,)
        expected = dense[(*several, *np.s_[:, :])]
        np.testing.assert_allclose(part.to_dense().numpy(), expected, rtol=1e-5, err_msg=str(picked))
        assert type(part) is type(operator)
        assert part.is_non_singular == operator.is_non_singular


def test_gradients_reach_what_was_sliced():
    entries = tf.Variable(numbers(3, 2))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(L.LinearOperatorDiag(entries)[1:].matvec(tf.ones([2, 2])))
    np.testing.assert_array_equal(tf.convert_to_tensor(tape.gradient(y, entries)), [[0, 0], [1, 1], [1, 1]])


def test_unknown_ranks():
    @tf.function(input_signature=[tf.TensorSpec(None)])
    def sliced(matrix):
        return L.LinearOperatorFullMatrix(matrix)[1:].to_dense()

    np.testing.assert_array_equal(sliced(numbers(3, 2, 2)), numbers(3, 2, 2)[1:])


def test_too_many_slices():
    with pytest.raises(tf.errors.InvalidArgumentError):
        diagonal()[0, 0, 0]
