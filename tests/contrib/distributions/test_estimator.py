"""Heads of estimators that estimate distributions, against NumPy."""

import numpy as np
import pytest
from scipy import stats

import tapeflow.compat.v1 as tf
from tapeflow.contrib import distributions as D
from tapeflow.contrib import learn

LOGITS = np.float32([[0.0, -1.0], [1.0, 0.5], [-1.0, 1.0]])
LABELS = np.float32([[-1.0], [0.0], [1.0]])


def normal(logits):
    return D.Normal(logits[..., 0], tf.exp(logits[..., 1]))


def losses(logits=LOGITS):
    return -stats.norm(logits[:, 0], np.exp(logits[:, 1])).logpdf(LABELS[:, 0])


def run(head, mode, **arguments):
    """Values of the operations of a model, and what is in the collections of its graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        arguments = {"logits": tf.constant(LOGITS), "labels": tf.constant(LABELS), **arguments}
        features = {"weight": tf.constant([1.0, 2.0, 5.0])}
        made = head.create_model_fn_ops(features, mode, **arguments)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        wanted = {name: getattr(made, name) for name in ("predictions", "loss", "eval_metric_ops", "train_op")}
        found = session.run({name: value for name, value in wanted.items() if value is not None})
        variables = [v.op.name for v in tf.global_variables()]
        return found, made.output_alternatives, variables, session.run(tf.get_collection("summaries"))


def test_the_loss_is_the_negative_log_probability():
    head = D.estimator_head_distribution_regression(normal, logits_dimension=2)
    found, outputs, variables, summaries = run(head, learn.ModeKeys.EVAL)
    np.testing.assert_allclose(found["loss"], losses().mean(), rtol=1e-5)
    np.testing.assert_allclose(found["eval_metric_ops"]["loss"], [0, found["loss"]], rtol=1e-5)
    np.testing.assert_allclose(found["predictions"]["scores"], LOGITS[:, 0])
    assert outputs[None][0] == learn.ProblemType.LINEAR_REGRESSION
    assert not variables
    assert tf.Summary.FromString(summaries[0]).value[0].tag == "loss"


def test_examples_may_have_weights():
    def columns(logits):
        return D.Normal(logits[..., :1], tf.exp(logits[..., 1:]))

    head = D.estimator_head_distribution_regression(columns, logits_dimension=2, weight_column_name="weight")
    weights = np.array([1.0, 2.0, 5.0])
    found = run(head, learn.ModeKeys.EVAL, labels=tf.constant(LABELS[..., None]))[0]
    np.testing.assert_allclose(found["loss"], (losses() * weights).mean(), rtol=1e-5)
    average = (losses() * weights).sum() / weights.sum()
    np.testing.assert_allclose(found["eval_metric_ops"]["loss"], [0, average], rtol=1e-5)


def test_distributions_are_made_once():
    head = D.estimator_head_distribution_regression(normal, logits_dimension=2)
    with tf.Graph().as_default():
        logits = tf.constant(LOGITS)
        head.create_model_fn_ops({}, "train", tf.constant(LABELS), lambda loss: tf.no_op(), logits)
        assert head.distribution(logits) is head.distribution(logits)


def test_training_and_a_bias_that_is_trained_alone():
    head = D.estimator_head_distribution_regression(
        normal, logits_dimension=2, enable_centered_bias=True, head_name="own"
    )
    found, outputs, variables, summaries = run(head, "train", train_op_fn=lambda loss: tf.no_op())
    np.testing.assert_allclose(found["loss"], losses().mean(), rtol=1e-5)
    assert set(outputs) == {"own"}
    assert variables[0] == "own/centered_bias_weight"
    assert tf.Summary.FromString(summaries[0]).value[0].tag == "loss/own"


def test_logits_of_a_linear_layer():
    head = D.estimator_head_distribution_regression(lambda logits: D.Poisson(log_rate=logits))
    _, _, variables, _ = run(head, "infer", logits=None, logits_input=tf.constant([[1.0], [2.0]]))
    assert [name.rpartition("/")[2] for name in variables] == ["weights", "biases"]


@pytest.mark.parametrize(
    ("error", "use"),
    [
        (TypeError, lambda: D.estimator_head_distribution_regression(None)),
        (ValueError, lambda: D.estimator_head_distribution_regression(normal, logits_dimension=0)),
        (ValueError, lambda: run(D.estimator_head_distribution_regression(normal), "unknown")),
        (
            ValueError,
            lambda: run(D.estimator_head_distribution_regression(normal, 1, 2, weight_column_name="no"), "eval"),
        ),
        (ValueError, lambda: run(D.estimator_head_distribution_regression(normal), "infer", logits=None)),
        (ValueError, lambda: run(D.estimator_head_distribution_regression(normal, logits_dimension=3), "infer")),
        (ValueError, lambda: run(D.estimator_head_distribution_regression(normal, logits_dimension=2), "train")),
    ],
)
def test_invalid_arguments(error, use):
    with pytest.raises(error):
        use()
