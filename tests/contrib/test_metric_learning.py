"""Losses of embeddings, against their definitions pair by pair in NumPy."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.contrib.losses import metric_learning

RNG = np.random.default_rng(0)
LABELS = np.array([0, 1, 0, 2, 1, 0, 2])
EMBEDDINGS = RNG.normal(size=(7, 3)).astype("f")
SQUARES = ((EMBEDDINGS[:, None] - EMBEDDINGS[None]) ** 2).sum(-1)


@pytest.mark.parametrize("squared", [False, True])
def test_pairwise_distance(squared):
    found = metric_learning.pairwise_distance(EMBEDDINGS, squared=squared).numpy()
    np.testing.assert_allclose(found, SQUARES if squared else np.sqrt(SQUARES), atol=2e-5)
    assert not found.diagonal().any()


def test_distance_of_equal_rows_has_a_gradient():
    x = tf.Variable(np.ones((2, 3), "f"))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(metric_learning.pairwise_distance(x))
    assert np.isfinite(tf.convert_to_tensor(tape.gradient(loss, x)).numpy()).all()


def test_contrastive_loss():
    a, b, labels = EMBEDDINGS[:3], EMBEDDINGS[3:6] * 0.1, [1, 0, 1]
    d = np.sqrt(((a - b) ** 2).sum(1))
    want = np.mean(np.where(labels, d**2, np.maximum(2.0 - d, 0) ** 2))
    np.testing.assert_allclose(metric_learning.contrastive_loss(labels, a, b, 2.0), want, rtol=1e-5)


@pytest.mark.parametrize("margin", [0.1, 1.0, 4.0])
def test_triplet_semihard_loss(margin):
    losses = []
    for a in range(7):
        for p in range(7):
            if a == p or LABELS[a] != LABELS[p]:
                continue
            negatives = SQUARES[a][LABELS[a] != LABELS]
            farther = negatives[negatives > SQUARES[a, p]]
            negative = farther.min() if len(farther) else negatives.max()
            losses.append(max(SQUARES[a, p] + margin - negative, 0))
    found = metric_learning.triplet_semihard_loss(LABELS, EMBEDDINGS, margin)
    np.testing.assert_allclose(found, np.mean(losses), rtol=1e-4)


def test_lifted_struct_loss():
    d, total, pairs = np.sqrt(SQUARES), 0.0, 0
    for a in range(7):
        for p in range(a + 1, 7):
            if LABELS[a] == LABELS[p]:
                terms = [np.exp(1.0 - d[i, n]).sum() for i in (a, p) for n in [LABELS[a] != LABELS]]
                total += max(np.log(sum(terms)) + d[a, p], 0) ** 2
                pairs += 1
    np.testing.assert_allclose(
        metric_learning.lifted_struct_loss(LABELS, EMBEDDINGS), total / (2 * pairs), rtol=1e-4
    )


def npairs(adjacency, anchor, positive, reg):
    logits = anchor @ positive.T
    logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    cross = -(adjacency / adjacency.sum(1, keepdims=True) * logs).sum(1).mean()
    return cross + 0.25 * reg * ((anchor**2).sum(1).mean() + (positive**2).sum(1).mean())


def test_npairs_loss():
    positive = RNG.normal(size=(7, 3)).astype("f")
    want = npairs((LABELS[:, None] == LABELS).astype("f"), EMBEDDINGS, positive, 0.5)
    np.testing.assert_allclose(metric_learning.npairs_loss(LABELS, EMBEDDINGS, positive, 0.5), want, rtol=1e-5)


def test_npairs_loss_of_several_labels():
    dense = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]], "f")
    labels = [tf.sparse.from_dense(tf.constant(row)) for row in dense]
    a, b = EMBEDDINGS[:3], EMBEDDINGS[3:6]
    found = metric_learning.npairs_loss_multilabel(labels, a, b)
    np.testing.assert_allclose(found, npairs(dense @ dense.T, a, b, 0.002), rtol=1e-5)
    with pytest.raises(TypeError, match="list of SparseTensors"):
        metric_learning.npairs_loss_multilabel(list(dense), a, b)


def test_labels_that_are_no_vector_raise():
    with pytest.raises(ValueError, match="vector"):
        metric_learning.npairs_loss(LABELS[:, None], EMBEDDINGS, EMBEDDINGS)


@pytest.mark.parametrize("finetuning", [False, True])
def test_cluster_loss_is_zero_for_clusters_that_lie_apart(finetuning):
    """A score of one wants no margin, and the energies are equal; with mixed labels the loss pulls them apart."""
    pytest.importorskip("sklearn")
    centers = np.array([[0, 0], [50, 0]], "f")
    x = np.concatenate([centers[0] + RNG.normal(size=(3, 2)), centers[1] + RNG.normal(size=(3, 2))]).astype("f")
    good = metric_learning.cluster_loss([0, 0, 0, 1, 1, 1], x, 1.0, enable_pam_finetuning=finetuning)
    bad = metric_learning.cluster_loss([0, 1, 0, 1, 0, 1], x, 1.0, enable_pam_finetuning=finetuning)
    np.testing.assert_allclose(good, 0.0, atol=1e-3)
    assert bad.numpy() > 10


def test_cluster_loss_has_a_gradient():
    x = tf.Variable(EMBEDDINGS)
    with tf.GradientTape() as tape:
        loss = metric_learning.cluster_loss(LABELS, x, 1.0, margin_type="const")
    assert loss.numpy() > 0
    step = 1e-3 * tf.convert_to_tensor(tape.gradient(loss, x))
    assert metric_learning.cluster_loss(LABELS, EMBEDDINGS - step.numpy(), 1.0, margin_type="const") < loss
