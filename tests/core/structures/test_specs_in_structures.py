"""Specs of composite tensors are structures of the specs of their components, as the composites are of tensors."""

import pytest

import tapeflow as tf

RAGGED = tf.ragged.constant([[1, 2], [3]])
SPARSE = tf.sparse.from_dense([[1, 0]])
SLICES = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([0]), tf.constant([4, 2]))


@pytest.mark.parametrize("value", [RAGGED, SPARSE, SLICES, {"a": [RAGGED, SPARSE], "b": SLICES}])
def test_a_spec_is_like_its_value(value):
    spec = tf.nest.map_structure(tf.type_spec_from_value, value)
    tf.nest.assert_same_structure(value, spec, expand_composites=True)
    tf.nest.assert_same_structure(spec, value, expand_composites=True)
    tensors = tf.nest.flatten(value, expand_composites=True)
    specs = tf.nest.flatten(spec, expand_composites=True)
    assert [(s.shape.rank, s.dtype) for s in specs] == [(x.shape.rank, x.dtype) for x in tensors]
    again = tf.nest.pack_sequence_as(spec, tensors, expand_composites=True)
    for x, y in zip(tf.nest.flatten(again, expand_composites=True), tensors, strict=True):
        assert x.numpy().tolist() == y.numpy().tolist()
    assert tf.nest.flatten([spec]) == tf.nest.flatten(spec)


@pytest.mark.parametrize(
    "spec",
    [
        tf.type_spec_from_value(SPARSE),
        tf.RaggedTensorSpec([None, None], tf.float32),
        tf.RaggedTensorSpec([None, None, None], tf.int32),
        tf.TensorSpec([]),
    ],
)
def test_other_specs_differ(spec):
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        tf.nest.assert_same_structure(RAGGED, spec, expand_composites=True)


def test_names_of_tensor_specs():
    named, plain, wider = tf.TensorSpec([1], name="a"), tf.TensorSpec([1]), tf.TensorSpec([None], name="a")
    assert plain.is_subtype_of(named)
    assert named.is_subtype_of(wider)
    assert not named.is_subtype_of(plain)
    assert named.most_specific_common_supertype([tf.TensorSpec([2], name="b")]) is None
    assert named.most_specific_common_supertype([tf.TensorSpec([2], name="a")]) == wider


def test_dense_shapes_of_graphs():
    with tf.Graph().as_default():
        values, indices = tf.constant([[1.0, 2.0]]), tf.constant([0])
        unknown = tf.compat.v1.placeholder(tf.int64, [2])
        for sizes, expected in [([4, 2], [4, 2]), ([-1, 2], [None, 2]), (unknown, [None, None])]:
            slices = tf.IndexedSlices(values, indices, tf.convert_to_tensor(sizes))
            assert slices.shape.as_list() == expected
            sparse = tf.SparseTensor([[0, 0]], [1.0], tf.cast(sizes, tf.int64))
            assert sparse.shape.as_list() == expected
        assert tf.IndexedSlices(values, indices).shape.rank is None
    assert tf.SparseTensor([[0, 0]], [1], [-1, 3]).shape.as_list() == [None, 3]
    dense = tf.function(lambda sizes: tf.convert_to_tensor(tf.IndexedSlices([[1.0, 2.0]], [0], sizes)))
    assert dense(tf.constant([2, 2])).numpy().tolist() == [[1, 2], [0, 0]]
