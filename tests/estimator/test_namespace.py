"""The names of `tf.estimator` in TensorFlow 1.15 and 2.0, and those of them that no other test uses."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
HEADS = (
    "BinaryClassHead Head LogisticRegressionHead MultiClassHead MultiHead MultiLabelHead PoissonRegressionHead "
    "RegressionHead"
)
NAMES = (
    "BaselineClassifier BaselineEstimator BaselineRegressor BestExporter BoostedTreesClassifier BoostedTreesEstimator "
    "BoostedTreesRegressor CheckpointSaverHook CheckpointSaverListener DNNClassifier DNNEstimator "
    "DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor DNNRegressor Estimator "
    "EstimatorSpec EvalSpec Exporter FeedFnHook FinalExporter FinalOpsHook GlobalStepWaiterHook LatestExporter "
    "LinearClassifier LinearEstimator LinearRegressor LoggingTensorHook ModeKeys NanLossDuringTrainingError "
    "NanTensorHook ProfilerHook RunConfig SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook "
    "SessionRunValues StepCounterHook StopAtStepHook SummarySaverHook TrainSpec VocabInfo WarmStartSettings "
    "add_metrics classifier_parse_example_spec experimental export regressor_parse_example_spec train_and_evaluate"
)
EXPERIMENTAL = (
    "InMemoryEvaluatorHook build_raw_supervised_input_receiver_fn make_early_stopping_hook "
    "make_stop_at_checkpoint_step_hook stop_if_higher_hook stop_if_lower_hook stop_if_no_decrease_hook "
    "stop_if_no_increase_hook"
)
COLUMNS = [tf.feature_column.numeric_column("x", shape=(2,))]


@pytest.mark.parametrize("namespace", [tf.estimator, v1.estimator], ids=["2.x", "1.x"])
def test_names(namespace):
    assert not [name for name in f"{NAMES} {HEADS}".split() if not hasattr(namespace, name)]
    assert not [name for name in EXPERIMENTAL.split() if not hasattr(namespace.experimental, name)]


def data(labels):
    x = np.zeros([len(labels), 2], np.float32)

    def make():
        return tf.data.Dataset.from_tensor_slices(({"x": x}, np.array(labels))).batch(len(labels)).repeat(300)

    return make


@pytest.mark.parametrize("names", [None, ["a", "b", "c"]], ids=["numbers", "names"])
def test_the_baseline_of_classes_says_how_frequent_they_are(tmp_path, names):
    labels = [0, 0, 0, 2, 1, 0, 2, 0]
    if names:
        labels = [names[i] for i in labels]
    model = tf.estimator.BaselineClassifier(str(tmp_path), n_classes=3, label_vocabulary=names)
    model.train(data(labels), steps=300)
    assert "baseline/bias" in model.get_variable_names()
    said = next(model.predict(data(labels)))["probabilities"]
    np.testing.assert_allclose(said, [5 / 8, 1 / 8, 2 / 8], atol=0.05)
    assert model.evaluate(data(labels), steps=1)["accuracy"] == pytest.approx(5 / 8)


def test_the_baseline_of_numbers_says_their_mean(tmp_path):
    labels = np.array([[1.0, 10.0], [2.0, 20.0], [6.0, 0.0]], np.float32)
    model = tf.estimator.BaselineRegressor(
        str(tmp_path), label_dimension=2, optimizer=lambda: v1.train.GradientDescentOptimizer(0.3)
    )
    model.train(data(labels), steps=200)
    np.testing.assert_allclose(next(model.predict(data(labels)))["predictions"], [3.0, 10.0], atol=0.01)


def test_a_baseline_of_a_head(tmp_path):
    labels = np.array([[1, 0], [1, 1], [1, 0], [0, 0]])
    model = tf.estimator.BaselineEstimator(
        tf.estimator.MultiLabelHead(2), str(tmp_path), lambda: v1.train.GradientDescentOptimizer(1.0)
    )
    model.train(data(labels), steps=300)
    np.testing.assert_allclose(next(model.predict(data(labels)))["probabilities"], [0.75, 0.25], atol=0.02)


HEAD_CASES = {
    "BinaryClassHead": (lambda: tf.estimator.BinaryClassHead(), [[1], [0]], [[0.0], [2.0]], (np.log(2) + 2.126928) / 2),
    "MultiClassHead": (lambda: tf.estimator.MultiClassHead(3), [[1], [2]], [[0.0] * 3, [0.0] * 3], np.log(3)),
    "RegressionHead": (lambda: tf.estimator.RegressionHead(2), [[1.0, 2.0]], [[2.0, 4.0]], 2.5),
    "PoissonRegressionHead": (
        lambda: tf.estimator.PoissonRegressionHead(compute_full_loss=False), [[2.0]], [[0.5]], np.exp(0.5) - 1.0,
    ),
    "LogisticRegressionHead": (lambda: tf.estimator.LogisticRegressionHead(), [[0.5]], [[0.0]], np.log(2)),
    "MultiLabelHead": (lambda: tf.estimator.MultiLabelHead(2), [[1, 0]], [[0.0, 0.0]], np.log(2)),
    "sums": (
        lambda: tf.estimator.RegressionHead(loss_reduction=tf.keras.losses.Reduction.SUM), [[1.0], [1.0]],
        [[2.0], [3.0]], 5.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HEAD_CASES)
def test_losses_of_heads(case):
    make, labels, logits, expected = HEAD_CASES[case]
    with tf.Graph().as_default(), v1.Session() as session:
        head = make()
        logits = tf.constant(logits)
        loss = head.loss(tf.constant(labels), logits, {}, regularization_losses=[tf.constant(0.5)])
        said = head.predictions(logits)
        session.run([v1.tables_initializer()])
        assert session.run(loss) == pytest.approx(expected + 0.5, rel=1e-5)
        assert said
        key = next(iter(said))
        assert list(head.predictions(logits, [key])) == [key]


def test_a_head_with_an_optimizer_of_keras():
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.get_or_create_global_step()
        w = v1.get_variable("w", initializer=[[1.0]])
        other = v1.get_variable("other", initializer=1.0)
        spec = tf.estimator.RegressionHead().create_estimator_spec(
            {}, "train", tf.ones([1, 1]) @ w * other, tf.constant([[0.0]]), tf.keras.optimizers.SGD(0.25),
            trainable_variables=[w], update_ops=[],
        )  # fmt: skip
        session.run(v1.global_variables_initializer())
        session.run(spec.train_op)
        assert session.run([w, other, step]) == [[[0.5]], 1.0, 1]


def test_specs_of_examples():
    made = tf.estimator.classifier_parse_example_spec(COLUMNS, "y", tf.string, weight_column="w")
    assert made == {
        "x": tf.io.FixedLenFeature((2,), tf.float32),
        "y": tf.io.FixedLenFeature((1,), tf.string),
        "w": tf.io.FixedLenFeature((1,), tf.float32),
    }
    made = tf.estimator.regressor_parse_example_spec(COLUMNS, "y", label_dimension=3, label_default=[0.0] * 3)
    assert made["y"] == tf.io.FixedLenFeature((3,), tf.float32, [0.0] * 3)
    with pytest.raises(ValueError, match="label should not be used as feature"):
        tf.estimator.regressor_parse_example_spec(COLUMNS, "x")
