"""tf.metrics (1.x), against written results."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

LABELS = np.array([1, 0, 1, 1, 0, 0], np.int64)
SCORES = np.array([0.9, 0.8, 0.4, 0.7, 0.2, 0.1], np.float32)
GUESSES = (SCORES > 0.5).astype(np.int64)  # tp 2, fp 1, fn 1, tn 2


@pytest.mark.parametrize(
    ("metric", "args", "want"),
    [
        ("accuracy", (LABELS, GUESSES), 4 / 6),
        ("precision", (LABELS, GUESSES), 2 / 3),
        ("recall", (LABELS, GUESSES), 2 / 3),
        ("true_positives", (LABELS, GUESSES), 2),
        ("false_positives", (LABELS, GUESSES), 1),
        ("true_negatives", (LABELS, GUESSES), 2),
        ("false_negatives", (LABELS, GUESSES), 1),
        ("mean", (SCORES,), SCORES.mean()),
        ("mean_absolute_error", (LABELS.astype("f4"), SCORES), np.abs(LABELS - SCORES).mean()),
        ("mean_squared_error", (LABELS.astype("f4"), SCORES), ((LABELS - SCORES) ** 2).mean()),
        ("root_mean_squared_error", (LABELS.astype("f4"), SCORES), ((LABELS - SCORES) ** 2).mean() ** 0.5),
        ("percentage_below", (SCORES, 0.5), 0.5),
        ("mean_iou", (LABELS, GUESSES, 2), 0.5),
        ("mean_per_class_accuracy", (LABELS, GUESSES, 2), 2 / 3),
        ("auc", (LABELS, SCORES), 7 / 9),
    ],
)  # fmt: skip
def test_value_and_update(metric, args, want):
    with tf.Graph().as_default(), tf.Session() as session:
        value, update = getattr(tf.metrics, metric)(*[tf.constant(a) if isinstance(a, np.ndarray) else a for a in args])
        session.run(tf.local_variables_initializer())
        before = session.run(value)
        assert session.run([value, update])[0] == before  # of both at once, the value is that from before
        first = session.run(value)
        session.run(update)
        if metric.endswith(("positives", "negatives")):
            assert (first, session.run(value)) == (want, 2 * want)
        else:
            np.testing.assert_allclose([first, session.run(value)], [want, want], rtol=2e-3, atol=2e-3)


def test_weights_and_collections():
    with tf.Graph().as_default(), tf.Session() as session:
        value, update = tf.metrics.mean(
            tf.constant([1.0, 2.0, 6.0]), weights=[1.0, 1.0, 0.0], metrics_collections="m", updates_collections="u"
        )
        session.run(tf.local_variables_initializer())
        assert session.run(update) == 1.5
        assert tf.get_collection("m") == [value]
        assert tf.get_collection("u") == [update]
        assert len(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)) == 2


def test_at_thresholds():
    with tf.Graph().as_default(), tf.Session() as session:
        pair = tf.metrics.precision_at_thresholds(LABELS, SCORES, [0.3, 0.85])
        session.run(tf.local_variables_initializer())
        np.testing.assert_allclose(session.run(pair[1]), [3 / 4, 1.0], rtol=1e-5)


def test_at_k():
    scores = np.array([[0.1, 0.5, 0.4], [0.7, 0.2, 0.1]], np.float32)
    labels = np.array([[2], [2]], np.int64)
    with tf.Graph().as_default(), tf.Session() as session:
        recall = tf.metrics.recall_at_k(labels, scores, 2)
        precision = tf.metrics.precision_at_k(labels, scores, 2)
        average = tf.metrics.average_precision_at_k(labels, scores, 2)
        session.run(tf.local_variables_initializer())
        assert session.run([recall[1], precision[1], average[1]]) == [0.5, 0.25, 0.25]


def test_weights_that_do_not_fit():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="weights can not be broadcast"):
        tf.metrics.mean(tf.zeros([2, 3]), weights=tf.ones([3, 2]))


def test_not_eagerly():
    with pytest.raises(RuntimeError, match=r"tf\.metrics\.mean is not supported"):
        tf.metrics.mean([1.0])
