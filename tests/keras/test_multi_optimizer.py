"""`MultiOptimizer`: each variable is updated by the optimizer that is chosen for it."""

import numpy as np
import pytest

import tapeflow as tf

optimizers = tf.keras.optimizers
X = np.arange(8.0, dtype="float32").reshape(4, 2) / 8


def by_map(factor=None):
    chosen = optimizers.OptimizerMap(optimizers.SGD(0.1), {".*encoder/.*": optimizers.Adam(0.05)})
    return optimizers.MultiOptimizer(chosen, loss_scale_factor=factor)


def made(optimizer=None):
    model = tf.keras.Sequential([tf.keras.Input((2,))])
    for units, name in ((3, "encoder"), (1, "head")):
        model.add(tf.keras.layers.Dense(units, name=name, kernel_initializer="ones"))
    model.compile(optimizer, "mse")
    return model


def trained_by_hand(epochs):
    model, adam, sgd = made("sgd"), optimizers.Adam(0.05), optimizers.SGD(0.1)
    for _ in range(epochs):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(X) - X[:, :1]) ** 2)
        pairs = list(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        adam.apply_gradients(pairs[:2])
        sgd.apply_gradients(pairs[2:])
    return model


@pytest.mark.parametrize("factor", [None, 8.0])
@pytest.mark.parametrize("run_eagerly", [False, True])
def test_variables_change_as_their_optimizers_say(factor, run_eagerly):
    model = made(by_map(factor))
    model.run_eagerly = run_eagerly
    model.fit(X, X[:, :1], batch_size=4, epochs=3, verbose=0)
    for found, expected in zip(model.get_weights(), trained_by_hand(3).get_weights()):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert int(model.optimizer.iterations) == 3
    assert [int(each.iterations) for each in model.optimizer.optimizers] == [3, 3]


def test_a_function_chooses():
    first, second = optimizers.SGD(0.5), optimizers.SGD(0.25)
    optimizer = optimizers.MultiOptimizer(lambda variable: first if "kernel" in variable.path else second)
    kernel, bias = tf.keras.Variable([1.0], name="kernel"), tf.keras.Variable([1.0], name="bias")
    optimizer.apply([tf.constant([1.0]), tf.constant([1.0])], [kernel, bias])
    assert (kernel.numpy().tolist(), bias.numpy().tolist()) == ([0.5], [0.75])
    assert optimizer.optimizers == [first, second]
    optimizer.apply_gradients([(None, kernel), (tf.constant([1.0]), bias)])
    assert (kernel.numpy().tolist(), bias.numpy().tolist()) == ([0.5], [0.5])
    assert [int(each.iterations) for each in (optimizer, first, second)] == [2, 1, 2]
    with pytest.raises(ValueError, match="not built for the variable"):
        optimizer.apply([tf.constant([1.0])], [tf.keras.Variable([1.0])])


def test_configs_and_files_keep_all(tmp_path):
    model = made(by_map())
    model.fit(X, X[:, :1], verbose=0)
    again = optimizers.deserialize(optimizers.serialize(model.optimizer))
    assert again.get_config() == model.optimizer.get_config()
    assert [each.name for each in again.optimizers] == [each.name for each in model.optimizer.optimizers]
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    assert len(loaded.optimizer.variables) == len(model.optimizer.variables) == 10
    for found, expected in zip(loaded.optimizer.variables, model.optimizer.variables):
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_checkpoints_keep_the_state(tmp_path):
    model = made(by_map())
    model.fit(X, X[:, :1], verbose=0)
    path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(str(tmp_path / "checkpoint"))
    other = made(by_map())
    other.optimizer.build(other.trainable_variables)
    tf.train.Checkpoint(model=other, optimizer=other.optimizer).restore(path).assert_consumed()
    for found, expected in zip(other.optimizer.variables, model.optimizer.variables):
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_updates_without_state():
    optimizer = optimizers.MultiOptimizer(
        optimizers.OptimizerMap(optimizers.SGD(), {"encoder": optimizers.Adam(0.05)})
    )
    variable = tf.keras.Variable([1.0], name="encoder")
    optimizer.build([variable])
    trained, own = optimizer.stateless_apply(optimizer.variables, [tf.constant([1.0])], [variable])
    assert trained[0].numpy() == pytest.approx([0.95])
    assert len(own) == len(optimizer.variables)
    assert variable.numpy() == [1.0]
    assert int(optimizer.iterations) == 0


def test_there_is_no_learning_rate_and_one_factor():
    optimizer = by_map()
    with pytest.raises(AttributeError, match="no learning rate"):
        optimizer.learning_rate  # noqa: B018
    with pytest.raises(AttributeError, match="no learning rate"):
        optimizer.learning_rate = 0.1
    optimizer.loss_scale_factor = 4.0
    assert [each.loss_scale_factor for each in (optimizer, *optimizer.optimizers)] == [4.0, 4.0, 4.0]
    variable = tf.keras.Variable([1.0], name="head")
    optimizer.apply([tf.constant([4.0])], [variable])
    assert variable.numpy() == pytest.approx([0.9])


def test_maps_find_by_key_and_by_pattern():
    sgd, adam, rule = optimizers.SGD(), optimizers.Adam(), optimizers.RMSprop()
    chosen = optimizers.OptimizerMap(sgd, {"encoder/.*": adam})
    chosen["encoder/first"] = rule
    assert [chosen[key] for key in ("encoder/first", "encoder/x", "encoder", "x")] == [rule, adam, sgd, sgd]
    assert (list(chosen), len(chosen), list(chosen.values())) == (["encoder/.*", "encoder/first"], 2, [adam, rule])
    chosen[".*/x"] = rule
    with pytest.raises(ValueError, match="Multiple optimizers assigned"):
        chosen["encoder/x"]
    del chosen[".*/x"]
    assert chosen["encoder/x"] is adam


@pytest.mark.parametrize(("error", "call"), [
    (TypeError, lambda: optimizers.OptimizerMap("sgd")),
    (TypeError, lambda: optimizers.OptimizerMap(optimizers.SGD(), [optimizers.SGD()])),
    (ValueError, lambda: optimizers.OptimizerMap(optimizers.SGD(), {3: optimizers.SGD()})),
    (ValueError, lambda: optimizers.OptimizerMap(optimizers.SGD(), {"a": "sgd"})),
    (ValueError, lambda: optimizers.OptimizerMap(optimizers.SGD(), {"a": by_map()})),
    (ValueError, lambda: optimizers.OptimizerMap(
        optimizers.SGD(), {"a": optimizers.LossScaleOptimizer(optimizers.SGD())})),
    (ValueError, lambda: optimizers.OptimizerMap(optimizers.SGD(), {"a": optimizers.SGD()}).update(a=optimizers.SGD())),
    (ValueError, lambda: optimizers.MultiOptimizer(lambda variable: "sgd").build([tf.keras.Variable(1.0)])),
    (ValueError, lambda: optimizers.MultiOptimizer(lambda variable: by_map()).build([tf.keras.Variable(1.0)])),
])  # fmt: skip
def test_what_cannot_be_inside_is_refused(error, call):
    with pytest.raises(error):
        call()
