"""Losses and metrics against their formulas."""

import numpy as np
import pytest

import tapeflow as tf

losses, metrics = tf.keras.losses, tf.keras.metrics
LABELS = np.array([0, 2, 1])
ONE_HOT = np.eye(3, dtype=np.float32)[LABELS]
P = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.5, 0.4, 0.1]], np.float32)
Y = np.array([[0.1, 0.5, 0.3], [0.9, 0.2, 0.6], [0.4, 0.8, 0.7]], np.float32)
LOGITS = np.log(P)
CROSS = -np.log(P[np.arange(3), LABELS])
WEIGHTS = np.array([1.0, 2.0, 0.0], np.float32)

PER_EXAMPLE = {
    "MeanSquaredError": (Y, P, ((Y - P) ** 2).mean(1)),
    "MeanAbsoluteError": (Y, P, np.abs(Y - P).mean(1)),
    "MeanAbsolutePercentageError": (Y, P, 100 * np.abs((Y - P) / Y).mean(1)),
    "MeanSquaredLogarithmicError": (Y, P, ((np.log1p(Y) - np.log1p(P)) ** 2).mean(1)),
    "Hinge": (ONE_HOT, P, np.maximum(1 - (2 * ONE_HOT - 1) * P, 0).mean(1)),
    "Huber": (Y, P, (0.5 * (Y - P) ** 2).mean(1)),
    "LogCosh": (Y, P, np.log(np.cosh(Y - P)).mean(1)),
    "Poisson": (Y, P, (P - Y * np.log(P)).mean(1)),
    "KLDivergence": (Y, P, (Y * np.log(Y / P)).sum(1)),
    "BinaryCrossentropy": (ONE_HOT, P, -np.log(np.where(ONE_HOT == 1, P, 1 - P)).mean(1)),
    "CategoricalCrossentropy": (ONE_HOT, P, CROSS),
    "SparseCategoricalCrossentropy": (LABELS, P, CROSS),
    "CosineSimilarity": (
        Y,
        P,
        -(Y * P).sum(1) / np.linalg.norm(Y, axis=1) / np.linalg.norm(P, axis=1),
    ),
}


@pytest.mark.parametrize("name", PER_EXAMPLE)
def test_losses(name):
    y, p, expected = PER_EXAMPLE[name]
    cls = getattr(losses, name)
    np.testing.assert_allclose(cls(reduction="none")(y, p).numpy(), expected, rtol=1e-4)
    np.testing.assert_allclose(cls()(y, p).numpy(), expected.mean(), rtol=1e-4)
    np.testing.assert_allclose(cls(reduction="sum")(y, p).numpy(), expected.sum(), rtol=1e-4)
    weighted = cls()(y, p, sample_weight=WEIGHTS).numpy()
    np.testing.assert_allclose(weighted, (expected * WEIGHTS).mean(), rtol=1e-4)


def test_cross_entropy_of_logits():
    for cls, y in (
        (losses.SparseCategoricalCrossentropy, LABELS),
        (losses.CategoricalCrossentropy, ONE_HOT),
    ):
        np.testing.assert_allclose(
            cls(from_logits=True)(y, LOGITS + 5).numpy(), CROSS.mean(), rtol=1e-5
        )


METRICS = {
    "Mean": ((np.array([0.0, 5.0, 8.0, 9.0], np.float32),), 5.5),
    "Sum": ((np.array([1.0, 2.0], np.float32),), 3.0),
    "Accuracy": ((np.array([1, 2, 3]), np.array([1, 0, 3])), 2 / 3),
    "SparseCategoricalAccuracy": ((LABELS, P), 2 / 3),
    "CategoricalAccuracy": ((ONE_HOT, P), 2 / 3),
    "BinaryAccuracy": ((ONE_HOT, P), 7 / 9),
    "Precision": ((ONE_HOT, P), 1.0),
    "Recall": ((ONE_HOT, P), 1 / 3),
    "RootMeanSquaredError": ((Y, P), np.sqrt(((Y - P) ** 2).mean())),
    "TopKCategoricalAccuracy": ((ONE_HOT, P), 1.0),
}


@pytest.mark.parametrize("name", METRICS)
def test_metrics(name):
    arguments, expected = METRICS[name]
    metric = getattr(metrics, name)()
    np.testing.assert_allclose(metric(*arguments).numpy(), expected, rtol=1e-5)
    metric.reset_state()
    assert float(metric.result()) == 0.0


def test_bad_reduction():
    with pytest.raises(ValueError, match="Invalid value for argument `reduction`"):
        losses.MeanSquaredError(reduction="x")


def test_losses_of_1x():
    v1 = tf.compat.v1.losses
    error = (Y - P) ** 2
    np.testing.assert_allclose(v1.mean_squared_error(Y, P).numpy(), error.mean(), rtol=1e-5)
    np.testing.assert_allclose(
        v1.sparse_softmax_cross_entropy(LABELS, LOGITS).numpy(), CROSS.mean(), rtol=1e-5
    )
    # Only elements with a weight count.
    weighted = v1.mean_squared_error(Y, P, weights=WEIGHTS[:, None]).numpy()
    np.testing.assert_allclose(weighted, (error * WEIGHTS[:, None]).sum() / 6, rtol=1e-5)
    none = v1.mean_squared_error(Y, P, reduction=v1.Reduction.NONE).numpy()
    np.testing.assert_allclose(none, error, rtol=1e-5)
    with pytest.raises(ValueError, match="are incompatible"):
        v1.mean_squared_error(Y, P[:2])
    with pytest.raises(ValueError, match="weights can not be broadcast"):
        v1.mean_squared_error(Y, P, weights=[1.0, 2.0])
