"""Subclasses of `Model` that are made of symbolic tensors, as functional models are."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import keras
from tapeflow.keras.engine.functional.model import Functional


@pytest.fixture
def tensors():
    inputs = keras.Input((4,))
    return inputs, keras.layers.Dense(1, kernel_initializer="ones")(inputs)


def _trainable():
    """A class as programs have it, each time a new one: making an instance of tensors changes it."""

    class Custom(keras.Model):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x, y, self(x, training=True))
            variables = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return {"own": loss}

    return Custom


@pytest.mark.parametrize("by_keyword", [False, True])
def test_an_own_train_step_is_used(tensors, by_keyword):
    kind = _trainable()
    model = kind(inputs=tensors[0], outputs=tensors[1]) if by_keyword else kind(*tensors)
    assert isinstance(model, Functional)
    assert type(model) is kind
    assert model.name.startswith("custom")
    assert [type(layer).__name__ for layer in model.layers] == ["InputLayer", "Dense"]
    model.compile("sgd", "mse")
    history = model.fit(np.ones((4, 4)), np.ones((4, 1)), verbose=0).history
    assert list(history) == ["own"]
    assert history["own"] == [9.0]
    assert not np.array_equal(model.layers[1].kernel.numpy(), np.ones((4, 1)))


def test_configs_and_copies_are_of_the_class(tensors):
    kind = _trainable()
    model = kind(*tensors, name="mine")
    assert model.name == "mine"
    for twin in (kind.from_config(model.get_config()), keras.models.clone_model(model)):
        assert type(twin) is kind
        twin.set_weights(model.get_weights())
        np.testing.assert_array_equal(twin(np.ones((2, 4))), model(np.ones((2, 4))))


def test_a_constructor_may_make_the_tensors_and_add_attributes():
    class Own(keras.Model):
        def __init__(self, units):
            inputs = keras.Input((4,))
            super().__init__(inputs=inputs, outputs=keras.layers.Dense(units, name="a")(inputs))
            self.extra = keras.layers.Dense(2, name="b")
            self.extra.build((None, 3))

    model = Own(3)
    assert model(np.ones((2, 4))).shape == (2, 3)
    assert [layer.name for layer in model.layers][1:] == ["a"]
    assert [v.path for v in model.weights] == ["a/kernel", "a/bias", "b/kernel", "b/bias"]


def test_an_own_call_may_use_that_of_the_tensors(tensors):
    class Doubled(keras.Model):
        def __init__(self, inputs, outputs):
            super().__init__(inputs, outputs)
            self.factor = 2.0

        def call(self, inputs):
            return super().call(inputs) * self.factor

    np.testing.assert_array_equal(Doubled(*tensors)(np.ones((1, 4))), [[8.0]])


def test_classes_between_and_beside_keep_their_place(tensors):
    class Mixin:
        pass

    class Deep(Mixin, _trainable()):
        pass

    model = Deep(*tensors)
    assert [each.__name__ for each in type(model).__mro__[:5]] == ["Deep", "Mixin", "Custom", "Functional", "Model"]
    assert keras.Model.__bases__ != (Functional,)


def test_other_subclasses_stay_as_they_are(tensors):
    class Plain(keras.Model):
        def __init__(self):
            super().__init__()
            self.layer = keras.layers.Dense(1)

        def call(self, inputs):
            return self.layer(inputs)

    _trainable()(*tensors)
    assert not isinstance(Plain(), Functional)
    assert Plain()(np.ones((2, 3))).shape == (2, 1)
