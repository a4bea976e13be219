"""Convolutions of random shapes and both their gradients: `python random_convolutions.py SEED COUNT`.

A convolution is linear in its input and in its filter, so the product of any output gradient with the output is that of
the gradients with what they belong to. Each case is printed before it runs: after a crash the last line names it.
"""

import sys

import numpy as np

import tapeflow as tf


def random_call(rng):
    """(prefix and suffix of the ops' names, input shape, filter shape, attrs)"""
    kind = rng.choice(["Conv2D", "Conv2D", "DepthwiseConv2dNative", "Conv3D"])
    axes = 3 if kind == "Conv3D" else 2
    groups = int(rng.integers(1, 4)) if kind == "Conv2D" else 1
    depth = groups * int(rng.integers(1, 20 if axes == 2 else 10))
    size = rng.integers(1, 12 - 3 * (axes - 1), axes)
    point = rng.random() < 0.4
    window = [1] * axes if point else rng.integers(1, 4, axes)
    equal = point or kind == "DepthwiseConv2dNative"
    strides = [int(rng.integers(1, 4))] * axes if equal else rng.integers(1, 4, axes)
    attrs = {"strides": [1, *strides, 1], "padding": str(rng.choice(["SAME", "VALID"]))}
    if kind == "Conv2D" and rng.random() < 0.3:
        attrs["dilations"] = [1, *rng.integers(1, 3, 2), 1]
    if axes == 2 and rng.random() < 0.2:
        attrs |= {"padding": "EXPLICIT", "explicit_paddings": [0, 0, *rng.integers(0, 3, 4), 0, 0]}
    multiplier = int(rng.integers(1, 20)) if axes == 2 else int(rng.integers(1, 10))
    outer = [depth, multiplier] if kind == "DepthwiseConv2dNative" else [depth // groups, groups * multiplier]
    return kind, [int(rng.integers(1, 4)), *size, depth], [*window, *outer], attrs


def check(rng, kind, input_shape, filter_shape, attrs):
    suffix = "V2" if kind == "Conv3D" else ""
    input_, filter_ = (tf.constant(rng.normal(size=shape), tf.float32) for shape in (input_shape, filter_shape))
    try:
        output = getattr(tf.raw_ops, kind)(input=input_, filter=filter_, **attrs)
    except tf.errors.InvalidArgumentError:  # the window does not fit
        return False
    gradient = tf.constant(rng.normal(size=output.shape), tf.float32)
    of_input = getattr(tf.raw_ops, f"{kind}BackpropInput{suffix}")(
        input_sizes=input_shape, filter=filter_, out_backprop=gradient, **attrs
    )
    of_filter = getattr(tf.raw_ops, f"{kind}BackpropFilter{suffix}")(
        input=input_, filter_sizes=filter_shape, out_backprop=gradient, **attrs
    )
    expected = product(gradient, output)
    for x, dx in ((input_, of_input), (filter_, of_filter)):
        bound = 1e-5 * (1 + np.linalg.norm(x) * np.linalg.norm(dx))
        assert abs(product(x, dx) - expected) < bound, (product(x, dx), expected)
    return True


def product(a, b):
    return float(np.vdot(a.numpy().astype(np.float64), b.numpy().astype(np.float64)))


def main(seed, count):
    rng = np.random.default_rng(seed)
    done = 0
    for _ in range(count):
        call = random_call(rng)
        print(*call, flush=True)
        done += check(rng, *call)
    print("done", done)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
