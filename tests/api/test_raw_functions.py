"""tf.raw_ops: names, signatures and errors of its functions."""

import inspect

import pytest

import tapeflow as tf


@pytest.mark.parametrize("name", dir(tf.raw_ops))
def test_every_name_is_a_function_of_keywords(name):
    function = getattr(tf.raw_ops, name)
    assert function.__name__ == name
    parameters = inspect.signature(function).parameters
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters.values())
    required = [key for key, p in parameters.items() if p.default is p.empty]
    if required:
        with pytest.raises(TypeError, match=r"missing \d+ required"):
            function()
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'no_such'"):
        function(no_such=1)
    with pytest.raises(TypeError, match="only takes keyword args"):
        function(1)


def test_an_op_with_the_name_of_a_type():
    assert tf.raw_ops.Any(input=[[True, False], [False, False]], axis=1).numpy().tolist() == [True, False]


def test_types_that_follow_from_inputs_need_not_be_given():
    assert "T" not in inspect.signature(tf.raw_ops.StackPushV2).parameters
    assert list(inspect.signature(tf.raw_ops.Unbatch).parameters)[:4] == [
        "batched_tensor", "batch_index", "id", "timeout_micros",
    ]  # fmt: skip


# Ops that are nodes of graphs, without a row.


def concrete(function, *dtypes):
    return tf.function(function).get_concrete_function(*(tf.TensorSpec((), t) for t in dtypes))


def test_datasets_of_nodes():
    types, one, batches = {"output_types": [tf.int64]}, {"output_shapes": [[]]}, {"output_shapes": [[None]]}
    raw = tf.raw_ops
    dataset = raw.RangeDataset(start=0, stop=5, step=1, **types, **one)
    dataset = raw.MapDataset(
        input_dataset=dataset, other_arguments=[], f=concrete(lambda x: x * 2, tf.int64), **types, **one
    )
    dataset = raw.BatchDatasetV2(input_dataset=dataset, batch_size=2, drop_remainder=False, **types, **batches)
    iterator = raw.AnonymousIteratorV3(**types, **batches)
    raw.MakeIterator(dataset=dataset, iterator=iterator)
    elements = [raw.IteratorGetNext(iterator=iterator, **types, **batches)[0] for _ in range(3)]
    assert [x.numpy().tolist() for x in elements] == [[0, 2], [4, 6], [8]]
    with pytest.raises(tf.errors.OutOfRangeError):
        raw.IteratorGetNext(iterator=iterator, **types, **batches)


def values_of_nodes(x):
    raw = tf.raw_ops
    twice, thrice = (concrete(lambda x, by=by: (x * by,), tf.int64) for by in (2, 3))
    under_ten = concrete(lambda x: x < 10, tf.int64)
    x = tf.cast(x, tf.int64)
    return [
        *raw.If(cond=x > 0, input=[x], Tout=[tf.int64], then_branch=twice, else_branch=thrice),
        *raw.StatelessCase(branch_index=1, input=[x], Tout=[tf.int64], branches=[twice, thrice]),
        *raw.While(input=[x], cond=under_ten, body=twice),
        *raw.PartitionedCall(args=[x], Tout=[tf.int64], f=thrice),
        raw.StringFormat(inputs=[x, [1.5]], template="%s and %s"),
        *raw.DecodeCSV(records=["1,b"], record_defaults=[tf.constant([0]), tf.constant([""])]),
        raw.RaggedTensorToTensor(
            shape=[2, 2], values=[1, 2, 3], default_value=0, row_partition_tensors=[[0, 2, 3]],
            row_partition_types=["ROW_SPLITS"],
        ),
        raw.OptionalHasValue(optional=raw.OptionalFromValue(components=[x])),
    ]  # fmt: skip


def in_a_session():
    with tf.Graph().as_default():
        found = values_of_nodes(tf.compat.v1.placeholder_with_default(3, ()))
        return tf.compat.v1.Session().run(found)


@pytest.mark.parametrize(
    "values",
    [
        lambda: [y.numpy() for y in values_of_nodes(tf.constant(3))],
        lambda: [y.numpy() for y in tf.function(values_of_nodes)(tf.constant(3))],
        in_a_session,
    ],
    ids=["eager", "function", "session"],
)
def test_nodes_compute_the_same_everywhere(values):
    expected = [6, 9, 12, 9, b"3 and [1.5]", [1], [b"b"], [[1, 2], [3, 0]], True]
    assert [getattr(y, "tolist", lambda y=y: y)() for y in values()] == expected


def test_arguments_of_nodes_are_checked():
    raw = tf.raw_ops
    with pytest.raises(TypeError, match="Expected list for 'inputs' argument to 'StringFormat' Op"):
        raw.StringFormat(inputs=3, template="%s")
    with pytest.raises(TypeError, match="Expected string for argument 'template' not 3"):
        raw.StringFormat(inputs=[3], template=3)
    with pytest.raises(TypeError, match="concrete function"):
        raw.PartitionedCall(args=[1], Tout=[tf.int32], f=lambda x: x)
    with pytest.raises(ValueError, match="types"):
        raw.PartitionedCall(args=[1.0], Tout=[tf.int64], f=concrete(lambda x: x, tf.int64))
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder"):
        raw.Placeholder(dtype=tf.float32)


def test_results_of_nodes_have_names():
    found = tf.raw_ops.ParseSingleExample(
        serialized=tf.train.Example().SerializeToString(), dense_defaults=[tf.constant([5], tf.int64)], num_sparse=0,
        sparse_keys=[], dense_keys=["a"], sparse_types=[], dense_shapes=[[1]],
    )  # fmt: skip
    assert type(found).__name__ == "ParseSingleExample"
    assert found.sparse_indices == []
    assert found.dense_values[0].numpy().tolist() == [5]


def test_sparse_tensors_of_ragged_ones():
    raw = tf.raw_ops.RaggedTensorToSparse
    ragged = tf.RaggedTensor.from_nested_row_splits([1.0, 2.0, 3.0], [[0, 2, 2], [0, 2, 3]])
    expected = ragged.to_sparse()
    for call in (raw, tf.function(raw)):
        found = call(rt_nested_splits=ragged.nested_row_splits, rt_dense_values=ragged.flat_values)
        assert found.sparse_indices.numpy().tolist() == expected.indices.numpy().tolist()
        assert found.sparse_values.numpy().tolist() == [1, 2, 3]
        assert found.sparse_dense_shape.numpy().tolist() == [2, 2, 2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        raw(rt_nested_splits=[[0, 9]], rt_dense_values=[1.0])


def test_a_node_with_counts_left_out_takes_other_shapes():
    """The counts of its outputs have defaults; each shape of its inputs makes the node again."""
    message = tf.train.SequenceExample().SerializeToString()
    for count in (1, 2):
        found = tf.raw_ops.ParseSequenceExample(
            serialized=[message] * count, debug_name=[""], context_dense_defaults=[],
            feature_list_dense_missing_assumed_empty=[], context_sparse_keys=[], context_dense_keys=[],
            feature_list_sparse_keys=[], feature_list_dense_keys=[],
        )  # fmt: skip
        assert all(part == [] for part in found)
