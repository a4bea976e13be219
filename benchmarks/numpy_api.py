"""The cases that NumPy has."""

import inputs
import numpy as np


def package():
    return "numpy"


def cases():
    a, b = np.array(1.5, np.float32), np.array(2.5, np.float32)
    small = {"a": inputs.array(1, 10, 10), "b": inputs.array(2, 10, 10)}
    million = {"np": np, "x": inputs.array(1, 1_000_000), "y": inputs.array(2, 1_000_000)}
    return {
        "add_scalar": ("a + b", {"a": a, "b": b}),
        "add_10x10": ("a + b", small),
        "add_function": ("add(a, b)", {"add": np.add, "a": a, "b": b}),
        "matmul_10x10": ("matmul(a, b)", {"matmul": np.matmul, **small}),
        "add_1m": ("x + y", million),
        "tanh_1m": ("np.tanh(x)", million),
        "matmul_1000": ("x @ x", {"x": inputs.array(3, 1000, 1000)}),
    }
