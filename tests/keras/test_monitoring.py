"""Callbacks that watch a number: in Keras 3 the metric says whether larger is better, in Keras 2 its name."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import release

keras, layers = tf.keras, tf.keras.layers
X = np.ones((8, 2), "float32")
Y = np.ones((8, 1), "float32")


def _model(metrics=()):
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.01), "mse", metrics=list(metrics))
    return model


class Given(keras.callbacks.Callback):
    """Puts numbers among the logs, one for each epoch."""

    def __init__(self, name, values):
        super().__init__()
        self.name, self.values = name, values

    def on_epoch_end(self, epoch, logs=None):
        logs[self.name] = self.values[epoch]


def _watched(name, values, **kwargs):
    stop = keras.callbacks.EarlyStopping(name, patience=1, **kwargs)
    model = _model(["mae", keras.metrics.Precision(name="found"), keras.metrics.R2Score(name="fit")])
    model.fit(X, Y, epochs=len(values), verbose=0, callbacks=[Given(name, values), stop])
    return stop


@pytest.mark.parametrize(
    ("name", "best"), [("loss", 1.0), ("mae", 1.0), ("found", 3.0), ("fit", 3.0)]
)
def test_metrics_say_what_is_better(name, best):
    assert _watched(name, [2.0, 3.0, 1.0] if best == 3.0 else [2.0, 1.0, 3.0]).best == best


@pytest.mark.parametrize("name", ["unknown", "val_unknown"])
def test_a_number_of_no_metric_needs_a_mode(name):
    with pytest.raises(ValueError, match="isn't able to automatically determine"):
        _watched(name, [1.0])
    assert _watched(name, [2.0, 3.0, 1.0], mode="max").best == 3.0


def test_names_say_what_is_better_in_keras_2():
    release.use_keras_2(True)
    try:
        assert keras.callbacks.EarlyStopping("val_accuracy").best == -np.inf
        assert keras.callbacks.EarlyStopping("anything").best == np.inf
    finally:
        release.use_keras_2(False)


def test_the_best_weights_come_back_where_all_epochs_were_run():
    stop = keras.callbacks.EarlyStopping("loss", patience=5, restore_best_weights=True)
    model, seen = _model(), []
    keep = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(model.get_weights()[0]))
    model.fit(X, Y, epochs=3, verbose=0, callbacks=[keep, Given("loss", [2.0, 1.0, 3.0]), stop])
    assert stop.best_epoch == 1
    np.testing.assert_array_equal(model.get_weights()[0], seen[1])


def test_a_model_is_saved_where_the_best_is_unknown(tmp_path):
    save = keras.callbacks.ModelCheckpoint(str(tmp_path / "a.keras"), monitor="val_loss", save_best_only=True)
    with pytest.warns(UserWarning, match="Can save best model only with val_loss available"):
        _model().fit(X, Y, verbose=0, callbacks=[save])
    assert (tmp_path / "a.keras").exists()


def test_the_end_of_training_is_not_given_what_callbacks_added():
    ends = []
    end = keras.callbacks.LambdaCallback(on_train_end=lambda logs: ends.append(sorted(logs)))
    _model().fit(X, Y, verbose=0, callbacks=[Given("more", [1.0]), end])
    assert ends == [["loss"]]


def test_metrics_are_printed_in_one_order(capsys):
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    model.compile("sgd", "mse", metrics=["accuracy"])
    x, y = np.ones((4, 3), "float32"), np.ones((4, 2), "float32")
    model.fit(x, y, verbose=2)
    model.evaluate(x, y, verbose=2)
    for line in capsys.readouterr().out.splitlines():
        assert line.startswith("Epoch") or line.index("accuracy") < line.index("loss")
