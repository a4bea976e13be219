import ml_dtypes
import numpy as np
import pytest

from tapeflow.core import dtypes
from tapeflow.core.display import printing


class Shown:
    def __repr__(self):
        return "<TensorList>"


def objects(*elements):
    array = np.empty(len(elements), object)
    array[:] = elements
    return array


CASES = [
    (np.int32(1), "int32", "1, shape=(), dtype=int32", "shape=(), dtype=int32, numpy=1"),
    (np.float32(0.1), "float32", "0.1, shape=(), dtype=float32",
     "shape=(), dtype=float32, numpy=0.10000000149011612"),
    (np.array([[1, 2], [3, 4]], np.int32), "int32",
     "\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32",
     "shape=(2, 2), dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)"),
    (np.array([True]), "bool", "[ True], shape=(1,), dtype=bool",
     "shape=(1,), dtype=bool, numpy=array([ True])"),
    (np.complex128(1 + 2j), "complex128", "(1+2j), shape=(), dtype=complex128",
     "shape=(), dtype=complex128, numpy=(1+2j)"),
    (np.zeros((0, 3), np.float32), "float32", "[], shape=(0, 3), dtype=float32",
     "shape=(0, 3), dtype=float32, numpy=array([], shape=(0, 3), dtype=float32)"),
    (np.array([1.5, 2], ml_dtypes.bfloat16), "bfloat16", "[1.5 2], shape=(2,), dtype=bfloat16",
     "shape=(2,), dtype=bfloat16, numpy=array([1.5, 2], dtype=bfloat16)"),
    (ml_dtypes.bfloat16(105), "bfloat16", "105, shape=(), dtype=bfloat16",
     "shape=(), dtype=bfloat16, numpy=105.0"),
    (np.array(b"it's", object), "string", 'b"it\'s", shape=(), dtype=string',
     'shape=(), dtype=string, numpy=b"it\'s"'),
    (objects(b"a", b"\xff"), "string", "[b'a' b'\\xff'], shape=(2,), dtype=string",
     "shape=(2,), dtype=string, numpy=array([b'a', b'\\xff'], dtype=object)"),
    (np.array([1e0, 1e-10], np.float32), "float32", "[1.e+00 1.e-10], shape=(2,), dtype=float32",
     "shape=(2,), dtype=float32, numpy=array([1.e+00, 1.e-10], dtype=float32)"),
    (np.array(Shown(), object), "variant", "<TensorList>, shape=(), dtype=variant",
     "shape=(), dtype=variant, value=<TensorList>"),
    (objects(Shown(), Shown()), "variant",
     "[<TensorList> <TensorList>], shape=(2,), dtype=variant",
     "shape=(2,), dtype=variant, value=[<TensorList> <TensorList>]"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "dtype", "printed", "represented"), CASES)
def test_tensor(value, dtype, printed, represented):
    dtype = dtypes.as_dtype(dtype)
    assert printing.to_str(value, value.shape, dtype) == f"tf.Tensor({printed})"
    assert printing.to_repr(value, value.shape, dtype) == f"<tf.Tensor: {represented}>"


def test_long_arrays_are_shortened():
    text = printing.to_str(np.arange(2000, dtype=np.int32), (2000,), dtypes.int32)
    assert text == "tf.Tensor([   0    1    2 ... 1997 1998 1999], shape=(2000,), dtype=int32)"


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (np.int32(1), ".3f", "1.000"),
        (np.float32(1.5), "", "1.5"),
        (np.array(1.5, ml_dtypes.bfloat16), ">8", "     1.5"),
        (np.array([[1, 2]]), "", "[[1 2]]"),
    ],
)
def test_format(value, spec, text):
    assert printing.to_format(value, spec) == text


def test_format_of_an_array_takes_no_spec():
    with pytest.raises(TypeError, match="unsupported format string"):
        printing.to_format(np.array([1.0]), ".3f")


def test_variable():
    text = printing.variable_to_str("v:0", np.float32(5), (), dtypes.float32)
    assert text == "<tf.Variable 'v:0' shape=() dtype=float32, numpy=5.0>"
    text = printing.variable_to_str("n:0", np.ones((2, 1), np.int32), (2, 1), dtypes.int32)
    assert text == (
        "<tf.Variable 'n:0' shape=(2, 1) dtype=int32, numpy=\narray([[1],\n       [1]], dtype=int32)>"
    )


def test_symbolic():
    assert printing.symbolic_to_str("a:0", (None, 2), dtypes.int32) == (
        'Tensor("a:0", shape=(None, 2), dtype=int32)'
    )
    assert printing.symbolic_to_str("a:0", None, dtypes.int32) == 'Tensor("a:0", dtype=int32)'
    assert printing.symbolic_to_repr("a:0", None, dtypes.int32) == (
        "<tf.Tensor 'a:0' shape=<unknown> dtype=int32>"
    )
