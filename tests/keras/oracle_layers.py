"""Layers called with the same weights and inputs: what tapeflow and TensorFlow are compared by.

    python oracle_layers.py tf_keras|tapeflow FILE

runs all calls on one of them and saves the results to a file.
"""

import sys

import numpy as np


def calls(layers):
    """(name, function that makes a layer, inputs, keyword arguments of the call), layer by layer."""
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.normal(size=shape).astype(np.float32)

    yield from plain_calls(layers, normal)
    x = normal(3, 5, 4)
    steps = np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1], [1, 1, 1, 0, 0]], bool)
    every = {"return_sequences": True, "return_state": True}
    for name in ("SimpleRNN", "GRU", "LSTM"):
        yield from recurrent_calls(layers, name, getattr(layers, name), x, steps)
    yield (
        "GRU before",
        lambda: layers.GRU(3, reset_after=False, recurrent_activation="hard_sigmoid"),
        [x],
        {},
    )
    yield "LSTM time major", lambda: layers.LSTM(3, time_major=True, **every), [x], {}
    cells = ("LSTMCell", 3), ("GRUCell", 2), ("SimpleRNNCell", 5)
    yield (
        "stacked",
        lambda: layers.RNN([getattr(layers, c)(n, name=c) for c, n in cells], **every),
        [x],
        {"mask": steps},
    )
    yield "time distributed", lambda: layers.TimeDistributed(layers.Dense(3)), [x], {}
    yield (
        "two layers",
        lambda: layers.Bidirectional(
            layers.LSTM(3, name="a"), backward_layer=layers.GRU(3, go_backwards=True, name="b")
        ),
        [x],
        {},
    )
    yield (
        "ConvLSTM2D",
        lambda: layers.ConvLSTM2D(3, (2, 3), return_sequences=True),
        [normal(2, 3, 6, 5, 2)],
        {},
    )
    yield (
        "ConvLSTM2D same",
        lambda: layers.ConvLSTM2D(3, 3, padding="same", return_state=True, unit_forget_bias=False),
        [normal(2, 3, 6, 5, 2)],
        {},
    )
    yield "ConvLSTM1D", lambda: layers.ConvLSTM1D(3, 3, strides=2), [normal(2, 3, 6, 2)], {}

    q, v, k = normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 4)
    query_mask = np.array([[1, 1, 0], [1, 0, 1]], bool)
    masks = {"mask": [query_mask, np.array([[1, 1, 0, 1, 0], [1, 0, 1, 1, 1]], bool)]}
    scores = {"return_attention_scores": True}
    yield "Attention", layers.Attention, [[q, v]], {}
    yield (
        "Attention concat",
        lambda: layers.Attention(use_scale=True, score_mode="concat"),
        [[q, v, k]],
        masks,
    )
    yield "Attention causal", layers.Attention, [[q, v]], {"use_causal_mask": True, **scores}
    yield "AdditiveAttention", layers.AdditiveAttention, [[q, v, k]], masks
    mha = layers.MultiHeadAttention
    image = normal(2, 3, 4, 5)
    yield "MultiHead", lambda: mha(2, 3), [q, v], {}
    yield (
        "MultiHead sizes",
        lambda: mha(2, 3, value_dim=4, output_shape=5, use_bias=False),
        [q, v, k],
        {"attention_mask": rng.random((2, 3, 5)) > 0.5, **scores},
    )
    yield "MultiHead causal", lambda: mha(2, 3), [q, q], {"use_causal_mask": True}
    yield "MultiHead two axes", lambda: mha(2, 3, attention_axes=(1, 2)), [image, image], {}
    yield "MultiHead one axis", lambda: mha(2, 3, attention_axes=2), [image, image], {}
    dense = layers.EinsumDense
    yield (
        "EinsumDense",
        lambda: dense("abc,cd->abd", (None, 6), bias_axes="d", activation="tanh"),
        [q],
        {},
    )
    yield "EinsumDense ...", lambda: dense("...x,xy->...y", 6, bias_axes="y"), [q], {}
    yield "EinsumDense after", lambda: dense("ab...,bcd->acd...", (6, 2), bias_axes="cd"), [q], {}
    yield "GroupNormalization", lambda: layers.GroupNormalization(2), [q], {}
    yield "Group of each", lambda: layers.GroupNormalization(-1, axis=1), [image], {}
    yield "UnitNormalization", layers.UnitNormalization, [q], {}
    yield "Spectral", lambda: layers.SpectralNormalization(layers.Dense(3)), [q[:, 0]], {}
    volume = normal(2, 3, 4, 5, 2)
    yield (
        "Conv3DTranspose",
        lambda: layers.Conv3DTranspose(3, (2, 3, 2), strides=2, padding="same"),
        [volume],
        {},
    )
    yield "DepthwiseConv1D", lambda: layers.DepthwiseConv1D(2, depth_multiplier=2), [q], {}
    yield "ZeroPadding3D", lambda: layers.ZeroPadding3D(((1, 2), (0, 1), (2, 1))), [volume], {}
    yield "Cropping3D", lambda: layers.Cropping3D(1), [volume], {}
    yield "UpSampling3D", lambda: layers.UpSampling3D((1, 2, 3)), [volume], {}
    yield "Softmax of two axes", lambda: layers.Softmax(axis=[1, 2]), [q], {}
    yield "masked mean", layers.GlobalAveragePooling1D, [q], {"mask": query_mask}


def plain_calls(layers, normal):
    """Layers of one input: each with the arguments that change what it computes."""
    steps, image, volume = normal(2, 7, 4), normal(2, 7, 6, 4), normal(2, 4, 5, 6, 2)
    first = {"data_format": "channels_first"}
    table = [
        (image, "Dense", [3], {"activation": "relu"}),
        (steps, "Conv1D", [3, 2], {"strides": 2, "padding": "same"}),
        (steps, "Conv1D", [3, 2], {"padding": "causal", "dilation_rate": 2}),
        (image, "Conv2D", [3, (2, 3)], {"strides": (1, 2), "activation": "tanh"}),
        (image, "Conv2D", [4, 3], {"padding": "same", "dilation_rate": 2, "use_bias": False}),
        (image, "Conv2D", [4, 2], {"groups": 2}),
        (volume, "Conv3D", [3, 2], {"strides": 2, "padding": "same"}),
        (steps, "Conv1DTranspose", [3, 3], {"strides": 2}),
        (image, "Conv2DTranspose", [3, 3], {"strides": 2, "padding": "same", "output_padding": 1}),
        (image, "DepthwiseConv2D", [3], {"depth_multiplier": 2, "padding": "same"}),
        (steps, "SeparableConv1D", [3, 3], {"depth_multiplier": 2}),
        (image, "SeparableConv2D", [3, 3], {"strides": 2, "padding": "same"}),
        (steps, "LocallyConnected1D", [3, 2], {"strides": 2}),
        (image, "LocallyConnected2D", [3, (2, 3)], {}),
        (image, "LocallyConnected2D", [2, 2], {"implementation": 2, "padding": "same"}),
        (image, "BatchNormalization", [], {"axis": 1}),
        (steps, "BatchNormalization", [], {"scale": False}),
        (image, "LayerNormalization", [], {"axis": [1, 3]}),
        (steps, "PReLU", [], {"shared_axes": [1]}),
        (steps, "ELU", [0.5], {}),
        (steps, "LeakyReLU", [0.2], {}),
        (steps, "ThresholdedReLU", [0.5], {}),
        (steps, "ReLU", [1.0, 0.1, 0.2], {}),
        (steps, "Permute", [(2, 1)], {}),
        (steps, "Reshape", [(-1, 2)], {}),
        (steps, "Cropping1D", [(1, 2)], {}),
        (image, "Cropping2D", [((1, 2), (0, 1))], {}),
        (image, "ZeroPadding2D", [((1, 2), (0, 1))], {}),
        (image, "UpSampling2D", [(2, 3)], {"interpolation": "bilinear"}),
        (image, "Flatten", [], first),
    ]
    for kind in ("Max", "Average"):
        table += [
            (steps, f"{kind}Pooling1D", [3], {"strides": 2, "padding": "same"}),
            (image, f"{kind}Pooling2D", [(2, 3)], {"strides": 1}),
            (image, f"{kind}Pooling2D", [3], {"padding": "same"}),
            (volume, f"{kind}Pooling3D", [2], {"padding": "same"}),
            (steps, f"Global{kind}Pooling1D", [], {"keepdims": True}),
            (image, f"Global{kind}Pooling2D", [], first),
            (volume, f"Global{kind}Pooling3D", [], {}),
        ]
    for x, name, args, kwargs in table:
        yield (
            f"{name} {args} {kwargs}",
            lambda n=name, a=args, k=kwargs: getattr(layers, n)(*a, **k),
            [x],
            {},
        )
    a, b = normal(2, 3, 4), normal(2, 3, 4)
    for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"):
        yield f"{name} of two", getattr(layers, name), [[a, b]], {}
    yield "Dot of two", lambda: layers.Dot((1, 1), normalize=True), [[a, b]], {}


def recurrent_calls(layers, name, make, x, steps):
    """One kind of recurrent layer in all its ways of running."""
    every = {"return_sequences": True, "return_state": True}
    states = [np.ones([3, 3], np.float32)] * (2 if name == "LSTM" else 1)
    yield name, lambda: make(3), [x], {}
    yield f"{name} all", lambda: make(3, **every), [x], {}
    yield f"{name} masked", lambda: make(3, **every), [x], {"mask": steps}
    yield (
        f"{name} masked to zero",
        lambda: make(3, return_sequences=True, zero_output_for_mask=True),
        [x],
        {"mask": steps},
    )
    yield (
        f"{name} backwards",
        lambda: make(3, return_sequences=True, go_backwards=True, use_bias=False),
        [x],
        {"mask": steps},
    )
    yield f"{name} stateful", lambda: make(3, stateful=True), [x], {}
    yield f"{name} unrolled", lambda: make(3, unroll=True, activation="relu"), [x], {}
    yield f"{name} begun", lambda: make(3), [x], {"initial_state": states}
    yield f"{name} both ways", lambda: layers.Bidirectional(make(3, **every)), [x], {}
    yield (
        f"{name} averaged",
        lambda: layers.Bidirectional(make(3), merge_mode="ave"),
        [x],
        {"mask": steps},
    )


def results(tf, layers):
    """Outputs, gradients and names of weights, by name of the call."""
    found = {}
    for name, make, inputs, kwargs in calls(layers):
        layer = make()
        inputs = tf.nest.map_structure(tf.constant, inputs)
        kwargs = {
            k: v if isinstance(v, bool) else tf.nest.map_structure(tf.constant, v)
            for k, v in kwargs.items()
        }
        layer(*inputs, **kwargs)
        rng = np.random.default_rng(1)
        layer.set_weights([0.3 * rng.normal(size=w.shape) for w in layer.get_weights()])
        if getattr(layer, "stateful", False):
            layer.reset_states()
        again = type(layer).from_config(layer.get_config())
        found[f"{name}: weights"] = np.array([w.name.split("/", 1)[1] for w in layer.weights])
        with tf.GradientTape() as tape:
            tape.watch(tf.nest.flatten(inputs))
            outputs = tf.nest.flatten(layer(*inputs, **kwargs))
            loss = sum(tf.reduce_sum(output**2) for output in outputs)
        sources = tf.nest.flatten(inputs) + layer.trainable_weights
        for i, output in enumerate(outputs):
            found[f"{name}: output {i}"] = output.numpy()
        for i, gradient in enumerate(tape.gradient(loss, sources)):
            found[f"{name}: gradient {i}"] = np.zeros(1) if gradient is None else gradient.numpy()
        again(*inputs, **kwargs)
        assert [w.shape for w in again.weights] == [w.shape for w in layer.weights], name
    return found


if __name__ == "__main__":
    if sys.argv[1] == "tapeflow":
        import tapeflow

        np.savez(sys.argv[2], **results(tapeflow, tapeflow.keras.layers))
    else:
        import tensorflow
        import tf_keras

        np.savez(sys.argv[2], **results(tensorflow, tf_keras.layers))
