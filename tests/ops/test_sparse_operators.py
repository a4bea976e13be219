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


INTEGERS = [tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.uint32, tf.int64, tf.uint64]
FLOATING = [tf.float16, tf.bfloat16, tf.float32, tf.float64]


def small(dtype):
    return tf.SparseTensor([[0, 0], [1, 1]], tf.constant([1, 3], dtype), [2, 2])


@pytest.mark.parametrize("dtype", INTEGERS + FLOATING)
def test_true_division(dtype):
    quotient = small(dtype) / tf.cast([[2, 1], [1, 2]], dtype)
    assert quotient.dtype == tf.math.truediv(small(dtype).values, tf.constant(2, dtype)).dtype
    np.testing.assert_array_equal(tf.cast(quotient.values, tf.float32), [0.5, 1.5])


@pytest.mark.parametrize("dtype", INTEGERS + FLOATING)
def test_product(dtype):
    dense = tf.cast([2, 3], dtype)
    for product in (small(dtype) * dense, dense * small(dtype)):
        assert product.dtype == dtype
        np.testing.assert_array_equal(tf.cast(product.values, tf.float32), [2, 9])


def test_division_of_large_integers_is_exact():
    big = 2**62 + 1
    row = tf.raw_ops.SparseDenseCwiseDiv
    values = tf.constant([big, -big, 7, -7], tf.int64)
    indices = tf.constant([[0], [1], [2], [3]], tf.int64)
    dense = tf.constant([1, 2, -2, 2], tf.int64)
    found = row(sp_indices=indices, sp_values=values, sp_shape=tf.constant([4], tf.int64), dense=dense)
    assert found.numpy().tolist() == [big, -(2**61), -3, -3]


def test_other_dtypes_and_kinds_raise():
    with pytest.raises(ValueError, match="dtype"):
        small(tf.int32) / tf.ones([2, 2])
    with pytest.raises(ValueError, match="dense"):
        small(tf.int32) * small(tf.int32)


def test_partly_known_shapes():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        sizes = v1.placeholder_with_default(tf.constant([2, 2], tf.int64), [2])
        ids = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([1, 3], tf.int64), sizes)
        values = tf.SparseTensor([[0, 0], [0, 1]], [0.4, 0.7], sizes)
        merged = v1.sparse_merge(ids, values, vocab_size=5)
        assert merged.get_shape().as_list() == [None, 5]


def test_reset_shape_checks_the_new_shape():
    with pytest.raises(ValueError, match="not compatible"):
        tf.sparse.reset_shape(small(tf.int32), [3])
    with pytest.raises(ValueError, match="should have dimension sizes >="):
        tf.sparse.reset_shape(small(tf.int32), [3, 1])
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        wanted = v1.placeholder(tf.int64)
        made = tf.sparse.reset_shape(small(tf.int32), wanted)
        assert session.run(made, {wanted: [3, 4]}).dense_shape.tolist() == [3, 4]
        with pytest.raises(tf.errors.InvalidArgumentError, match="x == y did not hold"):
            session.run(made, {wanted: [3, 4, 5]})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(made, {wanted: [3, 1]})


@pytest.mark.parametrize("dtype", [tf.float32, tf.float16, tf.bool, tf.int8])
def test_crosses_of_numbers_are_those_of_integers(dtype):
    column = tf.SparseTensor([[0, 0], [1, 0]], tf.cast([1, 0], dtype), [2, 1])
    dense = tf.cast([[1], [0]], dtype)
    assert tf.sparse.cross([column, dense]).values.numpy().tolist() == [b"1_X_1", b"0_X_0"]
    hashed = tf.sparse.cross_hashed([column, dense], 10).values.numpy()
    assert hashed.tolist() == tf.sparse.cross_hashed([tf.cast(dense, tf.int64)] * 2, 10).values.numpy().tolist()


@pytest.mark.parametrize("wrong", range(4))
def test_ranks_that_no_product_has(wrong):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        kinds = [tf.int64, tf.float32, tf.int64, tf.float32]
        given = [v1.placeholder(kind, [3] * 3 if i == wrong else None) for i, kind in enumerate(kinds)]
        named = dict(zip(("a_indices", "a_values", "a_shape", "b"), given, strict=True))
        with pytest.raises(ValueError, match="Shape must be rank"):
            tf.raw_ops.SparseTensorDenseMatMul(**named)


def test_inner_dimensions_that_differ():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        tf.sparse.sparse_dense_matmul(sparse(), tf.ones([3, 1], tf.float64))
