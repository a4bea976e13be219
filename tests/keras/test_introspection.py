"""What programs see of symbolic tensors, weights and layers: text, names, dtypes and orders, in Keras 3 and Keras 2."""

import json

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import release

keras, layers = tf.keras, tf.keras.layers


@pytest.fixture
def keras_2():
    release.use_keras_2(True)
    yield
    release.use_keras_2(False)


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def test_symbolic_tensors_are_numbered_as_they_are_made():
    x = keras.Input((3,))
    y = layers.Dense(4)(x)
    assert repr(x) == "<KerasTensor shape=(None, 3), dtype=float32, sparse=False, ragged=False, name=keras_tensor>"
    assert [y.name, (y + 1).name, keras.ops.relu(y).name] == ["keras_tensor_1", "keras_tensor_2", "keras_tensor_3"]
    layers.Embedding(2, 2, mask_zero=True)(x)  # whose mask is a tensor, too
    assert keras.KerasTensor((1,)).name == "keras_tensor_6"
    assert keras.Input((), name="own").name == "own"


def test_symbolic_tensors_of_keras_2_name_their_layer(keras_2):
    x = keras.Input((3,))
    assert repr(x) == "<KerasTensor: shape=(None, 3) dtype=float32 (created by layer 'input_1')>"
    assert isinstance(x.shape, tf.TensorShape)
    assert x.dtype is tf.float32


def test_shapes_and_dtypes_serve_programs_of_either_keras():
    x = keras.Input((3,), dtype="float16")
    assert isinstance(x.shape, tuple)
    assert x.shape == (None, 3)
    assert repr(x.shape) == "(None, 3)"
    assert x.shape.as_list() == [None, 3]
    assert x.shape[1:].as_list() == [3]
    assert x.shape.rank == 2
    assert isinstance(x.dtype, str)
    assert json.dumps(x.dtype) == '"float16"'
    assert x.dtype == tf.float16
    assert x.dtype.is_floating
    assert x.dtype.as_numpy_dtype is np.float16
    with pytest.raises(AttributeError):
        _ = x.dtype.unknown


@pytest.mark.parametrize(
    ("use", "error"),
    [(bool, TypeError), (len, TypeError), (float, ValueError), (int, ValueError), (iter, NotImplementedError),
     (np.array, ValueError), (lambda x: x.numpy(), AttributeError)],
    ids=["bool", "len", "float", "int", "iter", "array", "attribute"],
)  # fmt: skip
def test_symbolic_tensors_have_no_values(use, error):
    with pytest.raises(error):
        use(keras.Input((3,)))


def test_weights_name_their_dtype():
    dense = layers.Dense(2)
    dense.build((None, 3))
    assert repr(dense.kernel.dtype) == "'float32'"
    assert dense.kernel.dtype == tf.float32
    assert tf.Variable(1.0).dtype is tf.float32
    assert tf.zeros([2], dense.kernel.dtype).dtype is tf.float32

    @tf.function
    def doubled():
        return dense.kernel * 2

    assert doubled().dtype is tf.float32


def test_assignments_to_weights_give_the_value():
    variable = keras.Variable([1.0, 2.0])
    added = variable.assign_add([1.0, 1.0])
    variable.assign_sub([5.0, 5.0])
    assert isinstance(added, tf.Tensor)
    assert added.numpy().tolist() == [2.0, 3.0]
    assert variable.numpy().tolist() == [-3.0, -2.0]


class Nested(layers.Layer):
    def __init__(self):
        super().__init__()
        self.first = layers.BatchNormalization(name="first")
        self.second = layers.Dropout(0.5)
        self.frozen = self.add_weight(shape=(1,), name="frozen", trainable=False)
        self.builds = 0

    def build(self, shape):
        self.builds += 1
        self.first.build(shape)
        self.scale = self.add_weight(shape=(shape[-1],), name="scale")

    def call(self, x):
        return self.second(self.first(x)) * self.scale


def test_weights_come_layer_by_layer_with_the_own_first():
    layer = Nested()
    layer.build((None, 2))
    first = [f"nested/first/{name}" for name in ("gamma", "beta", "moving_mean", "moving_variance")]
    assert [weight.path for weight in layer.weights] == ["nested/scale", "nested/frozen", *first]
    state = "seed_generator/seed_generator_state"
    assert [variable.path for variable in layer.variables] == ["nested/scale", "nested/frozen", *first, state]
    assert layer.non_trainable_variables[-1] is layer.variables[-1]


def test_a_layer_that_was_built_is_not_built_again():
    layer = Nested()
    layer.build((None, 2))
    layer(np.ones((1, 2), "float32"))
    assert layer.built
    assert layer.builds == 1


def test_weights_to_train_come_first_in_keras_2(keras_2):
    layer = Nested()
    layer(np.ones((1, 2), "float32"))
    assert [weight.trainable for weight in layer.weights] == [True] * 3 + [False] * 3


def test_states_come_in_a_tuple():
    x = keras.Input((4, 3))
    assert isinstance(layers.LSTM(2, return_state=True)(x), tuple)
    assert isinstance(layers.Bidirectional(layers.GRU(2), merge_mode=None)(x), tuple)


def test_states_come_in_a_list_in_keras_2(keras_2):
    assert isinstance(layers.LSTM(2, return_state=True)(keras.Input((4, 3))), list)


def test_activity_is_penalized_by_a_layer_of_its_own():
    layer = layers.ActivityRegularization(l2=0.5)
    assert layer(tf.constant([[2.0]])).numpy() == [[2.0]]
    assert layer.losses[0] == 2.0


def _compiled():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
    model.compile("sgd", "mse")
    return model, np.zeros((0, 3)), np.zeros((0, 2))


def test_no_data_trains_nothing():
    model, x, y = _compiled()
    assert model.fit(x, y, verbose=0).history == {}
    assert model.evaluate(x, y, verbose=0) == []
    assert list(model.fit(np.zeros((2, 3)), np.zeros((2, 2)), validation_data=(x, y), verbose=0).history) == ["loss"]


def test_no_data_is_refused_in_keras_2(keras_2):
    model, x, y = _compiled()
    with pytest.raises(ValueError, match="Empty Logs"):
        model.fit(x, y, verbose=0)
    with pytest.raises(ValueError, match="Empty Logs"):
        model.evaluate(x, y, verbose=0)


def test_callbacks_are_given_arrays_of_predictions():
    model, *_ = _compiled()
    seen = []

    class Keep(keras.callbacks.Callback):
        def on_predict_batch_end(self, batch, logs=None):
            seen.append(logs["outputs"])

    model.predict(np.zeros((3, 3)), batch_size=2, verbose=0, callbacks=[Keep()])
    assert [type(outputs) for outputs in seen] == [np.ndarray] * 2


def test_unequal_numbers_of_samples_are_listed():
    model, *_ = _compiled()
    with pytest.raises(ValueError, match=r"'x' sizes: 4\n'y' sizes: 3"):
        model.fit(np.zeros((4, 3)), np.zeros((3, 2)))
