"""Every layer with every alternative of each of its constructor's arguments, for tapeflow and TensorFlow.

    python oracle_layer_arguments.py tensorflow FILE
    python oracle_layer_arguments.py tapeflow FILE REFERENCE

The first makes the cases from the signatures of its layers and saves the answers to a JSON file; the second answers the
cases of the first one's file. An answer has the layer's config, weights, static shapes and outputs, or the class of
the error and where it was raised.
"""

import importlib
import inspect
import json
import sys
import warnings

import numpy as np

ALTERNATIVES = {
    "activation": ["relu", "hard_sigmoid", "softmax", "gelu", "swish", "leaky_relu", "no such"],
    "activity_regularizer": ["l2"],
    "alpha": [0.7],
    "approximate": [True],
    "attention_axes": [1],
    "autocast": [False],
    "axes": [2, [1, 2]],
    "axis": [1, [1, 2], 5],
    "backward_layer": [{"layer": "GRU", "args": {"units": 2, "go_backwards": True, "return_sequences": True}}],
    "beta_constraint": ["non_neg"],
    "beta_initializer": ["ones"],
    "beta_regularizer": ["l2"],
    "bias_axes": ["d"],
    "bias_constraint": ["max_norm"],
    "bias_initializer": ["ones"],
    "bias_regularizer": ["l1"],
    "center": [False],
    "crop_to_aspect_ratio": [True],
    "cropping": [1, [1, 2], [[1, 1], [0, 1]]],
    "data_format": ["channels_first", "channels_last", "no such"],
    "depth_multiplier": [2],
    "depthwise_constraint": ["max_norm"],
    "depthwise_initializer": ["ones"],
    "depthwise_regularizer": ["l2"],
    "dilation_rate": [2, [2, 1], 0],
    "dims": [[2, 1], [1, 2], [0, 1]],
    "dropout": [0.5, 1.5],
    "dtype": ["float64", "float16", "mixed_float16", "int32"],
    "embeddings_constraint": ["unit_norm"],
    "embeddings_initializer": ["ones"],
    "embeddings_regularizer": ["l2"],
    "epsilon": [0.1],
    "filters": [4, 0, -1, 2.5],
    "gamma_constraint": ["non_neg"],
    "gamma_initializer": ["zeros"],
    "gamma_regularizer": ["l2"],
    "go_backwards": [True],
    "groups": [2, 3, -1],
    "implementation": [1, 2],
    "input_dim": [12, 0],
    "interpolation": ["nearest", "bilinear", "bicubic", "no such"],
    "keepdims": [True],
    "kernel_constraint": ["max_norm"],
    "kernel_initializer": ["ones", "he_normal", "no such"],
    "kernel_regularizer": ["l1_l2"],
    "kernel_size": [1, [2, 3], 0, [1, 2, 3, 4]],
    "key_dim": [4],
    "l1": [0.1],
    "l2": [0.1],
    "lora_rank": [2],
    "mask_value": [1.0],
    "mask_zero": [True],
    "max_value": [1.0, -1.0],
    "merge_mode": ["sum", "mul", "ave", None, "no such"],
    "momentum": [0.5],
    "moving_mean_initializer": ["ones"],
    "moving_variance_initializer": ["zeros"],
    "n": [4],
    "name": ["given"],
    "negative_slope": [0.5, -1.0],
    "normalize": [True],
    "num_heads": [3],
    "offset": [1.0],
    "order": [1],
    "output_padding": [1, [0, 1]],
    "output_dim": [2],
    "output_shape": [7],
    "padding": ["same", "valid", "causal", 1, [1, 2], [[1, 2], [0, 1]], "no such"],
    "pointwise_constraint": ["max_norm"],
    "pointwise_initializer": ["ones"],
    "pointwise_regularizer": ["l2"],
    "pool_size": [1, [2, 1], 3, 0],
    "power_iterations": [2],
    "rate": [0.0, 1.0, 2.0],
    "recurrent_activation": ["hard_sigmoid", "tanh"],
    "recurrent_constraint": ["max_norm"],
    "recurrent_dropout": [0.5],
    "recurrent_initializer": ["identity"],
    "recurrent_regularizer": ["l2"],
    "renorm": [True],
    "reset_after": [False],
    "return_sequences": [True],
    "return_state": [True],
    "rms_scaling": [True],
    "scale": [False],
    "score_mode": ["concat", "no such"],
    "seed": [7],
    "shared_axes": [[1], 1],
    "size": [3, [2, 1]],
    "stateful": [True],
    "stddev": [0.5],
    "strides": [2, [1, 2], 0],
    "supports_jit": [True],
    "synchronized": [True],
    "target_shape": [[-1, 2], [2, -1, 2], [5]],
    "threshold": [0.5, -0.5],
    "time_major": [True],
    "trainable": [False],
    "unit_forget_bias": [False],
    "units": [5, 0, -1, 2.5, "3"],
    "unroll": [True],
    "use_bias": [False],
    "use_causal_mask": [True],
    "use_gate": [True],
    "use_scale": [True],
    "value_dim": [5],
    "weights": [None],
    "zero_output_for_mask": [True],
}

# Required arguments, then the names of inputs.
CELL = {"layer": "LSTMCell", "args": {"units": 3}}
LAYERS = {
    "Dense": ({"units": 3}, "matrix steps image int float64 vector"),
    "EinsumDense": ({"equation": "abc,cd->abd", "output_shape": [None, 6]}, "steps"),
    "Embedding": ({"input_dim": 9, "output_dim": 4}, "ids idfloats id"),
    "Masking": ({}, "steps zeros int"),
    "Activation": ({"activation": "tanh"}, "steps"),
    "Softmax": ({}, "steps matrix masked"),
    "ReLU": ({}, "steps int"),
    "LeakyReLU": ({}, "steps"),
    "PReLU": ({}, "steps image"),
    "ELU": ({}, "steps"),
    "BatchNormalization": ({}, "matrix steps image half masked int"),
    "LayerNormalization": ({}, "matrix steps image half"),
    "UnitNormalization": ({}, "matrix steps"),
    "GroupNormalization": ({"groups": 2}, "steps image"),
    "RMSNormalization": ({}, "matrix steps image"),
    "SpectralNormalization": ({"layer": {"layer": "Dense", "args": {"units": 3}}}, "matrix"),
    "Dropout": ({"rate": 0.5}, "steps int"),
    "AlphaDropout": ({"rate": 0.5}, "steps"),
    "GaussianDropout": ({"rate": 0.5}, "steps"),
    "GaussianNoise": ({"stddev": 0.3}, "steps"),
    "SpatialDropout1D": ({"rate": 0.5}, "steps"),
    "SpatialDropout2D": ({"rate": 0.5}, "image"),
    "SpatialDropout3D": ({"rate": 0.5}, "volume"),
    "ActivityRegularization": ({}, "steps"),
    "Flatten": ({}, "matrix steps image vector masked"),
    "Reshape": ({"target_shape": [-1, 2]}, "steps image"),
    "Permute": ({"dims": [2, 1]}, "steps"),
    "RepeatVector": ({"n": 3}, "matrix steps"),
    "Identity": ({}, "steps int"),
    "Rescaling": ({"scale": 0.5}, "steps int image"),
    "SimpleRNN": ({"units": 3}, "steps masked float64 matrix"),
    "GRU": ({"units": 3}, "steps masked float64"),
    "LSTM": ({"units": 3}, "steps masked float64"),
    "SimpleRNNCell": ({"units": 3}, ""),
    "GRUCell": ({"units": 3}, ""),
    "LSTMCell": ({"units": 3}, ""),
    "RNN": ({"cell": CELL}, "steps masked"),
    "Bidirectional": ({"layer": {"layer": "LSTM", "args": {"units": 2, "return_sequences": True}}}, "steps masked"),
    "TimeDistributed": ({"layer": {"layer": "Dense", "args": {"units": 2}}}, "steps masked image"),
    "ConvLSTM1D": ({"filters": 2, "kernel_size": 2}, "image"),
    "ConvLSTM2D": ({"filters": 2, "kernel_size": 2}, "volume"),
    "Attention": ({}, "pair triple pairmasked"),
    "AdditiveAttention": ({}, "pair triple pairmasked"),
    "MultiHeadAttention": ({"num_heads": 2, "key_dim": 3}, ""),
    "GroupQueryAttention": ({"head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2}, ""),
    "Dot": ({"axes": 1}, "same vectors"),
}
for _n, _inputs in ((1, "steps"), (2, "image half"), (3, "volume")):
    _filters = {"filters": 4, "kernel_size": 2}
    LAYERS |= {
        f"Conv{_n}D": (_filters, _inputs + " matrix"),
        f"Conv{_n}DTranspose": (_filters, _inputs),
        f"Cropping{_n}D": ({}, _inputs),
        f"ZeroPadding{_n}D": ({}, _inputs + " int"),
        f"UpSampling{_n}D": ({}, _inputs),
    }
    if _n < 3:
        LAYERS[f"DepthwiseConv{_n}D"] = ({"kernel_size": 2}, _inputs)
        LAYERS[f"SeparableConv{_n}D"] = (_filters, _inputs)
    for _kind in ("Max", "Average"):
        LAYERS[f"{_kind}Pooling{_n}D"] = ({"pool_size": 2}, _inputs + " int")
        LAYERS[f"Global{_kind}Pooling{_n}D"] = ({}, _inputs + " int" + (" masked" if _n == 1 else ""))
for _name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"):
    LAYERS[_name] = ({}, "same vectors mixed three one broadcast")


def inputs():
    """Inputs by name, each with keyword arguments of the call."""
    rng = np.random.RandomState(0)

    def normal(*shape, dtype="float32"):
        return rng.normal(size=shape).astype(dtype)

    steps, mask = normal(2, 6, 4), np.array([[1, 1, 0, 1, 1, 0], [0, 1, 1, 1, 0, 0]], bool)
    return {
        "matrix": (normal(3, 4), {}),
        "vector": (normal(4), {}),
        "steps": (steps, {}),
        "masked": (steps, {"mask": mask}),
        "image": (normal(2, 6, 6, 4), {}),
        "volume": (normal(2, 4, 4, 5, 4), {}),
        "half": (normal(2, 6, 6, 4, dtype="float16"), {}),
        "float64": (normal(2, 6, 4, dtype="float64"), {}),
        "int": (rng.randint(0, 5, (2, 6, 4)), {}),
        "zeros": (steps * mask[:, :, None], {}),
        "ids": (rng.randint(0, 9, (2, 6)), {}),
        "id": (rng.randint(0, 9, (3,)), {}),
        "idfloats": (rng.randint(0, 9, (2, 6)).astype("float32"), {}),
        "pair": ([normal(2, 6, 4), normal(2, 5, 4)], {}),
        "pairmasked": ([normal(2, 6, 4), normal(2, 5, 4)], {"mask": [mask, mask[:, :5]]}),
        "triple": ([normal(2, 6, 4), normal(2, 5, 4), normal(2, 5, 4)], {}),
        "same": ([normal(2, 6, 4), normal(2, 6, 4)], {}),
        "vectors": ([normal(2, 4), normal(2, 4)], {}),
        "mixed": ([normal(2, 4), rng.randint(0, 3, (2, 4))], {}),
        "three": ([normal(2, 4)] * 3, {}),
        "one": ([normal(2, 4)], {}),
        "broadcast": ([normal(2, 6, 4), normal(2, 1, 4)], {}),
    }


PHASED = ("BatchNormalization", "Dropout", "Noise", "SpectralNormalization", "Regularization")


def cases(layers):
    """Each layer as it is on every input and phase, and with each alternative of each argument on the first input."""
    for name, (required, kinds) in LAYERS.items():
        cls = getattr(layers, name, None)
        if cls is None:
            continue
        kinds = kinds.split() or [None]
        for kind in kinds:
            yield [name, required, kind, None]
            if any(part in name for part in PHASED):
                yield [name, required, kind, True]
                yield [name, required, kind, False]
        parameters = [*inspect.signature(cls.__init__).parameters, "dtype", "trainable", "name"]
        for parameter in dict.fromkeys(parameters):
            for value in ALTERNATIVES.get(parameter, ()):
                training = True if parameter in ("rate", "seed", "momentum", "power_iterations") else None
                yield [name, {**required, parameter: value}, kinds[0], training]
        # Arguments that change what others do.
        if "padding" in parameters and "strides" in parameters:
            yield [name, {**required, "padding": "same", "strides": 2}, kinds[0], None]
            if "dilation_rate" in parameters:
                yield [name, {**required, "padding": "same", "dilation_rate": 2}, kinds[0], None]
        if "return_sequences" in parameters:
            for kind in kinds:
                yield [name, {**required, "return_sequences": True, "return_state": True}, kind, None]
                yield [name, {**required, "return_sequences": True, "go_backwards": True}, kind, None]


def plain(value):
    """A config with nothing in it that JSON lacks."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else type(value).__name__


def shape(value):
    """A static shape, or a list of shapes, as lists."""
    if isinstance(value, (list, tuple)) and not all(v is None or isinstance(v, int) for v in value):
        return [shape(v) for v in value]
    return None if value is None else [None if v is None else int(v) for v in value]


def made(layers, value):
    """A value of an argument, with the layers that it describes."""
    if isinstance(value, dict) and "layer" in value:
        return getattr(layers, value["layer"])(**value["args"])
    return tuple(made(layers, v) for v in value) if isinstance(value, list) else value


def answer(tf, name, arguments, kind, training, samples):
    """What one case gives."""
    keras = tf.keras
    layer, step = None, "constructor"
    found = {}
    try:
        keras.utils.set_random_seed(1)
        layer = getattr(keras.layers, name)(**{k: made(keras.layers, v) for k, v in arguments.items()})
        step = "config"
        found["config"] = plain(layer.get_config())
        if kind is None:
            return found
        x, kwargs = samples[kind]
        x = tf.nest.map_structure(tf.constant, x)
        kwargs = {k: tf.nest.map_structure(tf.constant, v) for k, v in kwargs.items()}
        if training is not None:
            kwargs["training"] = training
        step = "first call"
        layer(x, **kwargs)
        found["initial"] = [np.asarray(w, "float64").tolist() for w in layer.get_weights()]
        found["weights"] = [[w.shape.as_list() if hasattr(w.shape, "as_list") else list(w.shape),
                             tf.as_dtype(w.dtype).name, w.trainable] for w in layer.weights]
        found["names"] = [w.name.split("/")[-1].split(":")[0] for w in layer.weights]
        found["trainable"] = len(layer.trainable_weights)
        rng = np.random.RandomState(1)
        layer.set_weights([(0.3 * rng.normal(size=w.shape)).astype(w.dtype) ** (2 if "var" in n else 1)
                           for n, w in zip(found["names"], layer.get_weights())])
        if getattr(layer, "stateful", False):
            (getattr(layer, "reset_state", None) or layer.reset_states)()
        step = "call"
        outputs = tf.nest.flatten(layer(x, **kwargs))
        found["outputs"] = [[o.dtype.name, np.asarray(o, "float64").tolist()] for o in outputs]
        found["losses"] = [float(loss) for loss in layer.losses]
        step = "output shape"
        shapes = [tuple(i.shape) for i in x] if isinstance(x, list) else tuple(x.shape)
        found["output shape"] = shape(layer.compute_output_shape(shapes))
        step = "symbolic"
        if "mask" not in kwargs:
            symbols = tf.nest.map_structure(lambda i: keras.Input(i.shape[1:], dtype=i.dtype.name), x)
            outputs = tf.nest.flatten(layer(symbols))
            found["symbolic"] = [[shape(tuple(o.shape)), tf.as_dtype(o.dtype).name] for o in outputs]
        step = "again"
        again = type(layer).from_config(layer.get_config())
        found["same config"] = plain(again.get_config()) == found["config"]
    except Exception as error:
        found["error"] = [step, type(error).__name__, str(error)[:300]]
    return found


def main(package, file, reference=None):
    """Run all cases on a package and write the answers."""
    tf = importlib.import_module(package)
    warnings.simplefilter("ignore")
    samples = inputs()
    todo = cases(tf.keras.layers)
    if reference is not None:
        with open(reference) as f:
            todo = [json.loads(case) for case in json.load(f)]
    answers = {json.dumps(case): answer(tf, *case, samples) for case in todo}
    with open(file, "w") as f:
        json.dump(answers, f)


if __name__ == "__main__":
    main(*sys.argv[1:])
