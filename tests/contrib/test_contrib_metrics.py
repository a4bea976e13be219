"""tf.contrib.metrics: each metric over several batches, against NumPy on all of them at once."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import metrics

RNG = np.random.default_rng(3)
BATCHES = 3
SCORES = RNG.uniform(0.05, 0.95, (BATCHES, 8)).astype(np.float32)
LABELS = RNG.integers(0, 2, (BATCHES, 8))
WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 2.0], (BATCHES, 8)).astype(np.float32)
OTHERS = (SCORES * 2 + RNG.normal(size=SCORES.shape)).astype(np.float32)
CLASSES = RNG.integers(0, 4, (BATCHES, 8))


def streamed(make, **batches):
    """The value of a metric after all batches; the update of the last batch has to be the same."""
    with tf.Graph().as_default(), tf.Session() as session:
        given = {
            name: tf.placeholder(values.dtype, [None, *values.shape[2:]]) for name, values in batches.items()
        }
        value, update = make(**given)
        session.run(tf.local_variables_initializer())
        for i in range(BATCHES):
            last = session.run(update, {given[name]: values[i] for name, values in batches.items()})
        found = session.run(value)
        if last is not None:
            np.testing.assert_allclose(last, found, rtol=1e-5)
        return found


def counted(weights, thresholds):
    """tp, fp, tn, fn of all batches for each threshold."""
    guess = SCORES.reshape(-1) > np.asarray(thresholds, np.float32)[:, None]
    truth = LABELS.reshape(-1) > 0
    return [
        (weights.reshape(-1) * hit).sum(1)
        for hit in (guess & truth, guess & ~truth, ~guess & ~truth, ~guess & truth)
    ]


THRESHOLDS = [0.2, 0.5, 0.8]
BY_COUNTS = {
    "streaming_true_positives_at_thresholds": lambda tp, fp, tn, fn: tp,
    "streaming_false_positives_at_thresholds": lambda tp, fp, tn, fn: fp,
    "streaming_true_negatives_at_thresholds": lambda tp, fp, tn, fn: tn,
    "streaming_false_negatives_at_thresholds": lambda tp, fp, tn, fn: fn,
    "streaming_false_positive_rate_at_thresholds": lambda tp, fp, tn, fn: fp / (fp + tn),
    "streaming_false_negative_rate_at_thresholds": lambda tp, fp, tn, fn: fn / (fn + tp),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", BY_COUNTS)
def test_counts_at_thresholds(name, weighted):
    metric, weights = getattr(metrics, name), WEIGHTS if weighted else np.ones_like(WEIGHTS)
    batches = {"predictions": SCORES, "labels": LABELS, **({"weights": WEIGHTS} if weighted else {})}
    got = streamed(lambda **given: metric(thresholds=THRESHOLDS, **given), **batches)
    np.testing.assert_allclose(got, BY_COUNTS[name](*counted(weights, THRESHOLDS)), rtol=1e-5)


@pytest.mark.parametrize(("name", "wrong", "of"), [("positive", 1, 0), ("negative", 0, 1)])
def test_rates(name, wrong, of):
    guesses = (SCORES > 0.5).astype(np.int64)
    got = streamed(getattr(metrics, f"streaming_false_{name}_rate"), predictions=guesses, labels=LABELS)
    assert got == pytest.approx(np.mean(guesses[of == LABELS] == wrong))


def pairwise(weights):
    """The area under ROC: how often a positive example has the higher score."""
    scores, truth, weights = SCORES.reshape(-1), LABELS.reshape(-1) > 0, weights.reshape(-1)
    better = np.sign(scores[truth][:, None] - scores[~truth]) / 2 + 0.5
    pairs = weights[truth][:, None] * weights[~truth]
    return (better * pairs).sum() / pairs.sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_areas_under_roc(weighted):
    weights = WEIGHTS if weighted else np.ones_like(WEIGHTS)
    batches = {"predictions": SCORES, "labels": LABELS, **({"weights": WEIGHTS} if weighted else {})}
    assert streamed(metrics.streaming_dynamic_auc, **batches) == pytest.approx(pairwise(weights), rel=1e-5)
    area, lower, upper = streamed(metrics.auc_with_confidence_intervals, **batches)
    assert area == pytest.approx(pairwise(weights), rel=1e-4)
    assert 0 < lower < area < upper < 1


def test_area_by_histogram():
    got = streamed(
        lambda labels, scores: metrics.auc_using_histogram(labels, scores, [0.0, 1.0], nbins=1000),
        labels=LABELS > 0, scores=SCORES,
    )  # fmt: skip
    assert got == pytest.approx(pairwise(np.ones_like(WEIGHTS)), abs=1e-2)


def test_area_under_precision_and_recall():
    order = np.argsort(-SCORES.reshape(-1))
    truth = LABELS.reshape(-1)[order]
    hits = np.concatenate([[0], np.cumsum(truth)])
    precision = np.concatenate([[1.0], hits[1:] / np.arange(1, len(hits))])
    want = np.sum((precision[1:] + precision[:-1]) / 2 * np.diff(hits / hits[-1]))
    got = streamed(
        lambda **given: metrics.streaming_dynamic_auc(curve="PR", **given), predictions=SCORES, labels=LABELS
    )
    assert got == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize("curve", ["ROC", "PR"])
def test_curve_points(curve):
    levels = [-1e-7, 0.25, 0.5, 0.75, 1 + 1e-7]
    tp, fp, tn, fn = counted(np.ones_like(WEIGHTS), levels)
    recall = tp / (tp + fn)
    want = [fp / (fp + tn), recall] if curve == "ROC" else [recall, (tp + 1e-6) / (tp + fp + 1e-6)]
    got = streamed(
        lambda **given: metrics.streaming_curve_points(num_thresholds=5, curve=curve, **given),
        predictions=SCORES, labels=LABELS,
    )  # fmt: skip
    np.testing.assert_allclose(got, np.stack(want, 1), atol=1e-5)


def test_counts_at_evenly_spaced_thresholds():
    got = streamed(
        lambda labels, **given: metrics.precision_recall_at_equal_thresholds(
            labels=labels, num_thresholds=11, **given
        ),
        predictions=SCORES, labels=LABELS > 0, weights=WEIGHTS,
    )  # fmt: skip
    np.testing.assert_allclose(got.thresholds, np.linspace(0, 1, 11), rtol=1e-6)
    tp, fp, tn, fn = counted(WEIGHTS, np.linspace(0, 1, 11))
    for have, want in zip(got, (tp, fp, tn, fn, tp / np.maximum(tp + fp, 1e-7), tp / (tp + fn))):
        np.testing.assert_allclose(have, want, rtol=1e-5)


@pytest.mark.parametrize("strict", [False, True])
def test_best_points(strict):
    levels = [-1e-7, *(i / 199 for i in range(1, 199)), 1 + 1e-7]
    tp, fp, _, fn = counted(np.ones_like(WEIGHTS), levels)
    precision, recall = tp / (tp + fp + 1e-7), tp / (tp + fn)
    batches = {"predictions": SCORES, "labels": LABELS}
    distances = np.where(precision < 0.5, np.inf, precision - 0.5) if strict else np.abs(precision - 0.5)
    got = streamed(
        lambda **given: metrics.recall_at_precision(precision=0.5, strict_mode=strict, **given), **batches
    )
    assert got == pytest.approx(recall[np.argmin(distances)], rel=1e-4)
    got = streamed(lambda **given: metrics.precision_at_recall(target_recall=0.6, **given), **batches)
    assert got == pytest.approx(precision[recall >= 0.6][-1], rel=1e-4)
    got = streamed(metrics.f1_score, **batches)
    assert got == pytest.approx(np.max(2 * precision * recall / (precision + recall + 1e-7)), rel=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments(weighted):
    weights = WEIGHTS if weighted else np.ones_like(WEIGHTS)
    batches = {"predictions": SCORES, "labels": OTHERS, **({"weights": WEIGHTS} if weighted else {})}
    x, y, w = (each.reshape(-1).astype(np.float64) for each in (SCORES, OTHERS, weights))
    dx, dy = x - np.average(x, weights=w), y - np.average(y, weights=w)
    covariance = (w * dx * dy).sum() / (w.sum() - 1)
    assert streamed(metrics.streaming_covariance, **batches) == pytest.approx(covariance, rel=1e-4)
    correlation = (w * dx * dy).sum() / np.sqrt((w * dx**2).sum() * (w * dy**2).sum())
    assert streamed(metrics.streaming_pearson_correlation, **batches) == pytest.approx(correlation, rel=1e-4)
    del batches["labels"]
    batches["values"] = batches.pop("predictions")
    assert streamed(metrics.count, **batches) == pytest.approx(w.sum())


def test_kappa():
    guesses = np.where(RNG.uniform(size=CLASSES.shape) < 0.6, CLASSES, 0)
    agreed = np.mean(guesses == CLASSES)
    chance = sum(np.mean(guesses == c) * np.mean(c == CLASSES) for c in range(4))
    got = streamed(
        lambda labels, guesses: metrics.cohen_kappa(labels, guesses, 4), labels=CLASSES, guesses=guesses
    )
    assert got == pytest.approx((agreed - chance) / (1 - chance))


@pytest.mark.parametrize(("axis", "most"), [(0, None), (1, None), (-1, 5), (0, 4)])
def test_values_are_kept(axis, most):
    values = np.arange(BATCHES * 6).reshape(BATCHES, 2, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.int64, [2, 3])
        value, update = metrics.streaming_concat(given, axis, most)
        session.run(tf.local_variables_initializer())
        for batch in values:
            session.run(update, {given: batch})
        got = session.run(value)
    np.testing.assert_array_equal(got, np.take(np.concatenate(values, axis), range(most or got.shape[axis]), axis))


@pytest.mark.parametrize("class_id", [None, 2])
def test_classes_that_are_given_are_like_the_best_ones(class_id):
    scores = RNG.uniform(size=(BATCHES, 4, 6)).astype(np.float32)
    top = np.argsort(-scores, -1)[..., :3]
    labels = RNG.integers(0, 6, (BATCHES, 4, 2))
    pairs = [
        (metrics.streaming_sparse_precision_at_top_k, metrics.streaming_sparse_precision_at_k),
        (metrics.sparse_recall_at_top_k, metrics.streaming_sparse_recall_at_k),
        (metrics.streaming_sparse_average_precision_at_top_k, metrics.streaming_sparse_average_precision_at_k),
    ]
    for given, best in pairs[: 2 if class_id else 3]:
        options = {"class_id": class_id} if class_id else {}
        by_top = streamed(
            lambda top, labels, given=given, options=options: given(top_k_predictions=top, labels=labels, **options),
            top=top, labels=labels,
        )  # fmt: skip
        by_scores = streamed(
            lambda scores, labels, best=best, options=options: best(scores, labels, 3, **options),
            scores=scores, labels=labels,
        )  # fmt: skip
        assert by_top == pytest.approx(by_scores)
    with pytest.raises(ValueError, match="rank at least 2"):
        metrics.streaming_sparse_precision_at_top_k([1, 2], [[1], [2]])


def test_labels_of_accuracy():
    with tf.Graph().as_default(), tf.Session() as session:
        got = metrics.accuracy(tf.constant([1, 2, 3]), tf.constant([1, 0, 3]), weights=[1.0, 2.0, 1.0])
        assert session.run(got) == 0.5
        with pytest.raises(ValueError, match="bool, integer, or string"):
            metrics.accuracy(tf.constant([1.0]), tf.constant([1.0]))
