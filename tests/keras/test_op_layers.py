"""Functions and operators on symbolic tensors, and symbolic tensors in graphs of 1.x."""

import json

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
v1 = tf.compat.v1


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: x + 1, (None, 3)),
        (lambda x: 1 - x, (None, 3)),
        (lambda x: tf.constant(2.0) * x, (None, 3)),
        (lambda x: np.ones(3, "float32") / x, (None, 3)),
        (lambda x: -x, (None, 3)),
        (lambda x: x[:, :2], (None, 2)),
        (lambda x: x @ np.ones([3, 2], "float32"), (None, 2)),
        (lambda x: tf.concat([x, x], 1), (None, 6)),
        (lambda x: tf.reduce_sum(x, axis=1), (None,)),
        (lambda x: tf.nn.softmax(tf.square(x)), (None, 3)),
        (lambda x: tf.where(x > 0, x, 0.0), (None, 3)),
        (lambda x: tf.split(x, 3, axis=1)[1], (None, 1)),
        (lambda x: keras.backend.mean(x, axis=-1), (None,)),
        (lambda x: tf.reshape(x, [-1, 1, 3]), (None, 1, 3)),
    ],
)
def test_functions_of_symbolic_tensors_become_layers(function, shape):
    x = keras.Input((3,))
    y = function(x)
    assert tuple(y.shape.as_list()) == shape
    model = keras.Model(x, y)
    values = np.array([[1.0, -2.0, 3.0], [0.5, 0.25, 4.0]], "float32")
    expected = function(tf.constant(values)).numpy()
    np.testing.assert_allclose(model(values).numpy(), expected, rtol=1e-6)
    for again in (
        keras.Model.from_config(model.get_config()),
        keras.models.model_from_json(model.to_json()),
    ):
        np.testing.assert_allclose(again(values).numpy(), expected, rtol=1e-6)


def test_configs_name_only_functions_of_tensors():
    x = keras.Input((3,))
    config = json.loads(keras.Model(x, tf.square(x)).to_json())
    layer = config["config"]["layers"][1]
    for name in ("io.write_file", "os.system", "py_function", "__import__"):
        layer["config"]["function"] = name
        if name == "py_function":
            continue  # of which a config has no function to call
        with pytest.raises(ValueError, match="Unknown function"):
            keras.models.model_from_json(json.dumps(config))


def test_unknown_sizes_stay_unknown():
    x = keras.Input((None, 4))
    y = keras.layers.Dense(2)(keras.layers.Lambda(lambda t: t * 2)(x))
    assert tuple(y.shape.as_list()) == (None, None, 2)


def test_describing_a_model_runs_nothing():
    calls = []

    class Counting(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.count = tf.Variable(0.0, trainable=False)

        def call(self, x):
            calls.append(type(x).__name__)
            self.count.assign_add(1.0)
            return x

    layer = Counting()
    model = keras.Model(*[(x := keras.Input((2,))), layer(x)])
    assert float(layer.count.numpy()) == 0.0
    assert calls == ["SymbolicTensor"]
    model(np.ones([1, 2], "float32"))
    assert float(layer.count.numpy()) == 1.0


def test_losses_and_metrics_of_symbolic_tensors():
    x = keras.Input((2,))
    y = keras.layers.Dense(1, kernel_initializer="ones")(x)
    model = keras.Model(x, y)
    model.add_loss(tf.reduce_mean(y))
    model.add_metric(tf.reduce_sum(y), name="total", aggregation="mean")
    model(np.ones([3, 2], "float32"))
    assert float(model.losses[0].numpy()) == 2.0
    assert [m.name for m in model.metrics] == ["total"]
    again = keras.Model.from_config(model.get_config())
    again.set_weights(model.get_weights())
    again(np.ones([3, 2], "float32"))
    assert float(again.losses[0].numpy()) == 2.0


def test_masks_of_symbolic_tensors():
    x = keras.Input((4, 5))
    masked = keras.layers.Masking()(x)
    layer = keras.layers.Concatenate()
    layer([masked, x])
    assert tuple(layer.output_mask.shape.as_list()) == (None, 4)
    assert layer.input_mask[1] is None


def test_symbolic_tensors_in_sessions():
    with tf.Graph().as_default():
        x = keras.Input((3,))
        y = keras.layers.Dense(2, kernel_initializer="ones")(x)
        loss = tf.reduce_sum(y * y)
        gradients = tf.gradients(loss, [x])
        step = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            feed = {x: np.ones([1, 3], "float32")}
            np.testing.assert_allclose(session.run(y, feed), [[3.0, 3.0]])
            np.testing.assert_allclose(session.run(gradients, feed)[0], [[12.0, 12.0, 12.0]])
            session.run(step, feed)
            assert session.run(loss, feed) < 18.0


def test_backend_functions_of_symbolic_tensors():
    x = keras.Input((2,))
    y = keras.layers.Dense(1, kernel_initializer="ones")(x)
    run = keras.backend.function([x], [y, tf.square(y)])
    np.testing.assert_allclose(run([np.ones([1, 2])]), [[[2.0]], [[4.0]]])
    with tf.Graph().as_default():
        p = keras.backend.placeholder((None, 2))
        np.testing.assert_allclose(
            keras.backend.function([p], [p * 2])([np.ones([1, 2])])[0], [[2, 2]]
        )


def test_backend_functions_take_tensors_and_variables_of_the_graph():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        keras.backend.set_session(session)
        x = keras.backend.placeholder(shape=())
        run = keras.backend.function([x], [x + 1])
        assert run([keras.backend.variable(10.0)]) == [11.0]
        assert run([tf.constant(20.0)]) == [21.0]
        assert run([tf.constant(7.0, tf.float64)]) == [8.0]
        unknown = keras.backend.placeholder()
        loss = keras.backend.function([unknown], keras.backend.softmax(unknown + [0.0, 0.0]))
        np.testing.assert_allclose(loss([tf.zeros([1, 2])]), [[0.5, 0.5]])


def test_placeholders_without_a_shape_may_have_any_rank():
    x = keras.backend.placeholder()
    assert x.shape.rank is None
    doubled = keras.backend.function([x], x * 2)
    for value in (3.0, [1.0, 2.0], [[1.0], [2.0]]):
        np.testing.assert_array_equal(doubled([tf.constant(value)]), np.multiply(value, 2))


def test_the_learning_phase_can_be_fed():
    with tf.Graph().as_default():
        x = v1.placeholder("float32", (None, 50))
        y = keras.layers.Dropout(0.5)(x)
        with v1.Session() as session:
            ones = np.ones([2, 50], "float32")
            phase = keras.backend.learning_phase()
            np.testing.assert_array_equal(session.run(y, {x: ones}), ones)
            dropped = session.run(y, {x: ones, phase: True})
            assert set(np.unique(dropped)) == {0.0, 2.0}


def test_operations_are_no_layers_of_models():
    keras.backend.clear_session()
    x = keras.Input((3,))
    model = keras.Model(x, keras.layers.Dense(1)((x + 1)[:, :2] / 2))
    assert [layer.name for layer in model.layers] == ["input_layer", "dense"]
    names = [(type(part).__name__, part.name) for part in model.operations[1:4]]
    assert names == [("Add", "add"), ("GetItem", "get_item"), ("TrueDivide", "true_divide")]
    config = model.get_config()["layers"][1]
    assert (config["module"], config["class_name"]) == ("keras.src.ops.numpy", "Add")


def test_convolutions_of_low_rank():
    layer = keras.layers.Conv2D(3, 2, lora_rank=2, lora_alpha=4, kernel_initializer="zeros")
    layer.build((None, 4, 4, 5))
    assert [w.name for w in layer.weights] == ["kernel", "bias", "lora_kernel_a", "lora_kernel_b"]
    assert len(layer.trainable_weights) == 3
    layer.lora_kernel_a.assign(np.ones((2, 2, 5, 2)))
    layer.lora_kernel_b.assign(np.ones((2, 3)))
    np.testing.assert_allclose(layer.kernel.numpy(), np.full((2, 2, 5, 3), 4.0))
