"""Losses, metrics and optimizers of Keras 3: what TensorFlow 2.21 gives for the same numbers."""

import numpy as np
import pytest

import tapeflow as tf

keras, losses, metrics = tf.keras, tf.keras.losses, tf.keras.metrics
_random = np.random.RandomState(0)
P = _random.rand(6, 4).astype("f4")
P /= P.sum(1, keepdims=True)
Y = _random.randint(0, 4, 6)
HOT = np.eye(4, dtype="f4")[Y]
EMBEDDED = _random.randn(6, 5).astype("f4")
LABELS, LOGITS = np.array([[1, 2, 0], [3, 1, 2]]), _random.randn(2, 7, 5).astype("f4")
BINARY, WEIGHTS = _random.randint(0, 2, (6, 4)), _random.rand(6).astype("f4")

LOSSES = {
    "binary_focal": (
        lambda: losses.binary_focal_crossentropy(HOT, P),
        [0.2094, 0.1065, 0.1146, 0.0405, 0.1443, 0.196],
    ),
    "categorical_focal": (
        lambda: losses.categorical_focal_crossentropy(HOT, P),
        [0.195, 0.0976, 0.1039, 0.028, 0.1224, 0.1797],
    ),
    "generalized": (
        lambda: losses.categorical_generalized_cross_entropy(Y, P, 0.5),
        [1.0001, 0.7806, 0.798, 0.5029, 0.846, 0.9711],
    ),
    "dice": (lambda: losses.dice(HOT, P), 0.6432),
    "tversky": (lambda: losses.tversky(HOT, P, 0.3, 0.7), 0.6432),
    "circle": (
        lambda: losses.circle(Y, EMBEDDED, gamma=2.0, margin=0.1, remove_diagonal=False),
        [2.5639, 2.4866, 2.5599, 10.5317, 10.6145, 10.893],
    ),
    "ctc": (lambda: losses.ctc(LABELS, LOGITS), [7.9057, 7.3213]),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    compute, expected = LOSSES[name]
    np.testing.assert_allclose(compute(), expected, atol=2e-4)


METRICS = {
    "auc": (lambda: metrics.AUC(), (BINARY, P), 0.566),
    "auc pr": (lambda: metrics.AUC(curve="PR"), (BINARY, P), 0.6054),
    "auc minoring": (
        lambda: metrics.AUC(summation_method="minoring"),
        (BINARY[:, 0], P[:, 0], WEIGHTS),
        0.6214,
    ),
    "auc majoring": (
        lambda: metrics.AUC(summation_method="majoring", num_thresholds=5),
        (BINARY, P),
        0.7083,
    ),
    "auc labels": (lambda: metrics.AUC(multi_label=True, num_labels=4), (BINARY, P), 0.5243),
    "auc logits": (lambda: metrics.AUC(from_logits=True), (BINARY, P), 0.5729),
    "precision at recall": (lambda: metrics.PrecisionAtRecall(0.5), (BINARY, P), 0.5882),
    "specificity": (
        lambda: metrics.SpecificityAtSensitivity(0.3, num_thresholds=10),
        (BINARY[:, 0], P[:, 0], WEIGHTS),
        0.6214,
    ),
    "precision of top": (lambda: metrics.Precision(top_k=2), (BINARY, P), 0.5833),
    "precision of a class": (
        lambda: metrics.Precision(class_id=2, thresholds=[0.1, 0.3]),
        (BINARY, P),
        [0.6, 0.0],
    ),
    "recall": (lambda: metrics.Recall(class_id=2, thresholds=0.2), (BINARY, P), 0.6667),
    "f1": (lambda: metrics.F1Score(), (HOT, P), [0.6667, 0.4, 0.0, 0.6667]),
    "fbeta": (
        lambda: metrics.FBetaScore(average="weighted", beta=2.0, threshold=0.3),
        (HOT, P),
        0.6151,
    ),
    "iou": (lambda: metrics.IoU(3, [0, 1]), ([0, 1, 2, 1], [0, 1, 1, 1]), 0.8333),
    "iou ignoring": (
        lambda: metrics.IoU(3, [0, 1], ignore_class=2),
        ([0, 1, 2, 1], [0, 1, 1, 1]),
        1.0,
    ),
    "one-hot iou": (lambda: metrics.OneHotMeanIoU(4), (HOT, P), 0.3125),
    "binary iou": (
        lambda: metrics.BinaryIoU(threshold=0.3),
        ([0, 1, 0, 1], [0.1, 0.2, 0.4, 0.7]),
        0.3333,
    ),
    "pearson": (lambda: metrics.PearsonCorrelation(), (EMBEDDED, EMBEDDED**2 + 0.3), -0.21),
    "concordance": (lambda: metrics.ConcordanceCorrelation(), (EMBEDDED, EMBEDDED**2), -0.0498),
    "r2": (lambda: metrics.R2Score(), (EMBEDDED, EMBEDDED * 1.1 + 0.1), 0.9681),
    "r2 weighted": (
        lambda: metrics.R2Score(class_aggregation="variance_weighted_average"),
        (EMBEDDED, EMBEDDED * 1.1 + 0.1),
        0.9748,
    ),
    "bce": (lambda: metrics.BinaryCrossentropy(label_smoothing=0.1), (BINARY, P), 0.8576),
    "scce": (lambda: metrics.SparseCategoricalCrossentropy(ignore_class=1), (Y, P), 0.5657),
}


@pytest.mark.parametrize("name", METRICS)
def test_metrics(name):
    make, batch, expected = METRICS[name]
    metric = make()
    for _ in range(2):
        metric.update_state(*batch)
    np.testing.assert_allclose(metric.result(), expected, atol=1e-4)
    again = type(metric).from_config(metric.get_config())
    traced = tf.function(again.update_state)
    for _ in range(2):
        traced(*map(tf.constant, batch))
    np.testing.assert_allclose(again.result(), expected, atol=1e-4)
    again.reset_state()
    assert all((v.numpy() == 0).all() for v in again.variables)


def test_metrics_without_state():
    mean = metrics.Mean()
    values = mean.stateless_update_state([tf.constant(1.0), tf.constant(1.0)], [3.0])
    assert [float(v) for v in values] == [4.0, 2.0]
    assert float(mean.stateless_result(values)) == 2.0
    assert [v.numpy() for v in mean.variables] == [0.0, 0.0]
    assert [v.numpy() for v in mean.stateless_reset_state()] == [0.0, 0.0]
    with pytest.raises(ValueError, match="expected 2 variables"):
        mean.stateless_result([1.0])


def test_reductions():
    loss, weights = losses.MeanSquaredError, np.array([1.0, 3.0], np.float32)
    y, p = np.zeros((2, 1), np.float32), np.array([[1.0], [2.0]], np.float32)
    for reduction, expected in (
        ("sum", 13.0), ("sum_over_batch_size", 6.5), ("mean_with_sample_weight", 3.25), (None, [1.0, 12.0]),
    ):  # fmt: skip
        np.testing.assert_allclose(loss(reduction=reduction)(y, p, sample_weight=weights), expected)
    with pytest.raises(ValueError, match="Invalid value for argument `reduction`"):
        loss(reduction="some")
    assert loss(dtype="float64")(y, p).dtype == tf.float64


# The losses of three epochs of the model below, from TensorFlow 2.21.
OPTIMIZERS = {
    "AdamW": (lambda o: o.AdamW(), [8.984964, 8.924929, 8.865105]),
    "Lion": (lambda o: o.Lion(), [8.985013, 8.925163, 8.865514]),
    "Lamb": (lambda o: o.Lamb(), [8.985013, 8.934164, 8.886536]),
    "Adafactor": (lambda o: o.Adafactor(), [8.988005, 8.940165, 8.892595]),
    "accumulation": (lambda o: o.SGD(gradient_accumulation_steps=2), [9.0, 8.1225, 7.330556]),
    "loss scale": (lambda o: o.LossScaleOptimizer(o.SGD()), [8.561251, 6.973191, 5.679708]),
    "averages": (
        lambda o: o.Adam(
            clipnorm=1.0, loss_scale_factor=8.0, use_ema=True, ema_overwrite_frequency=3
        ),
        [8.985013, 8.954615, 8.92427],
    ),
}


@pytest.mark.parametrize("eagerly", [True, False])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name, eagerly):
    make, expected = OPTIMIZERS[name]
    optimizer = make(keras.optimizers)
    optimizer = type(optimizer).from_config(optimizer.get_config())
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, kernel_initializer="ones")])
    model.compile(optimizer, "mse", run_eagerly=eagerly)
    history = model.fit(np.ones((64, 4)), np.ones((64, 2)), epochs=3, verbose=0).history
    np.testing.assert_allclose(history["loss"], expected, rtol=1e-5)


def test_loss_scale_skips_what_is_not_finite():
    optimizer = keras.optimizers.LossScaleOptimizer(
        keras.optimizers.SGD(1.0), dynamic_growth_steps=2
    )
    w = tf.Variable(1.0)
    assert float(optimizer.loss_scale) == 2.0**15
    optimizer.apply_gradients([(tf.constant(np.inf), w)])
    assert float(w) == 1.0
    assert float(optimizer.loss_scale) == 2.0**14
    for _ in range(2):
        optimizer.apply_gradients([(optimizer.get_scaled_loss(tf.constant(0.25)), w)])
    assert float(w) == 0.5
    assert float(optimizer.loss_scale) == 2.0**15
    with pytest.raises(TypeError, match="cannot wrap another"):
        keras.optimizers.LossScaleOptimizer(optimizer)


def test_updates_without_state():
    optimizer = keras.optimizers.SGD(0.5)
    w = tf.Variable(3.0)
    optimizer.build([w])
    own = [v.read_value() for v in (optimizer.iterations, optimizer.learning_rate)]
    trained, others = optimizer.stateless_apply(own, [tf.constant(2.0)], [tf.constant(1.0)])
    assert float(trained[0]) == 0.0
    assert int(others[0]) == 1
    assert float(w) == 3.0
    assert int(optimizer.iterations) == 0
