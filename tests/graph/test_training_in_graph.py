"""Optimizers, losses, metrics and layers in functions: the same steps as eagerly, also with an unknown batch size."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.graph

v1 = tf.compat.v1
keras = tf.keras


def function(python_function, specs=None):
    return tf.function(python_function, autograph=False, input_signature=specs)


OPTIMIZERS = {
    "v1 GradientDescent": lambda: v1.train.GradientDescentOptimizer(0.1),
    "v1 rate from a function": lambda: v1.train.GradientDescentOptimizer(lambda: 0.1),
    "v1 Momentum": lambda: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "v1 Adam": lambda: v1.train.AdamOptimizer(0.1),
    "v1 Adagrad": lambda: v1.train.AdagradOptimizer(0.1),
    "v1 Adadelta": lambda: v1.train.AdadeltaOptimizer(0.1),
    "v1 RMSProp": lambda: v1.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
    "v1 Ftrl": lambda: v1.train.FtrlOptimizer(0.1),
    "v1 ProximalGradientDescent": lambda: v1.train.ProximalGradientDescentOptimizer(0.1),
    "v1 ProximalAdagrad": lambda: v1.train.ProximalAdagradOptimizer(0.1),
    "SGD": lambda: keras.optimizers.SGD(0.1),
    "SGD momentum": lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "SGD clipnorm": lambda: keras.optimizers.SGD(0.1, clipnorm=0.1),
    "SGD clipvalue": lambda: keras.optimizers.SGD(0.1, clipvalue=0.1),
    "SGD global_clipnorm": lambda: keras.optimizers.SGD(0.1, global_clipnorm=0.1),
    "SGD decay": lambda: keras.optimizers.SGD(0.1, decay=0.5),
    "SGD rate as a variable": lambda: keras.optimizers.SGD(tf.Variable(0.1)),
    "Adam": lambda: keras.optimizers.Adam(0.1),
    "Adam amsgrad": lambda: keras.optimizers.Adam(0.1, amsgrad=True),
    "Adamax": lambda: keras.optimizers.Adamax(0.1),
    "Nadam": lambda: keras.optimizers.Nadam(0.1),
    "RMSprop": lambda: keras.optimizers.RMSprop(0.1),
    "RMSprop centered": lambda: keras.optimizers.RMSprop(0.1, centered=True, momentum=0.3),
    "Adagrad": lambda: keras.optimizers.Adagrad(0.1),
    "Adadelta": lambda: keras.optimizers.Adadelta(0.1),
    "Ftrl": lambda: keras.optimizers.Ftrl(0.1),
}
schedules = keras.optimizers.schedules
SCHEDULES = {
    "ExponentialDecay": lambda: schedules.ExponentialDecay(0.1, 2, 0.5, staircase=True),
    "InverseTimeDecay": lambda: schedules.InverseTimeDecay(0.1, 2, 0.5),
    "PolynomialDecay": lambda: schedules.PolynomialDecay(0.1, 3, cycle=True),
    "CosineDecay": lambda: schedules.CosineDecay(0.1, 3),
    "CosineDecayRestarts": lambda: schedules.CosineDecayRestarts(0.1, 2),
    "PiecewiseConstantDecay": lambda: schedules.PiecewiseConstantDecay([1, 2], [0.1, 0.2, 0.3]),
}
OPTIMIZERS |= {
    f"Adam {name}": lambda make=make: keras.optimizers.Adam(make())
    for name, make in SCHEDULES.items()
}


def step(optimizer, w, e, x, ids):
    """One step of a loss with a dense and a sparse gradient."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(x @ w) ** 2) + tf.reduce_sum(tf.gather(e, ids) ** 2)
    grads = tape.gradient(loss, [w, e])
    optimizer.apply_gradients(zip(grads, [w, e], strict=True))
    return loss


def described(variable):
    """The name within the optimizer, without its number; the shape; the number; the variable."""
    name, number = re.fullmatch(r"(.*?)(?:_(\d+))?(?::0)?", variable.name.partition("/")[2] or variable.name).groups()
    return name, tuple(variable.shape), int(number or 0), variable


@pytest.mark.parametrize("label", OPTIMIZERS)
def test_optimizers_step_as_eagerly(label, rng):
    w0, e0 = rng.normal(size=(3, 2)).astype(np.float32), rng.normal(size=(4, 2)).astype(np.float32)
    xs = [rng.normal(size=(n, 3)).astype(np.float32) for n in (2, 5, 3)]
    ids = [np.array(i, np.int32) for i in ([1, 1, 3], [0, 2, 2], [3, 3, 3])]
    eager = OPTIMIZERS[label](), tf.Variable(w0), tf.Variable(e0)
    want = [
        float(step(*eager, tf.constant(x), tf.constant(i))) for x, i in zip(xs, ids, strict=True)
    ]
    staged = OPTIMIZERS[label](), tf.Variable(w0), tf.Variable(e0)
    specs = [tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([None], tf.int32)]
    f = function(lambda x, i: step(*staged, x, i), specs)
    got = [float(f(tf.constant(x), tf.constant(i))) for x, i in zip(xs, ids, strict=True)]
    np.testing.assert_allclose(got, want, rtol=1e-5)
    for a, b in zip(staged[1:], eager[1:], strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
    ours, theirs = staged[0].variables(), eager[0].variables()
    # Names begin with the optimizer's, which counts as every name does; those of slots of 1.x count, too.
    ours, theirs = (sorted(map(described, each), key=lambda entry: entry[:3]) for each in (ours, theirs))
    assert [entry[:2] for entry in ours] == [entry[:2] for entry in theirs]
    ours, theirs = ([entry[3] for entry in each] for each in (ours, theirs))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


DECAYS = {
    "exponential": lambda s: v1.train.exponential_decay(0.1, s, 2, 0.5, staircase=True),
    "natural": lambda s: v1.train.natural_exp_decay(0.1, s, 2, 0.5),
    "inverse": lambda s: v1.train.inverse_time_decay(0.1, s, 2, 0.5),
    "polynomial": lambda s: v1.train.polynomial_decay(0.1, s, 2, power=2.0, cycle=True),
    "piecewise": lambda s: v1.train.piecewise_constant(s, [1, 2], [0.1, 0.2, 0.3]),
    "cosine": lambda s: v1.train.cosine_decay(0.1, s, 3),
    "restarts": lambda s: v1.train.cosine_decay_restarts(0.1, s, 3),
    "linear cosine": lambda s: v1.train.linear_cosine_decay(0.1, s, 3),
}


@pytest.mark.parametrize("label", DECAYS)
def test_decays(label):
    f = function(DECAYS[label])
    for i in range(5):
        s = tf.constant(i)
        np.testing.assert_allclose(f(s), DECAYS[label](s)(), rtol=1e-6)


def test_moving_average():
    results = []
    for wrap in (lambda g: g, function):
        average, v = v1.train.ExponentialMovingAverage(0.5), tf.Variable(1.0)
        update = wrap(lambda average=average, v=v: average.apply([v]))
        for x in (1.0, 3.0, 5.0):
            v.assign(x)
            update()
        results.append(float(average.average(v)))
    assert results[0] == results[1]


CLASSES = 3
LOSSES = {
    "mse": keras.losses.MeanSquaredError,
    "mae": keras.losses.MeanAbsoluteError,
    "mape": keras.losses.MeanAbsolutePercentageError,
    "msle": keras.losses.MeanSquaredLogarithmicError,
    "categorical": keras.losses.CategoricalCrossentropy,
    "categorical, logits": lambda: keras.losses.CategoricalCrossentropy(True, label_smoothing=0.1),
    "sparse": keras.losses.SparseCategoricalCrossentropy,
    "sparse, logits": lambda: keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    "binary": keras.losses.BinaryCrossentropy,
    "binary, logits": lambda: keras.losses.BinaryCrossentropy(True, label_smoothing=0.1),
    "hinge": keras.losses.Hinge,
    "squared hinge": keras.losses.SquaredHinge,
    "categorical hinge": keras.losses.CategoricalHinge,
    "logcosh": keras.losses.LogCosh,
    "poisson": keras.losses.Poisson,
    "kld": keras.losses.KLDivergence,
    "huber": keras.losses.Huber,
    "cosine": keras.losses.CosineSimilarity,
    "none": lambda: keras.losses.MeanSquaredError(reduction="none"),
    "sum": lambda: keras.losses.MeanSquaredError(reduction="sum"),
}
SHAPES = {"known": [4, CLASSES], "batch": [None, CLASSES], "rank": [None, None], "unknown": None}


def example(label, rng):
    pred = rng.random((4, CLASSES)).astype(np.float32) * 0.8 + 0.1
    if "sparse" in label.lower():
        return np.array([0, 2, 1, 1], np.int32), pred
    return np.eye(CLASSES, dtype=np.float32)[[0, 2, 1, 1]], pred


def specs_of(true, pred, shapes):
    shape = SHAPES[shapes]
    of_true = shape if shape is None else shape[: true.ndim]
    return [tf.TensorSpec(of_true, tf.as_dtype(true.dtype)), tf.TensorSpec(shape, tf.float32)]


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("label", LOSSES)
def test_losses(label, weighted, shapes, rng):
    true, pred = example(label, rng)
    loss = LOSSES[label]()
    weights = tf.constant([1.0, 2.0, 0.5, 0.0]) if weighted else None

    def value(t, p):
        with tf.GradientTape() as tape:
            tape.watch(p)
            y = loss(t, p, weights)
        return y, tape.gradient(y, p)

    given = tf.constant(true), tf.constant(pred)
    want = value(*given)
    got = function(value, specs_of(true, pred, shapes))(*given)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


METRICS = {
    "mean": keras.metrics.Mean,
    "sum": keras.metrics.Sum,
    "accuracy": keras.metrics.Accuracy,
    "binary accuracy": keras.metrics.BinaryAccuracy,
    "categorical accuracy": keras.metrics.CategoricalAccuracy,
    "sparse accuracy": keras.metrics.SparseCategoricalAccuracy,
    "top k": lambda: keras.metrics.TopKCategoricalAccuracy(2),
    "sparse top k": lambda: keras.metrics.SparseTopKCategoricalAccuracy(2),
    "mse": keras.metrics.MeanSquaredError,
    "rmse": keras.metrics.RootMeanSquaredError,
    "precision": keras.metrics.Precision,
    "recall": keras.metrics.Recall,
    "true positives": keras.metrics.TruePositives,
    "false negatives": keras.metrics.FalseNegatives,
    "binary crossentropy": keras.metrics.BinaryCrossentropy,
    "categorical crossentropy": keras.metrics.CategoricalCrossentropy,
    "sparse crossentropy": keras.metrics.SparseCategoricalCrossentropy,
    "hinge": keras.metrics.Hinge,
    "cosine": keras.metrics.CosineSimilarity,
    "logcosh": keras.metrics.LogCoshError,
}


@pytest.mark.parametrize("shapes", ["known", "batch", "unknown"])
@pytest.mark.parametrize("label", METRICS)
def test_metrics(label, shapes, rng):
    true, pred = example(label, rng)
    one = label in ("mean", "sum")
    eager, staged = METRICS[label](), METRICS[label]()

    def update(metric, t, p):
        if one:
            metric.update_state(p)
        else:
            metric.update_state(t, p)
        return metric.result()

    specs = specs_of(true, pred, shapes)
    f = function(lambda t, p: update(staged, t, p), specs)
    given = tf.constant(true), tf.constant(pred)
    for _ in range(2):
        np.testing.assert_allclose(f(*given), update(eager, *given), rtol=1e-5, atol=1e-6)
    staged.reset_state()
    eager.reset_state()
    np.testing.assert_allclose(f(*given), update(eager, *given), rtol=1e-5, atol=1e-6)


BATCHES = {
    "Dense": (lambda k: k.Dense(4, activation="relu"), (5, 3)),
    "Dense on sequences": (lambda k: k.Dense(4), (5, 2, 3)),
    "Conv1D": (lambda k: k.Conv1D(4, 3, padding="causal"), (2, 6, 3)),
    "Conv2D": (lambda k: k.Conv2D(4, 3, strides=2, padding="same"), (2, 6, 6, 3)),
    "Conv2D, groups": (lambda k: k.Conv2D(4, 3, dilation_rate=2), (2, 6, 6, 3)),
    "Conv3D": (lambda k: k.Conv3D(2, 2), (1, 3, 3, 3, 2)),
    "Conv2DTranspose": (lambda k: k.Conv2DTranspose(4, 3, strides=2), (2, 3, 3, 3)),
    "Conv1DTranspose": (lambda k: k.Conv1DTranspose(4, 3, strides=2), (2, 3, 3)),
    "DepthwiseConv2D": (lambda k: k.DepthwiseConv2D(3), (2, 6, 6, 3)),
    "SeparableConv2D": (lambda k: k.SeparableConv2D(4, 3), (2, 6, 6, 3)),
    "MaxPooling2D": (lambda k: k.MaxPooling2D(), (2, 6, 6, 3)),
    "AveragePooling2D": (lambda k: k.AveragePooling2D(padding="same"), (2, 5, 5, 3)),
    "MaxPooling1D": (lambda k: k.MaxPooling1D(), (2, 6, 3)),
    "MaxPooling3D": (lambda k: k.MaxPooling3D(), (2, 4, 4, 4, 2)),
    "GlobalAveragePooling2D": (lambda k: k.GlobalAveragePooling2D(), (2, 6, 6, 3)),
    "GlobalMaxPooling1D": (lambda k: k.GlobalMaxPooling1D(), (2, 6, 3)),
    "BatchNormalization": (lambda k: k.BatchNormalization(), (4, 3)),
    "BatchNormalization of images": (lambda k: k.BatchNormalization(), (2, 4, 4, 3)),
    "LayerNormalization": (lambda k: k.LayerNormalization(), (4, 3)),
    "LayerNormalization, axes": (lambda k: k.LayerNormalization(axis=[1, 2]), (4, 3, 2)),
    "GroupNormalization": (lambda k: k.GroupNormalization(2), (2, 4, 4, 4)),
    "UnitNormalization": (lambda k: k.UnitNormalization(), (4, 3)),
    "RMSNormalization": (lambda k: k.RMSNormalization(), (4, 3)),
    "Dropout at rest": (lambda k: k.Dropout(0.5), (4, 3)),
    "GaussianNoise at rest": (lambda k: k.GaussianNoise(0.5), (4, 3)),
    "SpatialDropout1D at rest": (lambda k: k.SpatialDropout1D(0.5), (4, 3, 2)),
    "Flatten": (lambda k: k.Flatten(), (2, 3, 4)),
    "Reshape": (lambda k: k.Reshape((4, -1)), (2, 3, 4)),
    "Permute": (lambda k: k.Permute((2, 1)), (2, 3, 4)),
    "RepeatVector": (lambda k: k.RepeatVector(3), (2, 4)),
    "Cropping2D": (lambda k: k.Cropping2D(1), (2, 4, 4, 3)),
    "ZeroPadding2D": (lambda k: k.ZeroPadding2D(1), (2, 4, 4, 3)),
    "UpSampling1D": (lambda k: k.UpSampling1D(2), (2, 4, 3)),
    "UpSampling2D": (lambda k: k.UpSampling2D(2), (2, 4, 4, 3)),
    "Activation": (lambda k: k.Activation("softmax"), (2, 4)),
    "Softmax": (lambda k: k.Softmax(axis=1), (2, 4, 3)),
    "LeakyReLU": (lambda k: k.LeakyReLU(0.1), (2, 4)),
    "PReLU": (lambda k: k.PReLU(), (2, 4)),
    "ELU": (lambda k: k.ELU(), (2, 4)),
    "ReLU": (lambda k: k.ReLU(6.0, 0.1, 0.2), (2, 4)),
    "ThresholdedReLU": (lambda k: k.ThresholdedReLU(0.3), (2, 4)),
    "Masking": (lambda k: k.Masking(), (2, 4, 3)),
    "EinsumDense": (lambda k: k.EinsumDense("abc,cd->abd", output_shape=(None, 5)), (2, 4, 3)),
    "Lambda": (lambda k: k.Lambda(lambda x: tf.reduce_sum(x, -1)), (2, 4, 3)),
    "TimeDistributed": (lambda k: k.TimeDistributed(k.Dense(2)), (2, 4, 3)),
    "SimpleRNN": (lambda k: k.SimpleRNN(4), (2, 5, 3)),
    "LSTM": (lambda k: k.LSTM(4, return_sequences=True), (2, 5, 3)),
    "GRU": (lambda k: k.GRU(4), (2, 5, 3)),
    "LSTM, backwards": (lambda k: k.LSTM(4, go_backwards=True), (2, 5, 3)),
    "Bidirectional": (lambda k: k.Bidirectional(k.LSTM(3)), (2, 5, 3)),
    "Add": (lambda k: lambda x: k.Add()([x, x]), (2, 3)),
    "Multiply": (lambda k: lambda x: k.Multiply()([x, x]), (2, 3)),
    "Concatenate": (lambda k: lambda x: k.Concatenate()([x, x]), (2, 3)),
    "Dot": (lambda k: lambda x: k.Dot(axes=1)([x, x]), (2, 3)),
    "Dot of sequences": (lambda k: lambda x: k.Dot(axes=(1, 1), normalize=True)([x, x]), (2, 4, 3)),
    "Attention": (lambda k: lambda x: k.Attention()([x, x]), (2, 4, 3)),
    "AdditiveAttention": (lambda k: k.AdditiveAttention(), (2, 4, 3)),
    "MultiHeadAttention": (lambda k: k.MultiHeadAttention(2, 2), (2, 4, 3)),
}
PAIRED = {
    "AdditiveAttention": lambda layer: lambda x: layer([x, x]),
    "MultiHeadAttention": lambda layer: lambda x: layer(x, x),
}


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("label", BATCHES)
def test_layers(label, training, rng):
    make, shape = BATCHES[label]
    x = tf.constant(rng.normal(size=shape).astype(np.float32))
    layer = make(keras.layers)
    whole = PAIRED[label](layer) if label in PAIRED else layer
    rest = training and "Dropout" not in label and "Noise" not in label
    kwargs = {"training": rest} if isinstance(whole, keras.layers.Layer) and _trains(label) else {}
    whole(x)
    before = [w.numpy() for w in getattr(layer, "weights", [])]

    def value(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = whole(x, **kwargs)
        return y, tape.gradient(y, x)

    want = value(x)
    after = [w.numpy() for w in getattr(layer, "weights", [])]
    for batch in ([None, *shape[1:]], [None] * len(shape)):
        for w, old in zip(getattr(layer, "weights", []), before, strict=True):
            w.assign(old)
        try:
            got = function(value, [tf.TensorSpec(batch, tf.float32)])(x)
        except ValueError:
            # A layer may need the sizes that it was built for.
            assert batch == [None] * len(shape)
            continue
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
        for w, new in zip(getattr(layer, "weights", []), after, strict=True):
            np.testing.assert_allclose(w, new, rtol=1e-4, atol=1e-5)


def _trains(label):
    return "Normalization" in label or "Dropout" in label or "Noise" in label


def test_embedding(rng):
    layer = keras.layers.Embedding(5, 3)
    ids = tf.constant([[1, 2], [4, 4]])
    want = layer(ids)
    for shape in ([None, 2], [None, None], None):
        got = function(layer, [tf.TensorSpec(shape, tf.int32)])(ids)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", ["Dropout", "AlphaDropout", "GaussianDropout", "GaussianNoise"])
def test_training_may_be_a_tensor(name):
    layer = getattr(keras.layers, name)(0.5)
    f = function(lambda x, t: layer(x, training=t),
                 [tf.TensorSpec([None, 50], tf.float32), tf.TensorSpec([], tf.bool)])  # fmt: skip
    x = tf.ones([4, 50])
    np.testing.assert_array_equal(f(x, tf.constant(False)), x)
    assert not np.array_equal(f(x, tf.constant(True)), x)


def test_batch_normalization_with_a_tensor_for_training(rng):
    layer = keras.layers.BatchNormalization()
    x = tf.constant(rng.normal(size=(8, 3)).astype(np.float32))
    layer(x)
    f = function(lambda x, t: layer(x, training=t),
                 [tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([], tf.bool)])  # fmt: skip
    np.testing.assert_allclose(f(x, tf.constant(False)), layer(x), rtol=1e-5, atol=1e-6)
    mean = layer.moving_mean.numpy()
    trained = f(x, tf.constant(True))
    assert not np.allclose(layer.moving_mean, mean)
    np.testing.assert_allclose(np.mean(trained, 0), np.zeros(3), atol=1e-5)


def test_layers_are_built_on_the_first_call_of_a_function(rng):
    layer = keras.layers.Dense(2)
    x = tf.constant(rng.normal(size=(4, 3)).astype(np.float32))
    f = function(layer)
    y = f(x)
    assert [w.shape for w in layer.weights] == [[3, 2], [2]]
    np.testing.assert_allclose(y, layer(x), rtol=1e-6)
