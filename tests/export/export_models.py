"""Models of several kinds, as concrete functions with the arguments to call them with."""

import numpy as np

import tapeflow as tf

RNG = np.random.default_rng


def _keras(model, *arguments):
    specs = [tf.TensorSpec([None, *x.shape[1:]], x.dtype, f"x{i}") for i, x in enumerate(arguments)]
    model(*arguments)
    rng = RNG(7)
    for w in model.weights:
        if w.dtype == tf.float32:  # statistics and biases that change results
            w.assign(w + rng.uniform(0.01, 0.2, w.shape).astype(np.float32))
    function = tf.function(lambda *x: model(*x, training=False))
    return function.get_concrete_function(*specs), list(arguments)


def cnn():
    """Convolutions of all kinds, batch normalization, pooling."""
    L = tf.keras.layers
    model = tf.keras.Sequential([
        L.Input((12, 12, 3)),
        L.Conv2D(8, 3, padding="same", use_bias=False), L.BatchNormalization(), L.ReLU(),
        L.DepthwiseConv2D(3, strides=2, padding="same"), L.BatchNormalization(), L.ReLU(6.0),
        L.MaxPooling2D(), L.Conv2DTranspose(4, 3, strides=2, padding="same", activation="tanh"),
        L.GlobalAveragePooling2D(), L.Dense(5, activation="softmax"),
    ])  # fmt: skip
    return _keras(model, RNG(1).normal(size=(2, 12, 12, 3)).astype(np.float32))


def _sequence(layer):
    model = tf.keras.Sequential([
        tf.keras.layers.Input((6,), dtype="int32"),
        tf.keras.layers.Embedding(10, 4, mask_zero=True), layer, tf.keras.layers.Dense(3),
    ])  # fmt: skip
    return _keras(model, np.int32([[1, 2, 3, 0, 0, 0], [4, 5, 6, 7, 8, 9]]))


def masked_lstm():
    """An LSTM over sequences of different lengths."""
    return _sequence(tf.keras.layers.LSTM(5))


def masked_gru():
    """A bidirectional GRU over sequences of different lengths."""
    return _sequence(tf.keras.layers.Bidirectional(tf.keras.layers.GRU(5, return_sequences=True)))


def transformer():
    """One block of attention, layer normalization and dense layers."""
    L = tf.keras.layers
    x = given = L.Input((6, 8))
    x = L.LayerNormalization()(x + L.MultiHeadAttention(2, 4)(x, x))
    x = L.LayerNormalization()(x + L.Dense(8)(L.Dense(16, activation="gelu")(x)))
    model = tf.keras.Model(given, L.Dense(3)(x))
    return _keras(model, RNG(2).normal(size=(2, 6, 8)).astype(np.float32))


class Words(tf.Module):
    """The mean of the embeddings of words, which a table finds."""

    def __init__(self):
        super().__init__()
        keys = tf.constant(["a", "cat", "sat"])
        init = tf.lookup.KeyValueTensorInitializer(keys, tf.constant([1, 2, 3], tf.int64))
        self.table = tf.lookup.StaticHashTable(init, 0)
        self.rows = tf.Variable(RNG(3).normal(size=(4, 5)).astype(np.float32))

    @tf.function
    def __call__(self, words):
        return tf.reduce_mean(tf.gather(self.rows, self.table.lookup(words)), 1)


WORDS = Words()  # a method of an object that is gone cannot be called


def text():
    """A vocabulary, and embeddings."""
    function = WORDS.__call__.get_concrete_function(tf.TensorSpec([None, 3], tf.string, "words"))
    return function, [np.array([["a", "cat", "sat"], ["the", "cat", "a"]], object)]


class Vocabulary(tf.Module):
    """Words of a Keras layer's vocabulary, embedded and averaged."""

    def __init__(self):
        super().__init__()
        L = tf.keras.layers
        self.model = tf.keras.Sequential([
            L.Input((3,), dtype="string"), L.StringLookup(vocabulary=["a", "cat", "sat"]),
            L.Embedding(4, 5, embeddings_initializer=tf.constant_initializer(RNG(8).normal(size=(4, 5)))),
            L.GlobalAveragePooling1D(), L.Dense(2, kernel_initializer=tf.constant_initializer(np.eye(5, 2))),
        ])  # fmt: skip

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.string, "words")])
    def __call__(self, words):
        return self.model(words)


VOCABULARY = Vocabulary()


def vocabulary():
    """Keras' StringLookup before an embedding."""
    return VOCABULARY.__call__.get_concrete_function(), [np.array([["a", "cat", "sat"], ["the", "cat", "a"]], object)]


def ragged():
    """Sums of embeddings over rows of different lengths."""
    rows = tf.Variable(RNG(4).normal(size=(6, 3)).astype(np.float32))

    @tf.function
    def f(values, splits):
        x = tf.RaggedTensor.from_row_splits(values, splits, validate=False)
        return tf.reduce_sum(tf.gather(rows, x), axis=1)

    specs = tf.TensorSpec([None], tf.int32, "values"), tf.TensorSpec([None], tf.int64, "splits")
    return f.get_concrete_function(*specs), [np.int32([1, 2, 5, 0]), np.int64([0, 3, 3, 4])]


class Several(tf.Module):
    """A loop with a branch in it, functions that call functions, and several signatures."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable(RNG(5).normal(size=(4, 4)).astype(np.float32) / 2)

    @tf.function
    def step(self, x):
        return tf.tanh(x @ self.w)

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, "x")])
    def loop(self, x):
        for i in tf.range(4):
            if tf.reduce_sum(x) > 0.0:
                x = self.step(x) - tf.cast(i, tf.float32)
            else:
                x = x + self.w[0]
        return {"state": x, "total": tf.reduce_sum(x, 1)}

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, "x")])
    def once(self, x):
        return {"y": self.step(self.step(x))}


SEVERAL = Several()


def module():
    """A loop of a `tf.Module`."""
    return SEVERAL.loop.get_concrete_function(), [RNG(6).normal(size=(2, 4)).astype(np.float32)]


def signature():
    """The other signature of that module."""
    return SEVERAL.once.get_concrete_function(), [RNG(6).normal(size=(2, 4)).astype(np.float32)]


def graph_1x():
    """A loop over a variable in a function wrapped as programs of 1.x have it."""

    def f(x):
        w = tf.compat.v1.get_variable("w", initializer=np.float32([[0.5, 0.1], [0.2, 0.4]]))
        return tf.compat.v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y @ w + 1.0), [0, x])[1]

    wrapped = tf.compat.v1.wrap_function(f, [tf.TensorSpec([None, 2], tf.float32, "x")])
    return wrapped, [np.float32([[1, 2], [3, -4]])]


MODELS = [cnn, masked_lstm, masked_gru, transformer, text, vocabulary, ragged, module, signature, graph_1x]


def save(make, folder):
    """Writes a model as a SavedModel.

    Returns:
      The arguments, by the names that the signature has for them, and its results, by theirs.
    """
    function, arguments = make()
    held = tf.Module()
    held.function, held.variables_of_it = function, list(function.graph.variables)
    held.of_tables = [WORDS, VOCABULARY]
    tf.saved_model.save(held, str(folder), signatures=function)
    signature = tf.saved_model.load(str(folder)).signatures["serving_default"]
    named = dict(zip([x.op.name for x in function.inputs], arguments))
    results = signature(**{name: tf.constant(x) for name, x in named.items()})
    return named, {name: y.numpy() for name, y in results.items()}
