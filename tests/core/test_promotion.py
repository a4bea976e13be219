"""The promotion of dtypes that a program may switch on, and what comes with it."""

import operator

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import promotion
from tapeflow.experimental.numpy import behavior as module

DTYPES = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int32", "int64", "bfloat16", "float16", "float32",
          "float64", "complex64", "complex128"]  # fmt: skip


@pytest.fixture(autouse=True)
def _off_again():
    yield
    module._reset()


def enable(mode="legacy", **options):
    tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode=mode, **options)


def one(dtype):
    return tf.cast(tf.convert_to_tensor(1), dtype)


def kind(tensor):
    return tensor.dtype.name + (" weak" if promotion.is_weak(tensor) else "")


def test_off_by_default():
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a int32 tensor"):
        one("int32") + one("float32")
    with pytest.raises(TypeError):
        one("int32") + 2.5
    assert not hasattr(tf.Tensor, "reshape")
    assert kind(tf.constant(1.0)) == "float32"


def test_reset_restores_everything():
    enable("all")
    module._reset()
    test_off_by_default()


def test_unknown_mode():
    with pytest.raises(ValueError, match="promotion mode loud does not exist"):
        enable("loud")
    test_off_by_default()


# Rows and columns: DTYPES without bool + bool, which no sum takes.
LEGACY = {
    "uint8": "uint8 uint8 uint16 uint32 uint64 int16 int32 int64 bfloat16 float16 float32 float64 complex64 complex128",
    "uint64": "uint64 uint64 uint64 uint64 uint64 float64 float64 float64 - float64 float64 float64 complex128 "
    "complex128",
    "int8": "int8 int16 int32 int64 float64 int8 int32 int64 bfloat16 float16 float32 float64 complex64 complex128",
    "int32": "int32 int32 int32 int64 float64 int32 int32 int64 - float64 float64 float64 complex128 complex128",
    "float16": "float16 float16 float32 float64 float64 float16 float64 float64 - float16 float32 float64 complex64 "
    "complex128",
    "float32": "float32 float32 float32 float64 float64 float32 float64 float64 float32 float32 float32 float64 "
    "complex64 complex128",
    "complex64": "complex64 complex64 complex64 complex128 complex128 complex64 complex128 complex128 complex64 "
    "complex64 complex64 complex128 complex64 complex128",
}
ALL = {
    "uint8": "uint8 uint8 uint16 uint32 uint64 int16 int32 int64 bfloat16 float16 float32 float64 complex64 complex128",
    "uint64": "uint64 uint64 uint64 uint64 uint64 float64w float64w float64w bfloat16 float16 float32 float64 "
    "complex64 complex128",
    "int8": "int8 int16 int32 int64 float64w int8 int32 int64 bfloat16 float16 float32 float64 complex64 complex128",
    "int32": "int32 int32 int32 int64 float64w int32 int32 int64 bfloat16 float16 float32 float64 complex64 complex128",
    "float16": "float16 float16 float16 float16 float16 float16 float16 float16 float32 float16 float32 float64 "
    "complex64 complex128",
    "float32": "float32 float32 float32 float32 float32 float32 float32 float32 float32 float32 float32 float64 "
    "complex64 complex128",
    "complex64": "complex64 complex64 complex64 complex64 complex64 complex64 complex64 complex64 complex64 complex64 "
    "complex64 complex128 complex64 complex128",
}
SAFE = {
    "uint8": "uint8 uint8 uint16 uint32 uint64 - int32 int64 bfloat16 float16 float32 float64 complex64 complex128",
    "uint64": "uint64 uint64 uint64 uint64 uint64 - - - - - - - - -",
    "int8": "int8 - - - - int8 int32 int64 bfloat16 float16 float32 float64 complex64 complex128",
    "int32": "int32 int32 int32 - - int32 int32 int64 - - - float64 - complex128",
    "float16": "float16 float16 - - - float16 - - - float16 float32 float64 complex64 complex128",
    "float32": "float32 float32 float32 - - float32 - - float32 float32 float32 float64 complex64 complex128",
    "complex64": "complex64 complex64 complex64 - - complex64 - - complex64 complex64 complex64 - complex64 complex128",
}


@pytest.mark.parametrize("mode", ["legacy", "all", "safe"])
def test_pairs(mode):
    enable(mode)
    for x, row in {"legacy": LEGACY, "all": ALL, "safe": SAFE}[mode].items():
        for y, want in zip(DTYPES, row.split(), strict=True):
            for a, b in ((x, y), (y, x)):
                if want == "-":
                    with pytest.raises(TypeError):
                        one(a) + one(b)
                else:
                    assert kind(one(a) + one(b)) == want.replace("w", " weak"), (a, b)


NUMBERS = [
    # mode, tensor, number, sum
    ("legacy", "bool", 2, "int64"),
    ("legacy", "bool", 2.5, "float64"),
    ("legacy", "int32", True, "int32"),
    ("legacy", "int32", 2, "int32"),
    ("legacy", "int32", 2.5, "float64"),
    ("legacy", "int32", 1j, "complex128"),
    ("legacy", "int32", [1, 2], "int32"),
    ("legacy", "int32", [1.5, 2], "float64"),
    ("legacy", "int32", np.float32(2), "float64"),
    ("legacy", "float32", 2.5, "float32"),
    ("legacy", "float32", 1j, "complex64"),
    ("legacy", "float32", np.float64(2.5), "float64"),
    ("legacy", "float32", np.array([1.5]), "float64"),
    ("all", "bool", 2, "int32 weak"),
    ("all", "bool", 2.5, "float32 weak"),
    ("all", "int32", True, "int32"),
    ("all", "int32", 2, "int32"),
    ("all", "int32", 2.5, "float64 weak"),
    ("all", "int32", 1j, "complex128 weak"),
    ("all", "int32", [1.5, 2], "float64 weak"),
    ("all", "int32", np.float32(2), "float32"),
    ("all", "float16", 2.5, "float16"),
    ("all", "float32", 1j, "complex64"),
    ("all", "float32", np.float64(2.5), "float64"),
    ("safe", "int32", 2, "int32"),
    ("safe", "int32", 1j, "complex128 weak"),
    ("safe", "float32", 2.5, "float32"),
    ("safe", "float32", np.float64(2.5), "float64"),
]


@pytest.mark.parametrize(("mode", "dtype", "number", "want"), NUMBERS)
def test_numbers(mode, dtype, number, want):
    enable(mode)
    assert kind(one(dtype) + number) == want
    assert kind(number + one(dtype)) == want


@pytest.mark.parametrize(
    ("dtype", "number", "want"), [("uint8", 2.5, "float32"), ("bool", 1j, "complex64")]
)
def test_prefer_float32(dtype, number, want):
    enable(prefer_float32=True)
    assert kind(one(dtype) + number) == want


OPERATORS = [
    # operator, mode, x, y, dtype, value
    (operator.sub, "legacy", ("int32", 5), ("float32", 2), "float64", 3),
    (operator.mul, "legacy", ("int32", 5), ("float32", 2), "float64", 10),
    (operator.truediv, "legacy", ("int32", 5), ("int64", 2), "float64", 2.5),
    (operator.truediv, "legacy", ("int8", 5), ("uint8", 2), "float32", 2.5),
    (operator.floordiv, "legacy", ("int32", 5), ("float32", 2), "float64", 2),
    (operator.mod, "legacy", ("int32", 5), ("float32", 2), "float64", 1),
    (operator.pow, "legacy", ("int32", 5), ("float32", 2), "float64", 25),
    (operator.lt, "legacy", ("int32", 5), ("float32", 5.5), "bool", True),
    (operator.ge, "legacy", ("int32", 5), ("float32", 5.5), "bool", False),
    (operator.eq, "legacy", ("int32", 5), ("float32", 5), "bool", True),
    (operator.ne, "legacy", ("int32", 5), ("int64", 5), "bool", False),
    (operator.and_, "legacy", ("int32", 5), ("int64", 4), "int64", 4),
    (operator.sub, "all", ("int32", 5), ("float32", 2), "float32", 3),
    (operator.truediv, "all", ("int32", 5), ("int64", 2), "float64", 2.5),
    (operator.truediv, "all", ("int32", 5), ("float32", 2), "float32", 2.5),
    (operator.floordiv, "all", ("int32", 5), ("float32", 2), "float32", 2),
    (operator.mod, "all", ("int32", 5), ("float32", 2), "float32", 1),
    (operator.pow, "all", ("int32", 5), ("float32", 2), "float32", 25),
    (operator.eq, "all", ("int32", 5), ("float32", 5), "bool", True),
]


@pytest.mark.parametrize(("function", "mode", "x", "y", "dtype", "value"), OPERATORS)
def test_operators(function, mode, x, y, dtype, value):
    enable(mode)
    z = function(tf.cast(x[1], x[0]), tf.cast(y[1], y[0]))
    assert (z.dtype.name, z.numpy()) == (dtype, value)


def test_comparisons_stay_strict_in_all():
    enable("all")
    for function in (operator.lt, operator.ne):
        with pytest.raises(tf.errors.InvalidArgumentError):
            function(one("int32"), one("float32"))


def test_functions():
    enable("legacy")
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.add(one("int32"), one("float32"))
    assert kind(tf.divide(one("int32"), one("float32"))) == "float64"
    enable("all")
    for function in (
        tf.add,
        tf.subtract,
        tf.multiply,
        tf.divide,
        tf.pow,
        tf.maximum,
        tf.math.floordiv,
    ):
        assert kind(function(one("int32"), one("float32"))) == "float32", function
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.less(one("int32"), one("float32"))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.where(True, one("int32"), one("float32"))
    assert kind(tf.matmul(tf.ones([2, 2]), tf.ones([2, 2], tf.float64))) == "float64"


def test_safe_says_what_it_refuses():
    enable("safe")
    text = (
        r"In promotion mode PromoMode.SAFE, implicit dtype promotion between \(<dtype: 'int32'>, weak=False\) and "
        r"\(<dtype: 'float32'>, weak=True\) is disallowed. You need to explicitly specify the dtype in your op, or "
        r"relax your dtype promotion rules \(such as from SAFE mode to ALL mode\)."
    )
    for function in (operator.add, operator.truediv, operator.pow, tf.add, operator.eq):
        with pytest.raises(TypeError, match=text):
            function(one("int32"), 2.5)
    with pytest.raises(OverflowError, match=r"too large to convert to np\.int32"):
        one("float32") + 2**40


def test_weak_tensors():
    enable("all")
    assert kind(tf.constant(5)) == "int32 weak"
    assert kind(tf.constant([1.0, 2.0])) == "float32 weak"
    assert kind(tf.constant(5, tf.int32)) == "int32"
    assert kind(tf.constant(True)) == "bool"
    assert kind(tf.constant(np.float64(1))) == "float64"
    assert kind(tf.convert_to_tensor(5.0)) == "float32"
    assert kind(-tf.constant(5.0)) == "float32 weak"
    assert kind(tf.constant(5) + tf.constant(5.0)) == "float32 weak"
    assert kind(tf.constant(5) / tf.constant(2)) == "float64 weak"
    assert kind(tf.exp(1.0)) == "float32 weak"
    assert kind(tf.constant(5.0) + one("float16")) == "float16"
    assert kind(tf.constant([1.0, 2.0])[0]) == "float32"
    assert kind(tf.cast(tf.constant(5.0), tf.float32)) == "float32"
    assert kind(tf.constant(tf.cast(1, tf.int16), tf.int32)) == "int32"
    assert str(tf.constant(5)) == "tf.Tensor(5, shape=(), dtype=int32, weak=True)"
    assert repr(tf.constant(5.0)) == "<tf.Tensor: shape=(), dtype=float32, numpy=5.0, weak=True>"


@pytest.mark.parametrize("mode", ["legacy", "all"])
def test_gradients_have_the_dtype_of_their_source(mode):
    enable(mode)
    x, y = one("float32"), one("float64")
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = 3.0 * x * y
    assert [kind(g) for g in tape.gradient(z, [x, y])] == ["float32", "float64"]


def test_variables():
    enable()
    v = tf.Variable([1.0, 2.0])
    assert kind(v + tf.convert_to_tensor([1, 2])) == "float64"
    assert kind(tf.Variable(1) + 2.5) == "float64"
    assert not hasattr(v, "T")


def test_assigning_keeps_the_dtype_of_the_variable():
    enable("all")
    v, whole = tf.Variable(tf.ones([])), tf.Variable(one("int32"))
    v.assign_add(one("int32"))
    v.assign_sub(True)
    assert (kind(v.read_value()), v.numpy()) == ("float32", 1)
    assert v.assign(one("int8")).numpy() == 1
    for method in (whole.assign, whole.assign_add, whole.assign_sub):
        with pytest.raises(TypeError, match="Variable dtype is immutable"):
            method(one("float32"))
    with pytest.raises(TypeError, match="Variable dtype is immutable"):
        whole.assign(2.5)
    enable("safe")
    with pytest.raises(TypeError, match=r"In promotion mode PromoMode\.SAFE"):
        v.assign_add(one("int32"))
    module._reset()
    with pytest.raises(ValueError, match="dtype"):
        v.assign_add(one("int32"))


@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
@pytest.mark.parametrize("value", ["bool", "int16", "int32", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("dtype", ["int32", "bfloat16", "float32", "complex128"])
def test_assigning_in_a_graph_is_as_in_eager_execution(dtype, value, method):
    enable("all")

    def result():
        made = tf.Variable(tf.cast(1, dtype))
        try:
            return kind(getattr(made, method)(tf.cast(1, value)))
        except TypeError as error:
            return str(error).split(". ")[0]

    eagerly = result()
    with tf.Graph().as_default():
        assert result() == eagerly


def test_methods():
    enable()
    x = tf.reshape(tf.range(6), (2, 3))
    assert x.T.numpy().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert x.transpose().tolist() == x.transpose((1, 0)).tolist() == x.T.tolist()
    assert x.ndim == 2
    assert x.size == 6
    assert x.data is x
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert x.ravel().tolist() == x.flatten().tolist() == [0, 1, 2, 3, 4, 5]
    assert x.flatten("F").tolist() == [0, 3, 1, 4, 2, 5]
    assert x.reshape(3, 2).tolist() == x.reshape((3, -1)).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert x.reshape(3, 2, order="F").tolist() == [[0, 4], [3, 2], [1, 5]]
    assert x.clip(1, 3).tolist() == [[1, 1, 2], [3, 3, 3]]
    assert x.clip(None, 3).tolist() == [[0, 1, 2], [3, 3, 3]]
    assert kind(x.clip(1.5, 3)) == "float64"
    assert kind(x.astype(np.float64)) == "float64"
    assert kind(x.astype(float)) == "float32"
    assert x.max().numpy() == 5
    assert x.max(axis=1, keepdims=True).tolist() == [[2], [5]]
    assert x.min(0).tolist() == [0, 1, 2]
    assert (x > 2).max().numpy()
    assert (kind(x.mean()), x.mean().numpy()) == ("float64", 2.5)
    assert kind(x.astype("float16").mean()) == "float16"
    assert kind(x.mean(dtype=np.float32)) == "float32"
    halves = x.astype(tf.float32) + 0.55
    np.testing.assert_allclose(round(halves, 1).numpy(), [[0.6, 1.6, 2.6], [3.6, 4.6, 5.6]], 1e-6)
    assert round(halves).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert kind(round(x)) == "int32"
    enable("all")
    assert kind(x.mean()) == "float32"


def test_bad_arguments_of_methods():
    enable()
    x = tf.range(6)
    with pytest.raises(ValueError, match="Unsupported order argument K"):
        x.reshape(3, 2, order="K")
    with pytest.raises(ValueError, match="may be `None`"):
        x.clip(None, None)
    with pytest.raises(ValueError, match="Setting out is not supported"):
        x.max(out=x)


def test_product_of_vectors():
    enable()
    m, v = tf.convert_to_tensor([[1.0, 2.0], [3.0, 4.0]]), tf.convert_to_tensor([1, 1])
    assert (m @ v).tolist() == [3, 7]
    assert (v @ m).tolist() == [4, 6]
    assert kind(v @ m) == "float64"
    with pytest.raises(ValueError, match=r"\[Op:"):
        m @ tf.ones([3, 2])


def test_indexing():
    enable()
    x = tf.reshape(tf.range(6), (2, 3))
    assert x[[1, 0]].tolist() == x[tf.convert_to_tensor([1, 0])].tolist() == [[3, 4, 5], [0, 1, 2]]
    assert x[[0, 1], [1, 2]].tolist() == [1, 5]
    assert x[:, [0, 2]].tolist() == [[0, 2], [3, 5]]
    assert x[x > 2].tolist() == [3, 4, 5]
    assert x[1, 2].numpy() == 5
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        x[[0, 5]]
    y = tf.convert_to_tensor([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(y)
        z = y[[0, 0, 2]]
    assert tf.convert_to_tensor(tape.gradient(z, y)).tolist() == [2, 0, 1]
