import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import dtypes


@pytest.mark.parametrize(
    ("dtype", "number", "numpy_type", "size"),
    [
        (dtypes.float32, 1, np.float32, 4),
        (dtypes.float64, 2, np.float64, 8),
        (dtypes.int32, 3, np.int32, 4),
        (dtypes.uint8, 4, np.uint8, 1),
        (dtypes.string, 7, object, 0),
        (dtypes.complex64, 8, np.complex64, 8),
        (dtypes.int64, 9, np.int64, 8),
        (dtypes.bool, 10, np.bool_, 1),
        (dtypes.bfloat16, 14, ml_dtypes.bfloat16, 2),
        (dtypes.complex128, 18, np.complex128, 16),
        (dtypes.half, 19, np.float16, 2),
        (dtypes.uint64, 23, np.uint64, 8),
        (dtypes.float8_e5m2, 24, ml_dtypes.float8_e5m2, 1),
        (dtypes.int4, 29, ml_dtypes.int4, 1),
        (dtypes.qint8, 11, np.dtype([("qint8", "i1")]), 1),
    ],
)
def test_facts(dtype, number, numpy_type, size):
    assert dtype.as_datatype_enum == number
    assert dtype.as_numpy_dtype == numpy_type
    assert dtype.size == size
    assert dtypes.DType(number) is dtype


def test_text():
    assert repr(dtypes.float32) == "tf.float32"
    assert str(dtypes.float32) == "<dtype: 'float32'>"
    assert f"{dtypes.int8}" == "<dtype: 'int8'>"
    assert dtypes.half.name == "float16"


def test_kinds():
    def named(kind):
        plain = [d for d in map(dtypes.DType, range(1, 24)) if getattr(d, kind)]
        return " ".join(d.name for d in plain)

    assert named("is_floating") == "float32 float64 bfloat16 float16"
    assert named("is_integer") == "int32 uint8 int16 int8 int64 uint16 uint32 uint64"
    assert named("is_unsigned") == "uint8 uint16 uint32 uint64"
    assert named("is_complex") == "complex64 complex128"
    assert named("is_bool") == "bool"
    assert named("is_quantized") == "qint8 quint8 qint32 qint16 quint16"
    assert not dtypes.resource.is_numpy_compatible
    assert not dtypes.string.is_numeric


def test_equality_accepts_what_names_a_dtype():
    assert dtypes.float32 == "float32"
    assert dtypes.float32 == "float"
    assert dtypes.float32 == np.float32
    assert dtypes.float32 == 1
    assert dtypes.float32 != "no such dtype"
    assert dtypes.float32 != dtypes.float64
    assert dtypes.float32 != None  # noqa: E711
    assert dtypes.float32 != 3.5
    assert {dtypes.float32: "found"}[dtypes.as_dtype("float32")] == "found"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("half", dtypes.float16),
        ("double", dtypes.float64),
        (float, dtypes.float32),
        (bool, dtypes.bool),
        (object, dtypes.string),
        (np.dtype("S3"), dtypes.string),
        (np.dtype("U3"), dtypes.string),
        (np.str_, dtypes.string),
        (np.dtype(">f4"), dtypes.float32),
        (np.longlong, dtypes.int64),
        (np.intc, dtypes.int32),
        (np.zeros(2, np.int16), dtypes.int16),
        (np.dtype(ml_dtypes.bfloat16), dtypes.bfloat16),
        (np.dtype([("qint8", "i1")]), dtypes.qint8),
        (101, dtypes.float32_ref),
        ("float32_ref", dtypes.float32_ref),
    ],
)
def test_as_dtype(value, expected):
    assert dtypes.as_dtype(value) is expected


@pytest.mark.parametrize(
    "value", [0, 99, None, int, complex, str, "foo", "f4", b"float32", [1], 1.5]
)
def test_as_dtype_rejects(value):
    with pytest.raises(TypeError) as caught:
        dtypes.as_dtype(value)
    expected = f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType."
    assert str(caught.value) == expected


def test_unknown_number():
    with pytest.raises(TypeError, match="200 does not correspond to a valid tensorflow::DataType"):
        dtypes.DType(200)


def test_limits():
    assert dtypes.int8.min == -128
    assert dtypes.uint64.max == 18446744073709551615
    assert dtypes.float32.max == np.finfo(np.float32).max
    assert float(dtypes.bfloat16.max) == 3.3895313892515355e38
    assert dtypes.uint8.limits == (0, 255)
    assert dtypes.float32.limits == (0, 1)
    with pytest.raises(ValueError, match="<dtype: 'string'> does not have defined limits"):
        _ = dtypes.string.limits
    with pytest.raises(TypeError) as caught:
        _ = dtypes.qint8.min
    assert str(caught.value) == (
        "Cannot find minimum value of <dtype: 'qint8'> with quantized type <dtype: 'qint8'>."
    )


def test_references():
    reference = dtypes.float32_ref
    assert reference.base_dtype is dtypes.float32
    assert reference != dtypes.float32
    assert dtypes.float32.is_compatible_with(reference)
    assert not reference.is_compatible_with(dtypes.float32)
    assert dtypes.complex64.real_dtype is dtypes.float32
    assert repr(reference) == "tf.float32_ref"


def test_resource_has_no_numpy_type():
    with pytest.raises(KeyError, match="resource"):
        _ = dtypes.resource.as_numpy_dtype


def test_one_object_for_each():
    for dtype in (dtypes.float32, dtypes.qint16, dtypes.variant, dtypes.int64_ref):
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.deepcopy(dtype) is dtype


def test_immutable():
    with pytest.raises(AttributeError):
        dtypes.float32.name = "other"
    with pytest.raises(AttributeError, match="no attribute 'foo'"):
        _ = dtypes.float32.foo


@pytest.mark.parametrize(
    ("kind", "shown"),
    [(tf.qint8, "int8"), (tf.quint8, "uint8"), (tf.qint16, "int16"), (tf.quint16, "uint16"), (tf.qint32, "int32")],
)
def test_quantized_elements_are_integers_for_numpy(kind, shown):
    for value in ([1, 2], 3, [[1], [2]]):
        x = tf.constant(value, kind)
        for array in (x.numpy(), np.asarray(x)):
            assert array.dtype == shown
            assert array.tolist() == value
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        assert session.run(tf.constant([1, 2], kind)).dtype == shown
