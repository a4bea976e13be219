"""Calls whose results TensorFlow and tapeflow are to agree on.

Also run as a program, by a Python that has TensorFlow.
"""

import json
import os
import sys

import numpy as np

DTYPES = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "complex64",
    "complex128",
]
CALLS = [
    *(f"tf.make_tensor_proto({values}, dtype=tf.{kind})" for kind in DTYPES for values in ("1", "[1]", "[1, 2, 3]")),
    *(
        f"tf.make_tensor_proto({values}, dtype=tf.{kind})"
        for kind in ("qint8", "quint8", "qint16", "quint16", "qint32")
        for values in ("(1,)", "[(1,), (2,)]", "1.0")
    ),
    *(f"tf.make_tensor_proto({values})" for values in (
        "None", "[1, None]", "[1, 'a']", "['a', 1]", "[[1, 2], [3]]", "[]", "[[], []]", "[2**40]",
        "2**70", "1+2j", "True",
        "[1.5, True]", "np.array(['a', 'b'])", "np.array(['a', b'b'], dtype=object)", "{'a': 1}",
        "[[b'a'], ['\\u00e9']]",
        "tf.constant([1, 2])", "np.float64(1)", "np.int64(3)", "[np.float64(1)]", "[np.int64(2)]",
        "[1, 2, 2, 2]", "1e300",
        "np.array(1.5)", "np.array([[1, 2], [3, 4]], np.uint16)", "b'abc'", "''",
        "[np.array([1, 2]), np.array([3, 4])]",
        "(1, 2)", "((1,), (2,))", "float('nan')", "-0.0", "np.zeros([0, 3])", "np.arange(6).reshape(2, 3)[:, ::2]",
    )),
    *(f"tf.make_tensor_proto({call})" for call in (
        "[1, 2.5], dtype=tf.int32", "[1], dtype='string'", "'a', dtype=tf.int32", "[1.0], dtype=tf.bool",
        "1, dtype=tf.bool",
        "[True], dtype=tf.float32", "[True], dtype=tf.int32", "3, dtype=tf.float32", "3+0j, dtype=tf.float32",
        "[1, 2], dtype=tf.resource", "1, dtype=tf.variant", "[1, 2], shape=[3]", "[1, 2, 3], shape=[2]",
        "1, shape=[2, 2]",
        "[1, 2], shape=[1, 2], verify_shape=True", "[1, 2], shape=[2, 1]",
        "[1, 2, 3], shape=[2, 2], allow_broadcast=True",
        "[1], shape=[2, 2], allow_broadcast=True", "[], shape=[0, 3]",
        "[1, 2], verify_shape=True, allow_broadcast=True",
        "'a', shape=[2]", "1, shape=[-1]", "np.array([1.7]), dtype=tf.int32", "np.array([1, 0]), dtype=tf.bool",
        "[True, False], dtype=tf.bool", "[b'x'], dtype=tf.string", "1.5, dtype=tf.complex64",
        "np.array([1, 2], np.float32), shape=[1, 2]",
    )),
    *(f"tf.make_ndarray(tf.make_tensor_proto([0, 1, 3], dtype=tf.{kind}))" for kind in DTYPES),
    *(f"tf.make_ndarray(tf.make_tensor_proto(2, shape=[2, 3], dtype=tf.{kind}))" for kind in DTYPES),
    "tf.make_ndarray(tf.make_tensor_proto([[b'a', 'b']]))",
    "tf.make_ndarray(tf.make_tensor_proto('a', shape=[2]))",
    "tf.make_ndarray(tf.make_tensor_proto([True, False]))",
    *(f"tf.make_ndarray(proto({fields}))" for fields in (
        "[2], dtype=1, float_val=[1]", "[2], dtype=1", "[], dtype=20", "[1], dtype=21", "[], dtype=0", "[], dtype=99",
        "[-1], dtype=1", "[2], dtype=1, tensor_content=b'abc'", "[2], dtype=8, scomplex_val=[1, 2, 3, 4]",
        "[2, 0], dtype=3", "[1], dtype=101, float_val=[1]", "[3], dtype=7, string_val=[b'x']",
        "[2], dtype=14, half_val=[16256]",
        "[2], dtype=1, tensor_content=b'abcdefgh'", "[2], dtype=1, tensor_content=b'abcdefghijkl'",
    )),
    *(f"tf.TensorShape({shape}).as_proto()" for shape in ("None", "[]", "[1, None, 3]", "[0]")),
]  # fmt: skip


def answers(tf):
    """For each call bytes in hexadecimal, or an array's dtype, shape and elements, or an error's class and text."""

    def proto(shape, **fields):
        made = type(tf.make_tensor_proto(1))(**fields)
        for size in shape:
            made.tensor_shape.dim.add(size=size)
        return made

    found = []
    for call in CALLS:
        try:
            result = eval(call, {"tf": tf, "np": np, "proto": proto})
        except Exception as error:
            found.append([type(error).__name__, str(error)])
            continue
        if isinstance(result, np.ndarray):
            found.append([str(result.dtype), list(result.shape), repr(result.tolist())])
        else:
            found.append(result.SerializeToString().hex())
    return found


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import tensorflow

    json.dump(answers(tensorflow), sys.stdout)
