"""tf.contrib.learn's heads: losses, predictions and metrics by formulas; metric functions of any arguments."""

import functools
import inspect

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

learn = tf.contrib.learn
Keys, TRAIN, EVAL, INFER = learn.MetricKey, learn.ModeKeys.TRAIN, learn.ModeKeys.EVAL, learn.ModeKeys.INFER
LOGITS = np.array([[1.0, -0.5, 0.25], [-2.0, 0.0, 3.0], [0.5, 2.0, -1.0]], "f")
WEIGHTS = np.array([1.0, 3.0, 0.5], "f")


def evaluated(head, logits, labels, features=None, mode=EVAL):
    """(loss, metrics, predictions) of a head."""
    with tf.Graph().as_default(), tf.Session() as session:
        ops = head.create_model_fn_ops(features or {}, mode, labels, lambda loss: tf.no_op(), logits)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        session.run([update for _, update in ops.eval_metric_ops.values()])
        metrics = {key: value for key, (value, _) in ops.eval_metric_ops.items()}
        return session.run([ops.loss, metrics, ops.predictions])


def mean_and_average(losses, weights=WEIGHTS):
    losses = losses * np.reshape(weights, [-1] + [1] * (losses.ndim - 1))
    return losses.mean(), losses.sum() / (np.sum(weights) * losses[0].size)


def test_regression():
    head = learn.regression_head(weight_column_name="w", label_dimension=3, head_name="h")
    labels = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 2.0], [3.0, 2.0, 1.0]], "f")
    loss, metrics, predictions = evaluated(head, LOGITS, labels, {"w": WEIGHTS})
    mean, average = mean_and_average((LOGITS - labels) ** 2)
    np.testing.assert_allclose([loss, metrics["loss/h"]], [mean, average], rtol=1e-6)
    np.testing.assert_array_equal(predictions["scores"], LOGITS)
    loss, _, predictions = evaluated(learn.regression_head(link_fn=tf.exp), LOGITS[:, :1], labels[:, 0])
    np.testing.assert_allclose(loss, ((LOGITS[:, 0] - labels[:, 0]) ** 2).mean(), rtol=1e-6)
    np.testing.assert_allclose(predictions["scores"], np.exp(LOGITS[:, 0]), rtol=1e-6)


def test_counts():
    counts = np.array([0.0, 2.0, 3.0], "f")
    loss, _, predictions = evaluated(learn.poisson_regression_head(), LOGITS[:, :1], counts)
    stirling = [n * np.log(n) - n + 0.5 * np.log(2 * np.pi * n) if n > 1 else 0 for n in counts]
    z = LOGITS[:, 0]
    np.testing.assert_allclose(loss, (np.exp(z) - counts * z + stirling).mean(), rtol=1e-5)
    np.testing.assert_allclose(predictions["scores"], np.exp(z), rtol=1e-6)


def test_two_classes():
    head = learn.multi_class_head(2, weight_column_name="w", thresholds=[0.25])
    labels, z = np.array([1, 0, 1]), LOGITS[:, 0]
    loss, metrics, predictions = evaluated(head, LOGITS[:, :1], labels[:, None], {"w": WEIGHTS})
    mean, average = mean_and_average(np.log1p(np.exp(-z * (2 * labels - 1))))
    np.testing.assert_allclose([loss, metrics[Keys.LOSS]], [mean, average], rtol=1e-6)
    logistic = 1 / (1 + np.exp(-z))
    np.testing.assert_allclose(predictions["logistic"][:, 0], logistic, rtol=1e-6)
    np.testing.assert_allclose(predictions["probabilities"][:, 1], logistic, rtol=1e-6)
    assert predictions["classes"].tolist() == [1, 0, 1]
    assert metrics[Keys.ACCURACY] == 1.0
    np.testing.assert_allclose(metrics[Keys.AUC], 1.0, rtol=1e-6)
    np.testing.assert_allclose(metrics[Keys.LABEL_MEAN], 1.5 / 4.5, rtol=1e-6)
    np.testing.assert_allclose(metrics[Keys.PREDICTION_MEAN], (logistic * WEIGHTS).sum() / 4.5, rtol=1e-6)
    for key in (Keys.PRECISION_MEAN, Keys.RECALL_MEAN):
        np.testing.assert_allclose(metrics[key % 0.25], 1.0, rtol=1e-6)


@pytest.mark.parametrize("names", [None, ["x", "y", "z"]])
@pytest.mark.parametrize("is_column", [False, True])
def test_classes(names, is_column):
    head = learn.multi_class_head(3, metric_class_ids=[2], label_keys=names)
    numbers = np.array([0, 2, 2])
    labels = numbers if names is None else np.array(names)[numbers]
    loss, metrics, predictions = evaluated(head, LOGITS, labels[:, None] if is_column else labels)
    logs = LOGITS - np.log(np.exp(LOGITS).sum(1, keepdims=True))
    np.testing.assert_allclose(loss, -logs[[0, 1, 2], numbers].mean(), rtol=1e-5)
    np.testing.assert_allclose(predictions["probabilities"], np.exp(logs), rtol=1e-5)
    found = predictions["classes"].tolist()
    assert found == ([0, 2, 1] if names is None else [b"x", b"z", b"y"])
    if names is None:
        np.testing.assert_allclose(metrics[Keys.CLASS_PREDICTION_MEAN % 2], 1 / 3, rtol=1e-6)
        np.testing.assert_allclose(metrics[Keys.CLASS_LABEL_MEAN % 2], 2 / 3, rtol=1e-6)
        np.testing.assert_allclose(metrics[Keys.CLASS_LOGITS_MEAN % 2], LOGITS[:, 2].mean(), rtol=1e-6)
    else:
        assert set(metrics) == {Keys.LOSS, Keys.ACCURACY}
    np.testing.assert_allclose(metrics[Keys.ACCURACY], 2 / 3, rtol=1e-6)


def test_several_classes_at_once():
    head = learn.multi_label_head(3, metric_class_ids=[1])
    labels = np.array([[1, 0, 1], [0, 1, 1], [0, 0, 0]])
    losses = np.log1p(np.exp(-LOGITS * (2 * labels - 1)))
    loss, metrics, predictions = evaluated(head, LOGITS, labels)
    np.testing.assert_allclose(loss, losses.mean(), rtol=1e-5)
    assert predictions["classes"].tolist() == (LOGITS > 0).astype(int).tolist()
    np.testing.assert_allclose(metrics[Keys.CLASS_LABEL_MEAN % 1], 1 / 3, rtol=1e-6)
    sparse = tf.SparseTensorValue([[0, 0], [0, 1], [1, 0], [1, 1]], np.array([0, 2, 1, 2]), [3, 2])
    with tf.Graph().as_default(), tf.Session() as session:
        ops = head.create_model_fn_ops({}, EVAL, tf.SparseTensor(*sparse), None, LOGITS)
        np.testing.assert_allclose(session.run(ops.loss), losses.mean(), rtol=1e-5)


def test_margins():
    labels = np.array([1, 0, 0])
    loss, metrics, _ = evaluated(learn.binary_svm_head(), LOGITS[:, :1], labels)
    np.testing.assert_allclose(loss, np.maximum(0, 1 - LOGITS[:, 0] * (2 * labels - 1)).mean(), rtol=1e-6)
    np.testing.assert_allclose(metrics[Keys.ACCURACY], 2 / 3, rtol=1e-6)


def test_a_loss_of_the_users():
    head = learn.multi_class_head(2, loss_fn=lambda labels, logits, weights=1.0: tf.reduce_sum(logits) * 2)
    np.testing.assert_allclose(evaluated(head, LOGITS[:, :1], np.array([1, 0, 1]))[0], -1.0, rtol=1e-6)
    with pytest.raises(ValueError, match="Argument weights not found in loss_fn"):
        learn.multi_class_head(2, loss_fn=functools.partial(lambda labels, logits: None))


def test_a_bias_is_learned_from_labels():
    head = learn.regression_head(enable_centered_bias=True)
    with tf.Graph().as_default(), tf.Session() as session:
        labels = tf.constant([4.0, 6.0])
        ops = head.create_model_fn_ops({}, TRAIN, labels, lambda loss: tf.no_op(), tf.zeros([2, 1]))
        session.run(tf.global_variables_initializer())
        before = session.run(ops.loss)
        for _ in range(5):
            session.run(ops.train_op)
        (bias,) = tf.trainable_variables()
        assert bias.name == "regression_head/centered_bias_weight:0"
        assert session.run(bias)[0] > 0.2
        assert session.run(ops.loss) < before


def test_heads_side_by_side():
    heads = [learn.regression_head("a", head_name="one"), learn.multi_class_head(2, "b", head_name="two")]
    head = learn.multi_head([*heads, learn.loss_only_head(lambda: [tf.constant(1.0)] * 2)], [1.0, 0.5, 0.25])
    assert head.logits_dimension == 2
    labels = {"a": np.array([1.0, 0.0, 2.0], "f"), "b": np.array([1, 0, 1])}
    first = evaluated(heads[0], LOGITS[:, :1], labels)
    second = evaluated(heads[1], LOGITS[:, 1:2], labels)
    loss, metrics, predictions = evaluated(head, LOGITS[:, :2], labels)
    np.testing.assert_allclose(loss, first[0] + 0.5 * second[0] + 0.5, rtol=1e-6)
    assert metrics["accuracy/two"] == second[1]["accuracy/two"]
    np.testing.assert_array_equal(predictions["one", "scores"], first[2]["scores"])
    with tf.Graph().as_default():
        parts = {"one": tf.constant(LOGITS[:, :1]), "two": tf.constant(LOGITS[:, 1:2])}
        ops = head.create_model_fn_ops({}, INFER, logits=parts)
        assert set(ops.output_alternatives) == {"one", "two"}
    with pytest.raises(ValueError, match="must have names"):
        learn.multi_head([learn.regression_head()])


def test_logits_of_a_layer():
    with tf.Graph().as_default():
        ops = learn.multi_class_head(4).create_model_fn_ops({}, INFER, logits_input=tf.ones([2, 3]))
        assert ops.predictions["logits"].shape == (2, 4)
        assert {v.op.name for v in tf.trainable_variables()} == {
            "multi_class_head/logits/weights", "multi_class_head/logits/biases",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("head", "arguments", "message"),
    [
        (lambda: learn.regression_head(), {"mode": "other", "logits": LOGITS[:, :1]}, "mode=other unrecognized"),
        (lambda: learn.regression_head(), {"mode": INFER}, "Neither logits nor"),
        (lambda: learn.regression_head(), {"mode": INFER, "logits": LOGITS, "logits_input": LOGITS}, "Both logits"),
        (lambda: learn.regression_head(), {"mode": INFER, "logits": LOGITS}, "not compatible|incompatible"),
        (
            lambda: learn.regression_head(),
            {"mode": TRAIN, "logits": LOGITS[:, :1], "labels": LOGITS[:, 0]}, "train_op_fn can not be None",
        ),
        (
            lambda: learn.regression_head(weight_column_name="w"),
            {"mode": EVAL, "logits": LOGITS[:, :1], "labels": LOGITS[:, 0]}, "Weights w missing from features",
        ),
        (
            lambda: learn.multi_class_head(3),
            {"mode": EVAL, "logits": LOGITS, "labels": LOGITS[:, 0]}, "Labels dtype should be integer",
        ),
        (lambda: learn.multi_class_head(1), {}, "n_classes must be > 1"),
        (lambda: learn.multi_class_head(2, label_keys=["a", "b"]), {}, "label_keys is not supported"),
        (lambda: learn.multi_class_head(3, label_keys=["a", "b"]), {}, "Length of label_keys"),
        (lambda: learn.multi_class_head(3, metric_class_ids=[3]), {}, r"Class ID 3 not in \[0, 3\)"),
        (lambda: learn.regression_head(label_dimension=0), {}, "Invalid logits_dimension 0"),
    ],
)  # fmt: skip
def test_bad_input(head, arguments, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        head().create_model_fn_ops({}, **arguments)


def order(*names):
    """A metric function with arguments of these names, which returns them."""

    def metric(*args, **kwargs):
        return {**dict(zip(names, args, strict=False)), **kwargs}

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    metric.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    return metric


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("labels", "predictions"), {"labels": "l", "predictions": "p"}),
        (("logits", "targets"), {"logits": "p", "targets": "l"}),
        (("x", "label"), {"x": "p", "label": "l"}),
        (("target", "x"), {"target": "l", "x": "p"}),
        (("prediction",), {"prediction": "p"}),
        (("x",), {"x": "p"}),
        (("x", "labels", "weight"), {"x": "p", "labels": "l", "weight": "w"}),
    ],
)
def test_metric_functions_of_any_arguments(names, found):
    key = "w" if "weight" in names else None
    spec = learn.MetricSpec(order(*names), weight_key=key)
    assert spec.create_metric_ops({"w": "w"}, "l", "p") == found
    assert spec.create_metric_ops({"w": "w"}, {"only": "l"}, {"only": "p"}) == found


@pytest.mark.parametrize(
    ("make", "given", "message"),
    [
        (lambda: learn.MetricSpec(order("labels", "targets")), (), "Ambiguous arguments"),
        (lambda: learn.MetricSpec(order("x"), label_key="l"), (), "missing from metric"),
        (lambda: learn.MetricSpec(order("x"), weight_key="w"), (), "missing from metric"),
        (lambda: learn.MetricSpec(order("x"), "a"), ({}, "l", "p"), "requires predictions dict"),
        (lambda: learn.MetricSpec(order("x")), ({}, "l", {"a": 1, "b": 2}), "single element dict"),
        (lambda: learn.MetricSpec(order("x"), "c"), ({}, "l", {"a": 1, "b": 2}), "Key 'c' missing"),
    ],
)
def test_metric_functions_that_do_not_fit(make, given, message):
    with pytest.raises((ValueError, KeyError), match=message):
        make().create_metric_ops(*given)
