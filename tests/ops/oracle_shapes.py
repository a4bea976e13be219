"""What an op's shape rule says of calls in a graph: `python oracle_shapes.py MODULE CALLS ANSWERS`, of pickles.

A call is (op, {input: parts}, attrs); a part is (dtype, shape or None, value or None), and a list stands for a list. An
answer is the list of the outputs' shapes, or the name of an error's class.
"""

import importlib
import pickle
import sys

tf = importlib.import_module(sys.argv[1])
v1 = tf.compat.v1


def made(part):
    if isinstance(part, list):
        return [made(p) for p in part]
    dtype, shape, value = part
    return v1.placeholder(dtype, shape) if value is None else tf.constant(value, dtype)


def shapes(result):
    if isinstance(result, (list, tuple)):
        return [s for part in result for s in shapes(part)]
    shape = getattr(result, "shape", None)
    return [] if shape is None else [None if shape.rank is None else shape.as_list()]


def answer(name, inputs, attrs):
    attrs = {k: tf.as_dtype(v[0]) if isinstance(v, tuple) else v for k, v in attrs.items()}
    with tf.Graph().as_default():
        try:
            op = getattr(tf.raw_ops, name)
            return shapes(op(**{k: made(part) for k, part in inputs.items()}, **attrs))
        except Exception as error:
            return type(error).__name__


with open(sys.argv[2], "rb") as file:
    calls = pickle.load(file)
with open(sys.argv[3], "wb") as file:
    pickle.dump([answer(*call) for call in calls], file)
