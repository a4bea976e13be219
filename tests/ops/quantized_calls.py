"""Calls of functions of quantized numbers, and what TensorFlow answers to them.

`python quantized_calls.py`, run by a Python that has TensorFlow, writes quantized_vectors.json anew;
test_functions.py holds the package to it.
"""

import pathlib
import runpy

VECTORS = pathlib.Path(__file__).with_name("quantized_vectors.json")

SETUP = """
q = tf.quantization
x = tf.constant([-1.5, -.3, 0., .4, 2.6])
square = tf.reshape(tf.range(6.), [2, 3])
plain = {tf.qint8: tf.int8, tf.quint8: tf.uint8, tf.qint32: tf.int32, tf.qint16: tf.int16, tf.quint16: tf.uint16}

def whole(values, kind):
    return tf.bitcast(tf.constant(values, plain[kind]), kind)

def numbers(result):
    return tf.bitcast(result[0], plain[result[0].dtype]), result[1], result[2]

levels = {tf.qint8: [-128, -5, 0, 7, 127], tf.quint8: [0, 1, 128, 200, 255], tf.qint16: [-32768, 0, 1, 300, 32767],
          tf.quint16: [0, 1, 300, 65535], tf.qint32: [-2**31, -5, 0, 2**30, 2**31 - 1]}
cells = whole([[1, 2], [3, 4]], tf.quint8)
"""

_KINDS = ("qint8", "quint8", "qint16", "quint16")
_ROUNDINGS = (
    "",
    ", signed_input=False",
    ", num_bits=4",
    ", range_given=True",
    ", range_given=True, narrow_range=True",
    ", round_mode='HALF_UP'",
    ", round_mode='HALF_UP', range_given=True, num_bits=3",
    ", range_given=True, signed_input=False",
)

CALLS = [
    *(
        f"numbers(q.quantize(x, -2., 3., tf.{kind}, {mode!r}))"
        for kind in _KINDS
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
        if (kind, mode) != ("qint8", "MIN_FIRST")  # TensorFlow rounds one of them another way
    ),
    "numbers(q.quantize(square, [0., 1.], [4., 5.], tf.qint8, 'SCALED', axis=0))",
    "numbers(q.quantize(square, [0., 1.], [4., 5.], tf.quint8, 'MIN_COMBINED', axis=0))",
    "numbers(q.quantize(square, [0., 1.], [4., 5.], tf.quint8, 'MIN_FIRST', axis=0))",
    "numbers(q.quantize(x, 0., 0., tf.quint8))",
    "numbers(q.quantize(x, 1., 3., tf.quint8))",
    "numbers(q.quantize(x, -2., 3., tf.qint8, ensure_minimum_range=8.0))",
    "q.quantize(x, 3., -2., tf.qint8)",
    "q.quantize(x, -2., 3., tf.float32)",
    "q.quantize(x, [-2., 1], 3., tf.quint8)",
    "q.quantize(x, -2., 3., tf.quint8, axis=3)",
    "q.quantize(x, -2., 3., tf.quint8, round_mode='HALF_TO_EVEN')",
    *(
        f"q.dequantize(whole(levels[tf.{kind}], tf.{kind}), {low}, {high}, {mode!r})"
        for kind in _KINDS
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
        for low, high in ((-2.0, 3.0), (-3.0, 2.0))
    ),
    "q.dequantize(whole(levels[tf.qint32], tf.qint32), -2., 3.)",
    "q.dequantize(cells, [-1., 0.], [2., 3.], 'SCALED', axis=0)",
    "q.dequantize(cells, [-1., 0.], [2., 3.], 'MIN_COMBINED', axis=1)",
    "q.dequantize(cells, [-1., 0.], [2., 3.], 'MIN_FIRST', axis=1)",
    "q.dequantize(cells, [-1., 0.], [2., 3.])",
    "q.dequantize([1.0], 3., -3.)",
    *(f"q.quantize_and_dequantize_v2(x, -2., 3.{rest})" for rest in _ROUNDINGS),
    *(f"q.quantize_and_dequantize(x, -2., 3.{rest})" for rest in _ROUNDINGS),
    "q.quantize_and_dequantize_v2(square, [0., 0.], [1., 4.], axis=0)",
    "q.quantize_and_dequantize_v2(square, 0., 0., axis=1)",
    "q.quantize_and_dequantize_v2(tf.zeros([3]), 0., 0.)",
    "q.quantize_and_dequantize_v2(square, 3., 0., range_given=True)",
    "q.quantize_and_dequantize_v2(square, 3., 0., num_bits=64)",
    "q.quantize_and_dequantize_v2(square, [1., 2.], 0., range_given=True)",
    "gradient(lambda v: q.quantize_and_dequantize_v2(v, -1., 2., range_given=True), x)",
    "gradient(lambda v: q.quantize_and_dequantize_v2(v, -1., 2.), x)",
    "gradient(lambda v: q.quantize_and_dequantize(v, -1., 2., range_given=True), x)",
    "numbers(q.quantized_concat(0, [cells, cells], [0., 0.], [1., 2.]))",
    "numbers(q.quantized_concat(1, [cells, cells], [0., -1.], [1., 2.]))",
    "q.quantized_concat(0, [cells], [0.], [1.])",
    "q.quantized_concat(5, [cells, cells], [0., 0.], [1., 2.])",
]

if __name__ == "__main__":
    runpy.run_path(str(pathlib.Path(__file__).with_name("function_calls.py")))["write"](
        VECTORS, CALLS, SETUP
    )
