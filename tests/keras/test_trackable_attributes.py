"""Layers and models with attributes that are trackable but no layers: they add no weights, metrics or layers."""

import numpy as np
import pytest

import tapeflow as tf

layers = tf.keras.layers

OTHERS = {
    "optimizer": tf.keras.optimizers.Adam,
    "optimizer of 1.x": lambda: tf.compat.v1.train.AdamOptimizer(0.1),
    "loss scale optimizer": lambda: tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD()),
    "schedule": lambda: tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.9),
    "checkpoint": lambda: tf.train.Checkpoint(),
    "loss": tf.keras.losses.MeanSquaredError,
    "initializer": tf.keras.initializers.Zeros,
    "generator": lambda: tf.random.Generator.from_seed(1),
    "module": tf.Module,
    "dataset": lambda: tf.data.Dataset.range(3),
    "average": lambda: tf.train.ExponentialMovingAverage(0.9),
}
PLACES = {"attribute": lambda x: x, "list": lambda x: [x], "nested": lambda x: {"a": [x], "b": (x,)}}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("base", [layers.Layer, tf.keras.Model])
def test_other_trackables_are_not_layers(base, kind, place):
    class Holder(base):
        def __init__(self):
            super().__init__()
            self.other = PLACES[place](OTHERS[kind]())
            self.dense = layers.Dense(2)
            self.mean = tf.keras.metrics.Mean()

        def call(self, x):
            return self.dense(x)

    holder = Holder()
    holder(tf.ones([1, 3]))
    assert [v.shape for v in holder.trainable_variables] == [(3, 2), (2,)]
    assert len([w for w in holder.weights if w.shape.rank]) == 2  # a generator's or metric's state may come on top
    assert holder.metrics == [holder.mean]
    assert holder.losses == []
    if base is tf.keras.Model:
        assert holder.layers == [holder.dense]


class TwoOptimizers(tf.keras.Model):
    """Trained by a step of its own with an optimizer for each part, as generative adversarial networks are."""

    def __init__(self):
        super().__init__()
        self.first, self.second = layers.Dense(3, "tanh"), layers.Dense(1)
        self.optimizers = {"first": tf.keras.optimizers.SGD(0.1), "second": [tf.keras.optimizers.SGD(0.01)]}
        self.mean = tf.keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.second(self.first(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_mean(tf.square(self(x) - y))
        for layer, optimizer in (
            (self.first, self.optimizers["first"]),
            (self.second, self.optimizers["second"][0]),
        ):
            gradients = tape.gradient(loss, layer.trainable_variables)
            optimizer.apply_gradients(zip(gradients, layer.trainable_variables))
        self.mean.update_state(loss)
        return {"loss": self.mean.result()}


def test_a_model_with_two_optimizers_trains_saves_and_restores(tmp_path):
    x = np.linspace(-1, 1, 30, dtype="float32").reshape(10, 3)
    y = x.sum(1, keepdims=True)
    model = TwoOptimizers()
    model.compile()
    losses = model.fit(x, y, epochs=5, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    tf.train.Checkpoint(model).write(str(tmp_path / "checkpoint"))
    other = TwoOptimizers()
    other(x)
    tf.train.Checkpoint(other).read(str(tmp_path / "checkpoint")).assert_existing_objects_matched()
    np.testing.assert_array_equal(other(x), model(x))
    assert int(other.optimizers["second"][0].iterations) == 5
