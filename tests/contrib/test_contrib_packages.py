"""Small packages of `tf.contrib`: strategies, predictors, sequence columns, and help for tests."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_strategies():
    d = tf.contrib.distribute
    for strategy in (
        d.MirroredStrategy(num_gpus=1), d.MirroredStrategy(["/cpu:0"]), d.OneDeviceStrategy("/cpu:0"),
        d.CollectiveAllReduceStrategy(), d.ParameterServerStrategy(num_gpus_per_worker=0),
        d.MirroredStrategy(num_gpus_per_worker=1, cross_device_ops=d.AllReduceCrossDeviceOps(num_packs=2)),
    ):  # fmt: skip
        assert isinstance(strategy, d.DistributionStrategy)
        with strategy.scope():
            assert d.has_distribution_strategy()
            assert d.get_cross_replica_context() is strategy
        assert tf.estimator.RunConfig(train_distribute=strategy).train_distribute is strategy
    assert d.MirroredStrategy(num_gpus=2).num_replicas_in_sync == 2
    with pytest.raises(ValueError, match="both `num_gpus`"):
        d.MirroredStrategy(num_gpus=1, num_gpus_per_worker=1)
    with pytest.raises(ValueError, match="only specify one"):
        d.MirroredStrategy(["/cpu:0"], num_gpus=1)
    with pytest.raises(RuntimeError, match="Need to be inside"):
        d.require_replica_context(None)


def linear_model(features, labels, mode):
    w = tf.get_variable("w", initializer=3.0)
    found = features["x"] * w
    if mode == "infer":
        return tf.estimator.EstimatorSpec(
            mode, {"y": found},
            export_outputs={"serving_default": tf.estimator.export.PredictOutput({"y": found}),
                            "half": tf.estimator.export.PredictOutput({"y": found / 2.0})},
        )  # fmt: skip
    loss = tf.reduce_mean((found - labels) ** 2)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


@pytest.fixture
def trained(tmp_path):
    estimator = tf.estimator.Estimator(linear_model, str(tmp_path / "model"))
    estimator.train(lambda: ({"x": tf.constant([1.0, 2.0])}, tf.constant([2.0, 4.0])), steps=50)
    return estimator


def receiver():
    x = tf.placeholder(tf.float32, [None], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def test_predictors(trained, tmp_path):
    predictor = tf.contrib.predictor
    folder = trained.export_saved_model(str(tmp_path / "export"), receiver).decode()
    saved = predictor.from_saved_model(folder)
    np.testing.assert_allclose(saved({"x": [1.0, 5.0]})["y"], [2.0, 10.0], rtol=1e-3)
    assert set(saved.feed_tensors) == {"x"}
    half = predictor.from_saved_model(folder, signature_def_key="half")
    np.testing.assert_allclose(half({"x": [4.0]})["y"], [4.0], rtol=1e-3)
    named = predictor.from_saved_model(
        folder, input_names={"in": saved.feed_tensors["x"].name},
        output_names={"out": saved.fetch_tensors["y"].name},
    )  # fmt: skip
    np.testing.assert_allclose(named({"in": [3.0]})["out"], [6.0], rtol=1e-3)
    direct = predictor.from_estimator(trained, receiver, output_key="half")
    np.testing.assert_allclose(direct({"x": [4.0]})["y"], [4.0], rtol=1e-3)
    with pytest.raises(ValueError, match="unexpected keys"):
        saved({"z": [1.0]})
    with pytest.raises(ValueError, match="Available signatures"):
        predictor.from_saved_model(folder, "other")
    with pytest.raises(ValueError, match="both be unspecified"):
        predictor.from_saved_model(folder, input_names={})
    with pytest.raises(KeyError, match="output_key must be one of"):
        predictor.from_estimator(trained, receiver, output_key="third")


def test_sequence_input_layer():
    fc = tf.contrib.feature_column
    column = fc.sequence_categorical_column_with_identity("word", 3)
    columns = [tf.feature_column.indicator_column(column), fc.sequence_numeric_column("size")]
    features = {
        "word": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 2]),
        "size": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [5.0, 6.0, 7.0], [2, 2]),
    }
    layer, lengths = fc.sequence_input_layer(features, columns)
    with tf.Session() as session:
        values, found = session.run([layer, lengths])
    assert found.tolist() == [2, 1]
    np.testing.assert_array_equal(
        values, [[[5, 0, 0, 1], [6, 1, 0, 0]], [[7, 0, 1, 0], [0, 0, 0, 0]]]
    )
    with pytest.raises(ValueError, match="_SequenceDenseColumn"):
        fc.sequence_input_layer(features, [tf.feature_column.numeric_column("size")])


def test_sequence_embeddings_are_trained():
    fc = tf.contrib.feature_column
    column = fc.sequence_categorical_column_with_vocabulary_list("word", ["a", "b"])
    embedding = tf.feature_column.embedding_column(column, 2)
    features = {"word": tf.SparseTensor([[0, 0], [1, 0]], ["a", "b"], [2, 1])}
    layer, _ = fc.sequence_input_layer(features, [embedding])
    (weights,) = tf.trainable_variables()
    assert weights.name == "sequence_input_layer/word_embedding/embedding_weights:0"
    loss = tf.reduce_sum(layer**2)
    step = tf.train.GradientDescentOptimizer(0.2).minimize(loss)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        before = session.run(loss)
        session.run(step)
        assert session.run(loss) < before


def test_events_of_a_training(tmp_path):
    testing = tf.contrib.testing
    writer = tf.summary.FileWriter(str(tmp_path))
    for step in range(3):
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=step / 2)]), step)
    writer.close()
    assert len(testing.latest_summaries(str(tmp_path))) == 3
    assert testing.simple_values_from_events(testing.latest_events(str(tmp_path)), ["loss"]) == {"loss": 1.0}
    summary = tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=1.001)])
    testing.assert_summary(["a"], {"a": 1.0}, testing.to_summary_proto(summary.SerializeToString()))
    with pytest.raises(ValueError, match="Expected tags"):
        testing.assert_summary(["b"], {}, summary)


def test_other_names_of_what_is_elsewhere():
    assert tf.contrib.keras.layers.Dense is tf.keras.layers.Dense
    assert issubclass(tf.contrib.hooks.ProfilerHook, tf.train.ProfilerHook)
    assert tf.contrib.saved_model.save_keras_model is tf.keras.experimental.export_saved_model
    assert tf.contrib.saved_model.load_keras_model is tf.keras.experimental.load_from_saved_model
