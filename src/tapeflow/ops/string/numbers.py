"""Numbers as strings, and strings as numbers."""

from __future__ import annotations

import math
import re
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError, ResourceExhaustedError
from tapeflow.core.files.expansion import check_expansion
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.signature import dtype
from tapeflow.ops.string.rows import each, texts
from tapeflow.ops.table import FLOATING, INTEGER, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


@op(
    "AsString",
    "input: T -> output: string",
    types={
        "T": (*FLOATING, *INTEGER, dtypes.complex64, dtypes.complex128, dtypes.bool, dtypes.string)
    },
    attrs={"precision": -1, "scientific": False, "shortest": False, "width": -1, "fill": ""},
    shape=shapes.elementwise,
)
def AsString(
    xp: ModuleType, input: Array, precision: int, scientific: bool, shortest: bool, width: int, fill: str
):
    kind = input.dtype.kind
    number = kind in "fcV"
    if scientific and shortest:
        raise invalid("Cannot select both scientific and shortest notation")
    if len(fill) > 1:
        raise invalid("Fill string must be one or fewer characters")
    if fill and fill not in " +-0#":
        raise invalid(f"Fill argument not supported: {fill}")
    for label, given in (
        ("scientific and shortest", scientific or shortest),
        ("precision", precision >= 0),
    ):
        if given and not number:
            raise invalid(f"{label} not supported for datatype {dtypes.as_dtype(input.dtype).name}")
    if kind == "O":
        return input if width < 0 else each(lambda v: _justified(v, width, fill), input)
    if precision >= 2**31:
        raise invalid(f"precision must be less than 2**31, got {precision}")
    check_expansion(max(width, precision) * input.size, input.nbytes, "The strings")
    size = (fill + (str(width) if width > -1 else "")) if width > -1 or fill else ""
    if kind == "b":
        return each(lambda v: b"true" if v else b"false", input)  # of any width
    if not number:
        return each(lambda v: f"%{size}d".encode() % int(v), input)
    digits = f".{precision}" if precision > -1 else ""
    letter = "e" if scientific else "g" if shortest else "f"
    form = f"%{size}{digits}{letter}"
    if kind == "c":
        return each(lambda v: b"(%b,%b)" % (_printed(form, v.real), _printed(form, v.imag)), input)
    return each(lambda v: _printed(form, float(v)), input)


def _printed(form: str, value: float) -> bytes:
    if not math.isfinite(value):
        form = form.replace("%0", "%")  # C fills up only digits with zeros
    return form.encode() % value


def _justified(text: bytes, width: int, fill: str) -> bytes:
    return text.ljust(width) if fill == "-" else text.rjust(width)


AsString.gradient(None)


@AsString.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([1, -20], np.int32), expect=texts("1", "-20"))
    yield Sample(np.array([1.5, 1e10]), expect=texts("1.500000", "10000000000.000000"))
    yield Sample(np.array([1.5, 1 / 3]), precision=3, expect=texts("1.500", "0.333"))
    yield Sample(np.array([1 / 3]), scientific=True, expect=texts("3.333333e-01"))
    yield Sample(np.array([1e10]), shortest=True, expect=texts("1e+10"))
    yield Sample(np.array([1, 20], np.int32), width=5, fill="0", expect=texts("00001", "00020"))
    yield Sample(np.array([1, -20], np.int32), width=5, fill="-", expect=texts("1    ", "-20  "))
    yield Sample(np.array([np.nan, -np.inf, 1.5]), width=8, fill="0", expect=texts("     nan", "    -inf", "1.500000"))
    yield Sample(np.array([complex(0, np.nan)]), width=6, fill="0", expect=texts("(0.000000,   nan)"))
    yield Sample(np.array([True, False]), expect=texts("true", "false"))
    yield Sample(np.array([1 + 2j]), expect=texts("(1.000000,2.000000)"))
    yield Sample(np.array([1], np.int32), precision=3, raises=InvalidArgumentError)
    yield Sample(np.array([1.0]), scientific=True, shortest=True, raises=InvalidArgumentError)
    yield Sample(np.array([1], np.int32), fill="xx", raises=InvalidArgumentError)
    # Strings of 3 GB in all.
    yield Sample(np.array([1, 2, 3], np.int32), width=2**30, raises=ResourceExhaustedError)
    yield Sample(np.array([1.0]), precision=2**30, raises=ResourceExhaustedError)


@api("strings.as_string", "as_string")
@tensor_function
def as_string(
    input: TensorLike, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1,
    fill: str = "", name: str | None = None,
) -> Tensor:
    """Write numbers and booleans as strings.

    Args:
      input: a tensor of a numeric dtype, of bool or of strings.
      precision: how many digits stand behind the point, for floating and complex numbers; -1: as printf does.
      scientific: whether to write an exponent always.
      shortest: whether to write the shorter of the two forms.
      width: the least length of a string; -1: none.
      fill: with what shorter strings are filled up, one character of "0", " ", "+" and "-"; "": spaces.
      name: a name for the operation (optional).

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: for options that the dtype does not have.
      ResourceExhaustedError: for widths that would take hundreds of megabytes.

    >>> tf.strings.as_string([3.14159, 2.0], precision=2).numpy()
    array([b'3.14', b'2.00'], dtype=object)
    """
    return AsString(input, precision, scientific, shortest, width, fill)


NUMBERS = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)
_REAL_NUMBER = re.compile(
    rb"\s*[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)\s*", re.I
)
_HEXADECIMAL_NUMBER = re.compile(rb"\s*[+-]?0x([0-9a-f]+(\.[0-9a-f]*)?|\.[0-9a-f]+)(p[+-]?\d+)?\s*", re.I)
_NAN_WITH_PAYLOAD = re.compile(rb"\s*[+-]?nan\(\w*\)\s*", re.I)
_WHOLE_NUMBER = re.compile(rb"\s*[+-]?\d+\s*")


@op("StringToNumber", "string_tensor: string -> output: out_type",
    attrs={"out_type": dtype(dtypes.float32)}, shape=shapes.elementwise)  # fmt: skip
def StringToNumber(xp: ModuleType, string_tensor: Array, out_type: DType):
    if out_type not in NUMBERS:
        raise invalid(
            f"Value for attr 'out_type' of {out_type.name} is not in the list of allowed values: "
            "float, double, int32, int64, uint32, uint64"
        )
    kind = np.dtype(out_type.as_numpy_dtype)
    form = _REAL_NUMBER if kind.kind == "f" else _WHOLE_NUMBER

    def parsed(text: bytes):
        if form.fullmatch(text):
            if kind.kind == "f":
                return float(text)
            limits = np.iinfo(kind)
            if limits.min <= int(text) <= limits.max:
                return int(text)
        if kind.kind == "f" and _HEXADECIMAL_NUMBER.fullmatch(text):
            return _from_hexadecimal(text)
        if kind.kind == "f" and _NAN_WITH_PAYLOAD.fullmatch(text):
            return math.nan
        raise invalid(
            f"StringToNumberOp could not correctly convert string: {text.decode(errors='replace')}"
        )

    with np.errstate(over="ignore"):
        return each(parsed, string_tensor, kind=kind)


def _from_hexadecimal(text: bytes) -> float:
    try:
        return float.fromhex(text.decode())
    except OverflowError:
        return -math.inf if text.lstrip().startswith(b"-") else math.inf


StringToNumber.gradient(None)


@StringToNumber.samples
def _(rng: SampleGenerator):
    yield Sample(texts("1", " 2.5 ", "-1e3"), expect=np.array([1, 2.5, -1000], np.float32))
    yield Sample(texts(" 12 ", "-7"), out_type=dtypes.int32, expect=np.array([12, -7], np.int32))
    yield Sample(texts("0xF", "-0X1.8p3", " 0x.8 "), expect=np.array([15, -12, 0.5], np.float32))
    yield Sample(texts("0x1p9999", "-0x1p9999", "nan(1)"), expect=np.array([np.inf, -np.inf, np.nan], np.float32))
    yield Sample(texts("0xF"), out_type=dtypes.int32, raises=InvalidArgumentError)
    yield Sample(texts("a"), raises=InvalidArgumentError)
    yield Sample(texts(""), raises=InvalidArgumentError)
    yield Sample(texts("1_0"), raises=InvalidArgumentError)
    yield Sample(texts("1.5"), out_type=dtypes.int32, raises=InvalidArgumentError)
    yield Sample(texts("99999999999"), out_type=dtypes.int32, raises=InvalidArgumentError)
    yield Sample(texts("1"), out_type=dtypes.int8, raises=InvalidArgumentError)


@api(v2="strings.to_number")
@tensor_function
def to_number(
    input: TensorLike, out_type: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """Read the numbers that strings spell.

    Args:
      input: a string tensor.
      out_type: float32, float64, int32, int64, uint32 or uint64.
      name: a name for the operation (optional).

    Returns:
      A tensor of `out_type` and of the shape of `input`.

    Raises:
      InvalidArgumentError: for a string that spells no number of that dtype.

    >>> tf.strings.to_number(["1.5", "-2"])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([ 1.5, -2. ], dtype=float32)>
    """
    return StringToNumber(input, out_type)


@api(v1=("strings.to_number", "string_to_number"))
@tensor_function
def to_number_v1(
    string_tensor=None, out_type: DTypeLike = dtypes.float32, name: str | None = None, input: TensorLike | None = None
):
    """`to_number` with the 1.x spelling `string_tensor`."""
    return to_number(string_tensor if input is None else input, out_type)
