"""Callbacks that write, restore and swap: what they leave behind."""

import http.server
import json
import threading

import numpy as np
import pytest

import tapeflow as tf

keras, layers, callbacks = tf.keras, tf.keras.layers, tf.keras.callbacks
X, Y = np.ones((32, 4), np.float32), np.ones((32, 2), np.float32)


def small(optimizer="sgd"):
    model = keras.Sequential(
        [keras.Input((4,)), layers.Dense(2, kernel_initializer="zeros", name="d")], name="small"
    )
    model.compile(optimizer, "mse", metrics=["mae"])
    return model


def scalars(folder):
    found = {}
    for file in sorted(folder.iterdir()):
        for event in tf.compat.v1.train.summary_iterator(str(file)):
            for value in event.summary.value:
                found.setdefault(value.tag, []).append(event.step)
    return found


def test_tensorboard_writes_what_keras_writes(tmp_path):
    board = callbacks.TensorBoard(
        tmp_path, histogram_freq=1, write_images=True, update_freq=2, write_steps_per_second=True
    )
    small().fit(X, Y, epochs=2, batch_size=8, verbose=0, validation_split=0.5, callbacks=[board])
    train, validation = scalars(tmp_path / "train"), scalars(tmp_path / "validation")
    assert train["batch_loss"] == [2, 4]
    for name in ("epoch_loss", "epoch_mae", "epoch_learning_rate", "epoch_steps_per_second"):
        assert train[name] == [0, 1]
    assert train["small/d/kernel/histogram"] == [0, 1]
    assert "keras" in train
    assert validation["epoch_loss"] == [0, 1]
    assert validation["evaluation_loss_vs_iterations"] == [2, 4]


def test_a_training_goes_on_where_it_was_interrupted(tmp_path):
    class Interrupt(callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if epoch == 2:
                raise KeyboardInterrupt

    folder = tmp_path / "backup"
    with pytest.raises(KeyboardInterrupt):
        small("adam").fit(
            X, Y, epochs=5, verbose=0, callbacks=[callbacks.BackupAndRestore(folder), Interrupt()]
        )
    model = small("adam")
    history = model.fit(X, Y, epochs=5, verbose=0, callbacks=[callbacks.BackupAndRestore(folder)])
    assert history.epoch == [3, 4]
    assert int(model.optimizer.iterations) == 5
    assert not folder.exists()
    whole = small("adam")
    whole.fit(X, Y, epochs=5, verbose=0)
    np.testing.assert_allclose(model.get_weights()[0], whole.get_weights()[0], rtol=1e-5)
    folder.mkdir()
    (folder / "training_metadata.json").write_text('{"epoch": 3, "wei')
    assert small().fit(
        X, Y, epochs=1, verbose=0, callbacks=[callbacks.BackupAndRestore(folder)]
    ).epoch == [0]  # fmt: skip


def test_averages_are_evaluated():
    model = small(keras.optimizers.SGD(0.5, use_ema=True, ema_momentum=0.5))
    seen = []
    watch = callbacks.LambdaCallback(
        on_test_begin=lambda logs: seen.append(model.get_weights()[1].copy())
    )
    model.fit(X, Y, verbose=0, batch_size=16, validation_data=(X, Y),
              callbacks=[callbacks.SwapEMAWeights(), watch])  # fmt: skip
    assert not np.allclose(seen[0], 0)
    average = model.optimizer.get_slot(model.trainable_variables[1], "average").numpy()
    np.testing.assert_allclose(model.get_weights()[1], average, rtol=1e-6)
    with pytest.raises(ValueError, match="use_ema"):
        small().fit(X, Y, verbose=0, validation_data=(X, Y), callbacks=[callbacks.SwapEMAWeights()])


def test_remote_monitor_posts_epochs():
    posted = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}"
    small().fit(
        X, Y, epochs=2, verbose=0, callbacks=[callbacks.RemoteMonitor(root, send_as_json=True)]
    )
    server.shutdown()
    server.server_close()
    assert [p["epoch"] for p in posted] == [0, 1]
    assert set(posted[0]) == {"epoch", "loss", "mae"}
    with pytest.warns(UserWarning, match="Could not reach"):
        small().fit(X, Y, verbose=0, callbacks=[callbacks.RemoteMonitor(root)])


def test_the_progress_is_that_of_keras(capsys):
    model = small()
    model.fit(X, Y, epochs=2, batch_size=8, verbose=2)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Epoch 1/2"
    assert lines[1].startswith("4/4 - 0s - ")
    assert lines[1].split(" - ")[3].startswith("loss: ")
    assert lines[1].split(" - ")[4].startswith("mae: ")
    model.evaluate(X, Y, batch_size=8, verbose=1)
    text = capsys.readouterr().out
    assert (
        "\x1b[1m4/4\x1b[0m \x1b[32m━━━━━━━━━━━━━━━━━━━━\x1b[0m\x1b[37m\x1b[0m \x1b[1m0s\x1b[0m"
        in text
    )
    model.predict(X, verbose=0)
    assert capsys.readouterr().out == ""


def test_nan_ends_a_training(capsys):
    x = np.full((8, 4), np.nan, np.float32)
    history = small().fit(
        x, Y[:8], epochs=3, batch_size=4, verbose=0, callbacks=[callbacks.TerminateOnNaN()]
    )
    assert history.epoch == [0]
    assert "Invalid loss" in capsys.readouterr().out
    with pytest.raises(RuntimeError, match="NaN or Inf loss"):
        small().fit(x, Y[:8], verbose=0, callbacks=[callbacks.TerminateOnNaN(raise_error=True)])


def test_lists_of_callbacks_take_a_model_later():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    seen = keras.callbacks.LambdaCallback()
    several = keras.callbacks.CallbackList([seen], add_history=True)
    several.set_model(model)
    several.set_params({"epochs": 2})
    assert several.model is seen.model is model
    assert seen.params == {"epochs": 2}
    assert isinstance(model.history, keras.callbacks.History)


def test_optimizers_of_keras_2_that_programs_write_know_their_decay():
    class Own(keras.optimizers.Optimizer):
        def __init__(self):
            super().__init__("own")
            self._set_hyper("decay", self._initial_decay)

        def _resource_apply_dense(self, grad, var, apply_state=None):
            return var.assign_sub(grad, use_locking=self._use_locking)

    v = tf.Variable(2.0)
    Own().apply_gradients([(tf.constant(0.5), v)])
    assert float(v) == 1.5
