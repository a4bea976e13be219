"""Layers of integers of eight bits with what follows them: a bias, a sum, a rectifier, a new range.

Zero is the integer 0 here: a number is an integer times the greatest end of a range, over the greatest integer. The
integers of the left side of a product of matrices may be counted from the end of their range instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.linalg.matmul import MatMul
from tapeflow.ops.quantize.levels import integer_of, levels, numbers, quantized, scalar
from tapeflow.ops.signature import dtype, one_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

NEVER = "it computes in integers that stand for floats"
FLOAT = (dtypes.float32,)
BIAS = (dtypes.float32, dtypes.qint32)
_FIXED = ("min_freezed_output", "max_freezed_output")


class Parts(NamedTuple):
    """What follows a product.

    Attributes:
      bias: the dtypes that it may have; none where there is none.
      summand: those of what is added to it; none where nothing is.
      relu: whether negative numbers become zero.
      out: the dtype of the result.
    """

    bias: tuple[DType, ...] = ()
    summand: tuple[DType, ...] = ()
    relu: bool = False
    out: DType = dtypes.qint32

    @property
    def fixed(self) -> bool:
        """Whether the call gives the range of the result."""
        return self.out != dtypes.qint32


def _reach(low: Any, high: Any) -> Any:
    """The greatest end of each range, without its sign."""
    return np.maximum(np.abs(low), np.abs(high)).astype(np.float32)


def _greatest(kind: Any) -> np.float32:
    return np.float32(integer_of(kind).max)


def step(kind: Any, low: Any, high: Any) -> Any:
    """How much one integer is, where as many are negative as positive."""
    return _reach(low, high) / _greatest(kind)


def between(kind: Any, low: Any, high: Any) -> Any:
    """What one integer is by the whole range, by which results of 32 bits say theirs."""
    info = integer_of(kind)
    return ((np.float32(high) - np.float32(low)) / np.float32(info.max - max(info.min, -info.max))).astype(np.float32)


def ends(given: dict[str, Any], *names: str) -> list[np.float32]:
    return [np.float32(scalar(given[name], name)) for name in names]


def finished(total: np.ndarray, left: Any, right: np.ndarray, parts: Parts, given: dict[str, Any], extra: Any = 0):
    """The result of a layer, from the sums of products of integers and what an integer of either side is.

    `extra` is what the sums lack, in floats.
    """
    y = total.astype(np.float32) * (left * right) + np.float32(extra)
    if parts.bias:
        bias = given["bias"]
        if bias.shape != y.shape[-1:]:
            raise invalid(f"bias must have shape {shape_text(y.shape[-1:])}, got {shape_text(bias.shape)}")
        y = y + (bias if bias.dtype == np.float32 else numbers(bias).astype(np.float32) * (left * right))
    if parts.summand:
        y = y + _summand(given, y.shape)
    y = np.maximum(y, 0) if parts.relu else y
    if parts.out == dtypes.float32:
        return y.astype(np.float32)
    info = integer_of(parts.out.as_numpy_dtype)
    unit = left * np.max(right)
    if parts.fixed:
        unit = step(parts.out.as_numpy_dtype, *ends(given, *_FIXED))
    if np.any(unit == 0):
        raise invalid("The range of the result must not be empty")
    # The result takes the place of what is added, and has its sign.
    top = min(info.max, integer_of(given["summand"].dtype).max) if parts.fixed and parts.summand else info.max
    y = np.clip(np.rint((y / unit).astype(np.float64)), info.min, top)
    return levels(y, parts.out.as_numpy_dtype)


def _summand(given: dict[str, Any], shape: Sequence[int]) -> np.ndarray:
    x = given["summand"]
    if x.shape != tuple(shape):
        raise invalid(f"summand must have shape {shape_text(shape)}, got {shape_text(x.shape)}")
    if x.dtype == np.float32:
        return x
    return numbers(x).astype(np.float32) * step(x.dtype, *ends(given, "min_summand", "max_summand"))


def range_of(parts: Parts, given: dict[str, Any], left: Any, right: Any) -> tuple[Any, Any]:
    """The range of a result."""
    if parts.fixed:
        low, high = ends(given, *_FIXED)
        return low, high
    unit = (left * right).astype(np.float32)
    return np.float32(unit * np.float32(-(2.0**31))), np.float32(unit * np.float32(2.0**31))


class _Signature(NamedTuple):
    """What a row says of its inputs, by what follows the product."""

    inputs: str
    ranks: str
    types: dict[str, tuple[DType, ...]]
    out: str


def signature_of(parts: Parts, ranges: str, ranks: str) -> _Signature:
    """Of the inputs after the two sides of a product, of which `ranges` are the ranges of these."""
    types: dict[str, tuple[DType, ...]] = {}
    names, scalars = [ranges], [ranks]
    if parts.bias:
        types |= {"Tbias": parts.bias} if len(parts.bias) > 1 else {}
        names.insert(0, "bias: " + ("Tbias" if len(parts.bias) > 1 else "float32"))
        scalars.append("bias: 1")
    more = list(_FIXED) if parts.fixed else []
    names += [f"{name}: float32" for name in more]
    if parts.summand == FLOAT:
        names.append("summand: float32")
    elif parts.summand:
        types["Tsummand"] = parts.summand
        more += ["min_summand", "max_summand"]
        names.append("summand: Tsummand, min_summand: float32, max_summand: float32")
    scalars += [f"{name}: 0" for name in more]
    return _Signature(", ".join(names), ", ".join(scalars), types, parts.out.name)


def require_out(found: DType, parts: Parts, name: str) -> None:
    if found != parts.out:
        raise invalid(f"{name} must be {parts.out.name}, got {found.name}")


FIXED_SAMPLE = [np.float32(-510), np.float32(255)]


def sample_result(parts: Parts, y: Any) -> tuple[Any, ...]:
    """What a sample gives, whose floats are whole: the result and its range."""
    y = np.maximum(y, 0) if parts.relu else y
    reach = np.float32(2.0**31)
    if not parts.fixed:
        return y, -reach, reach
    if parts.out == dtypes.float32:
        return y.astype(np.float32), *FIXED_SAMPLE
    info = integer_of(parts.out.as_numpy_dtype)
    return np.clip(np.rint(y * (info.max / 510)), info.min, info.max), *FIXED_SAMPLE


def bias_samples(parts: Parts, values: Sequence[int]):
    """The bias of samples, as floats and, where they may be that, as integers that stand for them."""
    if parts.bias:
        yield np.array(values, np.float32)
    if len(parts.bias) > 1:
        yield quantized(values, dtypes.qint32)


def _matmul_row(end: str, parts: Parts):
    name = "QuantizedMatMulWithBias" + end
    several = parts.out != dtypes.float32
    names = ("min_a", "max_a", "min_b", "max_b")
    signature = signature_of(parts, *(", ".join(f"{each}: {what}" for each in names) for what in ("float32", "0")))

    def rule(call: ShapeCall):
        return [*MatMul.shape_rule(call), (), ()][: 3 if several else 1]

    @op(
        name,
        f"a: T1, b: T2, {signature.inputs} -> out: Toutput" + ", min_out: float32, max_out: float32" * several,
        types={"T1": (dtypes.quint8,), "T2": (dtypes.qint8,), **signature.types},
        attrs={
            "Toutput": dtype(parts.out) if several else dtype, "transpose_a": False, "transpose_b": False,
            "input_quant_mode": one_of("MIN_FIRST", "SCALED", default="MIN_FIRST"),
        },
        ranks=signature.ranks,
        shape=rule,
    )  # fmt: skip
    def row(
        xp: ModuleType, a: Any, b: Any, *inputs: Array, Toutput: DType, transpose_a: bool, transpose_b: bool,
        input_quant_mode: str,
    ):
        require_out(Toutput, parts, "Toutput")
        given = dict(zip([each.name for each in row.schema.inputs[2:]], inputs, strict=True))
        for what, side in zip("ab", (a, b), strict=True):
            if side.ndim != 2:
                raise invalid(f"{what} must be a matrix, got shape {shape_text(side.shape)}")
        x, y = numbers(a).astype(np.int64), numbers(b).astype(np.int64)
        x, y = x.T if transpose_a else x, y.T if transpose_b else y
        if x.shape[1] != y.shape[0]:
            raise invalid(
                f"Matrix size-incompatible: In[0]: {shape_text(a.shape)}, In[1]: {shape_text(b.shape)}"
            )
        low, high, *other = ends(given, *names)
        right, lacking = step(b.dtype, *other), 0
        if input_quant_mode == "SCALED":
            left = step(a.dtype, low, high)
        else:
            left = (high - low) / _greatest(a.dtype)
            # Integers that stand for the bias have this already.
            lacking = low * right * y.sum(0) if given["bias"].dtype == np.float32 else 0
        out = finished(x @ y, left, right, parts, given, lacking)
        if not several:
            return out
        units = between(a.dtype, low, high), between(b.dtype, *other)
        return out, *range_of(parts, given, *units)

    row.gradient(None)
    row.compiled(never=NEVER)

    @row.samples
    def _(rng: SampleGenerator):
        a, b = quantized([[0, 1, 2], [3, 4, 5]]), quantized([[1, -2], [3, 0], [-1, 2]], dtypes.qint8)
        limits = [np.float32(v) for v in (0, 255, -127, 127)] + FIXED_SAMPLE * parts.fixed
        want = sample_result(parts, np.array([[1, 4], [10, 4]]) + [1, -20])
        attrs: dict[str, Any] = {} if several else {"Toutput": parts.out}
        for bias in bias_samples(parts, [1, -20]):
            for mode in ("MIN_FIRST", "SCALED"):
                yield Sample(a, b, bias, *limits, **attrs, input_quant_mode=mode, expect=want if several else want[0])
        turned: dict[str, Any] = {"transpose_a": True, "transpose_b": True}
        want = sample_result(parts, np.array([[-6, 0, 6], [-7, 3, 7], [-8, 6, 8]]) + [1, -2, 3])
        bias = np.array([1, -2, 3], np.float32)
        yield Sample(a, b, bias, *limits, **attrs, **turned, expect=want if several else want[0])
        bias = np.array([1, -20], np.float32)
        yield Sample(a, b, bias[:1], *limits, **attrs, raises=InvalidArgumentError)
        yield Sample(a, b[:2], bias, *limits, **attrs, raises=InvalidArgumentError)
        yield Sample(a[0], b, bias, *limits, **attrs, raises=InvalidArgumentError)
        yield Sample(a, b, bias, bias, *limits[1:], **attrs, raises=InvalidArgumentError)
        yield Sample(a, b, bias, *limits, Toutput=dtypes.qint16, raises=InvalidArgumentError)

    return row


QuantizedMatMulWithBias = _matmul_row("", Parts(BIAS))
QuantizedMatMulWithBiasAndRelu = _matmul_row("AndRelu", Parts(FLOAT, relu=True))
QuantizedMatMulWithBiasAndRequantize = _matmul_row("AndRequantize", Parts(BIAS, out=dtypes.quint8))
QuantizedMatMulWithBiasAndReluAndRequantize = _matmul_row(
    "AndReluAndRequantize", Parts(BIAS, relu=True, out=dtypes.quint8)
)
QuantizedMatMulWithBiasAndDequantize = _matmul_row("AndDequantize", Parts(BIAS, out=dtypes.float32))
