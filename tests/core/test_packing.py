"""Lists with tensors among their elements become one tensor, of the dtype asked for or of the first tensor's."""

import numpy as np
import pytest

import tapeflow as tf

DTYPES = ["uint8", "int32", "int64", "float32", "float64", "complex64", "bool"]


def run(mode, function):
    """The value of what `function` makes, eagerly, in a session or in a function."""
    if mode == "eager":
        return function().numpy()
    if mode == "function":
        return tf.function(function)().numpy()
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return session.run(function())


@pytest.mark.parametrize("mode", ["eager", "graph", "function"])
@pytest.mark.parametrize("wanted", DTYPES)
@pytest.mark.parametrize("given", DTYPES)
def test_tensors_are_cast_to_the_dtype_asked_for(mode, given, wanted):
    numbers = np.array([[1, 0], [3, 2]], given)
    found = run(mode, lambda: tf.convert_to_tensor([[tf.constant(x) for x in row] for row in numbers], wanted))
    expected = numbers.real if given == "complex64" and wanted not in ("complex64", "bool") else numbers
    assert found.dtype == wanted
    np.testing.assert_array_equal(found, expected.astype(wanted))


@pytest.mark.parametrize("mode", ["eager", "graph", "function"])
@pytest.mark.parametrize("values", [[1, 2.0], [2.0, 1], [np.int64(1), np.int32(2)], [[1], [2.0]]])
def test_tensors_of_several_dtypes_do_not_mix(mode, values):
    error = tf.errors.InvalidArgumentError if mode == "eager" else TypeError
    with pytest.raises(error):
        run(mode, lambda: tf.convert_to_tensor(tf.nest.map_structure(tf.constant, values)))


@pytest.mark.parametrize("mode", ["eager", "graph", "function"])
def test_numbers_take_the_dtype_of_the_tensors(mode):
    found = run(mode, lambda: tf.convert_to_tensor([[1, 2], [3, tf.constant(4.0)], tf.constant([5.0, 6.0])]))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [[1, 2], [3, 4], [5, 6]])


def test_gradients_reach_tensors_through_the_cast():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.convert_to_tensor([x, x * 2, 1.0], tf.float64) * [1.0, 10.0, 100.0]
    assert tape.gradient(y, x).numpy() == 21.0
