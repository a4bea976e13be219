"""Candidate samplers, the losses by samples, and embeddings of sets of ids."""

import numpy as np
import pytest

import tapeflow as tf

TRUE = [[1, 3], [0, 5]]
# What TensorFlow 2.21 draws with the global seed 42 and the op's seed 7, twice.
DRAWN = [
    (tf.random.uniform_candidate_sampler, True, [9, 15, 0, 4, 8], [7, 6, 10, 16, 2]),
    (tf.random.log_uniform_candidate_sampler, True, [12, 13, 11, 9, 5], [5, 12, 15, 0, 1]),
    (tf.random.log_uniform_candidate_sampler, False, [12, 13, 11, 11, 9], [5, 12, 15, 0, 1]),
    (tf.random.learned_unigram_candidate_sampler, True, [3, 6, 13, 2, 16], [6, 7, 15, 0, 2]),
    (tf.random.learned_unigram_candidate_sampler, False, [3, 6, 13, 2, 16], [6, 7, 15, 0, 15]),
]


@pytest.mark.parametrize(("sampler", "unique", "first", "second"), DRAWN)
def test_samples_are_tensorflows(sampler, unique, first, second):
    for _ in range(2):
        tf.random.set_seed(42)
        for want in (first, second):
            assert sampler(TRUE, 2, 5, unique, 17, seed=7)[0].numpy().tolist() == want


def test_fixed_unigrams():
    tf.random.set_seed(42)
    weights = {"unigrams": [1.0, 2, 3, 4, 5, 0.5, 1], "distortion": 0.75, "num_reserved_ids": 1}
    sampled, true, _ = tf.random.fixed_unigram_candidate_sampler(
        TRUE, 2, 4, True, 8, **weights, seed=7
    )
    assert sampled.numpy().tolist() == [3, 2, 5, 1]
    np.testing.assert_allclose(true, [[0.31427, 0.71637], [0, 1.05081]], rtol=1e-4)


def test_fixed_unigrams_of_a_file(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("a,0\nb,3\n")
    sampled, *_ = tf.random.fixed_unigram_candidate_sampler(
        [[0]], 1, 1, True, 2, vocab_file=str(path)
    )
    assert sampled.numpy().tolist() == [1]
    path.write_text("a,x\n")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong vocabulary format"):
        tf.random.fixed_unigram_candidate_sampler([[0]], 1, 1, True, 1, vocab_file=str(path))
    with pytest.raises(tf.errors.NotFoundError):
        tf.random.fixed_unigram_candidate_sampler([[0]], 1, 1, True, 1, vocab_file=str(path) + "x")


def tables():
    rng = np.random.default_rng(1)
    weights, biases = rng.normal(size=(7, 3)), rng.normal(size=7)
    return tf.constant(weights), tf.constant(biases), tf.constant(rng.normal(size=(2, 3)))


SAMPLED = (
    tf.constant([1, 3, 5, 6], tf.int64),
    tf.constant([[0.5, 0.4], [0.3, 0.3]]),
    tf.constant([0.2, 0.3, 0.1, 0.4]),
)
LABELS = np.array([[1, 2], [3, 3]])


def by_hand(hits):
    """Logits and labels of the true and the sampled classes."""
    weights, biases, inputs = (x.numpy() for x in tables())
    sampled, true_count, sampled_count = (x.numpy() for x in SAMPLED)
    scores = inputs @ weights.T + biases
    true = np.take_along_axis(scores, LABELS, 1) - np.log(true_count)
    drawn = scores[:, sampled] - np.log(sampled_count)
    if hits:
        drawn[[[c in row for c in sampled] for row in LABELS]] = -1e30
    return np.concatenate([true, drawn], 1), np.array([[0.5, 0.5, 0, 0, 0, 0]] * 2)


@pytest.mark.parametrize("hits", [False, True])
def test_losses_by_samples(hits):
    logits, labels = by_hand(hits)
    arguments = (*tables()[:2], LABELS, tables()[2], 4, 7, 2)
    options = {"sampled_values": SAMPLED, "remove_accidental_hits": hits}
    softmax = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    found = tf.nn.sampled_softmax_loss(*arguments, **options)
    np.testing.assert_allclose(found, -(labels * softmax).sum(1), rtol=1e-5)
    crossed = np.maximum(logits, 0) - logits * labels + np.log1p(np.exp(-np.abs(logits)))
    found = tf.nn.nce_loss(*arguments, **options)
    np.testing.assert_allclose(found, crossed.sum(1), rtol=1e-5)


def test_partitions_of_the_weights():
    weights, biases, inputs = tables()
    rest = (LABELS, inputs, 4, 7, 2, SAMPLED)
    whole = tf.nn.sampled_softmax_loss(weights, biases, *rest)
    parts = [weights[:4], weights[4:]], [biases[:4], biases[4:]]
    np.testing.assert_allclose(tf.nn.sampled_softmax_loss(*parts, *rest), whole)
    strided = [weights[::2], weights[1::2]], [biases[::2], biases[1::2]]
    np.testing.assert_allclose(tf.compat.v1.nn.sampled_softmax_loss(*strided, *rest), whole)


TABLE = np.arange(14.0).reshape(7, 2)
IDS = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 2]], tf.constant([1, 3, 1, 2], tf.int64), [3, 3])
RAGGED = tf.ragged.constant([[1, 3], [1], [2]], dtype=tf.int64)
WEIGHTS = [1.0, 2.0, 3.0, 0.5]


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ragged", [False, True])
def test_embeddings_of_sets(combiner, weighted, ragged):
    ids = RAGGED if ragged else IDS
    weights = None
    if weighted:
        weights = ids.with_values(WEIGHTS) if ragged else tf.SparseTensor(IDS.indices, WEIGHTS, [3, 3])
    w = np.array(WEIGHTS) if weighted else np.ones(4)
    want = []
    for at, names in (([0, 1], [1, 3]), ([2], [1]), ([3], [2])):
        total = w[at] @ TABLE[names]
        scale = {"sum": 1, "mean": w[at].sum(), "sqrtn": np.sqrt((w[at] ** 2).sum())}[combiner]
        want.append(total / scale)
    table = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        found = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner)
    np.testing.assert_allclose(found, want, rtol=1e-6)
    assert isinstance(tape.gradient(found, table), tf.IndexedSlices)


def test_safe_embeddings():
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 2]], tf.constant([1, 3, -1, 2], tf.int64), [5, 3])
    found = tf.nn.safe_embedding_lookup_sparse(TABLE, ids)
    np.testing.assert_allclose(found, [[4, 5], [0, 0], [0, 0], [4, 5], [0, 0]])
    weights = tf.SparseTensor(ids.indices, [1.0, 0.0, 1.0, 2.0], [5, 3])
    found = tf.nn.safe_embedding_lookup_sparse(tf.constant(TABLE, tf.float32), ids, weights, default_id=6)
    np.testing.assert_allclose(found, [[2, 3], [12, 13], [12, 13], [4, 5], [12, 13]])
    cube = tf.SparseTensor([[0, 0, 1], [1, 0, 1]], tf.constant([1, 3], tf.int64), [2, 2, 3])
    assert tf.nn.safe_embedding_lookup_sparse(TABLE, cube).shape == (2, 2, 2)


def test_bad_sets():
    with pytest.raises(ValueError, match="combiner"):
        tf.nn.embedding_lookup_sparse(TABLE, IDS, None, "max")
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.nn.embedding_lookup_sparse(TABLE, [1], None)
    with pytest.raises(TypeError, match="sp_weights"):
        tf.nn.embedding_lookup_sparse(TABLE, IDS, [1.0])


def test_average_and_regularization_losses():
    assert float(tf.nn.compute_average_loss([1.0, 2, 3], global_batch_size=4)) == 1.5
    assert float(tf.nn.compute_average_loss([1.0, 3], [2.0, 1])) == 2.5
    assert float(tf.nn.scale_regularization_loss([1.0, 3])) == 4
    with pytest.raises(ValueError, match="can not be broadcast"):
        tf.nn.compute_average_loss([1.0, 2, 3], [1.0, 2])
    with pytest.raises(ValueError, match="at least rank 1"):
        tf.nn.compute_average_loss(2.0)


def test_losses_of_replicas():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope(), pytest.raises(RuntimeError, match="cross replica context"):
        tf.nn.compute_average_loss([2.0, 3.0])
    found = strategy.run(lambda: tf.nn.compute_average_loss([2.0, 4.0]))
    assert float(found) == 3
