"""`tf.tpu.experimental.embedding`: settings, and tables that are looked up without a TPU."""

import itertools

import numpy as np
import pytest

import tapeflow as tf

embedding = tf.tpu.experimental.embedding

TABLE = np.arange(10, dtype="float32").reshape(5, 2)
IDS = [[1, 2], [3], []]
WEIGHTS = [[1.0, 2.0], [3.0], []]


def rows(shape, dtype=None):
    return tf.cast(tf.reshape(tf.range(shape[0] * shape[1]), shape), dtype)


def table(**settings):
    return embedding.TableConfig(5, 2, rows, **{"name": "t", **settings})


def serving(combiner="mean", **settings):
    feature = embedding.FeatureConfig(table(combiner=combiner), **settings)
    return embedding.TPUEmbeddingForServing({"a": feature}, None)


def combined(combiner, weights):
    """What the combiner makes of each example, by its definition."""
    out = np.zeros([3, 2], "float32")
    for i, (ids, counts) in enumerate(zip(IDS, weights, strict=True)):
        counts = np.array(counts)
        divisor = {"sum": 1.0, "mean": counts.sum(), "sqrtn": np.sqrt((counts**2).sum())}[combiner]
        if ids:
            out[i] = (TABLE[ids] * counts[:, None]).sum(0) / divisor
    return out


KINDS = {"ragged": tf.ragged.constant, "sparse": lambda values: tf.ragged.constant(values).to_sparse()}


COMBINATIONS = list(itertools.product(KINDS, ("sum", "mean", "sqrtn"), (0, 1)))


@pytest.mark.parametrize(("kind", "combiner", "weighted"), COMBINATIONS)
def test_rows_of_an_example_are_combined(kind, combiner, weighted):
    weights = {"a": KINDS[kind](WEIGHTS)} if weighted else None
    got = serving(combiner)({"a": KINDS[kind](IDS)}, weights)["a"]
    np.testing.assert_allclose(got, combined(combiner, WEIGHTS if weighted else [[1, 1], [1], []]), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_sequences_are_cut_and_filled(kind):
    got = serving(max_sequence_length=1)({"a": KINDS[kind](IDS)})["a"]
    np.testing.assert_array_equal(got, [[TABLE[1]], [TABLE[3]], [[0, 0]]])


def test_dense_ids_are_looked_up_one_by_one():
    np.testing.assert_array_equal(serving()({"a": tf.constant([[1], [4]])})["a"], TABLE[[[1], [4]]])


@pytest.mark.parametrize(
    ("output_shape", "want"),
    [([3, 1], combined("mean", [[1, 1], [1], []])[:, None]),
     ([6], [TABLE[1], TABLE[2], TABLE[3], [0, 0], [0, 0], [0, 0]])],
)  # fmt: skip
def test_ragged_results_have_the_shape_that_is_asked_for(output_shape, want):
    got = serving(output_shape=output_shape)({"a": tf.ragged.constant(IDS)})["a"]
    np.testing.assert_allclose(got, want)


def test_tables_and_slots_are_variables_that_checkpoints_know(tmp_path):
    made = embedding.TPUEmbeddingForServing(embedding.FeatureConfig(table()), embedding.Adagrad(0.1))
    variables = made.variables["t"]
    assert {name: v.trainable for name, v in variables.items()} == {"accumulators": False, "parameters": True}
    np.testing.assert_allclose(variables["accumulators"], np.full([5, 2], 0.1))
    path = tf.train.Checkpoint(e=made).save(str(tmp_path / "c"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert {"e/t/.ATTRIBUTES/VARIABLE_VALUE", "e/t.Saccumulators/.ATTRIBUTES/VARIABLE_VALUE"} <= set(names)
    variables["parameters"].assign(tf.zeros([5, 2]))
    again = embedding.TPUEmbedding(embedding.FeatureConfig(table()), embedding.Adagrad(0.1))
    again.build(per_replica_batch_size=2)
    (held,) = again.embedding_tables.values()
    held.assign(tf.zeros([5, 2]))
    tf.train.Checkpoint(e=again).restore(path).assert_existing_objects_matched()
    np.testing.assert_array_equal(held, TABLE)


def test_features_share_tables():
    shared = table()
    made = embedding.TPUEmbeddingForServing([embedding.FeatureConfig(shared)] * 2, None)
    assert list(made.embedding_tables) == [shared]
    assert made.variables["t"].keys() == {"parameters"}


def test_settings_are_equal_where_they_say_the_same():
    assert embedding.Adam() == embedding.Adam()
    assert embedding.Adam() != embedding.Adam(0.5)
    assert hash(embedding.SGD()) == hash(embedding.SGD())
    assert (embedding.SGD(clipvalue=2.0).clip_gradient_min, embedding.SGD(clipvalue=2.0).clip_gradient_max) == (-2, 2)
    assert repr(embedding.TableConfig(2, 3, name="x")) == (
        "TableConfig(vocabulary_size=2, dim=3, initializer=None, optimizer=None, combiner='mean', name='x', "
        "quantization_config=None)"
    )
    np.testing.assert_array_equal(embedding.RowIdInitializer(2)([2, 3], tf.float32), [[2, 2, 2], [3, 3, 3]])


MISTAKES = [
    (lambda: embedding.TableConfig(0, 2), ValueError, "vocabulary_size"),
    (lambda: embedding.TableConfig(2, 0), ValueError, "dim"),
    (lambda: embedding.TableConfig(2, 2, 3), ValueError, "initializer"),
    (lambda: embedding.TableConfig(2, 2, combiner="max"), ValueError, "String argument `combiner`"),
    (lambda: embedding.TableConfig(2, 2, combiner=3), ValueError, "str or a CustomCombiner"),
    (lambda: embedding.TableConfig(2, 2, dtype=tf.int64), ValueError, "float32 or int32"),
    (lambda: embedding.FeatureConfig(3), ValueError, "invalid type"),
    (lambda: embedding.FeatureConfig(table(), -1), ValueError, "max_sequence_length"),
    (lambda: embedding.FeatureConfig(table(), validate_weights_and_indices=3), ValueError, "boolean"),
    (lambda: embedding.Adam(beta_1=1.0), ValueError, "beta_1"),
    (lambda: embedding.Adam(epsilon=0.0), ValueError, "epsilon"),
    (lambda: embedding.Adam(lazy_adam=False, use_gradient_accumulation=False), ValueError, "lazy Adam"),
    (lambda: embedding.Adagrad(initial_accumulator_value=0), ValueError, "initial_accumulator_value"),
    (lambda: embedding.AdagradMomentum(exponent=0), ValueError, "exponent"),
    (lambda: embedding.SGD(use_gradient_accumulation=False, clipvalue=1.0), ValueError, "gradient clipping"),
    (lambda: embedding.FTRL(slot_variable_creation_fn=3), ValueError, "slot_variable_creation_fn"),
    (lambda: embedding.QuantizationConfig(1, 0, 1), ValueError, "num_buckets"),
    (lambda: embedding.CustomOptimizer(None, slot_names=["a"]), ValueError, "slot_initializers"),
    (lambda: embedding.CustomCombiner(3, 1, 1), ValueError, "num_weights"),
    (lambda: embedding.TPUEmbedding(embedding.FeatureConfig(table()), "adam"), ValueError, "unsupported optimizer"),
    (lambda: embedding.TPUEmbedding([embedding.FeatureConfig(table()) for _ in "ab"], None), ValueError, "unique name"),
    (lambda: embedding.TPUEmbeddingV0(embedding.FeatureConfig(table()), None), RuntimeError, "under TPUStrategy"),
    (lambda: embedding.TPUEmbeddingV2(embedding.FeatureConfig(table())), RuntimeError, "under TPUStrategy"),
    (lambda: embedding.TPUEmbedding(embedding.FeatureConfig(table()), None).enqueue(1), RuntimeError, "enqueue is not"),
    (lambda: embedding.TPUEmbedding(embedding.FeatureConfig(table()), None).dequeue(), RuntimeError, "dequeue is not"),
    (lambda: serving()({"b": tf.constant([1])}), ValueError, "not a subset"),
    (lambda: serving()({"a": 3}), ValueError, "expected"),
    (lambda: serving()({"a": tf.constant([1])}, {"a": tf.constant([1.0])}), ValueError, "input is dense"),
    (lambda: serving(max_sequence_length=2)({"a": tf.constant([1])}), ValueError, "sequence feature"),
    (lambda: serving(output_shape=[4])({"a": tf.ragged.constant(IDS)}), ValueError, "should be the factor"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), MISTAKES)
def test_mistakes_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
