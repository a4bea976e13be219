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


def points():
    return tf.constant(np.concatenate([X[:30] * 0.1, X[:30] * 0.1 + 5]), tf.float32), None


def test_clusters(tmp_path):
    made = learn.KMeansClustering(2, str(tmp_path), random_seed=3, initial_clusters="kmeans_plus_plus")
    made.fit(input_fn=points, steps=10)
    centers = np.sort(made.clusters(), 0)
    np.testing.assert_allclose(centers, [X[:30].mean(0) * 0.1, X[:30].mean(0) * 0.1 + 5], atol=0.01)
    numbers = np.array(list(made.predict_cluster_idx(points)))
    assert len(set(numbers[:30])) == len(set(numbers[30:])) == 1
    distances = made.transform(points)
    np.testing.assert_allclose(made.score(points, steps=1), distances.min(1).sum(), rtol=1e-4)


def test_metrics_of_probabilities(tmp_path):
    def model(features, labels, mode):
        logits = layers.fully_connected(features, 1, None)[:, 0]
        labels = None if mode == "infer" else tf.cast(labels, tf.float32)
        loss = None if labels is None else tf.losses.sigmoid_cross_entropy(labels, logits)
        step = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step()) if mode == "train" else None
        return tf.sigmoid(logits), loss, step

    made = learn.LogisticRegressor(model, [0.5, 0.8], str(tmp_path))
    made.fit(X, SUMS > 0, steps=100)
    found = made.evaluate(X, SUMS > 0, steps=1)
    said = np.array(list(made.predict(X)))
    assert found["auc"] > 0.98
    for threshold in (0.5, 0.8):
        accuracy = ((said >= threshold) == (SUMS > 0)).mean()
        assert found[f"accuracy/threshold_{threshold:f}_mean"] == pytest.approx(accuracy, abs=1e-6)
    assert found["labels/actual_label_mean"] == pytest.approx((SUMS > 0).mean(), abs=1e-6)


@pytest.mark.parametrize("kind", ["DNNClassifier", "LinearClassifier", "DNNLinearCombinedClassifier"])
def test_classes_by_name(tmp_path, kind):
    names = np.array(["low", "middle", "high"])
    column = layers.real_valued_column("x", 2)

    def inputs():
        return {"x": tf.constant(X, tf.float32), "w": tf.ones([90])}, tf.constant(names[CLASSES])[:, None]

    words = {"n_classes": 3, "label_keys": names.tolist(), "weight_column_name": "w", "enable_centered_bias": True}
    if kind == "DNNClassifier":
        made = learn.DNNClassifier([8], [column], str(tmp_path), activation_fn="tanh", **words)
    elif kind == "LinearClassifier":
        made = learn.LinearClassifier([column], str(tmp_path), optimizer="Adam", **words)
    else:
        made = learn.DNNLinearCombinedClassifier(
            str(tmp_path), linear_feature_columns=[column], dnn_feature_columns=[column], dnn_hidden_units=[8], **words
        )
    made.fit(input_fn=inputs, steps=60)
    found = made.evaluate(input_fn=inputs, steps=1)
    said = list(made.predict_classes(input_fn=inputs))
    assert set(said) <= set(names.astype("S"))
    assert np.mean(said == names[CLASSES].astype("S")) == pytest.approx(found["accuracy"], abs=1e-6)
    # Both parts of a combined model count.
    assert found["global_step"] in ((60, 61, 62) if kind == "DNNLinearCombinedClassifier" else (60,))
    assert any("centered_bias_weight" in name for name in made.get_variable_names())


def test_weights_of_features_without_a_name(tmp_path):
    made = learn.LinearRegressor(learn.infer_real_valued_columns_from_input(X), str(tmp_path))
    made.fit(X, SUMS, steps=1)
    assert {"linear//weight", "linear/bias_weight"} <= set(made.get_variable_names())


def test_factors_of_gradients_of_embeddings(tmp_path):
    words = layers.sparse_column_with_keys("word", ["a", "b"])
    still, moving = (layers.embedding_column(words, 2, initializer=tf.ones_initializer()) for _ in range(2))

    def inputs():
        return {"word": tf.SparseTensor([[0, 0], [1, 0]], ["a", "b"], [2, 1])}, tf.constant([0, 1])

    for factor, column in ((0.0, still), (1.0, moving)):
        folder = str(tmp_path / str(factor))
        made = learn.DNNClassifier(
            [4], [column], folder, activation_fn=tf.tanh, embedding_lr_multipliers={column: factor}
        )
        made.fit(input_fn=inputs, steps=3)
        name = "dnn/input_from_feature_columns/word_embedding/weights"
        assert np.all(made.get_variable_value(name) == 1) == (factor == 0)
    made = learn.DNNClassifier([4], [moving], embedding_lr_multipliers={words: 1.0})
    with pytest.raises(ValueError, match="only be defined for embedding columns"):
        made.fit(input_fn=inputs, steps=1)


class Told(learn.monitors.EveryN):
    def __init__(self):
        super().__init__(every_n_steps=4, first_n_steps=2)
        self.steps, self.losses = [], []

    def every_n_step_begin(self, step):
        self.steps.append(step)
        return ["loss:0"]

    def every_n_step_end(self, step, outputs):
        self.losses.append(float(outputs["loss:0"]))
        return step == 10


def named(features, target, mode, params):
    found, loss, step = model(features, target, mode, params)
    return found, None if loss is None else tf.identity(loss, "loss"), step


def test_monitors_are_told_of_steps(tmp_path):
    told, values = Told(), learn.monitors.CaptureVariable("loss:0", every_n=3)
    made = learn.Estimator(named, str(tmp_path), params={"rate": 0.1})
    made.fit(X, SUMS, steps=30, monitors=[told, values])
    assert told.steps == [1, 2, 6, 10]
    assert len(told.losses) == 4
    assert told.losses[-1] < told.losses[0]
    assert made.get_variable_value("global_step") == 10
    assert list(values.values) == [1, 4, 7, 10]


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ([("end", ())], "end called without begin"),
        ([("begin", ()), ("begin", ())], "begin called twice"),
        ([("step_begin", (-1,))], "Invalid step -1"),
        ([("step_begin", (1,)), ("step_end", (2, {}))], "step_end expected 1 but got 2"),
        ([("epoch_begin", (1,)), ("epoch_begin", (2,))], "epoch_begin called twice"),
        ([("epoch_begin", (1,)), ("epoch_end", (2,))], "epoch_end expected 1 but got 2"),
        ([("set_estimator", (None,))], "Missing estimator"),
    ],
)
def test_monitors_refuse_another_order(calls, message):
    monitor = learn.monitors.BaseMonitor()
    *before, (name, arguments) = calls
    for each, given in before:
        getattr(monitor, each)(*given)
    with pytest.raises(ValueError, match=message):
        getattr(monitor, name)(*arguments)
