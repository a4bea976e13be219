"""The estimator of programs written for TPUs, on the device that there is."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.contrib import tpu as contrib_tpu

v1 = tf.compat.v1
tpu = v1.estimator.tpu
ModeKeys = v1.estimator.ModeKeys


def model_fn(features, labels, mode, params):
    w = v1.get_variable("w", [1], initializer=v1.zeros_initializer())
    y = features["x"] * w * params["scale"]
    if mode == ModeKeys.PREDICT:
        sizes = tf.fill(tf.shape(y), params["batch_size"])
        return tpu.TPUEstimatorSpec(mode, predictions={"y": y, "size": sizes})
    loss = tf.reduce_mean((y - labels) ** 2)
    optimizer = contrib_tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.1))
    train_op = optimizer.minimize(loss, global_step=v1.train.get_global_step())
    count = v1.get_variable("count", [], tf.int32, v1.zeros_initializer(), trainable=False)
    return tpu.TPUEstimatorSpec(
        mode,
        loss=loss,
        train_op=train_op,
        eval_metrics=(lambda y, labels: {"error": v1.metrics.mean_absolute_error(labels, y)}, [y, labels]),
        host_call=(lambda n: count.assign_add(n), {"n": tf.constant(2)}),
    )


def input_fn(params):
    x = np.linspace(-1, 1, 24, dtype=np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, 3 * x)).repeat().batch(params["batch_size"])


@pytest.fixture
def estimator(tmp_path):
    config = tpu.RunConfig(tpu_config=tpu.TPUConfig(iterations_per_loop=5), tf_random_seed=1)
    return tpu.TPUEstimator(
        model_fn, str(tmp_path), config, {"scale": 2.0}, use_tpu=False, train_batch_size=8, eval_batch_size=6,
        predict_batch_size=4,
    )  # fmt: skip


def test_trains_evaluates_and_predicts(estimator):
    estimator.train(input_fn, steps=40)
    assert estimator.get_variable_value("w") == pytest.approx(1.5, abs=0.01)
    assert estimator.get_variable_value("count") == 80
    results = estimator.evaluate(input_fn, steps=4)
    assert results["error"] == pytest.approx(0, abs=0.02)
    assert results["global_step"] == 40
    found = estimator.predict(lambda params: tf.data.Dataset.from_tensors({"x": tf.fill([params["batch_size"]], 2.0)}))
    rows = list(found)
    assert len(rows) == 4
    assert rows[0]["size"] == 4
    assert rows[0]["y"] == pytest.approx(6, abs=0.05)


def test_a_tpu_that_is_not_there(tmp_path, caplog):
    with caplog.at_level("WARNING", "tensorflow"):
        tpu.TPUEstimator(model_fn, str(tmp_path), params={}, train_batch_size=8)
    assert "there is no TPU" in caplog.text


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: tpu.TPUEstimator(model_fn, params={"batch_size": 3}), "batch_size is a reserved key"),
        (lambda: tpu.TPUEstimator(model_fn, config=v1.estimator.RunConfig()), "must be `tpu.RunConfig`"),
        (lambda: tpu.TPUConfig(iterations_per_loop=0), "iterations_per_loop should be positive"),
        (lambda: tpu.TPUEstimatorSpec(ModeKeys.EVAL, eval_metrics=[1]), "eval_metrics should be a pair"),
        (lambda: tpu.TPUEstimatorSpec(ModeKeys.EVAL, host_call=(max, 3)), "should be a list or dict"),
        (lambda: contrib_tpu.CrossShardOptimizer(None, reduction="no"), "Unsupported reduction"),
    ],
)
def test_what_is_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()
