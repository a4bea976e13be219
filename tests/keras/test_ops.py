"""`keras.ops`: in graphs, on symbolic tensors, and where Keras itself is no reference."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.public import is_tensor_function
from tapeflow.keras.ops.promotion import result_type

keras, ops = tf.keras, tf.keras.ops

# What takes functions, or gives no tensors.
NOT_TENSOR_FUNCTIONS = {
    "cond", "convert_to_numpy", "convert_to_tensor", "dtype", "fori_loop", "is_tensor", "map", "ndim", "shape",
    "vectorized_map", "while_loop",
}  # fmt: skip


def test_functions_of_tensors_say_so():
    assert {name for name in ops.__all__ if not is_tensor_function(getattr(ops, name))} == NOT_TENSOR_FUNCTIONS


@pytest.mark.parametrize("name", ops.__all__)
def test_documented(name):
    assert getattr(ops, name).__doc__.startswith("Return ")


def test_ops_on_symbolic_tensors_make_layers_that_are_saved(tmp_path):
    x = keras.Input((3,))
    y = ops.concatenate([ops.sin(x), ops.expand_dims(ops.mean(x, axis=-1), -1)], axis=-1)
    model = keras.Model(x, ops.add(y, 1))
    assert tuple(model.output.shape) == (None, 4)
    data = np.arange(6, dtype="float32").reshape(2, 3)
    expected = np.concatenate([np.sin(data), data.mean(-1, keepdims=True)], -1) + 1
    np.testing.assert_allclose(model(data), expected, rtol=1e-5)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded(data), expected, rtol=1e-5)


def test_ops_of_unknown_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def compute(x):
        return (ops.median(x, axis=0), ops.trace(x), ops.diff(x), ops.tril(x), ops.reshape(x, (-1,)),
                ops.sum(x) / ops.cast(ops.shape(x)[0], "float32"))  # fmt: skip

    x = np.arange(12, dtype="float32").reshape(3, 4)
    expected = np.median(x, 0), np.trace(x), np.diff(x), np.tril(x), x.reshape(-1), x.sum() / 3
    for a, b in zip(compute(x), expected, strict=True):
        np.testing.assert_allclose(a, b)


def test_rot90_and_vstack_are_those_of_numpy():
    x = np.arange(24).reshape(2, 3, 4)
    for k in range(-2, 5):
        for axes in ((0, 1), (1, 0), (2, 0)):
            np.testing.assert_array_equal(ops.rot90(x, k, axes), np.rot90(x, k, axes))
    np.testing.assert_array_equal(ops.vstack([[1, 2], [3, 4]]), [[1, 2], [3, 4]])


def test_gradients_flow():
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = ops.sum(ops.quantile(x, [0.25, 0.5])) + ops.sum(ops.slice_update(x, (0, 0), [[5.0]]))
    np.testing.assert_allclose(tape.gradient(y, x), [[0.25, 1.0 + 1.25], [1.5, 1.0]])


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ((), "float32"), ((int,), "int32"), ((float, "int32"), "float32"), (("uint8", "int8"), "int16"),
        (("int64", "float16"), "float16"), (("float16", "bfloat16"), "float32"), (("bool", int), "int32"),
        (("uint64", "int8"), "float32"), (("float16", float), "float16"),
    ],
)  # fmt: skip
def test_result_type(types, expected):
    assert result_type(*types) == expected


def test_result_type_of_strings():
    with pytest.raises(ValueError, match="not a valid dtype"):
        result_type("string", int)
