"""`tf.contrib.estimator`: heads, hooks and wrappers, in small trainings."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

ce = tf.contrib.estimator
COLUMNS = [tf.feature_column.numeric_column("x", 2)]
X = np.random.RandomState(0).randn(64, 2).astype(np.float32)
CLASSES = (X[:, 0] > 0).astype(np.int64) + (X[:, 1] > 0)


def inputs(labels):
    return lambda: ({"x": tf.constant(X)}, labels() if callable(labels) else tf.constant(labels))


def adam():
    return tf.train.AdamOptimizer(0.05)


HEADS = {
    "binary": (lambda: ce.binary_classification_head(thresholds=[0.4]), (X[:, 0] > 0).astype(np.float32)),
    "classes": (lambda: ce.multi_class_head(3), CLASSES),
    "numbers": (lambda: ce.regression_head(), X.sum(1)),
    "counts": (lambda: ce.poisson_regression_head(), np.floor(np.exp(X[:, 0]))),
    "chances": (lambda: ce.logistic_regression_head(), 1 / (1 + np.exp(-X[:, 0]))),
    "labels": (lambda: ce.multi_label_head(2, thresholds=[0.5], classes_for_class_based_metrics=[1]),
               (X > 0).astype(np.int64)),
}  # fmt: skip


@pytest.mark.parametrize("name", HEADS)
def test_heads_learn(name, tmp_path):
    head, labels = HEADS[name]
    labels = labels.astype(np.float32) if labels.dtype == np.float64 else labels
    estimator = ce.DNNEstimator(head(), [8], COLUMNS, str(tmp_path), adam)
    before = estimator.evaluate(inputs(labels), steps=1)
    estimator.train(inputs(labels), steps=60)
    after = estimator.evaluate(inputs(labels), steps=1)
    assert after["loss"] < before["loss"] - 0.02
    assert after["average_loss"] == pytest.approx(after["loss"], rel=1e-4)
    if name == "binary":
        assert after["accuracy/positive_threshold_0.4"] > 0.9
    if name == "labels":
        assert after["auc/class1"] > 0.9
    assert next(estimator.predict(inputs(labels)))


def test_loss_name_and_regularization(tmp_path):
    with tf.Graph().as_default():
        tf.train.create_global_step()
        logits = tf.constant([[1.0], [2.0]])
        head = ce.regression_head(name="price", loss_fn=lambda labels, logits: abs(labels - logits))
        spec = head.create_estimator_spec(
            {}, "eval", logits, tf.constant([[0.0], [0.0]]), regularization_losses=[tf.constant(0.5)]
        )
        assert "average_loss/price" in spec.eval_metric_ops
        loss = head.create_loss({}, "eval", logits, tf.constant([0.0, 0.0]))
        with tf.Session() as session:
            assert session.run([spec.loss, loss.training_loss]) == [2.0, 1.5]
        with pytest.raises(ValueError, match="cannot both be None"):
            head.create_estimator_spec({}, "train", logits, tf.constant([[0.0], [0.0]]))
        with pytest.raises(ValueError, match="logits_dimension=1"):
            head.create_estimator_spec({}, "infer", tf.ones([2, 3]))


def test_multi_head(tmp_path):
    heads = [ce.regression_head(name="sum"), ce.binary_classification_head(name="sign")]
    head = ce.multi_head(heads, [2.0, 1.0])
    labels = {"sum": X.sum(1), "sign": (X[:, 0] > 0).astype(np.float32)}

    def wanted():
        return {name: tf.constant(value) for name, value in labels.items()}

    estimator = ce.DNNEstimator(head, [8], COLUMNS, str(tmp_path), adam)
    estimator.train(inputs(wanted), steps=60)
    found = estimator.evaluate(inputs(wanted), steps=1)
    assert found["loss"] == pytest.approx(2 * found["loss/sum"] + found["loss/sign"], rel=1e-4)
    assert found["accuracy/sign"] > 0.9
    assert ("sum", "predictions") in next(estimator.predict(inputs(wanted)))
    with pytest.raises(ValueError, match="different name"):
        ce.multi_head(heads[:1] * 2)


def linear(tmp_path, **kwargs):
    return ce.LinearEstimator(
        ce.regression_head(), COLUMNS, str(tmp_path), tf.train.GradientDescentOptimizer(0.1), **kwargs
    )


def test_added_metrics_and_forwarded_features(tmp_path):
    def worst(labels, predictions):
        return {"worst": tf.metrics.mean(tf.reduce_max(tf.abs(labels - predictions["predictions"][:, 0])))}

    estimator = ce.add_metrics(linear(tmp_path), worst)
    estimator.train(inputs(X.sum(1)), steps=20)
    found = estimator.evaluate(inputs(X.sum(1)), steps=1)
    assert {"worst", "average_loss"} <= set(found)
    forwarded = ce.forward_features(estimator, "x")
    np.testing.assert_array_equal(next(forwarded.predict(inputs(X.sum(1))))["x"], X[0])
    with pytest.raises(ValueError, match="not expected args"):
        ce.add_metrics(estimator, lambda other: {})
    with pytest.raises(ValueError, match="not in features"):
        next(ce.forward_features(estimator, ["y"]).predict(inputs(X.sum(1))))


def test_clipped_gradients():
    with tf.Graph().as_default():
        w = tf.Variable([3.0, 4.0])
        optimizer = ce.clip_gradients_by_norm(tf.train.MomentumOptimizer(1.0, 0.9), 1.0)
        step = optimizer.minimize(tf.reduce_sum(w**2) / 2)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            np.testing.assert_allclose(session.run(w), [2.4, 3.2], rtol=1e-6)
        assert optimizer.get_slot_names() == ["momentum"]


def test_early_stopping(tmp_path):
    estimator = linear(tmp_path, config=tf.estimator.RunConfig(save_checkpoints_steps=5))
    hook = ce.stop_if_lower_hook(estimator, "loss", 0.5, run_every_secs=None, run_every_steps=1)
    evaluator = ce.InMemoryEvaluatorHook(estimator, inputs(X.sum(1)), steps=1, every_n_iter=5)
    estimator.train(inputs(X.sum(1)), hooks=[evaluator, hook], max_steps=200)
    metrics = ce.read_eval_metrics(estimator.eval_dir())
    steps = list(metrics)
    assert steps[0] == 0
    assert 5 <= steps[-1] < 100
    assert metrics[steps[-1]]["loss"] < 0.5
    with pytest.raises(ValueError, match="must be set"):
        ce.make_early_stopping_hook(estimator, lambda: True, None)


@pytest.mark.parametrize("kind", ["increase", "decrease"])
def test_stopping_without_change(tmp_path, kind):
    estimator = linear(tmp_path)
    writer = tf.summary.FileWriter(estimator.eval_dir())
    sign = 1 if kind == "increase" else -1
    for step, value in ((10, 1.0), (20, 3.0), (30, 2.0), (40, 2.5)):
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="m", simple_value=sign * value)]), step)
    writer.close()
    make = getattr(ce, f"stop_if_no_{kind}_hook")

    def steps(most):
        hook = make(estimator, "m", most, run_every_secs=None, run_every_steps=1)
        with tf.Graph().as_default():
            step = tf.train.create_global_step().assign_add(1)
            with tf.train.MonitoredSession(hooks=[hook]) as session:
                count = 0
                while not session.should_stop() and count < 4:
                    session.run(step)
                    count += 1
        return count

    assert steps(20) < 4
    assert steps(21) == 4


def test_replicated_model(tmp_path):
    def model_fn(features, labels, mode, params):
        found = tf.layers.dense(features["x"], 1)[:, 0]
        loss = tf.losses.mean_squared_error(labels, found)
        optimizer = ce.TowerOptimizer(tf.train.GradientDescentOptimizer(params["rate"]))
        return tf.estimator.EstimatorSpec(
            mode, found, loss, optimizer.minimize(loss, tf.train.get_global_step())
        )

    estimator = tf.estimator.Estimator(
        ce.replicate_model_fn(model_fn, devices=["/cpu:0"]), str(tmp_path), params={"rate": 0.1}
    )
    estimator.train(inputs(X.sum(1)), steps=60)
    assert estimator.evaluate(inputs(X.sum(1)), steps=1)["loss"] < 0.05


def test_supervised_receivers():
    with tf.Graph().as_default():
        receiver = ce.build_raw_supervised_input_receiver_fn(
            {"x": tf.zeros([3, 2])}, tf.zeros([3], tf.int64), default_batch_size=5
        )()
        assert receiver.features["x"].shape.as_list() == [5, 2]
        assert receiver.labels.dtype == tf.int64
        assert set(receiver.receiver_tensors) == {"x", "label"}
    made = ce.build_supervised_input_receiver_fn_from_input_fn(inputs(X.sum(1)))
    with tf.Graph().as_default():
        assert made().features["x"].shape.as_list() == [None, 2]
    with pytest.raises(ValueError, match="distinct keys"):
        ce.build_raw_supervised_input_receiver_fn({"x": X}, {"x": X})
