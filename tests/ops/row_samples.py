"""The samples of rows: what they draw from, and their inputs and results as tensors and arrays."""

from __future__ import annotations

import numpy as np

import tapeflow as tf


class Generator:
    """What samples draw from: `normal(*shape)`."""

    def __init__(self):
        self.numbers = np.random.default_rng(7)

    def normal(self, *shape):
        return np.asarray(self.numbers.normal(size=shape))


def leaves(value):
    """The tensors or arrays of a result, lists and tuples flattened."""
    if isinstance(value, (list, tuple)):
        return [leaf for element in value for leaf in leaves(element)]
    return [] if value is None else [value]


def array(value):
    return value.numpy() if isinstance(value, (tf.Tensor, tf.Variable)) else np.asarray(value)


def wide(value):
    """bfloat16 and the like as float64, so that NumPy's comparisons know them."""
    value = np.asarray(value)
    kind = value.dtype.kind
    narrow = kind == "V" or (value.dtype.itemsize <= 2 and kind not in "biuOS")
    return value.astype(np.float64) if narrow else value


def tensors(inputs):
    """Inputs with tensors in place of arrays: an array may be cast to the dtype that a row prefers."""
    return [tf.constant(x) if isinstance(x, (np.ndarray, np.generic)) and x.size else x for x in inputs]
