"""`tf.contrib.learn`: its estimators, experiments, monitors and data sets, in small trainings."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

learn, layers = tf.contrib.learn, tf.contrib.layers
X = np.random.RandomState(0).randn(90, 2)
CLASSES = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
SUMS = X.sum(1)


def test_classifier_of_arrays(tmp_path):
    columns = learn.infer_real_valued_columns_from_input(X)
    config = learn.RunConfig(tf_random_seed=1)
    classifier = learn.DNNClassifier([20], columns, str(tmp_path), n_classes=3, config=config)
    assert classifier.fit(X, CLASSES, steps=150, batch_size=30) is classifier
    found = classifier.evaluate(X, CLASSES, steps=1)
    assert found["accuracy"] > 0.8
    assert found["global_step"] == 150
    said = np.array(list(classifier.predict(X)))
    assert (said == CLASSES).mean() == pytest.approx(found["accuracy"], abs=1e-6)
    proba = classifier.predict_proba(X, as_iterable=False)
    np.testing.assert_array_equal(proba.argmax(1), said)
    assert "dnn/hiddenlayer_0/weights" in classifier.get_variable_names()


@pytest.mark.parametrize("core", [True, False])
@pytest.mark.parametrize("kind", ["LinearRegressor", "DNNRegressor", "DNNLinearCombinedRegressor"])
def test_regressors(tmp_path, kind, core):
    column = (tf.feature_column.numeric_column if core else layers.real_valued_column)("x")

    def inputs():
        return {"x": tf.constant(X[:, :1], tf.float32)}, tf.constant(2 * X[:, 0] + 1, tf.float32)

    optimizer = tf.train.AdamOptimizer(0.05)
    if kind == "LinearRegressor":
        made = learn.LinearRegressor([column], str(tmp_path), optimizer=optimizer)
    elif kind == "DNNRegressor":
        made = learn.DNNRegressor([8], [column], str(tmp_path), optimizer=optimizer, gradient_clip_norm=5.0)
    else:
        made = learn.DNNLinearCombinedRegressor(
            str(tmp_path), linear_feature_columns=[column], dnn_feature_columns=[column], dnn_hidden_units=[8],
            linear_optimizer=optimizer, dnn_optimizer=optimizer,
        )  # fmt: skip
    made.fit(input_fn=inputs, steps=200)
    assert made.evaluate(input_fn=inputs, steps=1)["loss"] < 0.5
    scores = np.array(list(made.predict_scores(input_fn=inputs)))
    assert np.abs(scores - 2 * X[:, 0] - 1).mean() < 0.5


def test_linear_classifier_of_sparse_columns(tmp_path):
    words = np.array(["a", "b", "c"] * 20)
    column = layers.sparse_column_with_keys("word", ["a", "b", "c"])

    def inputs():
        return {"word": tf.SparseTensor(
            [[i, 0] for i in range(60)], tf.constant(words), [60, 1])}, tf.constant((words == "b") * 1)  # fmt: skip

    made = learn.LinearClassifier([column], str(tmp_path))
    made.fit(input_fn=inputs, steps=30)
    assert made.evaluate(input_fn=inputs, steps=1)["accuracy"] == 1.0


def model(features, target, mode, params):
    found = layers.fully_connected(features, 1, activation_fn=None)[:, 0]
    loss = None if mode == "infer" else tf.losses.mean_squared_error(target, found)
    step = None
    if mode == learn.ModeKeys.TRAIN:
        step = layers.optimize_loss(loss, tf.train.get_global_step(), params["rate"], "SGD")
    return found, loss, step


def test_own_model_with_metrics(tmp_path):
    made = learn.Estimator(model, str(tmp_path), params={"rate": 0.1})
    made.fit(X, SUMS, steps=80, batch_size=45)
    found = made.evaluate(
        X, SUMS, steps=1,
        metrics={"error": learn.MetricSpec(tf.metrics.mean_absolute_error), "other": tf.metrics.mean_squared_error},
    )  # fmt: skip
    assert found["error"] < 0.1
    assert found["other"] == pytest.approx(found["loss"], rel=1e-4)
    np.testing.assert_allclose(made.predict(X, as_iterable=False), SUMS, atol=0.2)
    with pytest.raises(ValueError, match="both input_fn and x"):
        made.fit(X, SUMS, input_fn=lambda: None, steps=1)
    with pytest.raises(ValueError, match="params argument"):
        learn.Estimator(lambda features, labels: None, params={"a": 1})


def test_skcompat(tmp_path):
    made = learn.SKCompat(learn.Estimator(model, str(tmp_path), params={"rate": 0.1}))
    made.fit(X.astype(np.float32), SUMS.astype(np.float32), steps=80)
    assert made.score(X, SUMS)["loss"] < 0.05
    np.testing.assert_allclose(made.predict(X), SUMS, atol=0.3)


def test_model_fn_ops():
    with pytest.raises(ValueError, match=r"Missing train_op"):
        learn.ModelFnOps("train", tf.constant(1.0), tf.constant(1.0))
    with tf.Graph().as_default():
        ops = learn.ModelFnOps(
            "infer", {"scores": tf.ones([2])},
            output_alternatives={"a": (learn.ProblemType.LINEAR_REGRESSION, {"scores": tf.ones([2])})},
        )  # fmt: skip
        assert set(ops.estimator_spec().export_outputs) == {"a", "serving_default"}


def experiment_fn(run_config, hparams):
    def inputs():
        return tf.constant(X, tf.float32), tf.constant(SUMS, tf.float32)

    def serve():
        x = tf.placeholder(tf.float32, [None, 2])
        return learn.InputFnOps({"x": x}, None, {"x": x})

    def of_dict(features, target, mode):
        features = features["x"] if isinstance(features, dict) else features
        found, loss, step = model(features, target, mode, {"rate": hparams.rate})
        return learn.ModelFnOps(mode, {"y": found}, loss, step)

    return learn.Experiment(
        learn.Estimator(of_dict, config=run_config), inputs, inputs, train_steps=60, eval_steps=1,
        eval_metrics={"error": learn.MetricSpec(tf.metrics.mean_absolute_error)},
        export_strategies=learn.make_export_strategy(serve),
    )  # fmt: skip


@pytest.mark.parametrize("schedule", [None, "continuous_train_and_eval"])
def test_experiment(tmp_path, schedule):
    config = learn.RunConfig(model_dir=str(tmp_path), save_checkpoints_steps=20)
    hparams = tf.contrib.training.HParams(rate=0.1)
    result, exports = learn.learn_runner.run(
        experiment_fn, schedule=schedule, run_config=config, hparams=hparams
    )
    assert result["global_step"] == 60
    assert result["error"] < 0.1
    said = tf.contrib.predictor.from_saved_model(exports[0].decode())({"x": [[1.0, 2.0]]})
    assert said["y"] == pytest.approx([3.0], abs=0.3)
    with pytest.raises(ValueError, match="non-existent task"):
        learn.learn_runner.run(experiment_fn, schedule="rest", run_config=config, hparams=hparams)


def test_validation_monitor_stops_early(tmp_path):
    config = learn.RunConfig(save_checkpoints_steps=5)
    made = learn.Estimator(model, str(tmp_path), config, params={"rate": 0.1})
    monitor = learn.monitors.ValidationMonitor(
        X, -SUMS, every_n_steps=5, early_stopping_rounds=10, eval_steps=1
    )
    made.fit(X, SUMS, steps=200, monitors=[monitor])
    assert monitor.early_stopped
    assert made.evaluate(X, SUMS, steps=1)["global_step"] < 100


def test_tables_in_files(tmp_path):
    base = learn.datasets.base
    path = tmp_path / "table.csv"
    path.write_text("2,3,a,b\n1.5,2,3,0\n4,5,6.5,1\n")
    found = base.load_csv_with_header(str(path), np.int64, np.float32)
    assert found.data.tolist() == [[1.5, 2, 3], [4, 5, 6.5]]
    assert found.target.tolist() == [0, 1]
    path.write_text("7,1.5,2\n8,4,5\n")
    found = base.load_csv_without_header(str(path), np.int64, np.float32, target_column=0)
    assert found.target.tolist() == [7, 8]
    assert base.maybe_download("table.csv", str(tmp_path), "http://nowhere.invalid/") == str(path)


def test_print_tensor_logs_first_steps_and_then_some(caplog):
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        tensor = tf.identity(step.assign_add(1), "counted")
        hook = learn.monitors.PrintTensor(["counted"], every_n=4, first_n=2)
        with caplog.at_level("INFO", logger="tensorflow"), tf.train.SingularMonitoredSession([hook]) as session:
            for _ in range(10):
                session.run(tensor)
    logged = [int(record.getMessage().split("counted = ")[1].split()[0]) for record in caplog.records
              if "counted = " in record.getMessage()]  # fmt: skip
    assert logged == [1, 2, 6, 10]


def test_an_experiment_refuses_what_it_does_not_do(tmp_path):
    estimator = learn.LinearRegressor([layers.real_valued_column("x")], str(tmp_path))
    with pytest.raises(NotImplementedError, match="export_strategies"):
        learn.Experiment(estimator, None, None, checkpoint_and_export=True)
