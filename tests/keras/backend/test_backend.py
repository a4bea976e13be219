"""tf.keras.backend: settings, and functions under Keras's own names."""

import numpy as np
import pytest

import tapeflow as tf

K = tf.keras.backend


def test_every_name_is_there():
    assert [name for name in K.__all__ if not hasattr(K, name)] == []


@pytest.fixture
def settings():
    saved = K.floatx(), K.epsilon(), K.image_data_format()
    yield
    K.set_floatx(saved[0])
    K.set_epsilon(saved[1])
    K.set_image_data_format(saved[2])


@pytest.mark.usefixtures("settings")
def test_settings():
    K.set_floatx("float64")
    assert tf.keras.layers.Dense(1)(np.ones([1, 1])).dtype == tf.float64
    K.set_image_data_format("channels_first")
    assert tf.keras.layers.Conv2D(2, 1)(np.ones([1, 3, 4, 5])).shape == (1, 2, 4, 5)
    for call, value in (
        (K.set_floatx, "int8"),
        (K.set_image_data_format, "sideways"),
        (K.set_learning_phase, 2),
    ):
        with pytest.raises(ValueError):
            call(value)


def test_learning_phase_reaches_layers():
    layer = tf.keras.layers.Dropout(0.5)
    x = tf.ones([10, 10])
    with K.learning_phase_scope(1):
        assert (layer(x).numpy() == 0).any()
    assert (layer(x).numpy() == 1).all()


FUNCTIONS = {
    "dot": (lambda: K.dot(np.ones([2, 3]), np.ones([4, 3, 5])).shape.as_list(), [2, 4, 5]),
    "mean": (lambda: float(K.mean([True, False])), 0.5),
    "clip": (lambda: K.clip([1.0, 5.0, -1.0], 0, 2).numpy().tolist(), [1, 2, 0]),
    "sqrt": (lambda: K.sqrt([4.0, -4.0]).numpy().tolist(), [2, 0]),
    "arange": (lambda: K.arange(2, 5).numpy().tolist(), [2, 3, 4]),
    "batch_flatten": (lambda: K.int_shape(K.batch_flatten(np.ones([2, 3, 4]))), (2, 12)),
    "repeat_elements": (lambda: K.repeat_elements([1, 2], 2, 0).numpy().tolist(), [1, 1, 2, 2]),
    "switch": (lambda: K.switch([True, False], [1, 1], [0, 0]).numpy().tolist(), [1, 0]),
    "in_train_phase": (lambda: K.in_train_phase(lambda: 1, 2, training=True), 1),
    "cast_to_floatx": (lambda: K.cast_to_floatx([1, 2]).dtype.name, "float32"),
    "one_hot": (lambda: K.one_hot([1], 3).numpy().tolist(), [[0, 1, 0]]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    call, expected = FUNCTIONS[name]
    assert call() == expected


def test_variables():
    x = K.variable([1.0, 2.0], name="x")
    K.set_value(x, [3.0, 4.0])
    K.moving_average_update(x, [0.0, 0.0], 0.5)
    assert K.get_value(x).tolist() == [1.5, 2.0]
    assert (K.dtype(x), K.ndim(x), K.count_params(x)) == ("float32", 1, 2)


@pytest.mark.parametrize(
    ("args", "expected"),
    [((4,), [0, 1, 2, 3]), ((1, 4), [1, 2, 3]), ((0, 5, 2), [0, 2, 4]), ((5, 0, -2), [5, 3, 1]), ((-2,), [])],
)
def test_arange_of_numbers_and_of_tensors(args, expected):
    traced = tf.function(lambda *given: tf.keras.backend.arange(*given))
    found = [tf.keras.backend.arange(*args)]
    if len(args) > 1:  # the sign of one tensor alone would have to be known
        found += [traced(*map(tf.constant, args)), tf.keras.backend.arange(*args, dtype="float32")]
    for each, dtype in zip(found, ["int32", "int32", "float32"], strict=False):
        assert each.numpy().tolist() == expected
        assert each.dtype == dtype


def test_arange_that_ends_before_it_begins():
    with pytest.raises(tf.errors.InvalidArgumentError, match="start"):
        tf.keras.backend.arange(5, 2)


# Values of TensorFlow 2.21: these functions keep the formulas of Keras 2.
LABELS, PREDICTIONS = [0.0, 1.0, 0.3, 1.0], [0.0, 0.0, 0.4, 1.0]
OLD_FORMULAS = [
    (lambda: K.constant([1, 2]), [1.0, 2.0]),
    (lambda: K.hard_sigmoid(K.constant([-3.0, 0.5, 1.0, 2.0])), [0.0, 0.6, 0.7, 0.9]),
    (lambda: K.binary_crossentropy(LABELS, PREDICTIONS), [0.0, 15.424949, 0.63246495, 0.0]),
    (lambda: K.binary_focal_crossentropy(LABELS, PREDICTIONS), [0.0, 15.424949, 0.13382956, 0.0]),
    (lambda: K.concatenate(K.constant([[1.0], [2.0]])), [1.0, 2.0]),
]


@pytest.mark.parametrize(("call", "want"), OLD_FORMULAS)
def test_old_formulas(call, want):
    got = call()
    assert got.dtype == tf.float32
    np.testing.assert_allclose(got, np.array(want, "float32"), rtol=1e-5, atol=1e-6)


def test_constants_have_the_dtype_that_is_asked_for():
    assert K.constant([1, 2], "int32").dtype == tf.int32
    assert K.constant(1, shape=[2, 3]).shape == [2, 3]


def test_products_and_joins_of_sparse_tensors():
    dense = np.array([[0.0, 2.0, 0.0], [3.0, 0.0, 0.0]], np.float32)
    other = np.arange(12, dtype=np.float32).reshape(3, 4)
    sparse = tf.sparse.from_dense(dense)
    np.testing.assert_allclose(K.dot(sparse, other), dense @ other)
    joined = K.concatenate([sparse, sparse], axis=-1)
    assert K.is_sparse(joined)
    np.testing.assert_allclose(K.to_dense(joined), np.concatenate([dense, dense], -1))


def test_a_layer_that_multiplies_a_sparse_input():
    class Propagate(tf.keras.layers.Layer):
        def call(self, inputs):
            features, neighbours = inputs
            return K.dot(neighbours, features)

    features = tf.keras.Input(shape=(4,))
    neighbours = tf.keras.Input(shape=(None,), sparse=True)
    model = tf.keras.Model([features, neighbours], Propagate()([features, neighbours]))
    values, links = np.random.rand(3, 4).astype(np.float32), np.eye(3, k=1, dtype=np.float32)
    np.testing.assert_allclose(model([values, tf.sparse.from_dense(links)]), links @ values, rtol=1e-6)
