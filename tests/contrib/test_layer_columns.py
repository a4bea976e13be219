"""The feature columns of tf.contrib.layers, against those of tf.feature_column, by both builders."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import layers

fc = tf.feature_column
WORDS = tf.SparseTensorValue([[0, 0], [1, 0], [1, 1], [3, 0]], ["a", "b", "c", "zz"], [4, 2])
IDS = tf.SparseTensorValue([[0, 0], [1, 0], [1, 1], [3, 0]], np.array([5, 1, 2, 7]), [4, 2])
WEIGHTS = tf.SparseTensorValue(WORDS.indices, np.array([1.5, -2, 3, 4], np.float32), [4, 2])
FEATURES = {
    "words": WORDS,
    "other": tf.SparseTensorValue([[0, 0], [1, 0], [2, 0], [3, 0]], ["x", "y", "x", "z"], [4, 1]),
    "ids": IDS,
    "weights": WEIGHTS,
    "dense_words": np.array([["a", "b"], ["", "c"], ["zz", "a"], ["b", ""]]),
    "dense_weights": np.array([[0.5, 2], [0, 1], [3, 4], [1, 0]], np.float32),
    "price": np.array([[20.0, 0], [110, 9], [-3, 10], [0, 100]], np.float32),
    "count": np.array([[3], [1], [4], [1]]),
}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def features():
    return {k: tf.SparseTensor(*v) if isinstance(v, tuple) else tf.constant(v) for k, v in FEATURES.items()}


def run(*fetches):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(fetches)


def ones(shape, dtype=tf.float32, partition_info=None):
    """Different numbers in all rows."""
    return tf.cast(tf.reshape(tf.range(np.prod(shape)), shape), dtype)


NUMERIC = [
    (lambda: layers.real_valued_column("price", 2), lambda: fc.numeric_column("price", 2)),
    (lambda: layers.real_valued_column("count", dtype=tf.int64, normalizer=lambda x: x - 2),
     lambda: fc.numeric_column("count", dtype=tf.int64, normalizer_fn=lambda x: x - 2)),
    (lambda: layers.bucketized_column(layers.real_valued_column("price", 2), [0.0, 10.0, 10.0, 100.0]),
     lambda: fc.bucketized_column(fc.numeric_column("price", 2), [0.0, 10.0, 100.0])),
]  # fmt: skip
SPARSE = [
    (lambda: layers.sparse_column_with_hash_bucket("words", 10),
     lambda: fc.categorical_column_with_hash_bucket("words", 10)),
    (lambda: layers.sparse_column_with_hash_bucket("ids", 7, dtype=tf.int64),
     lambda: fc.categorical_column_with_hash_bucket("ids", 7, dtype=tf.int64)),
    (lambda: layers.sparse_column_with_integerized_feature("ids", 8),
     lambda: fc.categorical_column_with_identity("ids", 8)),
    (lambda: layers.sparse_column_with_keys("words", ["a", "b", "c"]),
     lambda: fc.categorical_column_with_vocabulary_list("words", ["a", "b", "c"])),
    (lambda: layers.sparse_column_with_keys("dense_words", ["a", "b", "c"]),
     lambda: fc.categorical_column_with_vocabulary_list("dense_words", ["a", "b", "c"])),
    (lambda: layers.sparse_column_with_keys("ids", [1, 5, 7], dtype=tf.int64, default_value=0),
     lambda: fc.categorical_column_with_vocabulary_list("ids", [1, 5, 7], dtype=tf.int64, default_value=0)),
    (lambda: layers.weighted_sparse_column(layers.sparse_column_with_keys("words", ["a", "b", "c"]), "weights"),
     lambda: fc.weighted_categorical_column(
         fc.categorical_column_with_vocabulary_list("words", ["a", "b", "c"]), "weights")),
    (lambda: layers.crossed_column(
        [layers.sparse_column_with_hash_bucket("words", 5), layers.sparse_column_with_hash_bucket("other", 9)], 20,
        hash_key=layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY),
     lambda: fc.crossed_column(["other", "words"], 20)),
]  # fmt: skip
ONE_HOT = [
    (lambda old=old: layers.one_hot_column(old()), lambda new=new: fc.indicator_column(new()))
    for old, new in SPARSE[:-1]
]
EMBEDDED = [
    (
        lambda old=old, how=how: layers.embedding_column(old(), 3, combiner=how, initializer=ones),
        lambda new=new, how=how: fc.embedding_column(new(), 3, combiner=how, initializer=ones),
    )
    for how in ("mean", "sum", "sqrtn")
    for old, new in SPARSE
]


@pytest.mark.parametrize(("old", "new"), NUMERIC + ONE_HOT + EMBEDDED)
def test_input(old, new):
    outputs = {}
    column = old()
    made = layers.input_from_feature_columns(features(), [column], cols_to_outs=outputs)
    by_core = fc.input_layer(features(), [column])
    want = fc.input_layer(features(), [new()])
    made, by_core, want, by_column = run(made, by_core, want, outputs[column])
    np.testing.assert_allclose(made, want)
    np.testing.assert_allclose(by_core, want)
    np.testing.assert_allclose(by_column, want)


@pytest.mark.parametrize(("old", "new"), NUMERIC[::2] + SPARSE)
def test_weighted_sum(old, new):
    column = old()
    total, variables, bias = layers.weighted_sum_from_feature_columns(features(), [column], 2)
    want_variables = {}
    want = fc.linear_model(features(), [new()], units=2, cols_to_vars=want_variables)
    (mine,), ((_, (theirs,)), (_, (want_bias,))) = variables[column], want_variables.items()
    assert mine.shape == theirs.shape
    values = np.arange(np.prod(mine.shape), dtype=np.float32).reshape(mine.shape) + 1
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run([mine.assign(values), theirs.assign(values), bias.assign([3, 4]), want_bias.assign([3, 4])])
        np.testing.assert_allclose(*session.run([total, want]))


def test_joint_weights_are_those_of_the_columns_one_below_the_other():
    words = layers.sparse_column_with_keys("words", ["a", "b", "c"], default_value=2)
    ids = layers.sparse_column_with_integerized_feature("ids", 8)
    total, (weights,), _ = layers.joint_weighted_sum_from_feature_columns(features(), [words, ids], 1)
    assert weights.shape == (11, 1)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(weights.assign(2.0 ** np.arange(11)[:, None]))
        got = session.run(total)
    # The integers come first: their key is the lesser one.
    np.testing.assert_allclose(got[:, 0], [2**5 + 2**8, 2 + 4 + 2**9 + 2**10, 0, 2**7 + 2**10])


def test_early_hash():
    """The hash of crosses without a key: computed here from the fingerprints of the values."""
    words = np.array(["english", "spanish"])
    numbers = np.array([7, -1])
    with tf.Session() as session:
        prints = session.run(tf.strings.to_hash_bucket_fast(words, 2**62))
    cross = layers.crossed_column(
        [layers.sparse_column_with_hash_bucket("w", 3), layers.sparse_column_with_integerized_feature("n", 9)],
        2**40,
    )  # fmt: skip
    given = {"w": tf.constant(words[:, None]), "n": tf.constant(numbers[:, None])}
    got = run(layers.transform_features(given, [cross])[cross].values)[0]
    full = {"english": None, "spanish": None}
    for word, low in zip(words, prints):
        full[word] = int(low)
    mask = 2**64 - 1

    def combined(a, b):
        signed = a - 2**64 if a >> 63 else a
        return a ^ (b + 0x9E3779B97F4A7800 + (signed << 10) + (signed >> 4)) & mask

    for word, number, bucket in zip(words, numbers, got):
        # The last step mixes the word in by addition: its low 62 bits decide the low 40 of the result.
        first = combined(0xDECAFCAFFE, int(number) & mask)
        assert (combined(first, full[word]) - int(bucket)) % 2**40 == 0


def test_shared_embeddings_are_one_variable(graph):
    a, b = (layers.sparse_column_with_keys(name, ["a", "b", "c"]) for name in ("words", "dense_words"))
    columns = layers.shared_embedding_columns([a, b], 4)
    assert {column.shared_embedding_name for column in columns} == {"dense_words_words_shared_embedding"}
    layers.input_from_feature_columns(features(), columns)
    assert len(tf.global_variables()) == 1


def test_scattered_embedding():
    column = layers.scattered_embedding_column("words", 1000, 3, 17, initializer=ones)
    made = layers.input_from_feature_columns(features(), [column], weight_collections=["mine"])
    got, again = run(made, fc.input_layer(features(), [column]))
    np.testing.assert_allclose(got, again)
    assert got.shape == (4, 3)
    gradient = tf.gradients(made, tf.get_collection("mine"))[0]
    # The row without words has the numbers of a word of its own.
    np.testing.assert_allclose(np.sort(run(gradient)[0].values), [0.5] * 6 + [1] * 9)


def test_sequences():
    ids = tf.SparseTensor([[0, 0, 0], [0, 1, 0], [1, 0, 1]], ["c", "b", "a"], [2, 3, 2])
    column = layers.one_hot_column(layers.sparse_column_with_keys("ids", ["a", "b", "c"]))
    numbers = layers.real_valued_column("numbers")
    made = layers.sequence_input_from_feature_columns(
        {"ids": ids, "numbers": np.ones([2, 3, 2, 2], np.float32)}, [column, numbers]
    )
    want = np.zeros([2, 3, 7], np.float32)
    want[0, 0, 2] = want[0, 1, 1] = want[1, 0, 0] = 1
    want[..., 3:] = 1
    np.testing.assert_allclose(run(made)[0], want)


def test_parsing():
    bucket = layers.bucketized_column(layers.real_valued_column("price", 3), [0.0, 10.0, 100.0])
    words = layers.sparse_column_with_keys("words", ["a", "b"])
    example = tf.train.Example()
    example.features.feature["price"].float_list.value.extend([20, 110, -3])
    example.features.feature["words"].bytes_list.value.extend([b"b", b"a"])
    made = layers.parse_feature_columns_from_examples([example.SerializeToString()], [bucket, words])
    ranges, ids = run(made[bucket], made[words])
    np.testing.assert_array_equal(ranges, [[2, 3, 0]])
    np.testing.assert_array_equal(ids.values, [1, 0])
    placeholders = layers.make_place_holder_tensors_for_base_features([bucket, words])
    assert placeholders["price"].shape.as_list() == [None, 3]
    assert isinstance(placeholders["words"], tf.SparseTensor)


IDS_COLUMN = layers.sparse_column_with_hash_bucket("words", 10)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: layers.sparse_column_with_hash_bucket("a", 0), ValueError, "bucket_size must be at least 1"),
        (lambda: layers.sparse_column_with_hash_bucket("a", 3, dtype=tf.float32), ValueError, "string or integer"),
        (lambda: layers.sparse_column_with_hash_bucket("a", 3, hash_keys=[[1, 2.0]]), ValueError, "pair of integers"),
        (lambda: layers.sparse_column_with_vocabulary_file("a", "file"), ValueError, "vocab_size should be defined"),
        (lambda: layers.weighted_sparse_column(IDS_COLUMN, "w", tf.string), ValueError, "not convertible to float"),
        (lambda: layers.real_valued_column("a", 1.0), TypeError, "dimension must be an integer"),
        (lambda: layers.real_valued_column("a", 3, [1.0]), ValueError, "length of default_value"),
        (lambda: layers.real_valued_column("a", default_value=2.0, dtype=tf.int32), TypeError, "compatible with dtype"),
        (lambda: layers.bucketized_column(IDS_COLUMN, [1]), TypeError, "must be an instance of _RealValuedColumn"),
        (lambda: layers.bucketized_column(layers.real_valued_column("a"), [1, 0]), ValueError, "sorted list"),
        (lambda: layers.crossed_column([IDS_COLUMN], 5), ValueError, "at least 2 elements"),
        (lambda: layers.crossed_column([IDS_COLUMN, layers.real_valued_column("a")], 5), TypeError, "must be a set"),
        (lambda: layers.input_from_feature_columns(features(), [IDS_COLUMN]), ValueError, "Error creating input layer"),
        (lambda: layers.input_from_feature_columns(features(), {"a": IDS_COLUMN}), ValueError, "found dict"),
        (lambda: layers.input_from_feature_columns(features(), [layers.embedding_column(IDS_COLUMN, 3)] * 2),
         ValueError, "Duplicate feature column key"),
        (lambda: layers.weighted_sum_from_feature_columns(features(), [layers.embedding_column(IDS_COLUMN, 3)], 1),
         ValueError, "Error creating weighted sum"),
        (lambda: layers.infer_real_valued_columns(tf.constant(["a"])), ValueError, "Non integer or non floating"),
    ],
)  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_inferred_columns():
    made = layers.infer_real_valued_columns({"a": tf.zeros([3, 4], tf.int32), "b": tf.zeros([3])})
    assert made == [layers.real_valued_column("a", 4, dtype=tf.int32), layers.real_valued_column("b")]


@pytest.mark.parametrize(("total", "smallest", "parts"), [(100, 50, 2), (101, 50, 3), (10, 50, 1), (400, 50, 4)])
def test_parts_are_at_most_one_more_than_whole_slices(total, smallest, parts):
    partitioner = tf.min_max_variable_partitioner(max_partitions=4, min_slice_size=4 * smallest)
    assert partitioner(tf.TensorShape([total]), tf.float32) == [parts]
