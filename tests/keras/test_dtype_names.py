"""The names by which Keras calls dtypes, among them types of Python, as in Keras 3 on TensorFlow."""

import functools

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
ops = keras.ops
NAMES = {int: "int64", "int": "int64", bool: "bool", str: "string", float: "float32", "int8": "int8", tf.int32: "int32"}


@pytest.mark.parametrize("given", NAMES)
def test_what_takes_a_dtype_takes_a_type(given):
    expected = NAMES[given]
    assert keras.backend.standardize_dtype(given) == keras.utils.standardize_dtype(given) == expected
    assert keras.Input((2,), dtype=given).dtype == expected
    assert keras.KerasTensor((2,), given).dtype == expected
    assert keras.layers.Dense(1, dtype=given).compute_dtype == expected
    if expected != "string":
        assert ops.cast(np.ones(2), given).dtype.name == expected
        assert ops.cast(np.ones(2), dtype=given).dtype.name == expected
        assert ops.zeros((2,), dtype=given).dtype.name == expected
        assert ops.zeros((2,), given).dtype.name == expected


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="Invalid dtype: long"):
        keras.backend.standardize_dtype("long")


def test_symbolic_tensors_are_compared_elementwise():
    ids = keras.Input((3,), dtype="int")
    model = keras.Model(ids, ids != 0)
    assert model(np.array([[1, 0, 2]])).numpy().tolist() == [[True, False, True]]
    assert keras.Model.from_config(model.get_config())(np.array([[1, 0, 2]])).numpy().tolist() == [[True, False, True]]


# Sums of products of int8 wrap around, but for matmul and einsum, which Keras gives as int32.
@pytest.mark.parametrize(
    ("name", "dtype"), [("matmul", "int32"), ("einsum", "int32"), ("dot", "int8"), ("tensordot", "int8")]
)
@pytest.mark.parametrize("symbolic", [False, True])
def test_products_of_small_integers(name, dtype, symbolic):
    x = np.array([[100, 100], [1, 2]], "int8")
    function = {
        "matmul": ops.matmul, "einsum": lambda a, b: ops.einsum("ij,jk->ik", a, b), "dot": ops.dot,
        "tensordot": lambda a, b: ops.tensordot(a, b, 1),
    }[name]  # fmt: skip
    if symbolic:
        given = keras.Input((2,), dtype="int8", batch_size=2)
        result = keras.Model(given, function(given, x))(x)
    else:
        result = function(x, x)
    assert result.dtype.name == dtype
    np.testing.assert_array_equal(result, (x.astype("int32") @ x.astype("int32")).astype(dtype))


def test_products_of_truth_values():
    x = np.array([[True, False], [False, False]])
    einsum, tensordot = functools.partial(ops.einsum, "ij,jk->ik"), functools.partial(ops.tensordot, axes=1)
    for product in (ops.matmul, ops.dot, ops.inner, tensordot, einsum):
        result = product(x, x)
        assert result.dtype.name == "bool"
        assert result.numpy().tolist() == x.tolist()


def test_layers_of_tokens_are_of_the_dtype_of_the_tokens():
    strings, integers = keras.layers.StringLookup(vocabulary=["a"]), keras.layers.IntegerLookup(vocabulary=[1])
    for layer, dtype in ((strings, "string"), (keras.layers.TextVectorization(), "string"), (integers, "int64")):
        assert layer.dtype == layer.compute_dtype == layer.variable_dtype == dtype
        assert layer.dtype_policy.name == "float32"


def test_what_is_no_dtype_is_refused_by_its_value():
    for given in ([1], {"a": 1}):
        with pytest.raises(TypeError, match="Cannot convert the argument `type_value`"):
            ops.zeros((2,), dtype=given)
