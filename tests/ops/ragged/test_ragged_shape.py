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
    with pytest.raises(ValueError, match="Shape not consistent: 2 lengths of rows, but 3 rows"):
        Shape.from_lengths([3, (1, 2)])
    with pytest.raises(ValueError, match="private"):
        Partition([0, 1])


def test_what_does_not_fit_is_found_with_validate():
    rows = Partition.from_row_splits([0, 2, 5])
    assert Shape([rows], [4]).rank == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="Last row partition does not match inner_shape"):
        Shape([rows], [4], validate=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not align between 0 and 1"):
        Shape([rows, Partition.from_row_splits([0, 1, 2])], [2], validate=True)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def later(sizes):
        return Shape([rows], sizes, validate=True).inner_shape

    assert later([5, 3]).numpy().tolist() == [5, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Last row partition"):
        later([4])


def test_what_is_known_of_the_inner_shape_besides():
    rows = Partition.from_row_splits([0, 2, 5])
    with pytest.raises(ValueError, match="not compatible"):
        Shape([rows], [5, 3], static_inner_shape=[5, 2])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def ranks(sizes):
        assert Shape([rows], sizes).rank is None
        made = Shape([rows], sizes, static_inner_shape=[5, 3])
        assert made.static_lengths() == [2, (2, 3), 3]
        assert made.with_dtype(tf.int32).rank == 3
        return made.inner_shape

    assert ranks([5, 3]).numpy().tolist() == [5, 3]


def test_the_spec_of_flat_values():
    flat = tf.TensorSpec([None], tf.int64)
    assert tf.RaggedTensorSpec([None, None], None, flat_values_spec=flat).dtype == tf.int64
    assert tf.RaggedTensorSpec([None, None], tf.int64, flat_values_spec=flat).flat_values_spec is flat
    with pytest.raises(ValueError, match=r"dtype must be the same as flat_values_spec\.dtype"):
        tf.RaggedTensorSpec([None, None], tf.int32, flat_values_spec=flat)
    with pytest.raises(ValueError, match="must be a TensorSpec"):
        tf.RaggedTensorSpec([None, None], None, flat_values_spec=tf.RaggedTensorSpec([None, None]))


def test_only_the_default_policy_for_indices_of_ragged_tensors():
    assert tf.gather_nd(ROWS, [[1, 2]], bad_indices_policy="DEFAULT").numpy().tolist() == [4]
    with pytest.raises(ValueError, match="non-default bad_indices_policy not supported"):
        tf.gather_nd(ROWS, [[1, 2]], bad_indices_policy="IGNORE")


def test_no_layouts_on_meshes():
    for call in (
        lambda: tf.zeros([2], layout=1), lambda: tf.ones([2], layout=1), lambda: tf.fill([2], 1, layout=1),
        lambda: tf.zeros_like([2], layout=1), lambda: tf.ones_like([2], layout=1),
        lambda: tf.zeros(tf.shape(ROWS), layout=1),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="layout must be None"):
            call()


def test_what_is_known_of_partitions():
    made = [
        Partition.from_row_splits([0, 2, 5]), Partition.from_value_rowids([0, 0, 1], nrows=3),
        Partition.from_row_starts([0, 2], nvals=5), Partition.from_uniform_row_length(2, nrows=3),
    ]  # fmt: skip
    known = [(s.nrows, s.nvals, s.uniform_row_length) for s in map(tf.type_spec_from_value, made)]
    assert known == [(2, None, None), (3, 3, None), (2, 5, None), (3, 6, 2)]
    assert made[0].offsets_in_rows().numpy().tolist() == [0, 1, 0, 1, 2]


def test_specs_of_shapes_complete_and_merge():
    spec = Shape.Spec.from_value(tf.shape(ROWS))
    assert (spec.rank, spec.num_row_partitions, spec.dtype) == (2, 1, tf.int32)
    assert repr(spec) == (
        "DynamicRaggedShape.Spec(row_partitions=(RowPartitionSpec(nrows=4, nvals=6, uniform_row_length=None, "
        "dtype=tf.int32),), static_inner_shape=TensorShape([6]), dtype=tf.int32)"
    )
    assert spec.is_compatible_with(tf.shape(ROWS))
    assert not spec.is_compatible_with(tf.shape(ROWS[:2]))
    assert spec.with_dtype(tf.int64).dtype == tf.int64
    whole = Shape.Spec._from_tensor_shape([2, None, 3], 1, tf.int64)
    other = Shape.Spec._from_tensor_shape([None, 5, 3], 2, tf.int64)
    assert whole._merge_with(other)._to_tensor_shape() == [2, 5, 3]
    with pytest.raises(ValueError, match="not compatible"):
        whole._merge_with(Shape.Spec._from_tensor_shape([3, 5, 3], 0, tf.int64))


def test_shapes_go_through_functions():
    shape = Shape.from_tensor(ROWS)
    assert repr(tf.function(lambda s: s)(shape)) == repr(shape)
    assert int(tf.function(lambda s: s[0])(shape)) == 4
    assert tf.function(lambda s: tf.ones(s))(shape).to_list() == [[1.0], [1.0, 1.0, 1.0], [], [1.0, 1.0]]
    assert bool(shape == Shape.from_tensor(ROWS))


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("axes", [(0, 1), (1, 2), (0, 2), (2, 2)])
def test_layouts_of_a_uniform_shape(count, axes):
    """However many dimensions are partitions, and whichever are merged, the sizes are those of the dense tensor."""
    dense = tf.zeros([2, 3, 4])
    shape = Shape.from_tensor(dense)._with_num_row_partitions(count)
    assert (shape.num_row_partitions, shape._to_tensor_shape()) == (count, [2, 3, 4])
    outer, inner = axes
    sizes = [2, 3, 4]
    sizes[outer : inner + 1] = [int(tf.reduce_prod(sizes[outer : inner + 1]))]
    merged = tf.ones(shape._merge_dims(outer, inner))
    assert (merged if isinstance(merged, tf.Tensor) else merged.to_tensor()).shape == sizes
    assert [int(shape._num_slices_in_dimension(i)) for i in range(3)] == [2, 6, 24]


def test_values_of_unknown_shapes_in_graphs():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        values = v1.placeholder_with_default([1.0, 2.0, 3.0], None)
        splits = v1.placeholder_with_default(tf.constant([0, 2, 3], tf.int64), None)
        rows = tf.RaggedTensor.from_row_splits(values, splits)
        assert rows.shape.rank is None
        assert session.run(rows.to_tensor()).tolist() == [[1, 2], [3, 0]]
        assert session.run(rows.merge_dims(0, 1)).tolist() == [1, 2, 3]
        assert session.run(tf.reduce_sum(rows, 1)).tolist() == [3, 3]


def test_gradients_by_ragged_tensors_in_graphs():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        rows = tf.ragged.constant([[1.0, 2.0], [3.0]])
        (by_rows,) = tf.gradients(rows * rows, rows)
        (weighted,) = tf.gradients(rows * 2.0, rows, grad_ys=[rows])
        (of_dense,) = tf.gradients(rows.to_tensor() * 3.0, [rows])
        found = session.run([by_rows, weighted, of_dense])
    assert [f.to_list() for f in found] == [[[2, 4], [6]], [[2, 4], [6]], [[3, 3], [3]]]
