"""Dtypes and ranks of what losses and metrics are given: integers, lists and vectors count as what they say."""

import numpy as np
import pytest

import tapeflow as tf

losses, metrics = tf.keras.losses, tf.keras.metrics


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "bool", "float16", "float64", "bfloat16"])
@pytest.mark.parametrize("of_labels", [True, False])
def test_labels_and_predictions_of_any_dtype(dtype, of_labels):
    given = tf.cast([[0, 1]], dtype), tf.constant([[1.0, 1.0]])
    value = losses.MeanSquaredError()(*(given if of_labels else given[::-1]))
    assert value.dtype == tf.float32
    assert float(value) == 0.5


def test_lists_of_ints():
    assert float(losses.MeanSquaredError()([[0, 1]], [[1, 1]])) == 0.5
    mean = metrics.MeanSquaredError()
    mean.update_state([[0, 1]], [[1, 1]])
    assert float(mean.result()) == 0.5


def test_weights_of_vectors_of_predictions():
    assert float(metrics.BinaryAccuracy()([1, 0, 1.0], [1.0, 1, 1], sample_weight=[1, 0, 0])) == 1.0


def test_vectors_meet_columns():
    labels, predictions = np.array([0.0, 1.0, 1.0]), np.array([[0.0], [1.0], [0.0]])
    assert float(losses.MeanSquaredError()(labels, predictions)) == pytest.approx(1 / 3)
    assert losses.mean_squared_error(labels, predictions).shape == (3,)


@pytest.mark.parametrize("loss", ["CategoricalCrossentropy", "BinaryCrossentropy"])
def test_other_shapes_are_named(loss):
    with pytest.raises(ValueError, match=r"y_true\.shape=\(4,\).*y_pred\.shape=\(4, 3\)"):
        getattr(losses, loss)()(tf.zeros([4]), tf.ones([4, 3]))


def test_wrong_and_certain_predictions_cost_as_much_as_epsilon_allows():
    value = losses.BinaryCrossentropy()([[1.0]], [[0.0]])
    assert float(value) == pytest.approx(-np.log(1e-7), rel=1e-6)
