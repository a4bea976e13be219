"""`keras.ops`: in graphs, on symbolic tensors, and where Keras itself is no reference."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.public import is_tensor_function
from tapeflow.keras.dtype_names import result_type

keras, ops = tf.keras, tf.keras.ops

# What takes functions, or gives no tensors.
NOT_TENSOR_FUNCTIONS = {
    "associative_scan", "cond", "convert_to_numpy", "convert_to_tensor", "custom_gradient", "dtype", "fori_loop",
    "is_tensor", "jvp", "map", "ndim", "scan", "shape", "switch", "vectorize", "vectorized_map", "while_loop",
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


def test_namespaces_hold_the_functions_of_ops():
    for namespace in (ops.numpy, ops.nn, ops.linalg):
        for name in vars(namespace).keys() & set(ops.__all__):
            assert getattr(namespace, name) is getattr(ops, name)
    assert ops.linalg.norm is ops.numpy.norm
    assert not hasattr(ops, "tf_abs")


def test_argpartition_divides_at_a_place():
    x = np.random.RandomState(0).randint(0, 9, (4, 11))
    for k in (0, 5, 10):
        order = np.asarray(ops.argpartition(x, k))
        parts = np.take_along_axis(x, order, -1)
        assert (parts[:, :k] <= parts[:, k : k + 1]).all()
        assert (parts[:, k:] >= parts[:, k : k + 1]).all()
        np.testing.assert_array_equal(np.sort(order), np.tile(np.arange(11), (4, 1)))


def test_elastic_transform_moves_pixels_smoothly():
    image = np.tile(np.arange(32, dtype="float32")[:, None, None], (1, 32, 1))
    still = ops.image.elastic_transform(image, alpha=0.0, seed=1)
    np.testing.assert_allclose(still, image, atol=1e-4)
    moved = np.asarray(ops.image.elastic_transform(image, alpha=5.0, sigma=2.0, seed=1))
    assert 0.1 < np.abs(moved - image).mean() < 8
    np.testing.assert_array_equal(moved, ops.image.elastic_transform(image, alpha=5.0, sigma=2.0, seed=1))


def test_map_coordinates_fills_as_scipy():
    x = np.arange(4.0, dtype="float32")
    at = np.arange(-5.0, 9.0, dtype="float32")[None]
    expected = {
        "reflect": [3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0], "mirror": [1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2],
        "wrap": [3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0], "nearest": [0] * 5 + [0, 1, 2, 3] + [3] * 5,
        "constant": [9] * 5 + [0, 1, 2, 3] + [9] * 5,
    }  # fmt: skip
    for mode, values in expected.items():
        for order in (0, 1):
            np.testing.assert_array_equal(ops.image.map_coordinates(x, at, order, mode, 9), values)


def test_result_type_of_strings():
    with pytest.raises(ValueError, match="not a valid dtype"):
        result_type("string", int)


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (("bfloat16", int), "bfloat16"), (("int32", "float32"), "float32"), (("complex64", int), "complex64"),
        (("bool", int), "int32"), (("uint8", int), "uint8"), (("uint8", "int8"), "int16"),
        (("int64", float), "float32"),
        (("float16", "bfloat16"), "float32"), (("float64", "int64"), "float64"), (("complex128", bool), "complex64"),
        ((), "float32"), ((None, "int8"), "float32"),
    ],
)  # fmt: skip
def test_types_together(types, expected):
    assert keras.backend.result_type(*types) == expected
