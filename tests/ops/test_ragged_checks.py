"""Arguments of functions of ragged tensors that do not fit together, and static shapes in graphs."""

import pytest

import tapeflow as tf


@pytest.mark.parametrize(
    ("data", "partitions", "count", "text"),
    [
        (["a", "b", "c"], [1, 2], 10, r"Shapes \(2,\) and \(3,\) are incompatible"),
        ([["a", "b"], ["c", "d"]], [[1, 2, 3], [4, 5, 6]], 10, r"Shapes \(2, 3\) and \(2, 2\) are incompatible"),
        (["a", "b", "c"], [1, 2, 3], [1, 2, 3], "must have rank 0"),
    ],
)
def test_partitions_that_do_not_fit(data, partitions, count, text):
    with pytest.raises(ValueError, match=text):
        tf.ragged.stack_dynamic_partitions(data, partitions, count)


def test_partitions_of_other_rows():
    with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible ragged shapes"):
        tf.ragged.stack_dynamic_partitions(tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[2], [3, 0]]), 10)


@pytest.mark.parametrize(("axis", "shape"), [(0, [1, 3, None, 2]), (1, [3, 1, None, 2]), (2, [3, None, 1, 2])])
def test_static_shape_of_expand_dims(axis, shape):
    seen = []

    @tf.function(input_signature=[tf.RaggedTensorSpec([3, None, 2], tf.int32, ragged_rank=1)])
    def expanded(x):
        seen.append(tf.expand_dims(x, axis).shape.as_list())
        return x

    expanded.get_concrete_function()
    assert seen == [shape]


NOT_RIGHT_RAGGED = [[[0, 1], [0, 2], [2, 0]], [[0, 0], [0, 1], [2, 1]], [[0, 1], [0, 1], [0, 3]]]


@pytest.mark.parametrize("indices", NOT_RIGHT_RAGGED)
def test_sparse_tensors_that_are_no_rows(indices):
    def rows():
        return tf.RaggedTensor.from_sparse(tf.SparseTensor(indices, [1, 2, 3], [3, 4]))

    for call in (rows, tf.function(rows)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not right-ragged"):
            call()
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        made = rows()
        with pytest.raises(tf.errors.InvalidArgumentError, match="not right-ragged"):
            session.run(made)


def test_sparse_tensors_of_partly_known_rank():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        sizes, indices = v1.placeholder(tf.int64), v1.placeholder(tf.int64)
        made = tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0]], [7], sizes))
        assert session.run(made, {sizes: [2, 3]}).to_list() == [[7], []]
        made = tf.RaggedTensor.from_sparse(tf.SparseTensor(indices, [7], [2, 3]))
        assert session.run(made, {indices: [[1, 0]]}).to_list() == [[], [7]]
        with pytest.raises(ValueError, match="must be 2"):
            tf.RaggedTensor.from_sparse(tf.SparseTensor(indices, [7], sizes))
