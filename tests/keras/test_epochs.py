"""Where epochs begin and end: data that end within one, steps of several batches, what callbacks and data see.

What is expected here is what TensorFlow 2.21 gives for the same calls.
"""

import warnings

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import keras

X, Y = np.ones((20, 2)), np.arange(20.0).reshape(20, 1)


class Recorder(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.events = []

    def on_epoch_begin(self, epoch, logs=None):
        self.events.append("|")

    def on_train_batch_begin(self, batch, logs=None):
        self.events.append(f"b{batch}")

    def on_train_batch_end(self, batch, logs=None):
        self.events.append(str(batch))


class Batches(keras.utils.PyDataset):
    def __init__(self, count, **kwargs):
        super().__init__(**kwargs)
        self.count, self.begun, self.ended = count, 0, 0

    @property
    def num_batches(self):
        return self.count

    def __getitem__(self, index):
        return np.ones((4, 2)), np.full((4, 1), float(index))

    def on_epoch_begin(self):
        self.begun += 1

    def on_epoch_end(self):
        self.ended += 1


def generated(count=5):
    for i in range(count):
        yield np.ones((4, 2)), np.full((4, 1), float(i))


def of_unknown_size():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).filter(lambda x, y: True)


def fitted(data, steps, many=1, epochs=2):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile("sgd", "mse", steps_per_execution=many)
    recorder = Recorder()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        history = model.fit(
            *data, epochs=epochs, steps_per_epoch=steps, verbose=0, callbacks=[recorder], shuffle=False
        )
    ended = sum("ran out of data" in str(w.message) for w in caught)
    return " ".join(recorder.events), history.history["loss"], ended


ALL = "b0 0 b1 1 b2 2 b3 3 b4 4"
ARRAYS = [
    (None, 1, f"| {ALL} | {ALL}", [105.3655, 71.235], 0),
    (7, 1, f"| {ALL} | {ALL}", [105.3655, 71.235], 2),
    (3, 1, "| b0 0 b1 1 b2 2 | b0 0 b1 1", [39.2709, 204.5075], 1),
    (4, 1, "| b0 0 b1 1 b2 2 b3 3 | b0 0", [69.0803, 250.5065], 1),
    (None, 2, "| b0 1 b2 3 b4 5 | b0 1 b2 3 b4 5", [105.3655, 71.235], 0),
    (3, 2, "| b0 1 b2 3 | b0 1", [69.0803, 250.5065], 1),
    (None, 3, "| b0 2 b3 5 | b0 2 b3 5", [105.3655, 71.235], 0),
]


@pytest.mark.parametrize(("steps", "many", "events", "losses", "ended"), ARRAYS)
@pytest.mark.parametrize("kind", ["arrays", "dataset"])
def test_epochs_of_data_of_known_size(kind, steps, many, events, losses, ended):
    data = (X, Y, 4) if kind == "arrays" else (tf.data.Dataset.from_tensor_slices((X, Y)).batch(4),)
    got = fitted(data, steps, many)
    assert got[0] == events
    assert got[2] == ended
    np.testing.assert_allclose(got[1], losses, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(("steps", "many", "events", "losses"), [
    (None, 1, f"| {ALL} b5 | {ALL} b5", [105.3655, 71.235]),
    (3, 1, "| b0 0 b1 1 b2 2 | b0 0 b1 1 b2", [39.2709, 204.5075]),
    (7, 1, f"| {ALL} b5 | {ALL} b5", [105.3655, 71.235]),
    (None, 2, "| b0 1 b2 3 b4 5 b6 | b0 1 b2 3 b4 5 b6", [105.3655, 71.235]),
])  # fmt: skip
def test_epochs_of_a_dataset_of_unknown_size(steps, many, events, losses):
    got = fitted((of_unknown_size(),), steps, many)
    assert got[0] == events
    np.testing.assert_allclose(got[1], losses, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(("steps", "events", "losses"), [
    (None, f"| {ALL} b5 | b0 0 b1 1 b2", [5.2179, 0.2696]),
    (3, "| b0 0 b1 1 b2 2 | b0 0 b1 1 b2", [1.5879, 10.6629]),
])  # fmt: skip
def test_a_generator_begins_again_with_the_batches_looked_at(steps, events, losses):
    got = fitted((generated(),), steps)
    assert got[0] == events
    np.testing.assert_allclose(got[1], losses, rtol=1e-5, atol=1e-4)
    with pytest.raises(ValueError, match="must yield at least one batch"):
        fitted((generated(0),), steps)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("count", "steps", "losses"), [
    (5, None, [5.2179, 3.6961, 2.9015]),
    (5, 3, [1.5879, 10.6629, 0.8716]),
    (5, 7, [5.2179, 3.6961, 2.9015]),
    (None, 3, [1.5879, 13.6648, 34.4616]),
])  # fmt: skip
def test_a_py_dataset_says_its_number_of_batches_and_hears_of_epochs(workers, count, steps, losses):
    data = Batches(count, workers=workers)
    got = fitted((data,), steps, epochs=3)
    np.testing.assert_allclose(got[1], losses, rtol=1e-5, atol=1e-4)
    assert (data.begun, data.ended) == (3, 4)


def test_evaluation_ends_with_the_data():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile("sgd", "mse")
    whole = model.evaluate(X, Y, batch_size=4, verbose=0)
    with pytest.warns(UserWarning, match="ran out of data"):
        assert model.evaluate(X, Y, batch_size=4, steps=7, verbose=0) == pytest.approx(whole)
    with pytest.warns(UserWarning, match="ran out of data"):
        assert model.predict(X, batch_size=4, steps=7, verbose=0).shape == (20, 1)
