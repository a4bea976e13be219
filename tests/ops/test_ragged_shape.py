"""The shapes of ragged tensors as values."""

import pytest

import tapeflow as tf

Shape, Partition = tf.experimental.DynamicRaggedShape, tf.experimental.RowPartition
ROWS = tf.ragged.constant([[1], [2, 3, 4], [], [5, 6]])


def test_the_shape_of_a_ragged_tensor():
    shape = tf.shape(ROWS)
    assert repr(shape) == "<DynamicRaggedShape lengths=[4, (1, 3, 0, 2)] num_row_partitions=1>"
    assert shape.dtype == tf.int32
    assert shape[0].numpy() == 4
    assert repr(shape[:1]) == "<DynamicRaggedShape lengths=[4] num_row_partitions=0>"
    with pytest.raises(ValueError, match="not uniform"):
        shape[1]
    with pytest.raises(ValueError, match="uniform"):
        shape[1:]


def test_shapes_of_lengths_and_partitions():
    made = Shape.from_lengths([4, (2, 1, 0, 8), 12])
    assert made.static_lengths() == [4, (2, 1, 0, 8), 12]
    assert made.static_lengths(ragged_lengths=False) == [4, None, 12]
    assert (made.rank, made.inner_rank, made.num_row_partitions) == (3, 2, 1)
    assert made.inner_shape.numpy().tolist() == [11, 12]
    assert [made.is_uniform(axis) for axis in range(3)] == [True, False, True]
    other = Shape([Partition.from_row_lengths([5, 3, 2])], [10, 8])
    assert other.static_lengths() == [3, (5, 3, 2), 8]
    assert repr(other.row_partitions) == "(tf.RowPartition(row_splits=[ 0  5  8 10]),)"
    assert Shape.from_tensor([[1, 2]]).static_lengths() == [1, 2]


def test_tensors_of_such_shapes():
    shape = tf.shape(ROWS, out_type=tf.int64)
    assert tf.reshape(tf.range(6), shape).to_list() == [[0], [1, 2, 3], [], [4, 5]]
    assert tf.zeros(shape).to_list() == [[0.0], [0.0, 0.0, 0.0], [], [0.0, 0.0]]
    assert tf.fill(shape, 7).to_list() == [[7], [7, 7, 7], [], [7, 7]]
    assert tf.broadcast_to([[1], [2], [3], [4]], shape).to_list() == [[1], [2, 2, 2], [], [4, 4]]
    assert tf.reshape(ROWS, [2, 3]).numpy().tolist() == [[1, 2, 3], [4, 5, 6]]


def test_shapes_broadcast_together():
    both = tf.broadcast_dynamic_shape(tf.shape(ROWS), tf.shape([[1], [2], [3], [4]]))
    assert both.static_lengths() == [4, (1, 3, 0, 2)]


@pytest.mark.parametrize(
    ("partition", "splits"),
    [
        (Partition.from_row_splits([0, 2, 5]), [0, 2, 5]),
        (Partition.from_row_lengths([2, 3]), [0, 2, 5]),
        (Partition.from_value_rowids([0, 0, 1], nrows=3), [0, 2, 3, 3]),
        (Partition.from_row_starts([0, 2], nvals=5), [0, 2, 5]),
        (Partition.from_row_limits([2, 5]), [0, 2, 5]),
        (Partition.from_uniform_row_length(2, nvals=4), [0, 2, 4]),
        (Partition.from_uniform_row_length(2, nrows=3), [0, 2, 4, 6]),
    ],
)
def test_partitions(partition, splits):
    assert partition.row_splits().numpy().tolist() == splits
    assert partition.nrows().numpy() == len(splits) - 1
    assert partition.nvals().numpy() == splits[-1]


def test_bad_lengths():
    with pytest.raises(ValueError, match="uniform"):
        Shape.from_lengths([(1, 2)])
    with pytest.raises(ValueError, match="2 row lengths were given for 3 rows"):
        Shape.from_lengths([3, (1, 2)])
    with pytest.raises(ValueError, match="private"):
        Partition([0, 1])
