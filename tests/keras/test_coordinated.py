"""`fit` under `ParameterServerStrategy`, whose workers are other processes."""

import numpy as np
import pytest

import tapeflow as tf

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def strategy():
    ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": ["a:0", "b:0"], "ps": ["c:0", "d:0"]}), task_type="chief", task_id=0
    )
    yield tf.distribute.ParameterServerStrategy(resolver)
    ray.shutdown()


@pytest.fixture
def data(rng):
    x = rng.normal(size=(64, 3)).astype(np.float32)
    return x, x @ np.array([[1.0], [-2.0], [0.5]], np.float32)


@pytest.fixture
def model(strategy):
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.Adam(0.02), "mse", metrics=["mae"])
    return model


def test_training(model, data, tmp_path):
    dataset = tf.data.Dataset.from_tensor_slices(data).shuffle(64).repeat().batch(16)
    epochs = []
    seen = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: epochs.append(sorted(logs)))
    history = model.fit(
        dataset, epochs=5, steps_per_epoch=20, verbose=0, validation_data=data, callbacks=[seen]
    ).history
    assert history["loss"][-1] < 0.3 * history["loss"][0]
    assert history["val_loss"][-1] < 0.3 * history["val_loss"][0]
    assert epochs == [["loss", "mae", "val_loss", "val_mae"]] * 5
    assert {w.device[:7] for w in model.weights} == {"/job:ps"}
    assert model.optimizer.iterations.numpy() == 100
    before = model.predict(data[0], verbose=0)
    path = str(tmp_path / "m.weights.h5")
    model.save_weights(path)
    model.fit(dataset, epochs=1, steps_per_epoch=2, verbose=0)
    model.load_weights(path)
    np.testing.assert_allclose(model.predict(data[0], verbose=0), before, rtol=1e-6)


def test_dataset_of_each_worker_and_several_steps_at_a_time(strategy, data):
    def make(context):
        assert isinstance(context, tf.distribute.InputContext)
        return tf.data.Dataset.from_tensor_slices(data).repeat().batch(8)

    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.SGD(0.1), "mse", steps_per_execution=5)
    creator = tf.keras.utils.experimental.DatasetCreator(make)
    history = model.fit(creator, epochs=2, steps_per_epoch=10, verbose=0).history
    assert history["loss"][1] < history["loss"][0]
    assert model.optimizer.iterations.numpy() == 20


def test_weights_of_classes(strategy, data):
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, activation="softmax")])
        model.compile(tf.keras.optimizers.Adam(0.2), "sparse_categorical_crossentropy")
    labels = np.arange(64) % 2
    dataset = tf.data.Dataset.from_tensor_slices((data[0], labels)).repeat().batch(16)
    model.fit(dataset, epochs=1, steps_per_epoch=40, verbose=0, class_weight={0: 0.0, 1: 1.0})
    assert (model.predict(data[0], verbose=0).argmax(1) == 1).mean() > 0.9


def test_what_workers_cannot_have(model, data):
    with pytest.raises(NotImplementedError, match="DatasetCreator"):
        model.fit(*data, steps_per_epoch=1)
    with pytest.raises(ValueError, match="steps_per_epoch"):
        model.fit(tf.data.Dataset.from_tensors(data))


def test_an_error_of_a_step(model, data):
    dataset = tf.data.Dataset.from_tensor_slices(data).batch(16)  # ends after 4 batches
    with pytest.raises(tf.errors.OutOfRangeError):
        model.fit(dataset, epochs=1, steps_per_epoch=50, verbose=0)
