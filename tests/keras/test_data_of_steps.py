"""What `train_step`, `test_step` and `predict_step` get, and what functional models take as dictionaries."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import release

keras = tf.keras
X = np.ones((4, 2), np.float32)
W = np.ones(4, np.float32)


class Noting(keras.Model):
    def __init__(self):
        super().__init__()
        self.seen = []

    def _note(self, data):
        self.seen.append(data)
        return {"loss": tf.constant(0.0)}

    train_step = test_step = _note

    def predict_step(self, data):
        self.seen.append(data)
        return tf.constant([[0.0]] * 4)


def seen(x, y=None, sample_weight=None):
    model = Noting()
    model.compile(run_eagerly=True)
    model.fit(x, y, sample_weight=sample_weight, verbose=0)
    model.evaluate(x, y, sample_weight=sample_weight, verbose=0)
    if y is None:
        model.predict(x, verbose=0)
    shapes = [tf.nest.map_structure(lambda t: None if t is None else tuple(t.shape), data) for data in model.seen]
    assert all(each == shapes[0] for each in shapes)
    return shapes[0]


def test_arrays_without_targets():
    assert seen(X) == (4, 2)
    assert seen([X, X]) == (((4, 2), (4, 2)),)
    assert seen({"a": X}) == {"a": (4, 2)}


def test_dictionaries_in_keras_2(monkeypatch):
    monkeypatch.setattr(release, "_keras_2", True)
    assert seen({"a": X}) == ({"a": (4, 2)},)


def test_arrays_with_targets():
    assert seen(X, W) == ((4, 2), (4,))
    assert seen(X, W, W) == ((4, 2), (4,), (4,))


def test_wrong_keys_of_a_functional_model():
    a, b = keras.Input((2,), name="num"), keras.Input((2,), name="other")
    model = keras.Model({"num": a, "other": b}, a - b)
    assert model({"other": X, "num": 2 * X, "more": X}).numpy().tolist() == X.tolist()
    for call in (model, model.predict, lambda x: keras.Model([a, b], a - b)(x)):
        with pytest.raises(ValueError, match="Missing data for input 'num'"):
            call({"zzz": X, "other": X})


def test_kernels_of_einsum_count_the_units_of_the_equation():
    keras.utils.set_random_seed(0)
    layer = keras.layers.EinsumDense("abc,cde->abde", output_shape=(None, 30, 40))
    layer.build((None, 3, 50))
    limit = np.sqrt(6 / (50 + 30 * 40))
    assert 0.98 * limit < np.abs(layer.kernel.numpy()).max() <= limit


def test_nadam_comes_back_whole(tmp_path):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("nadam", "mse")
    model.fit(X, X[:, :1], epochs=3, verbose=0)
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    for each in (model, again):
        each.fit(X, X[:, :1], epochs=2, shuffle=False, verbose=0)
    assert int(again.optimizer.iterations) == 5
    for x, y in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(x, y)


MATRIX = np.array([[1, 0, 0], [2, 3, 0], [4, 0, 0], [5, 6, 0]], "float64")


def dense_of_sparse():
    x = keras.Input((3,), sparse=True)
    return keras.Model(x, keras.layers.Lambda(tf.sparse.to_dense, output_shape=(3,))(x))


@pytest.mark.parametrize("kind", ["coo_matrix", "csr_matrix", "csc_matrix", "lil_matrix", "coo_array"])
def test_matrices_of_scipy_are_data(kind):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = getattr(sparse, kind)(MATRIX)
    model = dense_of_sparse()
    np.testing.assert_array_equal(model.predict(matrix, batch_size=3, verbose=0), MATRIX)
    np.testing.assert_array_equal(model.predict_on_batch(matrix), MATRIX)
    np.testing.assert_array_equal(model.predict([matrix], batch_size=3, verbose=0), MATRIX)
    model.compile("sgd", "mse", metrics=["accuracy"])
    assert model.evaluate(matrix, MATRIX + 1, batch_size=2, verbose=0) == [1.0, 1.0]
    trained = []
    for data in (matrix, MATRIX):
        model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile("sgd", "mse")
        model.fit(data, np.ones([4, 1]), batch_size=3, epochs=2, shuffle=False, verbose=0)
        model.train_on_batch(data, np.ones([4, 1]))
        trained.append(model.get_weights()[0])
        if not release.keras_2():
            history = model.fit(data, np.ones([4, 1]), validation_split=0.5, verbose=0).history
            assert np.isfinite(history["val_loss"]).all()
    np.testing.assert_allclose(*trained, rtol=1e-5)


def test_sparse_and_ragged_predictions_are_joined():
    def to_sparse(x):
        places = tf.where(tf.not_equal(x, 0))
        return tf.SparseTensor(places, tf.gather_nd(x, places), tf.shape(x, tf.int64))

    class Model(keras.Model):
        def __init__(self, function):
            super().__init__()
            self.function = function

        def call(self, x):
            return self.function(x)

    for size in (2, 4):
        found = Model(to_sparse).predict(MATRIX, batch_size=size, verbose=0)
        np.testing.assert_array_equal(tf.sparse.to_dense(found), MATRIX)
        found = Model(lambda x: tf.RaggedTensor.from_tensor(x, padding=0)).predict(MATRIX, batch_size=size, verbose=0)
        assert isinstance(found, tf.RaggedTensor)
        assert found.to_list() == [[1.0], [2.0, 3.0], [4.0], [5.0, 6.0]]


def test_sequential_models_take_their_input_by_name():
    model = keras.Sequential([keras.Input((2,), name="a"), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    np.testing.assert_array_equal(model.predict({"a": X}, verbose=0), model.predict(X, verbose=0))
    assert np.isfinite(model.evaluate({"a": X}, np.ones((4, 1)), verbose=0))
    with pytest.raises(ValueError, match="Missing data for input 'a'"):
        model.predict({"b": X}, verbose=0)
    data = tf.data.Dataset.from_tensor_slices(({"a": X}, np.ones((4, 1)))).batch(2)
    assert np.isfinite(model.fit(data, verbose=0).history["loss"]).all()
