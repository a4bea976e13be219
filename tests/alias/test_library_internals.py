"""Parts of TensorFlow's internals that libraries and their tests use, as these expect them."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos, test_case, test_combinations
from tapeflow.core import eager_context, errors
from tapeflow.ops.ragged_broadcast import assert_splits_match


def test_context_of_operations():
    context = eager_context.current()
    context.ensure_initialized()
    context.clear_kernel_cache()
    assert context.executing_eagerly()
    assert not context.in_graph_mode()
    assert context.num_gpus() == len(tf.config.list_logical_devices("GPU"))
    assert context.devices() == [device.name for device in tf.config.list_logical_devices()]
    assert context.device_spec.device_type is None
    with tf.device("/cpu:0"), tf.name_scope("a"):
        assert context.device_spec.device_type == "CPU"
        assert context.device_name.endswith("CPU:0")
        assert context.scope_name == "a/"
    with tf.Graph().as_default():
        assert context.in_graph_mode()
    before = context.soft_device_placement
    try:
        context.soft_device_placement = not before
        assert tf.config.get_soft_device_placement() is not before
    finally:
        context.soft_device_placement = before
    assert context.config.allow_soft_placement == before


def test_operations_take_attributes():
    with tf.Graph().as_default():
        op = tf.constant(1.0).op
        op._made_by = "a program"
        assert op._made_by == "a program"


def test_the_value_of_a_constant_is_a_message():
    with tf.Graph().as_default():
        value = tf.constant([[1, 2]], name="c").op.get_attr("value")
    assert isinstance(value, protos.TensorProto)
    np.testing.assert_array_equal(tf.make_ndarray(value), [[1, 2]])


def test_an_error_made_of_the_parts_of_another():
    error = errors.InvalidArgumentError(None, None, "bad", errors.INVALID_ARGUMENT)
    assert (error.message, error.error_code, error.experimental_payloads) == ("bad", errors.INVALID_ARGUMENT, {})


def test_splits_that_match():
    a, b = tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[4], [5, 6]])
    other = tf.ragged.constant([[1, 2], [3]])
    assert_splits_match([a.nested_row_splits, b.nested_row_splits])
    with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
        assert_splits_match([a.nested_row_splits, other.nested_row_splits])
    with pytest.raises(ValueError, match="identical ragged splits"):
        assert_splits_match([a.nested_row_splits, tf.ragged.constant([[[1]]]).nested_row_splits])


@pytest.mark.parametrize("in_function", [False, True])
def test_methods_of_arrays_by_their_class(in_function):
    def use(n):
        array = tf.TensorArray(tf.float32, n)
        for i in tf.range(n):
            array = tf.TensorArray.write(array, i, tf.cast(i, tf.float32))
        return tf.TensorArray.stack(array), tf.TensorArray.size(array)

    stacked, size = (tf.function(use) if in_function else use)(tf.constant(3))
    assert stacked.numpy().tolist() == [0, 1, 2]
    assert size.numpy() == 3


class Cases(test_case.TestCase):
    def test_ragged(self):
        a = tf.ragged.constant([[1.0], [2.0, 3.0]])
        self.assertAllClose(a, [[1.0], [2.0, 3.0 + 1e-7]])
        self.assertAllEqual([[1.0], [2.0, 3.0]], a)
        for wrong in ([[1.0], [2.0]], [[1.0], [2.0, 4.0]], [[1.0, 2.0], [3.0]]):
            with self.assertRaises(AssertionError):
                self.assertAllEqual(a, wrong)
            with self.assertRaises(AssertionError):
                self.assertAllClose(a, wrong)

    def test_random_numbers(self):
        expected = np.random.RandomState(87654321).uniform(size=3)
        np.testing.assert_array_equal(np.random.uniform(size=3), expected)

    @tf.test.disable_with_predicate(lambda: True, "not today")
    def test_skipped(self):
        raise AssertionError

    @tf.test.disable_with_predicate(lambda: False, "not today")
    def test_not_skipped(self):
        self.assertEqual(self._testMethodName, "test_not_skipped")


def test_names_of_tests_of_named_objects():
    objects = [test_combinations.NamedObject(name, lambda: 1) for name in ("first", "second")]
    found = [test_combinations._label(each) for each in test_combinations.combine(fn=objects)]
    assert found == ["_fn_first", "_fn_second"]
