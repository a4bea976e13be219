"""`tf.estimator.Estimator`: model functions trained, evaluated, asked and exported."""

import os

import numpy as np
import pytest

import tapeflow as tf2
import tapeflow.compat.v1 as tf

X = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
Y = 3 * X + 2


def line(features, labels, mode, params):
    x = features["x"] if isinstance(features, dict) else features
    y = tf.layers.dense(x, 1, name="line")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"y": y, "x": x})
    loss = tf.losses.mean_squared_error(labels, y)
    if mode == tf.estimator.ModeKeys.EVAL:
        wrong = {"mae": tf.metrics.mean_absolute_error(labels, y)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=wrong)
    optimizer = tf.train.GradientDescentOptimizer(params["rate"])
    step = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def batches(batch=16, epochs=None):
    def input_fn(mode):
        assert mode in ("train", "eval", "infer")
        dataset = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
        return dataset.repeat(epochs).batch(batch)

    return input_fn


@pytest.fixture
def estimator(tmp_path):
    config = tf.estimator.RunConfig(save_checkpoints_steps=20, tf_random_seed=1, keep_checkpoint_max=2)
    return tf.estimator.Estimator(line, str(tmp_path / "model"), config, {"rate": 0.3})


def test_trains_goes_on_evaluates_and_predicts(estimator):
    assert estimator.latest_checkpoint() is None
    before = estimator.evaluate(batches(epochs=1))
    assert before["global_step"] == 0
    assert estimator.train(batches(), steps=50) is estimator
    assert estimator.latest_checkpoint().endswith("model.ckpt-50")
    estimator.train(batches(), steps=50).train(batches(), max_steps=100)
    found = estimator.evaluate(batches(epochs=1), name="all")
    assert set(found) == {"loss", "mae", "global_step"}
    assert found["global_step"] == 100
    assert found["loss"] < 1e-4 < before["loss"]
    np.testing.assert_allclose(estimator.get_variable_value("line/kernel"), [[3.0]], atol=0.02)
    assert sorted(estimator.get_variable_names()) == ["global_step", "line/bias", "line/kernel"]
    rows = list(estimator.predict(batches(epochs=1)))
    assert len(rows) == 64
    np.testing.assert_allclose([row["y"] for row in rows], Y, atol=0.05)
    only = next(estimator.predict(batches(), predict_keys=["y"], yield_single_examples=False))
    assert list(only) == ["y"]
    assert only["y"].shape == (16, 1)
    assert tf2.executing_eagerly()
    kept = [name for name in os.listdir(estimator.model_dir) if name.endswith(".index")]
    assert len(kept) == 2
    writer = [name for name in os.listdir(estimator.eval_dir("all")) if "tfevents" in name]
    (path,) = (os.path.join(estimator.eval_dir("all"), name) for name in writer)
    tags = {v.tag for event in tf.train.summary_iterator(path) for v in event.summary.value}
    assert tags == {"loss", "mae"}


def test_hooks_and_listeners_are_called(estimator):
    seen = []

    class Hook(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.train.SessionRunArgs(tf.train.get_global_step())

        def after_run(self, run_context, run_values):
            seen.append(int(run_values.results))

    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            seen.append(f"saved {global_step_value}")

    estimator.train(batches(), hooks=[Hook()], max_steps=25, saving_listeners=[Listener()])
    assert seen[0] == "saved 0"
    assert [x for x in seen if isinstance(x, str)][-1] == "saved 25"
    assert len([x for x in seen if isinstance(x, int)]) == 25


def test_exports_what_it_predicts(estimator, tmp_path):
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn
    with tf.Graph().as_default():
        receiver = serving({"x": tf.placeholder(tf.float32, [None, 1], "x")})
        with pytest.raises(ValueError, match="Couldn't find trained model"):
            estimator.export_saved_model(str(tmp_path), receiver)
    estimator.train(batches(), steps=5)
    extra = tmp_path / "words.txt"
    extra.write_text("a b")
    folder = estimator.export_saved_model(tmp_path / "out", receiver, {"words.txt": str(extra)})
    assert isinstance(folder, bytes)
    assert os.path.exists(os.path.join(folder.decode(), "assets.extra", "words.txt"))
    loaded = tf2.saved_model.load(folder.decode())
    made = loaded.signatures["serving_default"](x=tf2.constant(X))
    wanted = np.stack([row["y"] for row in estimator.predict(batches(epochs=1))])
    np.testing.assert_allclose(made["y"], wanted, rtol=1e-6)


def test_begins_with_what_another_learned(estimator, tmp_path):
    estimator.train(batches(), steps=50)
    other = tf.estimator.Estimator(
        line, str(tmp_path / "other"), params={"rate": 1e-9}, warm_start_from=estimator.model_dir
    )
    other.train(batches(), steps=1)
    kernels = [e.get_variable_value("line/kernel") for e in (estimator, other)]
    np.testing.assert_allclose(*kernels, rtol=1e-5)


def test_trains_and_evaluates_with_exporters(estimator):
    def serving():
        x = tf.placeholder(tf.float32, [None, 1])
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    exporters = [
        tf.estimator.LatestExporter("latest", serving, exports_to_keep=1),
        tf.estimator.FinalExporter("final", serving),
        tf.estimator.BestExporter("best", serving),
    ]
    metrics, exports = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(batches(), max_steps=60),
        tf.estimator.EvalSpec(batches(epochs=1), steps=None, exporters=exporters, throttle_secs=0),
    )
    assert metrics["global_step"] == 60
    assert metrics["loss"] < 0.01
    assert [b"/final/" in path for path in exports] == [False, True, False]
    sizes = [
        len(os.listdir(os.path.join(estimator.model_dir, "export", name)))
        for name in ("latest", "final", "best")
    ]
    assert sizes == [1, 1, 3]  # after 20, 40 and 60 steps, each better


def test_refuses_what_cannot_be(estimator, tmp_path):
    make, spec = tf.estimator.Estimator, tf.estimator.EstimatorSpec
    with pytest.raises(ValueError, match="must include features argument"):
        make(lambda labels: None, tmp_path)
    with pytest.raises(ValueError, match="does not include params argument"):
        make(lambda features: None, tmp_path, params={})
    with pytest.raises(ValueError, match="following not expected args: \\['other'\\]"):
        make(lambda features, other: None, tmp_path)
    with pytest.raises(ValueError, match="but with different values"):
        make(line, "a", tf.estimator.RunConfig("b"), {})
    with pytest.raises(ValueError, match="both steps and max_steps"):
        estimator.train(batches(), steps=1, max_steps=1)
    with pytest.raises(ValueError, match="Must specify steps > 0, given: 0"):
        estimator.train(batches(), steps=0)
    with pytest.raises(ValueError, match="not been trained yet"):
        estimator.get_variable_names()
    with pytest.raises(ValueError, match="should return an EstimatorSpec"):
        make(lambda features, labels: None, tmp_path).train(batches(), steps=1)
    with pytest.raises(ValueError, match="at least one output"):
        next(estimator.predict(batches(), predict_keys=["z"]))
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Missing train_op"):
            spec("train", loss=tf.constant(1.0))
        with pytest.raises(ValueError, match="Missing loss"):
            spec("eval")
        with pytest.raises(ValueError, match="Missing predictions"):
            spec("infer")
        with pytest.raises(ValueError, match="Loss must be scalar"):
            spec("eval", loss=tf.constant([1.0, 2.0]))
        with pytest.raises(TypeError, match="eval_metric_ops must be a dict"):
            spec("eval", loss=tf.constant(1.0), eval_metric_ops=[1])
    with pytest.raises(ValueError, match="both save_checkpoints_steps and"):
        tf.estimator.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1)
    with pytest.raises(ValueError, match="Replacing other is not supported"):
        tf.estimator.RunConfig().replace(other=1)


def test_a_loss_that_is_no_number_ends_training(estimator):
    wild = tf.estimator.Estimator(line, estimator.model_dir, params={"rate": 1e30})
    with pytest.raises(tf.train.NanLossDuringTrainingError):
        wild.train(batches(), steps=50)


def test_inputs_of_arrays():
    make = tf.estimator.inputs.numpy_input_fn
    with tf.Graph().as_default(), tf.Session() as session:
        features, labels = make({"x": X}, Y, batch_size=48, num_epochs=2, shuffle=False)()
        for size in (48, 48, 32):
            given = session.run([features["x"], labels])
            np.testing.assert_allclose(3 * given[0] + 2, given[1])
            assert len(given[0]) == size
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(labels)
    with pytest.raises(ValueError, match="shuffle must be provided"):
        make({"x": X}, Y)
    with pytest.raises(ValueError, match="mismatched"):
        make({"x": X}, Y[:3], shuffle=False)


def test_inputs_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]})
    with tf.Graph().as_default(), tf.Session() as session:
        features, labels = tf.estimator.inputs.pandas_input_fn(
            frame, pandas.Series([0, 1, 0]), shuffle=False
        )()
        given = session.run([features, labels])
    assert given[0]["b"].tolist() == [b"x", b"y", b"z"]
    assert given[1].tolist() == [0, 1, 0]
