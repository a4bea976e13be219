"""Every spec takes its values apart and puts them together again, as libraries that track parts do."""

import numpy as np
import pytest

import tapeflow as tf

VALUES = {
    "tensor": tf.constant([1.0, 2.0]),
    "ragged": tf.ragged.constant([[1.0, 2.0], [3.0]]),
    "ragged twice": tf.ragged.constant([[[1.0], [2.0]], [[3.0, 4.0]]]),
    "sparse": tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]]),
    "slices": tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 1])),
    "slices of a shape": tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 1]), tf.constant([5, 3])),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_made_of_their_components_again(name):
    value = VALUES[name]
    spec = tf.type_spec_from_value(value)
    components = spec._to_components(value)
    again = spec._from_components(components)
    assert type(again) is type(value)
    assert spec.is_compatible_with(again)
    for part, same, part_spec in zip(
        tf.nest.flatten(components),
        tf.nest.flatten(again, expand_composites=True),
        tf.nest.flatten(spec._component_specs),
        strict=True,
    ):
        assert part_spec.is_compatible_with(part)
        np.testing.assert_array_equal(part, same)


def test_a_ragged_spec_without_splits_has_a_plain_tensor():
    spec = tf.RaggedTensorSpec([2], tf.float32, ragged_rank=0)
    value = tf.constant([1.0, 2.0])
    assert spec._from_components(spec._to_components(value)) is value
