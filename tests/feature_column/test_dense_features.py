"""`tf.keras.layers.DenseFeatures` and `tf.keras.experimental.SequenceFeatures`: tensors of columns."""

import numpy as np
import pytest

import tapeflow as tf

fc = tf.feature_column


def rising(shape, dtype=None):
    return tf.reshape(tf.range(float(np.prod(shape))), shape)


def embedding(column, **kwargs):
    return fc.embedding_column(column, 2, initializer=rising, **kwargs)


def identity(key="i", **kwargs):
    return fc.categorical_column_with_identity(key, 3, **kwargs)


def words(key="v", **kwargs):
    return fc.categorical_column_with_vocabulary_list(key, ["x", "y", "z"], **kwargs)


def features():
    return {
        "a": np.array([[1.0], [2.5]], np.float32),
        "pair": np.array([[0.5, 2.0], [-1.0, 0.0]], np.float32),
        "v": tf.sparse.SparseTensor([[0, 0], [0, 1], [1, 0]], ["x", "z", "q"], [2, 2]),
        "i": tf.sparse.SparseTensor([[0, 0], [0, 2], [1, 0]], [2, 0, 1], [2, 3]),
        "w": tf.sparse.SparseTensor([[0, 0], [0, 2], [1, 0]], [0.5, 2.0, -1.0], [2, 3]),
        "flat": np.array([1, 2]),
        "s": np.array([["p"], ["q"]]),
        "t": np.array([["k", "l"], ["m", "n"]]),
        "far": tf.sparse.SparseTensor([[0, 0], [1, 0]], np.array([5, -1]), [2, 1]),
    }


NUMBER = fc.numeric_column("a")
RANGES = fc.bucketized_column(NUMBER, [1.0, 2.5])


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (NUMBER, [[1.0], [2.5]]),
        (fc.numeric_column("a", normalizer_fn=lambda x: x * 10), [[10.0], [25.0]]),
        (fc.numeric_column("flat", dtype=tf.int32), [[1.0], [2.0]]),
        (RANGES, [[0, 1, 0], [0, 0, 1]]),
        (fc.bucketized_column(fc.numeric_column("pair", 2), [0.0, 1.0]), [[0, 1, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0]]),
        (embedding(RANGES), [[2, 3], [4, 5]]),
        # Ids 1 and 5, 0 and 4: every element has ranges of its own.
        (embedding(fc.bucketized_column(fc.numeric_column("pair", 2), [0.0, 1.0])), [[6, 7], [4, 5]]),
        (fc.indicator_column(words()), [[1, 0, 1], [0, 0, 0]]),
        (fc.indicator_column(words(default_value=1)), [[1, 0, 1], [0, 1, 0]]),
        (embedding(words()), [[2, 3], [0, 0]]),
        (embedding(words(), combiner="sum"), [[4, 6], [0, 0]]),
        (fc.indicator_column(fc.weighted_categorical_column(identity(), "w")), [[2, 0, 0.5], [0, -1, 0]]),
        (embedding(fc.weighted_categorical_column(identity(), "w")), [[0.8, 1.8], [0, 0]]),
        (fc.indicator_column(identity("far")), [[0, 0, 0], [0, 0, 0]]),
        (fc.indicator_column(identity("far", default_value=1)), [[0, 1, 0], [0, 1, 0]]),
    ],
)  # fmt: skip
def test_dense_features(column, expected):
    np.testing.assert_allclose(tf.keras.layers.DenseFeatures(column)(features()), expected, rtol=1e-6)


def test_words_out_of_the_vocabulary_have_buckets():
    made = tf.keras.layers.DenseFeatures([fc.indicator_column(words(num_oov_buckets=2))])(features()).numpy()
    assert made[1, :3].sum() == 0
    assert made[1, 3:].sum() == 1


def test_vocabulary_files(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("p\nq\nr\n")
    column = fc.categorical_column_with_vocabulary_file("s", str(path))
    assert column.vocabulary_size == 3
    made = tf.keras.layers.DenseFeatures([fc.indicator_column(column)])(features())
    np.testing.assert_array_equal(made, [[1, 0, 0], [0, 1, 0]])
    path.write_text("2\n1\n")
    column = fc.categorical_column_with_vocabulary_file("flat", str(path), dtype=tf.int32)
    made = tf.keras.layers.DenseFeatures([fc.indicator_column(column)])(features())
    np.testing.assert_array_equal(made, [[0, 1], [1, 0]])


def test_vocabulary_files_of_records(tmp_path):
    path = str(tmp_path / "words.tfrecord.gz")
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        for word in (b"q", b"p"):
            writer.write(word)
    column = fc.categorical_column_with_vocabulary_file("s", path)
    assert column.vocabulary_size == 2
    assert column.file_format == "tfrecord_gzip"
    made = tf.keras.layers.DenseFeatures([fc.indicator_column(column)])(features())
    np.testing.assert_array_equal(made, [[0, 1], [1, 0]])


# As TensorFlow 2.21 hashes them.
@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (fc.categorical_column_with_hash_bucket("s", 4), [[0, 1, 0, 0], [0, 1, 0, 0]]),
        (fc.categorical_column_with_hash_bucket("flat", 4, tf.int32), [[0, 1, 0, 0], [0, 0, 0, 1]]),
        (fc.crossed_column(["s", "t"], 7), [[1, 0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 1, 0, 0]]),
        (fc.crossed_column([RANGES, "s"], 7), [[0, 1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0]]),
        (fc.crossed_column(["s", words()], 7, hash_key=5), [[0, 0, 0, 1, 0, 0, 1], [1, 0, 0, 0, 0, 0, 0]]),
    ],
)  # fmt: skip
def test_hashes(column, expected):
    made = tf.keras.layers.DenseFeatures(fc.indicator_column(column))(features())
    np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ([], "must not be empty"),
        ({"a": NUMBER}, "found dict"),
        (["a"], "must be a FeatureColumn. Given"),
        ([identity()], "wrap a categorical column"),
        ([NUMBER, fc.numeric_column("a", (2,))], "Duplicate feature column name"),
        ([fc.numeric_column("missing")], "Feature missing is not in features dictionary"),
        ([fc.numeric_column("i")], "SparseTensor is not supported. key: i"),
        ([fc.indicator_column(fc.categorical_column_with_hash_bucket("flat", 4))], "must be compatible. key: flat"),
        ([fc.indicator_column(identity("a"))], "not integer. key: a"),
        ([fc.indicator_column(fc.weighted_categorical_column(identity(), "flat"))], "Bad dtype"),
        (
            [fc.indicator_column(fc.crossed_column(["s", fc.weighted_categorical_column(identity(), "w")], 7))],
            "does not support weight_tensor",
        ),
        ([embedding(fc.sequence_categorical_column_with_identity("i", 3))], "must not be of type SequenceCategorical"),
    ],
)  # fmt: skip
def test_refusals(columns, text):
    with pytest.raises(ValueError, match=text):
        tf.keras.layers.DenseFeatures(columns)(features())


def test_features_that_are_wrong():
    layer = tf.keras.layers.DenseFeatures([NUMBER, fc.numeric_column("b")])
    with pytest.raises(ValueError, match="We expected a dictionary here"):
        layer(np.ones((2, 1), np.float32))
    with pytest.raises(ValueError, match="cannot have rank 0"):
        layer({"a": 1.0, "b": 2.0})
    with pytest.raises(ValueError, match=r"Batch size of columns \(a, b\): \(2, 1\)"):
        layer({"a": np.ones((2, 1)), "b": np.ones((1, 1))})
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.keras.layers.DenseFeatures([embedding(identity("far"))])(features())


def test_columns_stand_in_the_order_of_their_names():
    layer, tensors = tf.keras.layers.DenseFeatures([embedding(words()), NUMBER], name="df"), {}
    np.testing.assert_allclose(layer(features(), cols_to_output_tensors=tensors), [[1, 2, 3], [2.5, 0, 0]])
    assert [column.name for column in tensors] == ["a", "v_embedding"]
    assert [(w.path, tuple(w.shape)) for w in layer.weights] == [("df/v_embedding/embedding_weights", (3, 2))]
    assert layer.compute_output_shape((None,)) == (None, 3)
    assert not tf.keras.layers.DenseFeatures([embedding(words())], trainable=False).trainable_weights


def test_a_gradient_reaches_the_embedding():
    layer = tf.keras.layers.DenseFeatures([embedding(words())])
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(layer(features()))
    gradient = tf.convert_to_tensor(tape.gradient(total, layer.weights[0]))
    np.testing.assert_allclose(gradient, [[0.5, 0.5], [0, 0], [0.5, 0.5]])


def test_parsed_examples():
    columns = [NUMBER, fc.indicator_column(words())]
    feature = {
        "a": tf.train.Feature(float_list=tf.train.FloatList(value=[3.0])),
        "v": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"y", b"z"])),
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    parsed = tf.io.parse_example([example, example], fc.make_parse_example_spec(columns))
    np.testing.assert_array_equal(tf.keras.layers.DenseFeatures(columns)(parsed), [[3, 0, 1, 1]] * 2)


def test_models(tmp_path):
    columns = [NUMBER, fc.embedding_column(words(), 2), fc.indicator_column(fc.crossed_column([RANGES, "v"], 5))]
    x = {"a": np.array([[1.0], [2.0], [3.0]], np.float32), "v": np.array([["x"], ["y"], ["n"]])}
    y = np.array([[1.0], [2.0], [3.0]], np.float32)
    model = tf.keras.Sequential([tf.keras.layers.DenseFeatures(columns), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    losses = model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(2), epochs=5, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    model.fit(x, y, verbose=0)
    expected = model.predict(x, verbose=0)
    for path in (str(tmp_path / "folder"), str(tmp_path / "file.keras")):
        model.save(path)
        np.testing.assert_allclose(tf.keras.models.load_model(path).predict(x, verbose=0), expected, rtol=1e-5)
    loaded = tf.saved_model.load(str(tmp_path / "folder"))
    served = loaded({name: tf.constant(value) for name, value in x.items()})
    np.testing.assert_allclose(served, expected, rtol=1e-5)


def test_functional_models():
    inputs = {"a": tf.keras.Input((1,), name="a"), "v": tf.keras.Input((1,), dtype=tf.string, name="v")}
    made = tf.keras.layers.DenseFeatures([NUMBER, embedding(words())])(inputs)
    assert made.shape.as_list() == [None, 3]
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1, kernel_initializer="ones")(made))
    x = {"a": np.array([[1.0], [2.0], [3.0]], np.float32), "v": np.array([["x"], ["y"], ["n"]])}
    np.testing.assert_allclose(model.predict(x, verbose=0), [[2], [7], [3]])


def test_a_configuration_makes_an_equal_layer():
    layer = tf.keras.layers.DenseFeatures([NUMBER, fc.embedding_column(words(), 2, initializer=rising)])
    config = tf.keras.layers.serialize(tf.keras.layers.DenseFeatures([NUMBER, fc.embedding_column(words(), 2)]))
    made = tf.keras.layers.deserialize(config)
    assert [column.name for column in made._feature_columns] == ["a", "v_embedding"]
    again = type(layer).from_config(layer.get_config(), {"rising": rising})
    np.testing.assert_allclose(again(features()), layer(features()))


def sequences():
    sparse = tf.sparse.SparseTensor
    return {
        "i": sparse([[0, 0], [0, 1], [2, 0]], [2, 0, 1], [3, 2]),
        "a": sparse([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [3, 2]),
        "pairs": sparse([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1]], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 4]),
        "many": sparse([[0, 0, 0], [0, 1, 0], [0, 1, 1]], [2, 0, 1], [2, 2, 2]),
    }


def in_time(key="i"):
    return fc.sequence_categorical_column_with_identity(key, 3)


@pytest.mark.parametrize(
    ("column", "expected", "lengths"),
    [
        (embedding(in_time()), [[[4, 5], [0, 1]], [[0, 0], [0, 0]], [[2, 3], [0, 0]]], [2, 0, 1]),
        (fc.indicator_column(in_time("many")), [[[0, 0, 1], [1, 1, 0]], [[0, 0, 0], [0, 0, 0]]], [2, 0]),
        (fc.sequence_numeric_column("a"), [[[1], [2]], [[3], [0]], [[0], [0]]], [2, 1, 0]),
        (
            fc.sequence_numeric_column("pairs", (2,), -1.0),
            [[[1, 2], [3, 4]], [[5, 6], [-1, -1]], [[-1, -1], [-1, -1]]],
            [2, 1, 0],
        ),
    ],
)  # fmt: skip
def test_sequence_features(column, expected, lengths):
    made, found = tf.keras.experimental.SequenceFeatures([column])(sequences())
    np.testing.assert_allclose(made, expected)
    assert found.numpy().tolist() == lengths
    assert found.dtype == tf.int64


def test_sequences_that_are_wrong():
    with pytest.raises(ValueError, match="must be of type SequenceCategoricalColumn"):
        tf.keras.experimental.SequenceFeatures([embedding(identity())])(sequences())
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.keras.experimental.SequenceFeatures([embedding(in_time()), fc.sequence_numeric_column("a")])(sequences())
