"""What TensorFlow's own documentation shows: results and errors that its examples print."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


def ragged():
    return tf.ragged.constant([[1, 2], [3]])



def test_softmax_of_a_vector():
    expected = np.exp([1, 2, 1]) / np.exp([1, 2, 1]).sum()
    x = tf.constant([1.0, 2.0, 1.0])
    np.testing.assert_allclose(tf.keras.layers.Softmax()(x), expected, rtol=1e-6)
    np.testing.assert_allclose(tf.keras.activations.softmax(x), expected, rtol=1e-6)


def test_padded_shapes_of_a_number():
    rows = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
    batches = list(rows.padded_batch(2, padded_shapes=5).as_numpy_iterator())
    np.testing.assert_array_equal(batches[0], [[1, 0, 0, 0, 0], [2, 2, 0, 0, 0]])


@pytest.mark.parametrize("value", [1.0, b"ab", [1, 2]])
def test_functions_of_arrays_get_arrays(value):
    seen = []
    tf.numpy_function(lambda x: (seen.append(x), x)[1], [tf.constant(value)], tf.constant(value).dtype)
    assert [type(x) for x in seen] == [np.ndarray]


def test_the_dtype_of_composites():
    tf.debugging.assert_type(tf.SparseTensor([[0]], [1], [2]), tf.int32)
    tf.debugging.assert_type(ragged(), tf.int32)
    with pytest.raises(TypeError, match=r"tensor must be of type tf.float32; got tf.int32"):
        tf.debugging.assert_type(ragged(), tf.float32)


def test_ragged_tensors_with_rows_of_other_lengths_differ():
    other = tf.ragged.constant([[1], [2, 3]])
    assert (ragged() == other) is False
    assert (ragged() != other) is True


def test_constants_that_do_not_fit_a_shape():
    with pytest.raises(TypeError, match=r"has 3 elements, but got `shape` \(2, 4\) with 8 elements"):
        tf.constant_initializer([0, 1, 2])(shape=[2, 4], dtype=tf.float32)


def test_a_constant_of_a_symbolic_tensor():
    with tf.Graph().as_default(), pytest.raises(TypeError, match="Expected any non-tensor type"):
        tf.constant(v1.placeholder(tf.float32))
    with pytest.raises(TypeError, match="Expected any non-tensor type"):
        tf.function(lambda x: tf.constant(x))(tf.constant(1.0))


def test_rounding_a_learning_rate():
    rate = tf.keras.optimizers.SGD(0.0126).learning_rate
    assert float(round(rate, 3)) == pytest.approx(0.013)
    assert float(round(rate)) == 0.0


def test_arrays_are_no_tensors_of_keras():
    assert tf.keras.backend.is_keras_tensor(np.ones(2)) is False
    assert tf.keras.backend.is_keras_tensor(tf.keras.Input([2])) is True


def test_files_of_several_patterns(tmp_path):
    for name in ("a.txt", "b.py", "c.md"):
        (tmp_path / name).touch()
    patterns = [str(tmp_path / "*.py"), str(tmp_path / "*.txt")]
    expected = sorted(str(tmp_path / name) for name in ("a.txt", "b.py"))
    for given in (patterns, tuple(patterns), iter(patterns)):
        assert sorted(tf.io.gfile.glob(given)) == expected
    assert tf.io.gfile.glob(tmp_path / "*.md") == [str(tmp_path / "c.md")]
