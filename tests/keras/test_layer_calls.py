"""Calls of layers as in Keras 3: dtypes and masks of all arguments, masked sums and weights, configs from arguments."""

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras

STATELESS = [
    ("Activation", ["relu"]), ("ActivityRegularization", []), ("AlphaDropout", [0.1]), ("AveragePooling1D", []),
    ("Dropout", [0.1]), ("ELU", []), ("GaussianDropout", [0.1]), ("GaussianNoise", [0.1]),
    ("GlobalAveragePooling2D", []), ("GlobalMaxPooling1D", []), ("Identity", []), ("LeakyReLU", []), ("Masking", []),
    ("MaxPooling3D", []), ("ReLU", []), ("Softmax", []), ("SpatialDropout2D", [0.1]), ("UnitNormalization", []),
]  # fmt: skip


def masked(values, mask):
    x = tf.constant(values)
    return keras.layers.Masking()(x) if mask is None else _with_mask(x, mask)


def _with_mask(x, mask):
    x._keras_mask = tf.constant(mask)
    keras.layers.Masking()(tf.zeros([1, 1, 1]))  # from now on masks are looked for
    return x


@pytest.mark.parametrize(("name", "arguments"), STATELESS, ids=[name for name, _ in STATELESS])
def test_layers_without_weights_are_built_from_the_start(name, arguments):
    cls = getattr(keras.layers, name)
    assert cls(*arguments).built

    class Building(cls):
        def build(self, input_shape):
            pass

    assert not Building(*arguments).built


@pytest.mark.parametrize("by_name", [False, True])
def test_all_floats_are_cast(by_name):
    class Sum(keras.layers.Layer):
        def call(self, x, y, z=None):
            assert (x.dtype, y.dtype, z[0].dtype, z[1].dtype) == (tf.float16, tf.float16, tf.float16, tf.int32)
            return x + y + z[0]

    x = np.ones(2)
    z = [np.ones(2), np.ones(2, "int32")]
    total = Sum(dtype="float16")(x, y=x, z=z) if by_name else Sum(dtype="float16")(x, x, z=z)
    assert total.dtype == tf.float16
    assert total.numpy().tolist() == [3.0, 3.0]


def test_masks_outlive_casts():
    layer = keras.layers.Embedding(3, 2, mask_zero=True)
    steps = keras.layers.Activation("linear", dtype="float16")(layer(np.array([[1, 0, 2]])))
    assert steps._keras_mask.numpy().tolist() == [[True, False, True]]


def test_each_argument_has_a_mask():
    seen = {}

    class Two(keras.layers.Layer):
        supports_masking = True

        def call(self, a, b, a_mask=None, b_mask=None):
            seen.update(a=a_mask, b=b_mask)
            return a

    a = masked(np.ones([1, 2, 1], "float32"), [[True, False]])
    b = masked(np.ones([1, 2, 1], "float32"), [[False, True]])
    Two()(a, b)
    assert seen["a"].numpy().tolist() == [[True, False]]
    assert seen["b"].numpy().tolist() == [[False, True]]
    Two()(a, b=b, b_mask=tf.constant([[True, True]]))
    assert seen["b"].numpy().tolist() == [[True, True]]


@pytest.mark.parametrize(
    ("name", "both", "one"),
    [
        ("Multiply", [0.0, 2.0, 5.0, 12.0], [7.0, 0.0, 5.0, 12.0]),
        ("Maximum", [0.0, 2.0, 5.0, 4.0], [7.0, 2.0, 5.0, 4.0]),
        ("Minimum", [0.0, 2.0, 5.0, 3.0], [7.0, 0.0, 5.0, 3.0]),
        ("Add", [0.0, 2.0, 5.0, 7.0], [7.0, 2.0, 5.0, 7.0]),
    ],
)
def test_merging_looks_at_masks(name, both, one):
    layer = getattr(keras.layers, name)()
    a = masked(np.array([[[0.0], [2.0], [0.0], [3.0]]], "float32"), None)
    b = masked(np.array([[[0.0], [0.0], [5.0], [4.0]]], "float32"), None)
    merged = layer([a, b])
    assert merged.numpy().ravel().tolist() == both
    assert merged._keras_mask.numpy().tolist() == [[False, True, True, True]]
    plain = tf.constant(np.array([[[7.0], [0.0], [5.0], [4.0]]], "float32"))
    assert layer([a, plain]).numpy().ravel().tolist() == one


def test_softmax_leaves_nothing_where_the_mask_does_not_hold():
    layer = keras.layers.Softmax()
    x, mask = tf.constant([[1.0, 1.0], [3.0, 4.0]]), tf.constant([[True, False], [False, False]])
    assert layer(x, mask=mask).numpy().tolist() == [[1.0, 0.0], [0.0, 0.0]]
    with pytest.raises(ValueError, match="must not have more dimensions"):
        layer(x, mask=tf.ones([1, 2, 2], "bool"))
    with pytest.raises(ValueError, match="must be 1 or match"):
        layer(x, mask=tf.ones([2, 3], "bool"))


@pytest.mark.parametrize(
    "make",
    [
        lambda **kwargs: keras.layers.MultiHeadAttention(2, 4, **kwargs),
        lambda **kwargs: keras.layers.GroupQueryAttention(4, 2, 1, **kwargs),
    ],
)
def test_attention_to_nothing(make):
    """Queries that may attend to nothing: equal weights where only sums are asked for, none where weights are."""
    x = np.random.default_rng(0).normal(size=(1, 3, 8)).astype("float32")
    mask = np.array([[[False] * 3, [True, False, False], [True] * 3]])
    layer = make()
    _, weights = layer(x, x, attention_mask=mask, return_attention_scores=True)
    assert not weights.numpy()[0, :, 0].any()
    sums = layer(x, x, attention_mask=mask).numpy()
    everything = layer(np.zeros_like(x), x).numpy()[0, 0]  # whose scores are equal
    np.testing.assert_allclose(sums[0, 0], everything, rtol=1e-4, atol=1e-5)
    assert make(dtype="float16")(x.astype("float64"), x).dtype == tf.float16


def test_flash_attention_is_refused():
    assert keras.config.is_flash_attention_enabled() is None
    keras.config.disable_flash_attention()
    assert keras.config.is_flash_attention_enabled() is False
    keras.config.enable_flash_attention()
    x = np.ones([1, 2, 4], "float32")
    with pytest.raises(ValueError, match="Dropout is not supported when flash attention"):
        keras.layers.MultiHeadAttention(1, 4, dropout=0.1, flash_attention=True)
    layer = keras.layers.MultiHeadAttention(1, 4, flash_attention=True)
    with pytest.raises(ValueError, match="Flash attention is not supported"):
        layer(x, x)
    with pytest.raises(ValueError, match="scores is not supported when flash"):
        layer(x, x, return_attention_scores=True)


def test_configs_hold_the_arguments():
    class Scaled(keras.layers.Layer):
        def __init__(self, factor, offset=1.5, **kwargs):
            super().__init__(**kwargs)
            self.factor, self.offset = factor, offset

        def call(self, x):
            return x * self.factor + self.offset

    config = Scaled(3, name="scaled", activity_regularizer="l2").get_config()
    assert (config["factor"], config["offset"], config["name"]) == (3, 1.5, "scaled")
    again = Scaled.from_config(config)
    assert (again.factor, again.offset, again.name) == (3, 1.5, "scaled")
    assert again.activity_regularizer is not None
    with pytest.raises(NotImplementedError, match="must override `get_config"):
        Scaled(object()).get_config()


def test_shapes_are_those_that_the_program_says():
    class Said(keras.layers.Layer):
        def call(self, x):
            raise RuntimeError("not called")

        def compute_output_shape(self, input_shape):
            assert isinstance(input_shape, tuple)
            return {"a": (*input_shape, 5), "b": [input_shape, (input_shape[0], 7)]}

    made = Said()(keras.Input([3]))
    assert [tuple(x.shape) for x in (made["a"], *made["b"])] == [(None, 3, 5), (None, 3), (None, 7)]

    class Two(keras.layers.Layer):
        def call(self, first, second):
            return first

        def compute_output_shape(self, first_shape, second_shape):
            return (first_shape[0], second_shape[-1])

    assert tuple(Two()(keras.Input([3]), keras.Input([4])).shape) == (None, 4)


def test_weights_say_whether_they_are_trained():
    layer = keras.layers.BatchNormalization()
    layer.build([None, 2])
    layer.trainable = False
    assert not any(weight.trainable for weight in layer.weights)
    layer.trainable = True
    assert [weight.trainable for weight in layer.weights] == [True, True, False, False]
    layer.gamma.trainable = False
    assert [weight.name for weight in layer.trainable_weights] == ["beta"]
    with pytest.raises(ValueError, match="to be a boolean"):
        keras.layers.Dense(2, trainable=1)


def test_weights_by_shape_first():
    class Shaped(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.w = self.add_weight((2, 3), "ones", "float16")

    weight = Shaped().w
    assert (tuple(weight.shape), weight.dtype, weight.numpy().all()) == ((2, 3), "float16", True)


def test_layers_in_layers():
    inner = keras.Sequential([keras.layers.Dense(1, name="b"), keras.layers.Dense(1, name="c")], name="inner")
    outer = keras.Sequential([keras.layers.Dense(1, name="a"), inner, keras.layers.Dense(1, name="d")], name="outer")
    assert [layer.name for layer in outer._flatten_layers()] == ["outer", "a", "inner", "c", "b", "d"]
    assert [layer.name for layer in outer._flatten_layers(include_self=False, recursive=False)] == ["a", "inner", "d"]


def test_penalties_of_outputs():
    layer = keras.layers.Activation("linear", activity_regularizer=keras.regularizers.L2(0.5))
    layer(keras.Input([2]))
    assert not layer.losses
    layer(np.full([4, 2], 3.0, "float32"))
    assert [float(loss) for loss in layer.losses] == [9.0]
    layer(np.ones([0, 2], "float32"))
    assert [float(loss) for loss in layer.losses] == [0.0]


def test_symbolic_calls_add_no_losses():
    class Adds(keras.layers.Layer):
        def call(self, x):
            self.add_loss(tf.reduce_mean(x))
            self.add_loss([tf.reduce_sum(x)])
            return x

    inputs = keras.Input([2])
    model = keras.Model(inputs, Adds()(inputs))
    assert model.losses == []
    model(np.full([1, 2], 3.0, "float32"))
    assert [float(loss) for loss in model.losses] == [3.0, 6.0]


@pytest.mark.parametrize("name", ["GroupNormalization", "LayerNormalization", "RMSNormalization"])
def test_normalization_in_half_precision(name):
    """Sums of squares, which half precision cannot hold, are those of single precision."""
    arguments = {"groups": 2} if name == "GroupNormalization" else {}
    x = np.random.default_rng(0).normal(2000.0, 300.0, size=(2, 3, 8)).astype("float32")
    exact, half = (getattr(keras.layers, name)(dtype=dtype, **arguments) for dtype in ("float32", "mixed_float16"))
    assert half(x).dtype == tf.float16
    np.testing.assert_allclose(half(x).numpy(), exact(x).numpy(), atol=4e-3)
    assert half(keras.Input([3, 8])).dtype == "float16"
    if name != "RMSNormalization":
        np.testing.assert_allclose(half(x * 100).numpy(), exact(x * 100).numpy(), atol=4e-3)


def test_noise_of_a_shape_with_gaps():
    layer = keras.layers.AlphaDropout(0.5, noise_shape=(None, 1, None))
    x = tf.ones([20, 5, 10])
    traced = tf.function(lambda x: layer(x, training=True), input_signature=[tf.TensorSpec([None, 5, 10])])
    for y in (layer(x, training=True), traced(x)):
        assert (y.numpy() == y.numpy()[:, :1]).all()


def test_batches_may_have_another_size_than_the_declared_one():
    inputs = keras.Input([2], batch_size=3, name="data")
    model = keras.Model(inputs, keras.layers.Dense(1)(inputs), name="net")
    assert model(np.ones([2, 2], "float32")).shape == (2, 1)
    assert model.predict(np.ones([5, 2]), verbose=0).shape == (5, 1)
    message = r"Input 0 with name 'data' of layer 'net' is incompatible with the layer: expected shape=\(None, 2\)"
    with pytest.raises(ValueError, match=message):
        model(np.ones([2, 3], "float32"))


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool"])
@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: keras.layers.EinsumDense("ab,bc->ac", 4), (2, 3)),
        (lambda: keras.layers.LSTM(2), (2, 3, 2)),
        (lambda: keras.layers.GRU(2, return_sequences=True), (2, 3, 2)),
        (lambda: keras.layers.SimpleRNN(2, dropout=0.1), (2, 3, 2)),
        (lambda: keras.layers.Bidirectional(keras.layers.LSTM(2)), (2, 3, 2)),
        (lambda: keras.layers.GlobalAveragePooling1D(), (2, 4, 3)),
        (lambda: keras.layers.GlobalAveragePooling2D(), (2, 4, 3, 2)),
    ],
)
def test_integers_become_floats(make, shape, dtype):
    x = np.random.default_rng(0).integers(0, 2, size=shape).astype(dtype)
    layer = make()
    y = layer(x)
    assert y.dtype == tf.float32
    np.testing.assert_allclose(y, layer(x.astype("float32")), rtol=1e-5, atol=1e-6)


def test_integers_become_floats_of_weights():
    x = np.ones((2, 3, 2), "int32")
    assert keras.layers.MultiHeadAttention(1, 2)(x, x).dtype == tf.float32
    assert keras.layers.AdditiveAttention()([x, x]).dtype == tf.float32
    layer = keras.layers.ActivityRegularization(l1=0.5)
    assert layer(x).dtype == tf.int32
    assert [float(loss) for loss in layer.losses] == [3.0]


class Stacked(tf.keras.layers.Layer):
    """Two layers, which nothing but its call builds; it says what shape it gives."""

    def __init__(self, fails=False, **kwargs):
        super().__init__(**kwargs)
        self.first, self.second, self.fails = tf.keras.layers.Dense(3), tf.keras.layers.Dense(2), fails

    def call(self, inputs):
        if self.fails:
            raise RuntimeError("it cannot be traced")
        return self.second(self.first(inputs))

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 2)


def test_layers_in_a_layer_that_says_its_shape_are_built():
    inputs = tf.keras.Input([4])
    model = tf.keras.Model(inputs, Stacked()(inputs))
    assert [weight.shape for weight in model.weights] == [(4, 3), (3,), (3, 2), (2,)]
    model.set_weights([np.ones(weight.shape) for weight in model.weights])
    assert model(tf.ones([1, 4])).numpy().tolist() == [[16.0, 16.0]]
    with pytest.warns(UserWarning, match="it cannot be traced. Give it a `build`"):
        assert Stacked(fails=True)(inputs).shape == (None, 2)


def test_other_values_are_given_by_position():
    """Keras 3 refuses them; programs of Keras 2 give `training` so."""

    class Encoder(tf.keras.layers.Layer):
        def call(self, inputs, training=None, scale=1.0):
            return inputs * scale if training else inputs

    encoder = Encoder()
    assert encoder(tf.ones([2]), True, 3.0).numpy().tolist() == [3.0, 3.0]
    assert encoder(tf.keras.Input([2]), False).shape == (None, 2)
