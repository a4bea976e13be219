"""Evaluation beside a training, of the checkpoints that it writes."""

import threading

import numpy as np
import pytest

import tapeflow as tf


def make_model():
    model = tf.keras.Sequential([tf.keras.Input([1]), tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    return model


X, Y = np.array([[1.0], [2.0]], np.float32), np.array([[3.0], [6.0]], np.float32)


class Seen(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.losses = []

    def on_test_end(self, logs=None):
        self.losses.append(logs["loss"])


def test_every_checkpoint_up_to_the_last(tmp_path):
    trained = make_model()
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(model=trained, optimizer=trained.optimizer), str(tmp_path), max_to_keep=5
    )
    seen = Seen()
    evaluated = make_model()
    evaluator = tf.keras.utils.SidecarEvaluator(evaluated, (X, Y), str(tmp_path), max_evaluations=2, callbacks=[seen])
    evaluator.data = tf.data.Dataset.from_tensors((X, Y))
    thread = threading.Thread(target=evaluator.start)
    thread.start()
    trained.layers[-1].kernel.assign([[1.0]])
    manager.save()
    while not seen.losses:
        threading.Event().wait(0.01)
    trained.layers[-1].kernel.assign([[3.0]])
    trained.optimizer.iterations.assign(7)
    manager.save()
    thread.join(30)
    assert not thread.is_alive()
    np.testing.assert_allclose(seen.losses, [10.0, 0.0], atol=1e-6)
    assert evaluated.optimizer.iterations.numpy() == 7


def test_a_checkpoint_of_something_else(tmp_path):
    path = tf.train.Checkpoint(model=tf.Variable([1.0, 2.0])).save(str(tmp_path / "ckpt"))
    evaluator = tf.keras.utils.SidecarEvaluator(make_model(), tf.data.Dataset.from_tensors((X, Y)), str(tmp_path))
    assert path.endswith("-1")
    assert evaluator.max_evaluations is None
    evaluator.max_evaluations = 1
    evaluator.start()  # what does not match is left as it is


def test_names():
    assert tf.keras.experimental.SidecarEvaluator is tf.keras.utils.SidecarEvaluator
    with pytest.raises(TypeError, match="must be a `callable`"):
        tf.keras.utils.experimental.DatasetCreator(3)


def test_data_that_workers_make_are_data_of_one_process():
    creator = tf.keras.utils.experimental.DatasetCreator(
        lambda context: tf.data.Dataset.from_tensors((X, Y)).repeat(context.num_input_pipelines)
    )
    history = make_model().fit(creator, epochs=2, verbose=0)
    assert history.history["loss"][1] < history.history["loss"][0]
    with pytest.raises(TypeError, match="must return a Dataset"):
        make_model().fit(tf.keras.utils.experimental.DatasetCreator(lambda context: X), verbose=0)
