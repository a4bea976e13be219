"""Element types: `DType`, one object for each, and `as_dtype`, which accepts all that names one.

The numbers are those of TensorFlow's types.proto. The types that 1.x calls references
(`float32_ref`, ...) have the number of the plain type plus 100.
"""

from __future__ import annotations

import builtins
from typing import Any

import ml_dtypes
import numpy as np

from tapeflow.api import api, api_value

_REF = 100

_by_number: dict[int, DType] = {}
_by_name: dict[str, DType] = {}


@api("dtypes.DType", "DType")
class DType:
    """The type of the elements of a tensor.

    There is one object for each type, so `is` and `==` agree; `==` also accepts what `as_dtype` does.

    Attributes:
      name: such as "float32".
      as_datatype_enum: the number in TensorFlow's protocol buffers.
      as_numpy_dtype: the NumPy type; resource and variant have none and raise KeyError.
      base_dtype: the same type, not a reference.
      real_dtype: the type of the real part of a complex type, else the type itself.
      size: bytes of one element; 0 for string, resource and variant.
      is_bool, is_integer, is_floating, is_complex, is_quantized, is_unsigned, is_numeric,
      is_numpy_compatible: quantized types are not integers, and bool is not an integer.
    """

    __slots__ = (
        "_type_enum", "name", "as_numpy_dtype", "base_dtype", "real_dtype", "size", "is_bool",
        "is_integer", "is_floating", "is_complex", "is_quantized", "is_unsigned", "is_numeric",
        "is_numpy_compatible", "_is_ref_dtype", "__weakref__",
    )  # fmt: skip

    _type_enum: int
    name: str
    as_numpy_dtype: Any
    base_dtype: DType
    real_dtype: DType
    size: int
    is_bool: builtins.bool
    is_integer: builtins.bool
    is_floating: builtins.bool
    is_complex: builtins.bool
    is_quantized: builtins.bool
    is_unsigned: builtins.bool
    is_numeric: builtins.bool
    is_numpy_compatible: builtins.bool
    _is_ref_dtype: builtins.bool

    def __new__(cls, type_enum: int, handle_data: Any = None) -> DType:
        try:
            return _by_number[int(type_enum)]
        except KeyError:
            raise TypeError(
                f"{type_enum} does not correspond to a valid tensorflow::DataType"
            ) from None

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(f"{self!r} cannot be changed: attribute {key!r}")

    def __getattr__(self, key: str) -> Any:
        # Reached only for a slot that was left empty.
        if key == "as_numpy_dtype":
            raise KeyError(f"{self} has no NumPy type (type number {self._type_enum})")
        raise AttributeError(f"'DType' object has no attribute {key!r}")

    @property
    def as_datatype_enum(self) -> int:
        return self._type_enum

    @property
    def _as_ref(self) -> DType:
        """The reference type of this type."""
        return self if self._is_ref_dtype else _by_number[self._type_enum + _REF]

    @property
    def min(self) -> Any:
        """The smallest finite value. Raises TypeError for a type that has none."""
        return self._extreme("minimum", "min")

    @property
    def max(self) -> Any:
        """The largest finite value. Raises TypeError for a type that has none."""
        return self._extreme("maximum", "max")

    def _extreme(self, word: str, attribute: str) -> Any:
        if self.is_floating:
            return getattr(ml_dtypes.finfo(self.as_numpy_dtype), attribute)
        if self.is_integer:
            return getattr(ml_dtypes.iinfo(self.as_numpy_dtype), attribute)
        kind = ""
        if self.is_numpy_compatible:
            kind = f" with {'quantized ' if self.is_quantized else ''}type {self.base_dtype}"
        raise TypeError(f"Cannot find {word} value of {self}{kind}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of intensities of an image of this type, the lower end not below zero.

        Raises ValueError for types that images do not have.
        """
        if self.name.startswith(("float32", "float64")):
            return 0, 1
        if self.is_bool:
            return 0, True
        if self.is_integer and self.base_dtype.as_datatype_enum < _first_narrow:
            return 0, self.max
        if not self.is_numpy_compatible:
            raise KeyError(self._type_enum)
        raise ValueError(f"{self} does not have defined limits.")

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether a value of type `other` can be used where this type is asked for."""
        other = as_dtype(other)
        return self._type_enum in (other.as_datatype_enum, other.base_dtype.as_datatype_enum)

    def is_subtype_of(self, other: Any) -> builtins.bool:
        """Whether values of this dtype go where one of `other` is expected: only if they are the same."""
        return self is other

    def most_specific_common_supertype(self, others: Any) -> DType | None:
        """This dtype if all others are the same, else None."""
        return self if all(self is other for other in others) else None

    def __eq__(self, other: Any) -> builtins.bool:
        if self is other:
            return True
        if other is None or type(other) is DType:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self._type_enum

    def __int__(self) -> int:
        return self._type_enum

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


def _define(number: int, name: str, kind: str, numpy_type: Any, size: int) -> DType:
    """Make a type and its reference type. `kind` is one letter, see the callers below."""
    plain = object.__new__(DType)
    for dtype, offset in ((plain, 0), (object.__new__(DType), _REF)):
        values = {
            "_type_enum": number + offset,
            "name": name + ("_ref" if offset else ""),
            "base_dtype": plain,
            "real_dtype": dtype,
            "size": size,
            "is_bool": kind == "b",
            "is_integer": kind in "iu",
            "is_floating": kind == "f",
            "is_complex": kind == "c",
            "is_quantized": kind == "q",
            "is_unsigned": kind == "u",
            "is_numeric": kind in "iufcq" and number < 24,
            "is_numpy_compatible": numpy_type is not None,
            "_is_ref_dtype": offset > 0,
        }
        if numpy_type is not None:
            values["as_numpy_dtype"] = numpy_type
        for key, value in values.items():
            object.__setattr__(dtype, key, value)
        _by_number[number + offset] = dtype
        _by_name[dtype.name] = dtype
    return plain


def _define_number(number: int, name: str, kind: str, numpy_type: Any) -> DType:
    return _define(number, name, kind, numpy_type, np.dtype(numpy_type).itemsize)


def _define_quantized(number: int, name: str, storage: str) -> DType:
    # NumPy has no quantized types: a record of one field tells them from plain integers.
    numpy_type = np.dtype([(name, storage)])
    return _define(number, name, "q", numpy_type, numpy_type.itemsize)


float32 = _define_number(1, "float32", "f", np.float32)
api_value("float32", "dtypes.float32", "float32")
float64 = _define_number(2, "float64", "f", np.float64)
api_value("float64", "dtypes.float64", "float64")
int32 = _define_number(3, "int32", "i", np.int32)
api_value("int32", "dtypes.int32", "int32")
uint8 = _define_number(4, "uint8", "u", np.uint8)
api_value("uint8", "dtypes.uint8", "uint8")
int16 = _define_number(5, "int16", "i", np.int16)
api_value("int16", "dtypes.int16", "int16")
int8 = _define_number(6, "int8", "i", np.int8)
api_value("int8", "dtypes.int8", "int8")
string = _define(7, "string", "s", object, 0)
api_value("string", "dtypes.string", "string")
complex64 = _define_number(8, "complex64", "c", np.complex64)
api_value("complex64", "dtypes.complex64", "complex64")
int64 = _define_number(9, "int64", "i", np.int64)
api_value("int64", "dtypes.int64", "int64")
bool = _define_number(10, "bool", "b", np.bool_)
api_value("bool", "dtypes.bool", "bool")
qint8 = _define_quantized(11, "qint8", "i1")
api_value("qint8", "dtypes.qint8", "qint8")
quint8 = _define_quantized(12, "quint8", "u1")
api_value("quint8", "dtypes.quint8", "quint8")
qint32 = _define_quantized(13, "qint32", "i4")
api_value("qint32", "dtypes.qint32", "qint32")
bfloat16 = _define_number(14, "bfloat16", "f", ml_dtypes.bfloat16)
api_value("bfloat16", "dtypes.bfloat16", "bfloat16")
qint16 = _define_quantized(15, "qint16", "i2")
api_value("qint16", "dtypes.qint16", "qint16")
quint16 = _define_quantized(16, "quint16", "u2")
api_value("quint16", "dtypes.quint16", "quint16")
uint16 = _define_number(17, "uint16", "u", np.uint16)
api_value("uint16", "dtypes.uint16", "uint16")
complex128 = _define_number(18, "complex128", "c", np.complex128)
api_value("complex128", "dtypes.complex128", "complex128")
float16 = _define_number(19, "float16", "f", np.float16)
api_value("float16", "dtypes.float16", "float16")
resource = _define(20, "resource", "r", None, 0)
api_value("resource", "dtypes.resource", "resource")
variant = _define(21, "variant", "v", None, 0)
api_value("variant", "dtypes.variant", "variant")
uint32 = _define_number(22, "uint32", "u", np.uint32)
api_value("uint32", "dtypes.uint32", "uint32")
uint64 = _define_number(23, "uint64", "u", np.uint64)
api_value("uint64", "dtypes.uint64", "uint64")
float8_e5m2 = _define_number(24, "float8_e5m2", "f", ml_dtypes.float8_e5m2)
api_value("float8_e5m2", "dtypes.experimental.float8_e5m2")
float8_e4m3fn = _define_number(25, "float8_e4m3fn", "f", ml_dtypes.float8_e4m3fn)
api_value("float8_e4m3fn", "dtypes.experimental.float8_e4m3fn")
float8_e4m3fnuz = _define_number(26, "float8_e4m3fnuz", "f", ml_dtypes.float8_e4m3fnuz)
api_value("float8_e4m3fnuz", "dtypes.experimental.float8_e4m3fnuz")
float8_e4m3b11fnuz = _define_number(27, "float8_e4m3b11fnuz", "f", ml_dtypes.float8_e4m3b11fnuz)
api_value("float8_e4m3b11fnuz", "dtypes.experimental.float8_e4m3b11fnuz")
float8_e5m2fnuz = _define_number(28, "float8_e5m2fnuz", "f", ml_dtypes.float8_e5m2fnuz)
api_value("float8_e5m2fnuz", "dtypes.experimental.float8_e5m2fnuz")
int4 = _define_number(29, "int4", "i", ml_dtypes.int4)
api_value("int4", "dtypes.experimental.int4")
uint4 = _define_number(30, "uint4", "u", ml_dtypes.uint4)
api_value("uint4", "dtypes.experimental.uint4")
int2 = _define_number(31, "int2", "i", ml_dtypes.int2)
api_value("int2", "dtypes.experimental.int2")
uint2 = _define_number(32, "uint2", "u", ml_dtypes.uint2)
api_value("uint2", "dtypes.experimental.uint2")
float4_e2m1fn = _define_number(33, "float4_e2m1fn", "f", ml_dtypes.float4_e2m1fn)
api_value("float4_e2m1fn", "dtypes.experimental.float4_e2m1fn")

_first_narrow = int4.as_datatype_enum

for _complex, _real in ((complex64, float32), (complex128, float64)):
    object.__setattr__(_complex, "real_dtype", _real)
    object.__setattr__(_complex._as_ref, "real_dtype", _real)

half = float16
api_value("half", "dtypes.half", "half")
double = float64
api_value("double", "dtypes.double", "double")


def _ref(kind: DType) -> DType:
    return kind._as_ref


float32_ref = _ref(float32)
float64_ref = _ref(float64)
int32_ref = _ref(int32)
uint8_ref = _ref(uint8)
int16_ref = _ref(int16)
int8_ref = _ref(int8)
string_ref = _ref(string)
complex64_ref = _ref(complex64)
int64_ref = _ref(int64)
bool_ref = _ref(bool)
qint8_ref = _ref(qint8)
quint8_ref = _ref(quint8)
qint32_ref = _ref(qint32)
bfloat16_ref = _ref(bfloat16)
qint16_ref = _ref(qint16)
quint16_ref = _ref(quint16)
uint16_ref = _ref(uint16)
complex128_ref = _ref(complex128)
float16_ref = _ref(float16)
half_ref = float16_ref
double_ref = float64_ref
resource_ref = _ref(resource)
variant_ref = _ref(variant)
uint32_ref = _ref(uint32)
uint64_ref = _ref(uint64)

QUANTIZED_DTYPES = frozenset(dtype for dtype in _by_number.values() if dtype.is_quantized)
api_value("QUANTIZED_DTYPES", "dtypes.QUANTIZED_DTYPES", v1="QUANTIZED_DTYPES")

# What `as_dtype` knows without looking closer: numbers, names, Python types, NumPy scalar classes and
# NumPy dtypes. The keys of different sorts never compare equal, so one table serves.
_known: dict[Any, DType] = {**_by_number, **_by_name}
_known.update({"half": float16, "half_ref": float16_ref, "double": float64})
_known.update({"double_ref": float64_ref, "float": float32, "float_ref": float32_ref})
_known.update({float: float32, builtins.bool: bool, object: string})
_known.update({np.str_: string, np.bytes_: string, np.object_: string})
for _dtype in list(_by_number.values()):
    if _dtype.is_numpy_compatible and _dtype is _dtype.base_dtype:
        _known.setdefault(np.dtype(_dtype.as_numpy_dtype), _dtype)
        if not _dtype.is_quantized:
            _known.setdefault(_dtype.as_numpy_dtype, _dtype)
# NumPy's classes for the integers of C: those that are not one of the sized classes above.
for _class in (np.intc, np.int_, np.longlong, np.uintc, np.uint, np.ulonglong):
    _known.setdefault(_class, _by_name[np.dtype(_class).name])


@api("dtypes.as_dtype", "as_dtype")
def as_dtype(type_value: Any) -> DType:
    """The `DType` that `type_value` names.

    Accepts a `DType`, its number or name, a NumPy type or dtype (of any byte order), the Python types
    `float`, `bool` and `object`, and an object whose `dtype` is a NumPy dtype.

    Raises TypeError if it names none.
    """
    if type(type_value) is DType:
        return type_value
    try:
        return _known[type_value]
    except (KeyError, TypeError):  # TypeError: not hashable
        pass
    numpy_type = type_value
    if not isinstance(numpy_type, np.dtype):
        numpy_type = getattr(type_value, "dtype", None)
    if isinstance(numpy_type, np.dtype):
        if numpy_type.kind in "SUO":
            return string
        found = _known.get(numpy_type.newbyteorder("="))
        if found is not None:
            return found
    raise TypeError(
        f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType."
    )
