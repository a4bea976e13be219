"""tf.contrib.nn: losses over samples of classes, and those of before 1.0."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

from .contrib_values import BOTH, value

nn = tf.contrib.nn


def case(classes=7, dim=3, batch=4):
    rng = np.random.default_rng(5)
    weights = rng.normal(size=(classes, dim)).astype("f")
    biases = rng.normal(size=classes).astype("f")
    inputs = rng.normal(size=(batch, dim)).astype("f")
    return weights, biases, inputs, rng.integers(0, classes, (batch, 1))


def sampled(weights, biases, inputs, labels, ids, counts):
    """The losses, by a loop over examples: logits less the logarithms of expected counts."""
    true_counts, counts = counts
    losses = []
    for x, (label,), (expected,) in zip(inputs, labels, true_counts, strict=True):
        logits = [weights[label] @ x + biases[label] - np.log(expected)]
        logits += [
            weights[i] @ x + biases[i] - np.log(n) for i, n in zip(ids, counts, strict=True) if i != label
        ]
        losses.append(np.log(np.sum(np.exp(logits))) - logits[0])
    return losses


@BOTH
@pytest.mark.parametrize("shards", [1, 2])
def test_sampled_sparse_softmax_loss(how, shards):
    weights, biases, inputs, labels = case()
    ids, true_counts, counts = np.array([0, 2, 6]), np.full((4, 1), 0.4, "f"), np.array([0.5, 0.3, 0.2], "f")
    parts = [weights[i::shards] for i in range(shards)]
    got = value(how, lambda: nn.sampled_sparse_softmax_loss(
        parts, biases, labels, inputs, 3, 7, (ids, true_counts, counts)))  # fmt: skip
    np.testing.assert_allclose(
        got, sampled(weights, biases, inputs, labels, ids, (true_counts, counts)), rtol=1e-5
    )


@BOTH
@pytest.mark.parametrize("temperature", [0.1, 1.0, 10.0])
def test_rank_sampled_softmax_loss_keeps_the_likeliest(how, temperature):
    weights, biases, inputs, labels = case()
    ids, true_counts = np.array([0, 1, 2, 4, 6]), np.full((4, 1), 0.4, "f")
    counts = np.array([0.5, 0.3, 0.2, 0.1, 0.6], "f")
    scores = np.log(np.exp((inputs @ weights[ids].T + biases[ids]) / temperature).sum(0))
    kept = np.argsort(scores)[-2:]
    got = value(how, lambda: nn.rank_sampled_softmax_loss(
        weights, biases, labels, inputs, 5, 2, 7, 1, (ids, true_counts, counts), temperature, True, "div"))  # fmt: skip
    expected = sampled(weights, biases, inputs, labels, ids[kept], (true_counts, counts[kept]))
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_ranks_are_of_classes_that_are_sampled_by_default():
    weights, biases, inputs, labels = case()
    losses = nn.rank_sampled_softmax_loss(weights, biases, labels, inputs, 5, 4, 7, 1, None, 1.0, True, "mod")
    assert losses.shape == (4,)
    assert np.isfinite(losses).all()


@pytest.mark.parametrize(
    ("numbers", "strategy", "message"),
    [
        ((8, 2, 7), "div", r"num_sampled \(8\) cannot be greater than num_classes \(7\)"),
        ((3, 3, 7), "div", r"num_resampled \(3\) must be less than num_sampled \(3\)"),
        ((3, 2, 7), "rem", r"unsupported partition_strategy \(rem\)"),
    ],
)
def test_arguments_of_rank_sampled_softmax_loss(numbers, strategy, message):
    weights, biases, inputs, labels = case()
    with pytest.raises(ValueError, match=message):
        nn.rank_sampled_softmax_loss(weights, biases, labels, inputs, *numbers, 1, None, 1.0, True, strategy)


def test_losses_with_logits_first():
    logits, labels = np.array([[1.0, 2.0, 4.0]], "f"), np.array([[0.0, 1.0, 0.0]], "f")
    softmax = np.log(np.exp(logits).sum()) - 2
    got = nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels)
    np.testing.assert_allclose(got, [softmax], rtol=1e-6)
    got = nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, np.array([1]))
    np.testing.assert_allclose(got, [softmax], rtol=1e-6)
    got = nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, labels)
    np.testing.assert_allclose(got, np.log1p(np.exp(logits)) - logits * labels, rtol=1e-5)
