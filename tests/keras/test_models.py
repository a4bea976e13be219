"""Models: subclasses, Sequential, functional; training by hand and by fit."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import release

layers = tf.keras.layers


class Classifier(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense1 = layers.Dense(units=10)
        self.dense2 = layers.Dense(units=10)

    def call(self, input):
        result = self.dense1(input)
        result = self.dense2(result)
        return self.dense2(result)


def test_subclass():
    tf.keras.backend.clear_session()
    model = Classifier()
    assert model(tf.zeros([1, 1, 784])).shape == (1, 1, 10)
    assert [variable.path for variable in model.variables] == [
        "classifier/dense/kernel",
        "classifier/dense/bias",
        "classifier/dense_1/kernel",
        "classifier/dense_1/bias",
    ]
    assert model.layers == [model.dense1, model.dense2]
    assert model.get_layer("dense_1") is model.dense2
    with pytest.raises(ValueError, match="No such layer: nope"):
        model.get_layer("nope")


def test_models_variables_come_last():
    class Scaled(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable(1.0, name="scale")
            self.dense = layers.Dense(1)

        def call(self, x):
            return self.dense(x) * self.scale

    model = Scaled()
    assert [variable.name for variable in model.variables] == ["scale:0"]
    model(tf.ones([1, 2]))
    assert model.variables[-1] is model.scale
    assert len(model.trainable_variables) == 3


def test_forgotten_super_init():
    class Forgetful(tf.keras.Model):
        def __init__(self):
            self.dense = layers.Dense(1)

    with pytest.raises(RuntimeError, match="forgot to call"):
        Forgetful()


def test_sequential_with_input_shape():
    tf.keras.backend.clear_session()
    model = tf.keras.Sequential([layers.Dense(10, input_shape=(784,)), layers.Dense(10)])
    assert (model.input_shape, model.output_shape) == ((None, 784), (None, 10))
    assert [w.path for w in model.weights][::2] == ["sequential/dense/kernel", "sequential/dense_1/kernel"]
    assert model(tf.zeros([3, 784])).shape == (3, 10)


def test_sequential_of_keras_2_without_input_shape(monkeypatch):
    monkeypatch.setattr(release, "_keras_2", True)
    with pytest.raises(ValueError, match="have not yet been created"):
        _ = tf.keras.Sequential([layers.Dense(4)]).weights


def test_sequential_without_input_shape(capsys):
    model = tf.keras.Sequential([layers.Dense(4), layers.Dropout(0.5), layers.Dense(2)])
    assert model.weights == []
    model.summary()
    assert "(unbuilt)" in capsys.readouterr().out
    model.build([None, 3])
    assert [w.shape.as_list() for w in model.weights] == [[3, 4], [4], [4, 2], [2]]
    model.pop()
    assert model(tf.ones([1, 3])).shape == (1, 4)
    with pytest.raises(ValueError, match="must be an instance of class Layer"):
        model.add(3)


def test_summary(capsys):
    tf.keras.backend.clear_session()
    tf.keras.Sequential([layers.Dense(2, input_shape=(3,)), layers.BatchNormalization()]).summary()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == 'Model: "sequential"'
    assert lines[4] == "│ dense (Dense)                   │ (None, 2)              │             8 │"
    assert lines[6].startswith("│ batch_normalization             │ (None, 2)")
    assert lines[-3:] == [
        " Total params: 16 (64.00 B)",
        " Trainable params: 12 (48.00 B)",
        " Non-trainable params: 4 (16.00 B)",
    ]


class Block(tf.keras.Model):
    """A model whose output is that of a model inside, which says nothing of shapes itself."""

    def __init__(self, outputs=1):
        super().__init__()
        self.inner = tf.keras.Sequential([layers.Dense(5), layers.BatchNormalization()])
        self.outputs_made = outputs

    def call(self, x, training=None):
        x = self.inner(x, training=training)
        return x if self.outputs_made == 1 else [x] * self.outputs_made


def test_summary_of_models_in_models(capsys):
    class Outer(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.blocks = tf.keras.Sequential(name="blocks")
            self.blocks.add(Block())
            self.blocks.add(Block(2))
            self.dense = layers.Dense(2)

        def call(self, x, training=None):
            return self.dense(self.blocks(x, training=training)[0])

    model = Outer()
    model.build((None, 4))
    model.summary()
    rows = [line.split("│")[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert [(row[0].split()[0], row[1].strip()) for row in rows] == [
        ("blocks", "[(None, 5), (None, 5)]"),
        (model.dense.name, "(None, 2)"),
    ]


def test_functional_with_shared_layer():
    a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
    shared = layers.Dense(2)
    merged = layers.Add()([shared(a), shared(b)])
    model = tf.keras.Model([a, b], layers.Dense(1)(merged))
    x = tf.ones([4, 3])
    expected = model.layers[-1](shared(x) + shared(2 * x))
    np.testing.assert_allclose(model([x, 2 * x]).numpy(), expected.numpy(), rtol=1e-6)
    assert len(model.weights) == 4
    with pytest.raises(ValueError, match=r"expects 2 input\(s\)"):
        model(x)


def test_training_by_hand(rng):
    x = rng.normal(size=(200, 2)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] > 0).astype(np.int64)
    model = tf.keras.Sequential([layers.Dense(16, "tanh"), layers.Dense(2)])
    optimizer = tf.keras.optimizers.Adam(0.05)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    for _ in range(100):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    assert float(loss) < 0.1


def test_fit_evaluate_predict(rng):
    x = rng.normal(size=(300, 4)).astype(np.float32)
    y = (x.sum(1) > 0).astype(np.int64)
    model = tf.keras.Sequential([layers.Dense(8, "relu"), layers.Dense(2)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(0.02), loss, metrics=["accuracy"])
    history = model.fit(x, y, epochs=8, validation_split=0.2, verbose=0)
    assert set(history.history) == {"loss", "accuracy", "val_loss", "val_accuracy"}
    assert history.history["loss"][-1] < history.history["loss"][0]
    value, accuracy = model.evaluate(x, y, verbose=0)
    assert accuracy > 0.9
    logits = model.predict(x, verbose=0)
    assert (logits.argmax(1) == y).mean() == pytest.approx(accuracy)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(50)
    assert model.evaluate(dataset, verbose=0) == pytest.approx([value, accuracy], rel=1e-4)


def test_early_stopping():
    model = tf.keras.Sequential([layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    stop = tf.keras.callbacks.EarlyStopping("loss", patience=2)
    history = model.fit(np.ones([8, 1]), np.ones([8, 1]), epochs=10, verbose=0, callbacks=[stop])
    assert len(history.epoch) == 3


def test_fit_before_compile():
    with pytest.raises(ValueError, match="call `compile"):
        tf.keras.Sequential([layers.Dense(1)]).fit(np.ones([1, 1]), np.ones([1, 1]))


def test_weights_in_a_graph(tmp_path):
    with tf.Graph().as_default():
        layer = tf.keras.layers.Dense(2)
        layer(tf.ones([1, 3]))
        kernel, bias = layer.get_weights()
        assert kernel.any()
        layer.set_weights([kernel + 1, bias])
        np.testing.assert_array_equal(tf.keras.backend.get_value(layer.kernel), kernel + 1)
        with tf.compat.v1.Session().as_default():
            assert (layer.get_weights()[1] == 0).all()
    with pytest.raises(RuntimeError, match="not available"):
        tf.keras.backend.get_session()


def test_models_know_whether_they_are_made_of_symbolic_tensors():
    class Subclass(tf.keras.Model):
        def call(self, x):
            return x

    x = tf.keras.Input((2,))
    assert tf.keras.Model(x, x + 1.0)._is_graph_network
    assert not Subclass()._is_graph_network
    assert not tf.keras.Sequential([tf.keras.layers.Dense(1)])._is_graph_network
    assert tf.keras.Sequential([x, tf.keras.layers.Dense(1)])._is_graph_network


def test_functional_models_compute_shapes_for_the_shapes_given():
    x, ids = tf.keras.Input((None, 4)), tf.keras.Input((3,), dtype="int32")
    y = tf.keras.layers.LSTM(3, return_sequences=True)(x)
    model = tf.keras.Model([x, ids], {"y": y, "z": tf.keras.layers.Embedding(5, 2)(ids)})
    assert model.compute_output_shape([(5, 6, 4), (5, 3)]) == {"y": (5, 6, 3), "z": (5, 3, 2)}
    assert model.compute_output_shape([(None, None, 4), (None, 3)])["y"].as_list() == [None, None, 3]
    outer = tf.keras.Model(x, tf.keras.Model(x, y)(x))
    assert outer.compute_output_shape((2, 7, 4)) == (2, 7, 3)


@pytest.mark.skipif(release.keras_2(), reason="the names of Keras 3")
def test_symbolic_tensors_are_written_as_in_keras_3():
    tf.keras.backend.clear_session()
    x = tf.keras.Input((3,))
    y = tf.keras.layers.Dense(2)(x)
    assert repr(x) == "<KerasTensor shape=(None, 3), dtype=float32, sparse=False, ragged=False, name=keras_tensor>"
    assert repr(y) == "<KerasTensor shape=(None, 2), dtype=float32, sparse=False, ragged=False, name=keras_tensor_1>"
    assert repr(x + 1).endswith("name=keras_tensor_2>")
    assert tf.keras.Input((1,), name="age", dtype="string").name == "age"
