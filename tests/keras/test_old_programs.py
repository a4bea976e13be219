"""What programs written for Keras 2 count on: hooks, metrics for several outputs, optimizers of their own.

The expected values are those of Keras 2 (tf_keras) for the same programs.
"""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import release

keras = tf.keras
layers = keras.layers

X = np.array([[1.0], [2.0], [3.0], [4.0]], "float32")


def one_output():
    model = keras.Sequential([layers.Dense(1, kernel_initializer="ones", input_shape=(1,))])
    model.compile(keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
    return model


def two_outputs(**how):
    first, second = keras.Input((1,)), keras.Input((1,))
    between = layers.Dense(3, kernel_initializer="ones")
    outputs = [
        layers.Dense(1, kernel_initializer="ones", name=name)(between(x))
        for name, x in (("out_1", first), ("out_2", second))
    ]
    model = keras.Model([first, second], outputs)
    model.compile(keras.optimizers.SGD(0.0), "mse", **how)
    return model


class Hooks(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.seen = []

    def on_train_batch_begin(self, batch, logs=None):
        self.seen.append(("train", batch))

    def on_test_batch_begin(self, batch, logs=None):
        self.seen.append(("test", batch))

    def on_predict_batch_begin(self, batch, logs=None):
        self.seen.append(("predict", batch))


@pytest.mark.parametrize("as_dataset", [False, True])
def test_no_step_is_begun_without_a_batch(as_dataset):
    model, hooks = one_output(), Hooks()
    data = (tf.data.Dataset.from_tensor_slices((X, X)).batch(2),) if as_dataset else (X, X)
    how = {"verbose": 0, "callbacks": [hooks]} | ({} if as_dataset else {"batch_size": 2})
    model.fit(*data, **how)
    model.evaluate(*data, **how)
    model.predict(data[0], **how)
    assert hooks.seen == [(kind, i) for kind in ("train", "test", "predict") for i in (0, 1)]


def test_a_cached_dataset_is_complete_after_an_epoch():
    read = []

    def rows():
        for x in X:
            read.append(float(x[0]))
            yield x, x

    spec = tf.TensorSpec((1,))
    data = tf.data.Dataset.from_generator(rows, output_signature=(spec, spec))
    data = data.apply(tf.data.experimental.assert_cardinality(4)).cache().batch(2)
    one_output().fit(data, epochs=3, verbose=0)
    assert read == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("method", ["fit", "evaluate", "predict"])
def test_endless_datasets_need_steps(method):
    model = one_output()
    data = tf.data.Dataset.from_tensor_slices((X, X)).batch(2).repeat()
    with pytest.raises(ValueError, match="infinite dataset, you must specify the number of steps"):
        getattr(model, method)(data, verbose=0)
    assert len(model.fit(data, steps_per_epoch=3, verbose=0).history["loss"]) == 1


def test_class_weights_of_outputs_are_refused():
    with pytest.raises(ValueError, match="only supported for Models with a single output"):
        two_outputs().fit([X, X], [X, X], class_weight={"out_1": {0: 1, 1: 2}}, verbose=0)


@pytest.fixture
def keras_2():
    release.use_keras_2(True)
    yield
    release.use_keras_2(False)


def test_metric_objects_gather_every_output_apart(keras_2):
    model = two_outputs(
        metrics=[keras.metrics.MeanSquaredError(name="q")],
        weighted_metrics=[keras.metrics.MeanAbsoluteError(name="w")],
    )
    weights = [np.array([2.0, 3, 4, 5]), np.array([3.5, 2.5, 1.5, 0.5])]
    fitted = model.fit(
        [X, X], [2 * X, X], sample_weight=weights, batch_size=2, verbose=0, shuffle=False
    )
    expected = {"loss": 67.5, "out_1_loss": 32.5, "out_2_loss": 35.0, "out_1_q": 7.5,
                "out_1_w": 2.8571, "out_2_q": 30.0, "out_2_w": 3.75}  # fmt: skip
    assert model.metrics_names == list(expected)
    assert {k: v[0] for k, v in fitted.history.items()} == pytest.approx(expected, abs=1e-3)
    results = model.evaluate([X, X], [2 * X, X], verbose=0)
    assert results == pytest.approx([37.5, 7.5, 30.0, 7.5, 2.5, 30.0, 5.0])


def test_metric_objects_of_one_output_keep_their_identity(keras_2):
    metric = keras.metrics.MeanSquaredError(name="q")
    model = two_outputs(metrics=[["mae"], [metric]])
    model.fit([X, X], [2 * X, X], verbose=0)
    assert metric in model.metrics
    assert metric.name == "out_2_q"
    assert float(metric.result()) == 30.0


def test_unknown_modes_of_monitors_are_auto(keras_2):
    with pytest.warns(UserWarning, match="mode 'unknown' is unknown"):
        callback = keras.callbacks.EarlyStopping("val_accuracy", mode="unknown")
    assert callback.monitor_op is np.greater
    assert keras.callbacks.EarlyStopping("loss").monitor_op is np.less


class Momentum(keras.optimizers.legacy.Optimizer):
    def __init__(self, rate=0.1, name="Momentum", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", rate))

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "m", initializer="ones")

    def _resource_apply_dense(self, grad, var, apply_state=None):
        shared = apply_state[var.device, var.dtype.base_dtype]
        m = self.get_slot(var, "m")
        m.assign_add(grad)
        return var.assign_sub(shared["lr_t"] * m)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        rate = self._decayed_lr(var.dtype.base_dtype)
        return var.scatter_sub(tf.IndexedSlices(rate * grad, indices))

    def get_config(self):
        return {
            **super().get_config(),
            "rate": self._serialize_hyperparameter("learning_rate"),
        }


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_optimizers_by_resources(wrap):
    optimizer, var = Momentum(0.5), tf.Variable([1.0, 2.0])
    step = wrap(lambda: optimizer.minimize(lambda: tf.reduce_sum(var * var), [var]))
    step()
    step()
    np.testing.assert_allclose(var, [-1.5, -2.5])
    assert [w.name for w in optimizer.weights][1].endswith("/m:0")
    assert int(optimizer.iterations) == 2
    again = Momentum.from_config(optimizer.get_config())
    assert again.get_config() == {"name": "Momentum", "rate": 0.5}


def test_optimizers_by_resources_change_rows():
    optimizer, var = Momentum(1.0), tf.Variable([[1.0], [2.0], [3.0]])
    optimizer.minimize(lambda: tf.reduce_sum(tf.gather(var, [0, 2, 0])), [var])
    np.testing.assert_allclose(var, [[-1.0], [2.0], [2.0]])


class Shrinking:
    """Brings the update to a rule, and is no optimizer itself."""

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[var_device, var_dtype]["shrink"] = tf.constant(0.5, var_dtype)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        var.assign_sub(apply_state[var.device, var.dtype.base_dtype]["shrink"] * var)
        return super()._resource_apply_dense(grad, var, apply_state=apply_state)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        var.assign_sub(apply_state[var.device, var.dtype.base_dtype]["shrink"] * var)
        return super()._resource_apply_sparse(grad, var, indices, apply_state=apply_state)


class ShrinkingSGD(Shrinking, keras.optimizers.legacy.SGD):
    pass


class ShrinkingAdam(Shrinking, keras.optimizers.legacy.Adam):
    pass


class Wrapping(keras.optimizers.legacy.Optimizer):
    """Lets another optimizer do the updates."""

    def __init__(self, inner, name="Wrapping"):
        super().__init__(name)
        self._optimizer = inner

    def _create_slots(self, var_list):
        self._optimizer._create_slots(var_list=var_list)
        for var in var_list:
            np.testing.assert_allclose(self.add_slot(var, "first", initializer=var), tf.fill(var.shape, 8.0))

    def _create_hypers(self):
        self._optimizer._create_hypers()

    def _prepare(self, var_list):
        return self._optimizer._prepare(var_list=var_list)

    def apply_gradients(self, grads_and_vars, name=None, **kwargs):
        self._optimizer._iterations = self.iterations
        return super().apply_gradients(grads_and_vars, name, **kwargs)

    def _resource_apply_dense(self, grad, var):
        assert "apply_state" in self._optimizer._dense_apply_args
        done = self._optimizer._resource_apply_dense(grad, var)
        with tf.control_dependencies([done]):
            return tf.group(done, var.assign_add([100.0]))

    def _resource_apply_sparse(self, grad, var, indices):
        return self._optimizer._resource_apply_sparse_duplicate_indices(grad, var, indices)


def test_settings_that_are_switches():
    optimizer = Momentum()
    optimizer._set_hyper("nesterov", True)
    assert optimizer._get_hyper("nesterov").dtype == tf.bool


def test_updates_brought_by_another_base():
    optimizer, var = ShrinkingSGD(1.0), tf.Variable([8.0])
    optimizer.apply_gradients([(tf.constant([1.0]), var)])
    np.testing.assert_allclose(var, [3.0])
    rows = tf.Variable([[8.0], [4.0]])
    optimizer.apply_gradients([(tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1])), rows)])
    np.testing.assert_allclose(rows, [[4.0], [1.0]])
    first, second = tf.Variable([8.0]), tf.Variable([4.0])
    ShrinkingAdam(0.1).apply_gradients([(tf.constant([1.0]), first)])
    keras.optimizers.legacy.Adam(0.1).apply_gradients([(tf.constant([1.0]), second)])
    np.testing.assert_allclose(first, second)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_optimizers_around_others(wrap):
    alone, wrapped = tf.Variable([8.0]), tf.Variable([8.0])
    inner, outer = keras.optimizers.legacy.Adam(0.1), Wrapping(keras.optimizers.legacy.Adam(0.1))
    steps = [
        wrap(lambda: inner.apply_gradients([(tf.constant([1.0]), alone)])),
        wrap(lambda: outer.apply_gradients([(tf.constant([1.0]), wrapped)])),
    ]
    for step in steps * 2:
        step()
    np.testing.assert_allclose(wrapped, alone.numpy() + 200.0, rtol=1e-6)


def test_optimizers_around_others_add_up_rows():
    var = tf.Variable([[8.0], [8.0], [8.0]])
    optimizer = Wrapping(keras.optimizers.legacy.SGD(1.0))
    optimizer.minimize(lambda: tf.reduce_sum(tf.gather(var, [0, 2, 0])), [var])
    np.testing.assert_allclose(var, [[6.0], [8.0], [7.0]])


def test_optimizers_by_resources_train_models():
    model = keras.Sequential([layers.Dense(1, input_shape=(1,))])
    model.compile(Momentum(0.01), "mse")
    losses = model.fit(X, X, epochs=5, verbose=0).history["loss"]
    assert len(losses) == 5
    assert np.isfinite(losses).all()


def test_decayed_rate():
    optimizer, var = keras.optimizers.legacy.SGD(1.0, decay=0.5), tf.Variable(10.0)
    for _ in range(3):
        optimizer.minimize(lambda: var * 1.0, [var])
    assert float(optimizer._decayed_lr(tf.float32)) == pytest.approx(0.4)
    assert float(var) == pytest.approx(7.8333, abs=1e-3)


def test_metrics_of_ragged_values():
    labels, given = tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[1], [2, 4]])
    assert float(keras.metrics.Accuracy()(labels, given)) == pytest.approx(2 / 3)
    labels, given = tf.ragged.constant([[1.0], [0.0, 1.0]]), tf.ragged.constant([[0.1], [0.2, 0.9]])
    assert float(keras.metrics.AUC()(labels, given)) == pytest.approx(0.5)
    assert float(keras.metrics.Precision()(labels, given)) == 1.0
    with pytest.raises(TypeError, match="Some of the inputs are not"):
        keras.metrics.Accuracy()(labels, tf.constant([[1.0, 2.0]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
        keras.metrics.Accuracy()(labels, tf.ragged.constant([[1.0, 2.0], [1.0]]))


def test_orthogonal_regularizer():
    penalty = keras.regularizers.OrthogonalRegularizer(0.1)
    assert float(penalty(tf.constant([[1.0, 2.0], [3.0, 4.0]]))) == pytest.approx(0.09839, abs=1e-4)
    by_columns = keras.regularizers.OrthogonalRegularizer(0.5, mode="columns")
    value = by_columns(tf.constant([[1.0, 2.0, 0.0], [3.0, 4.0, 1.0]]))
    assert float(value) == pytest.approx(0.47217664)
    assert by_columns.get_config() == {"factor": 0.5, "mode": "columns"}
    with pytest.raises(ValueError, match="must have rank 2"):
        penalty(tf.constant([1.0]))
    with pytest.raises(ValueError, match="Expected one of"):
        keras.regularizers.OrthogonalRegularizer(mode="x")


def test_one_initializer_finds_all_settings_in_a_graph():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        optimizer = keras.optimizers.SGD(1.0, momentum=0.9, decay=0.25)
        rate = optimizer.lr
        session.run(tf.compat.v1.global_variables_initializer())
        values = [rate, optimizer._get_hyper("momentum"), optimizer._get_hyper("decay")]
        assert session.run(values) == pytest.approx([1.0, 0.9, 0.25])


def test_layers_that_write_down_their_variables_themselves():
    class Scaled(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self._trainable_weights.append(tf.Variable(2.0, name="scale"))
            self._trainable_weights += [tf.Variable(1.0, name="shift")]
            self._non_trainable_weights.append(tf.Variable(0.0, trainable=False, name="calls"))

        def call(self, x):
            scale, shift = self._trainable_weights
            return x * scale + shift

    layer = Scaled()
    assert layer(tf.constant([3.0])).numpy() == [7.0]
    assert [v.name for v in layer.trainable_weights] == ["scale:0", "shift:0"]
    assert [v.name for v in layer.non_trainable_weights] == ["calls:0"]
    with tf.GradientTape() as tape:
        y = layer(tf.constant([3.0]))
    assert [float(g) for g in tape.gradient(y, layer.trainable_variables)] == [3.0, 1.0]


def test_what_test_cases_of_1x_ask_for():
    case = tf.test.TestCase()
    case.assertItemsEqual([1, 2], (2, 1))
    case.assertDeviceEqual("/cpu:0", "/device:CPU:0")
    with pytest.raises(AssertionError):
        case.assertDeviceEqual("/cpu:0", "/device:CPU:1")


@pytest.mark.parametrize("method", ["fit", "evaluate", "train_on_batch", "test_on_batch", "predict"])
def test_what_call_asks_for_beside_its_inputs_no_method_gives(method):
    class Two(keras.Model):
        def call(self, x, other, more=None):
            return x + other

    model = Two()
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match=rf"Models passed to `{method}` can only .* found: \['other'\]"):
        getattr(model, method)(X, *([] if method == "predict" else [X]))


def test_a_subclass_made_of_plain_arguments_is_saved_and_made_again(tmp_path):
    @keras.utils.register_keras_serializable("made_again")
    class Plain(keras.Model):
        def __init__(self, units=2, activation="relu", **kwargs):
            super().__init__(**kwargs)
            self.dense = layers.Dense(units, activation)

        def call(self, x):
            return self.dense(x)

    model = Plain(3, name="plain")
    wanted = model(X)
    assert model.get_config() == {"units": 3, "activation": "relu", "name": "plain"}
    model.save(tmp_path / "plain.keras")
    again = keras.models.load_model(tmp_path / "plain.keras")
    assert isinstance(again, Plain)
    np.testing.assert_array_equal(again(X), wanted)

    class Other(keras.Model):
        def __init__(self, layer):
            super().__init__()
            self.layer = layer

    with pytest.raises(NotImplementedError, match=r"Other does not have a `get_config\(\)` method"):
        Other(layers.Dense(1)).get_config()
