"""Losses and metrics in Keras 3: masks of predictions and of losses, classes out of range, names, several axes."""

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras


class Squared(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return (y_true - y_pred) ** 2


def predictions(values, mask):
    y = tf.constant(values, tf.float32)
    y._keras_mask = tf.constant(mask)
    return y


@pytest.mark.parametrize(
    ("reduction", "weight", "expected"),
    [
        ("sum_over_batch_size", None, (1.0 + 9.0) / 2),
        ("sum_over_batch_size", [1.0, 5.0, 0.5], (1.0 + 0.5 * 9.0) / 2),
        ("sum_over_batch_size", [[1.0], [5.0], [0.5]], (1.0 + 0.5 * 9.0) / 2),
        ("sum", [1.0, 5.0, 0.5], 1.0 + 0.5 * 9.0),
        ("mean_with_sample_weight", [1.0, 5.0, 0.5], (1.0 + 0.5 * 9.0) / 1.5),
        ("none", None, [1.0, 0.0, 9.0]),
    ],
)
def test_losses_leave_out_what_is_masked(reduction, weight, expected):
    y = predictions([1.0, 2.0, 3.0], [True, False, True])
    weight = None if weight is None else np.array(weight)
    loss = Squared(reduction=reduction)(np.zeros(3), y, sample_weight=weight)
    np.testing.assert_allclose(loss, expected, rtol=1e-6)


def test_nothing_counts_where_all_is_masked():
    assert float(Squared()(np.zeros(2), predictions([1.0, 2.0], [False, False]))) == 0.0


def test_ignored_classes_do_not_count():
    probabilities = np.array([[0.5, 0.5], [0.25, 0.75], [0.5, 0.5]], "float32")
    loss = keras.losses.SparseCategoricalCrossentropy(ignore_class=0)
    np.testing.assert_allclose(loss(np.array([0, 1, 0]), probabilities), -np.log(0.75), rtol=1e-6)
    each = keras.losses.sparse_categorical_crossentropy(np.array([0, 1]), probabilities[:2], ignore_class=0)
    np.testing.assert_allclose(each, [0.0, -np.log(0.75)], rtol=1e-6)


def test_the_circle_loss_is_a_mean_over_what_it_is_not_zero_for():
    labels = np.array([1, 1, 2])
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], "float32")
    each = keras.losses.circle(labels, vectors).numpy()
    assert (each > 0).tolist() == [True, True, False]
    np.testing.assert_allclose(keras.losses.Circle()(labels, vectors), each[:2].mean(), rtol=1e-6)


@pytest.mark.parametrize("jit", [False, True])
def test_fit_masks_once(jit):
    x = np.array([[1, 2, 0, 0], [3, 0, 0, 0]])
    model = keras.Sequential([
        keras.layers.Embedding(4, 1, mask_zero=True, embeddings_initializer="ones"),
        keras.layers.Dense(1, kernel_initializer="ones"),
    ])
    model.compile("sgd", "mse", run_eagerly=not jit)
    y = np.array([[3.0, 2.0, 9.0, 9.0], [1.0, 9.0, 9.0, 9.0]])[..., None]
    np.testing.assert_allclose(model.evaluate(x, y, verbose=0), (4.0 + 1.0 + 0.0) / 3, rtol=1e-5)


def test_no_classes_count_nowhere():
    metric = keras.metrics.MeanIoU(2)
    metric.update_state([0, 1, -1, 5, 1], [0, 1, 1, 0, 7])
    assert float(metric.result()) == 1.0


@pytest.mark.parametrize(
    ("name", "cls"),
    [("mse", "MeanSquaredError"), ("bce", "BinaryCrossentropy"), ("mean_absolute_error", "MeanAbsoluteError"),
     ("accuracy", "Accuracy")],
)  # fmt: skip
def test_names_of_metrics_mean_classes(name, cls):
    assert type(keras.metrics.get(name)).__name__ == cls


def test_short_names_in_models():
    model = keras.Sequential([keras.Input([1]), keras.layers.Dense(1, "sigmoid")])
    model.compile("sgd", "bce", metrics=["bce", "mse"])
    found = model.evaluate(np.zeros([2, 1]), np.ones([2, 1]), verbose=0, return_dict=True)
    np.testing.assert_allclose([found["bce"], found["mse"]], [np.log(2), 0.25], rtol=1e-5)


@pytest.mark.parametrize("axis", [(1, 2), [0, -1], -1])
@pytest.mark.parametrize("function", ["softmax", "log_softmax"])
def test_softmax_over_several_axes(function, axis):
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
    axes = axis if isinstance(axis, int) else tuple(axis)
    expected = np.exp(x) / np.exp(x).sum(axes, keepdims=True)
    found = getattr(keras.activations, function)(x, axis=axis)
    np.testing.assert_allclose(found, expected if function == "softmax" else np.log(expected), rtol=1e-4, atol=1e-6)


def test_unknown_reductions():
    with pytest.raises(ValueError, match="Invalid value for argument `reduction`"):
        Squared(reduction="abc")
    assert Squared(dtype=keras.DTypePolicy("mixed_float16")).dtype == "float16"
    assert isinstance(keras.regularizers.get("l1l2"), keras.regularizers.L1L2)


@pytest.mark.parametrize(
    ("units", "y"),
    [(1, np.ones([2, 1])), (3, np.ones([2], "int32")), (3, np.ones([2, 1], "int32")), (3, np.eye(3)[:2])],
)
def test_crossentropies_by_shape(units, y):
    model = keras.Sequential([keras.Input([1]), keras.layers.Dense(units, "sigmoid" if units == 1 else "softmax")])
    model.compile("sgd", "crossentropy")
    found = model.evaluate(np.zeros([2, 1]), y, verbose=0)
    np.testing.assert_allclose(found, np.log(2) if units == 1 else np.log(3), rtol=1e-5)
