"""Steps of optimizers in Keras 3: gradients of another dtype, clipping, scales of losses, Adafactor's greatest rate."""

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
optimizers = keras.optimizers

NAMES = [
    "SGD", "Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "Adafactor", "Ftrl", "Lion", "Nadam", "RMSprop", "Lamb",
]  # fmt: skip


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("of_variable", "of_gradient"), [("float64", "float32"), ("float32", "float64")])
@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_cast_to_the_variable(name, of_variable, of_gradient, several):
    results = []
    for dtype in (of_variable, of_gradient):
        variables = [keras.Variable(np.ones([3]), dtype=of_variable) for _ in range(1 + several)]
        optimizer = getattr(optimizers, name)(learning_rate=0.5)
        for step in range(2):
            gradient = tf.constant(np.arange(1.0, 4.0) + step, dtype)
            optimizer.apply([gradient] * len(variables), variables)
        results.append([variable.numpy() for variable in variables])
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)


def test_sparse_gradients_are_cast():
    variable = keras.Variable(np.ones([3, 1]), dtype="float64")
    gradient = tf.IndexedSlices(tf.constant([[2.0]]), tf.constant([1]), tf.constant([3, 1]))
    optimizers.SGD(0.5).apply([gradient], [variable])
    assert variable.numpy().ravel().tolist() == [1.0, 0.0, 1.0]
    assert keras.ops.convert_to_numpy(gradient).ravel().tolist() == [0.0, 2.0, 0.0]


def test_adafactor_never_steps_more_than_one_by_the_root_of_steps():
    optimizer = optimizers.Adafactor(0.9, relative_step=False)
    variable = keras.Variable(np.ones([2], "float32"))
    sizes = []
    for _ in range(8):
        before = variable.numpy()
        optimizer.apply([tf.ones([2])], [variable])
        sizes.append(float((1 - variable.numpy() / before)[0]))
    np.testing.assert_allclose(sizes[1:], 1 / np.sqrt(np.arange(2, 9)), rtol=1e-3)
    assert sizes[0] == pytest.approx(0.9, rel=1e-3)


def test_one_kind_of_clipping():
    for first, second in (("clipnorm", "clipvalue"), ("clipvalue", "global_clipnorm")):
        with pytest.raises(ValueError, match="Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set"):
            optimizers.SGD(**{first: 1.0, second: 1.0})
    clipped = optimizers.SGD(clipnorm=1.0)._clip_gradients([None, np.array([3.0, 4.0])])
    assert clipped[0] is None
    np.testing.assert_allclose(clipped[1], [0.6, 0.8])


def test_one_scale_of_losses():
    inner = optimizers.SGD(0.5, loss_scale_factor=100.0)
    optimizer = optimizers.LossScaleOptimizer(inner, initial_scale=4.0)
    variable = keras.Variable([1.0])
    optimizer.apply([tf.constant([4.0])], [variable])
    assert variable.numpy().tolist() == [0.5]
    for name, value in (("clipnorm", 1.0), ("use_ema", True), ("weight_decay", 0.5)):
        with pytest.raises(ValueError, match=f"set `{name}` on the `inner_optimizer`"):
            optimizers.LossScaleOptimizer(optimizers.SGD(), **{name: value})
    with pytest.raises(ValueError, match="arguments: `foo`"):
        optimizers.LossScaleOptimizer(optimizers.SGD(), foo=1)


def test_sequential_models_of_embeddings_are_built_by_data():
    model = keras.Sequential([keras.layers.Embedding(5, 2), keras.layers.Flatten(), keras.layers.Dense(1)])
    assert not model.built
    model.compile(optimizers.Adam(clipnorm=1.0), "mse")
    model.fit(np.ones([4, 3]), np.zeros([4, 1]), verbose=0)
    assert [tuple(weight.shape) for weight in model.weights] == [(5, 2), (6, 1), (1,)]


@pytest.mark.parametrize("file", ["w.weights.h5", "m.keras", "w.weights.json"])
def test_bfloat16_weights_are_kept(tmp_path, file):
    def make():
        return keras.Sequential([keras.Input([2]), keras.layers.Dense(3, dtype="bfloat16")])

    model, again = make(), make()
    path = str(tmp_path / file)
    if file.endswith(".keras"):
        model.save(path)
        again = keras.models.load_model(path)
    else:
        more = {"max_shard_size": 2e-8} if file.endswith("json") else {}
        model.save_weights(path, **more)
        again.load_weights(path)
    assert again.weights[0].dtype == "bfloat16"
    np.testing.assert_array_equal(again.weights[0].numpy(), model.weights[0].numpy())
