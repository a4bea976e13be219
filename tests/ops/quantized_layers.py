"""Layers of quantized numbers with what follows them, as one program for two packages:

    python quantized_layers.py PACKAGE ANSWERS

writes the results of every op on random numbers, or the errors, to ANSWERS.
"""

import importlib
import json
import sys

import numpy as np

FIXED = {"min_freezed_output": -4.0, "max_freezed_output": 20.0}
PRODUCTS = ("", "AndRelu", "AndRequantize", "AndReluAndRequantize", "AndDequantize")
CONVOLUTIONS = (
    "AndRelu", "AndReluAndRequantize", "AndRequantize", "PerChannel", "WithBias", "WithBiasAndRelu",
    "WithBiasAndReluAndRequantize", "WithBiasAndRequantize", "WithBiasSignedSumAndReluAndRequantize",
    "WithBiasSumAndRelu", "WithBiasSumAndReluAndRequantize",
)  # fmt: skip
ONE_RANGE = ("QuantizedConv2DAndRequantize", "QuantizedConv2DAndReluAndRequantize", "QuantizedConv2DAndRelu")
DEPTHWISE = ("", "WithBias", "WithBiasAndRelu", "WithBiasAndReluAndRequantize")


def levels(tf, rng, dtype, *shape):
    """Random numbers of eight bits."""
    low, high = (0, 256) if dtype == "quint8" else (-127, 128)
    return tf.constant(rng.integers(low, high, shape), getattr(tf, dtype))


def bias_of(tf, name, rng, size, kind):
    """The bias of a layer: floats, or the integers that stand for them."""
    if "WithBias" not in name:
        return {}
    if kind == "qint32":
        return {"bias": tf.constant(rng.integers(-9000, 9000, size), tf.qint32)}
    return {"bias": tf.constant(rng.normal(0, 3, size).astype(np.float32))}


def range_of(name):
    return FIXED if "equantize" in name else {}


def products(tf, rng):
    """(name, its arguments) of each product of matrices."""
    for end in PRODUCTS:
        name = "QuantizedMatMulWithBias" + end
        for low, mode, kind in (
            (0.0, "MIN_FIRST", "float"), (0.0, "SCALED", "float"), (-1.0, "MIN_FIRST", "qint32"),
            (0.0, "SCALED", "qint32"),
        ):  # fmt: skip
            if end == "AndRelu" and kind == "qint32":
                continue
            yield name, {
                "a": levels(tf, rng, "quint8", 3, 6), "b": levels(tf, rng, "qint8", 6, 5),
                **bias_of(tf, name, rng, 5, kind), "min_a": low, "max_a": 5.0, "min_b": -3.0, "max_b": 2.0,
                **range_of(name), "input_quant_mode": mode,
                "Toutput": tf.float32 if "Dequantize" in end else tf.quint8 if "Requantize" in end else tf.qint32,
            }  # fmt: skip


def summand(tf, rng, kind, size):
    """Numbers that the graph computes: TensorFlow writes the sum in their place, which constants do not have."""
    dtype = getattr(tf, kind[1:])
    low, high = (0, 200) if kind == "quint8" else (-120, 100)
    given = tf.compat.v1.placeholder_with_default(rng.integers(low, high, size).astype(kind[1:]), size)
    return tf.bitcast(given + tf.ones([], dtype), getattr(tf, kind))


def image_layer(tf, rng, name, kind, source, per_channel, **attrs):
    """The arguments of a convolution."""
    deep = "Depthwise" in name
    channels = 2 if deep else 3
    wide = [] if not per_channel else [channels]
    shape = (2, 3, 2, 1) if deep else (2, 3, 2, channels)
    out = tf.qint32
    if "Requantize" in name:
        out = tf.quint8 if "Relu" in name else tf.qint8
    found = {
        "input": levels(tf, rng, source, 2, 5, 6, 2), "filter": levels(tf, rng, "qint8", *shape),
        **bias_of(tf, name, rng, channels, kind), "min_input": -1.0 if source == "qint8" else 0.0, "max_input": 5.0,
        "min_filter": tf.constant(-rng.uniform(0.5, 0.9, wide).astype(np.float32)),
        "max_filter": tf.constant(rng.uniform(0.5, 0.9, wide).astype(np.float32)), **range_of(name),
        "out_type": out, "strides": [1, 1, 1, 1], "padding": "SAME", **attrs,
    }  # fmt: skip
    if "Sum" in name:
        size = (2, 5, 6, channels)
        if "Requantize" in name:
            kind = "qint8" if "Signed" in name else "quint8"
            found |= {"summand": summand(tf, rng, kind, size), "min_summand": -3.0, "max_summand": 7.0}
        else:
            given = tf.compat.v1.placeholder_with_default(rng.normal(0, 3, size).astype(np.float32), size)
            found["summand"] = given + 1.0
    return found


def convolutions(tf, rng):
    """(name, its arguments) of each convolution."""
    names = ["QuantizedConv2D" + end for end in CONVOLUTIONS] + ["QuantizedDepthwiseConv2D" + end for end in DEPTHWISE]
    for name in names:
        both = ("float", "qint32") if "WithBias" in name and "Requantize" in name else ("float",)
        either = name.startswith("QuantizedConv2DWithBias") and "Sum" not in name
        for kind in both:
            for source in ("quint8", "qint8") if either else ("quint8",):
                yield name, image_layer(tf, rng, name, kind, source, False)
        if name not in ONE_RANGE:
            yield name, image_layer(tf, rng, name, both[0], "quint8", True)
        if "Sum" not in name:
            yield name, image_layer(tf, rng, name, both[-1], "quint8", False, strides=[1, 2, 2, 1], padding="VALID")


def images(tf, rng):
    """(name, its arguments) of normalizations and resizings."""
    x = levels(tf, rng, "quint8", 2, 5, 6, 3)
    for low, high in ((-1.0, 2.0), (0.0, 9.0)):
        channels = {f"{n}{end}": v for n in ("m", "v", "beta", "gamma") for end, v in (
            ("", levels(tf, rng, "quint8", 3)), ("_min", low), ("_max", high))}  # fmt: skip
        channels |= {"v_min": 0.0}
        for scaled in (False, True):
            yield "QuantizedBatchNormWithGlobalNormalization", {
                "t": x, "t_min": low, "t_max": high, **channels, "out_type": tf.qint32, "variance_epsilon": 0.01,
                "scale_after_normalization": scaled,
            }  # fmt: skip
        for attrs in ({}, {"output_range_given": True, "given_y_min": -1.0, "given_y_max": 3.0},
                      {"variance_epsilon": 2.0, "min_separation": 9.0}):  # fmt: skip
            yield "QuantizedInstanceNorm", {"x": x, "x_min": low, "x_max": high, **attrs}
        wide = tf.constant(rng.integers(-(2**31), 2**31, (1, 4, 5, 2)), tf.qint32)
        for image in (x, wide, tf.constant(rng.normal(size=(1, 3, 3, 2)), tf.float32)):
            for attrs in ({}, {"align_corners": True}, {"half_pixel_centers": True},
                          {"align_corners": True, "half_pixel_centers": True}):  # fmt: skip
                for size in ([7, 9], [2, 4], [10, 12]):
                    yield "QuantizedResizeBilinear", {"images": image, "size": size, "min": low, "max": high, **attrs}


def channels(tf, rng):
    """(name, its arguments) of changes of the range of each channel."""
    for least, most in ((-(2**31), 2**31), (0, 2**31), (-900, 1000)):
        given = {
            "input": tf.constant(rng.integers(least, most, (2, 3, 2, 5)), tf.qint32),
            "input_min": tf.constant(-rng.uniform(1, 9, 5).astype(np.float32)),
            "input_max": tf.constant(rng.uniform(1, 9, 5).astype(np.float32)),
        }  # fmt: skip
        for clip in (1e6, 2.0):
            yield "RequantizationRangePerChannel", {**given, "clip_value_max": clip}
        for low, high in ((-1.0, 2.0), (-4e-6, 2e-6), (-30.0, 6.0)):
            for kind in (tf.quint8, tf.qint8):
                ends = {"requested_output_min": low, "requested_output_max": high}
                yield "RequantizePerChannel", {**given, **ends, "out_type": kind}


def main(package, answers):
    tf = importlib.import_module(package)
    found = []
    for make in (products, convolutions, images, channels):
        with tf.Graph().as_default():
            calls = [(n, getattr(tf.raw_ops, n)(**arguments)) for n, arguments in make(tf, np.random.default_rng(1))]
            session = tf.compat.v1.Session()
            for name, results in calls:
                flat = [tf.cast(y, tf.int32) if y.dtype.is_quantized else y for y in tf.nest.flatten(results)]
                try:
                    found.append([name, [y.tolist() for y in session.run(flat)]])
                except tf.errors.OpError as error:
                    found.append([name, str(error)[:200]])
    with open(answers, "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
