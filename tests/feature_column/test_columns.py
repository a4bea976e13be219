"""What columns are: their names, fields, specs, configurations, and what they refuse."""

import numpy as np
import pytest

import tapeflow as tf

fc = tf.feature_column


def identity(key="i", **kwargs):
    return fc.categorical_column_with_identity(key, 3, **kwargs)


def test_columns_are_named_tuples():
    column = fc.bucketized_column(fc.numeric_column("a", dtype=tf.int32), [1, 2])
    assert repr(column) == (
        "BucketizedColumn(source_column=NumericColumn(key='a', shape=(1,), default_value=None, dtype=tf.int32, "
        "normalizer_fn=None), boundaries=(1, 2))"
    )
    assert column == fc.bucketized_column(fc.numeric_column("a", dtype=tf.int32), (1, 2))
    assert hash(column) == hash(fc.bucketized_column(fc.numeric_column("a", dtype=tf.int32), (1, 2)))
    assert column._replace(boundaries=(3,)).boundaries == (3,)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: fc.numeric_column("a"), "a"),
        (lambda: fc.bucketized_column(fc.numeric_column("a"), [1.0]), "a_bucketized"),
        (lambda: fc.weighted_categorical_column(identity(), "w"), "i_weighted_by_w"),
        (lambda: fc.embedding_column(identity(), 2), "i_embedding"),
        (lambda: fc.indicator_column(identity()), "i_indicator"),
        (lambda: fc.crossed_column([fc.crossed_column(["b", "z"], 10), "c"], 10), "b_X_c_X_z"),
        (lambda: fc.sequence_categorical_column_with_identity("i", 3), "i"),
    ],
)
def test_names(make, name):
    assert make().name == name


@pytest.mark.parametrize(
    ("shape", "default", "kept"),
    [
        ((1,), 3, (3,)),
        ((2,), 1.5, (1.5, 1.5)),
        ([2, 2], [[1, 2], [3, 4]], ((1, 2), (3, 4))),
        ((2,), np.array([1.0, 2.0]), (1.0, 2.0)),
    ],
)
def test_default_values_are_tuples(shape, default, kept):
    assert fc.numeric_column("a", shape, default).default_value == kept


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: fc.numeric_column("a", (2,), [1, 2, 3]), ValueError, "The shape of default_value must be equal"),
        (lambda: fc.numeric_column("a", dtype=tf.int32, default_value=1.5), TypeError, "compatible with dtype"),
        (lambda: fc.numeric_column("a", shape=0), ValueError, "must be greater than 0"),
        (lambda: fc.numeric_column("a", shape=1.5), TypeError, "must be integer"),
        (lambda: fc.numeric_column("a", dtype=tf.string), ValueError, "convertible to float"),
        (lambda: fc.numeric_column(("a",)), ValueError, "key must be a string"),
        (lambda: fc.numeric_column("a", normalizer_fn=3), TypeError, "must be a callable"),
        (lambda: fc.bucketized_column("a", [1]), ValueError, "generated with numeric_column"),
        (lambda: fc.bucketized_column(fc.numeric_column("a"), [2, 1]), ValueError, "a sorted list"),
        (lambda: fc.bucketized_column(fc.numeric_column("a"), []), ValueError, "must not be empty"),
        (lambda: fc.bucketized_column(fc.numeric_column("a", (2, 2)), [1]), ValueError, "one-dimensional"),
        (lambda: fc.categorical_column_with_hash_bucket("h", 0), ValueError, "at least 1"),
        (lambda: fc.categorical_column_with_hash_bucket("h", 2, tf.float32), ValueError, "string or integer"),
        (lambda: fc.categorical_column_with_identity("i", 0), ValueError, "num_buckets 0 < 1"),
        (lambda: identity(default_value=3), ValueError, "not in range"),
        (lambda: fc.categorical_column_with_vocabulary_list("v", []), ValueError, "must be non-empty"),
        (lambda: fc.categorical_column_with_vocabulary_list("v", ["x", "x"]), ValueError, "Duplicate keys"),
        (lambda: fc.categorical_column_with_vocabulary_list("v", [1.5]), ValueError, "string or integer"),
        (lambda: fc.categorical_column_with_vocabulary_list("v", ["x"], tf.int32), ValueError, "do not match"),
        (
            lambda: fc.categorical_column_with_vocabulary_list("v", ["x"], default_value=0, num_oov_buckets=1),
            ValueError,
            "Can't specify both",
        ),
        (lambda: fc.categorical_column_with_vocabulary_file("v", ""), ValueError, "Missing vocabulary_file"),
        (lambda: fc.categorical_column_with_vocabulary_file("v", "/no/file"), ValueError, "does not exist"),
        (lambda: fc.categorical_column_with_vocabulary_file("v", "f", 0), ValueError, "Invalid vocabulary_size"),
        (lambda: fc.crossed_column(["a"], 10), ValueError, "length > 1"),
        (lambda: fc.crossed_column(["a", "b"], 0), ValueError, "must be > 1"),
        (lambda: fc.crossed_column(["a", 3], 10), ValueError, "Unsupported key type"),
        (
            lambda: fc.crossed_column(["a", fc.categorical_column_with_hash_bucket("h", 4)], 10),
            ValueError,
            "not supported for crossing",
        ),
        (lambda: fc.weighted_categorical_column(identity(), "w", tf.string), ValueError, "convertible to float"),
        (lambda: fc.indicator_column(fc.numeric_column("a")), ValueError, "must be a CategoricalColumn"),
        (lambda: fc.embedding_column(identity(), 0), ValueError, "Invalid dimension 0"),
        (lambda: fc.embedding_column(identity(), 2, initializer=3), ValueError, "must be callable"),
        (lambda: fc.embedding_column(identity(), 2, ckpt_to_load_from="c"), ValueError, "Must specify both"),
        (lambda: fc.shared_embeddings([identity()], 2), RuntimeError, "eager execution"),
    ],
)
def test_refusals(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_parse_example_spec():
    cross = fc.crossed_column(["s", identity()], 10)
    columns = [
        fc.numeric_column("a", (2,), 1.0),
        fc.embedding_column(fc.weighted_categorical_column(identity(), "w"), 2),
        fc.indicator_column(cross),
    ]
    assert fc.make_parse_example_spec(columns) == {
        "a": tf.io.FixedLenFeature((2,), tf.float32, (1.0, 1.0)),
        "i": tf.io.VarLenFeature(tf.int64),
        "w": tf.io.VarLenFeature(tf.float32),
        "s": tf.io.VarLenFeature(tf.string),
    }
    with pytest.raises(ValueError, match="different parse_spec for key a"):
        fc.make_parse_example_spec([fc.numeric_column("a"), fc.numeric_column("a", (2,))])
    with pytest.raises(ValueError, match="must be FeatureColumn instances"):
        fc.make_parse_example_spec(["x"])
    with pytest.raises(ValueError, match="must be _FeatureColumn instances"):
        tf.compat.v1.feature_column.make_parse_example_spec(["x"])
    with pytest.raises(ValueError, match="already exists for i"):
        fc.make_parse_example_spec([fc.weighted_categorical_column(identity(), "i")])


@pytest.mark.parametrize(
    "column",
    [
        fc.numeric_column("a", (2,), 1.0),
        fc.bucketized_column(fc.numeric_column("a"), [1.0]),
        fc.indicator_column(fc.categorical_column_with_vocabulary_list("v", ["x", "y"], num_oov_buckets=1)),
        fc.indicator_column(
            fc.crossed_column([fc.bucketized_column(fc.numeric_column("a"), [1.0]), "s"], 7, hash_key=3)
        ),
        fc.weighted_categorical_column(fc.categorical_column_with_hash_bucket("h", 4, tf.int64), "w"),
        fc.sequence_categorical_column_with_identity("i", 3, 1),
        fc.sequence_numeric_column("a", (2,)),
    ],
    ids=lambda column: column.name,
)
def test_a_configuration_makes_an_equal_column(column):
    made = type(column).from_config(column.get_config())
    assert made == column
    assert repr(made) == repr(column)


def test_configurations_that_are_wrong():
    column = fc.numeric_column("a")
    with pytest.raises(ValueError, match="expected keys"):
        type(column).from_config({**column.get_config(), "more": 1})
    with pytest.raises(ValueError, match="Unknown feature_column_v2: NoColumn"):
        type(fc.indicator_column(identity())).from_config(
            {"categorical_column": {"class_name": "NoColumn", "config": {}}}
        )
