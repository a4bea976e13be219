"""The estimators that are ready, on digits and on tables."""

import numpy as np
import pytest

import tapeflow as tf2
import tapeflow.compat.v1 as tf

column = tf.feature_column
RNG = np.random.default_rng(0)
SIZE = RNG.uniform(0, 1, 400).astype(np.float32)
COLOR = RNG.choice(["red", "green", "blue"], 400)
KIND = ((SIZE > 0.5) ^ (COLOR == "red")).astype(np.int64)
PRICE = (2 * SIZE + (COLOR == "blue")).astype(np.float32)
FEATURES = {"size": SIZE, "color": COLOR}
NUMERIC = column.numeric_column("size")
COLORS = column.categorical_column_with_vocabulary_list("color", ["red", "green", "blue"])


def given(labels, epochs=None, shuffle=True):
    return tf.estimator.inputs.numpy_input_fn(
        FEATURES, labels, batch_size=50, num_epochs=epochs, shuffle=shuffle
    )


def config():
    return tf.estimator.RunConfig(tf_random_seed=3)


@pytest.mark.slow
def test_a_deep_network_reads_digits(tmp_path):
    (images, labels), (others, answers) = tf2.keras.datasets.mnist.load_data()
    pixels = column.numeric_column("pixels", shape=[28, 28])
    make = tf.estimator.inputs.numpy_input_fn
    scaled = (images / 255.0).astype(np.float32)
    reader = tf.estimator.DNNClassifier(
        [64], [pixels], tmp_path, 10, config=config(),
        optimizer=lambda: tf.train.AdamOptimizer(2e-3),
    )  # fmt: skip
    reader.train(make({"pixels": scaled}, labels.astype(np.int64), 64, None, True), steps=400)
    tests = {"pixels": (others / 255.0).astype(np.float32)}
    found = reader.evaluate(make(tests, answers.astype(np.int64), 256, 1, False))
    assert set(found) == {"accuracy", "average_loss", "loss", "global_step"}
    assert found["accuracy"] > 0.9
    first = next(reader.predict(make(tests, None, 256, 1, False)))
    assert first["probabilities"].shape == (10,)
    assert first["class_ids"][0] == answers[0]
    assert first["classes"][0] == str(answers[0]).encode()


def test_wide_and_deep_learns_what_a_line_cannot(tmp_path):
    crossed = column.crossed_column(
        [column.bucketized_column(NUMERIC, [0.5]), "color"], hash_bucket_size=100
    )
    both = tf.estimator.DNNLinearCombinedClassifier(
        tmp_path / "both", [crossed], tf.train.FtrlOptimizer(0.2),
        [NUMERIC, column.indicator_column(COLORS)], "Adagrad", [8], config=config(),
    )  # fmt: skip
    found = both.train(given(KIND), steps=150).evaluate(given(KIND, 1, False))
    assert found["accuracy"] > 0.95
    assert found["auc"] > 0.98
    assert found["loss"] == pytest.approx(50 * found["average_loss"], rel=1e-5)
    assert found["label/mean"] == pytest.approx(KIND.mean(), rel=1e-5)
    assert found["accuracy_baseline"] == pytest.approx(max(KIND.mean(), 1 - KIND.mean()), rel=1e-5)
    line = tf.estimator.LinearClassifier([NUMERIC, COLORS], tmp_path / "line", config=config())
    assert line.train(given(KIND), steps=150).evaluate(given(KIND, 1, False))["accuracy"] < 0.9
    names = set(line.get_variable_names())
    assert {"linear/linear_model/size/weights", "linear/linear_model/bias_weights"} < names


def test_numbers_weights_and_names_of_classes(tmp_path):
    features = FEATURES | {"weight": np.where(COLOR == "red", 0.0, 1.0).astype(np.float32)}
    labels = np.where(COLOR == "red", 100.0, PRICE).astype(np.float32)  # which nobody weighs
    make = tf.estimator.inputs.numpy_input_fn
    prices = tf2.estimator.LinearRegressor(
        [NUMERIC, COLORS], tmp_path / "prices", weight_column="weight", config=config(),
        optimizer=tf.train.AdamOptimizer(0.1),
    )  # fmt: skip
    prices.train(make(features, labels, 50, None, True), steps=200)
    found = prices.evaluate(make(features, labels, 400, 1, False))
    assert found["average_loss"] < 0.01
    assert found["loss"] < found["average_loss"]  # over all examples, also those of no weight
    words = np.where(KIND == 1, "yes", "no")
    named = tf.estimator.DNNClassifier(
        [8], [NUMERIC, column.indicator_column(COLORS)], tmp_path / "named", batch_norm=True,
        label_vocabulary=["no", "yes"], optimizer=tf2.keras.optimizers.SGD(0.01), config=config(),
    )  # fmt: skip
    named.train(given(words), steps=20)
    row = next(named.predict(given(None, 1, False)))
    assert row["classes"][0] in (b"no", b"yes")
    assert row["all_classes"].tolist() == [b"no", b"yes"]
    assert row["logistic"][0] == pytest.approx(row["probabilities"][1], rel=1e-5)


def test_a_classifier_is_served_examples(tmp_path):
    line = tf.estimator.LinearClassifier([NUMERIC, COLORS], tmp_path / "line", config=config())
    line.train(given(KIND), steps=5)
    spec = column.make_parse_example_spec([NUMERIC, COLORS])
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    folder = line.export_saved_model(tmp_path / "out", receiver).decode()
    loaded = tf2.saved_model.load(folder)
    assert {"serving_default", "classification", "regression", "predict"} == set(loaded.signatures)
    example = tf.train.Example()
    example.features.feature["size"].float_list.value.append(float(SIZE[0]))
    example.features.feature["color"].bytes_list.value.append(COLOR[0].encode())
    served = loaded.signatures["serving_default"](inputs=tf2.constant([example.SerializeToString()]))
    row = next(line.predict(given(None, 1, False)))
    np.testing.assert_allclose(served["scores"][0], row["probabilities"], rtol=1e-5)


def test_refuses_what_cannot_be(tmp_path):
    with pytest.raises(ValueError, match="n_classes must be >= 2"):
        tf.estimator.DNNClassifier([2], [NUMERIC], tmp_path, n_classes=1)
    with pytest.raises(ValueError, match="Length of label_vocabulary"):
        tf.estimator.DNNClassifier([2], [NUMERIC], tmp_path, label_vocabulary=["a"])
    with pytest.raises(ValueError, match="not empty"):
        tf.estimator.LinearClassifier([], tmp_path)
    with pytest.raises(ValueError, match="Either linear_feature_columns or"):
        tf.estimator.DNNLinearCombinedRegressor(tmp_path)
    with pytest.raises(ValueError, match="Unsupported optimizer name: Best"):
        tf.estimator.LinearClassifier([NUMERIC], tmp_path, optimizer="Best").train(given(KIND), steps=1)
    with pytest.raises(ValueError, match="label_vocabulary must be given"):
        tf.estimator.LinearClassifier([NUMERIC], tmp_path).train(given(COLOR), steps=1)
