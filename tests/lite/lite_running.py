"""Models of TensorFlow Lite, run beside the functions that they were made of."""

import numpy as np

import tapeflow as tf


def converted(function, **settings):
    """The bytes of a function; `ops` and `types` are those of the target."""
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function])
    for name, value in settings.items():
        if name in ("ops", "types"):
            setattr(converter.target_spec, f"supported_{name}", value)
        else:
            assert hasattr(converter, name)
            setattr(converter, name, value)
    return converter.convert()


def run(model, arguments, key=None):
    """The results of a signature in the order of its outputs; integers stand for the numbers that they were made of.

    `arguments` are in the order of the inputs of the subgraph.
    """
    interpreter = tf.lite.Interpreter(model_content=model)
    runner = interpreter.get_signature_runner(key)
    details = runner.get_input_details()
    names = sorted(details, key=lambda name: details[name]["index"])
    feeds = {name: _stored(x, details[name]) for name, x in zip(names, arguments, strict=True)}
    found, details = runner(**feeds), runner.get_output_details()
    return [_shown(found[name], details[name]) for name in sorted(found, key=lambda name: (len(name), name))]


def expected(function, arguments):
    """What the function itself returns."""
    return [y.numpy() for y in tf.nest.flatten(function(*map(tf.constant, arguments)))]


def _stored(x, detail):
    scale, zero = detail["quantization"]
    if not scale:
        return np.asarray(x)
    limits = np.iinfo(detail["dtype"])
    return np.clip(np.round(x / scale + zero), limits.min, limits.max).astype(detail["dtype"])


def _shown(y, detail):
    scale, zero = detail["quantization"]
    return (y.astype(np.float64) - zero) * scale if scale else y
