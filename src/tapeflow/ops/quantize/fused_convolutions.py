"""Convolutions of integers of eight bits with what follows them, whose filters may have a range for each channel."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.convolution.sliding import sliding_rule
from tapeflow.ops.convolution.taps import convolve
from tapeflow.ops.quantize.fused_layers import (
    BIAS,
    FIXED_SAMPLE,
    FLOAT,
    NEVER,
    Parts,
    between,
    bias_samples,
    ends,
    finished,
    range_of,
    require_out,
    sample_result,
    signature_of,
    step,
)
from tapeflow.ops.quantize.levels import numbers, quantized
from tapeflow.ops.signature import dtype, ints, one_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import ShapeCall

_EITHER, _UNSIGNED = (dtypes.quint8, dtypes.qint8), (dtypes.quint8,)
_RANGES = "min_input: float32, max_input: float32, min_filter: float32, max_filter: float32"


def _rule(parts: Parts, depthwise: bool):
    """The shape rule of a layer; the range of a result of 32 bits has the shape of the filter's."""
    at = 4 + bool(parts.bias)

    def rule(call: ShapeCall):
        x, w = shapes.with_rank(call.shape(0), 4), shapes.with_rank(call.shape(1), 4)
        depth = shapes.same_dimension(x[3], w[2])
        channels = shapes.times(depth, w[3]) if depthwise else w[3]
        attrs = call.attr("strides"), call.attr("dilations"), call.attr("padding")
        out = sliding_rule("NHWC", x, w[:2], *attrs, (), channels)
        limits = () if parts.fixed else call.shape(at)
        return [out, limits, limits]

    return rule


def _filter_range(given: dict[str, Any], channels: int) -> tuple[np.ndarray, np.ndarray]:
    low, high = given["min_filter"], given["max_filter"]
    if low.shape != high.shape or low.shape not in ((), (1,), (channels,)):
        raise invalid(
            f"min_filter and max_filter must be scalars or have {channels} elements, got shapes "
            f"{shape_text(low.shape)} and {shape_text(high.shape)}"
        )
    return low, high


def _sums(input: Any, filter: Any, depthwise: bool, attrs: dict[str, Any]) -> np.ndarray:
    """The convolution of the integers."""
    for name, each in (("input", input), ("filter", filter)):
        if each.ndim != 4:
            raise invalid(f"{name} must be 4-dimensional, got shape {shape_text(each.shape)}")
    if input.shape[3] != filter.shape[2]:
        raise invalid(f"input and filter must have the same depth: {input.shape[3]} vs {filter.shape[2]}")
    x, w = numbers(input).astype(np.int64), numbers(filter).astype(np.int64)
    if depthwise:
        w = w.reshape(*w.shape[:2], 1, -1)
    return convolve(np, x, w, 4, attrs["padding"], attrs["strides"], attrs["dilations"], "NHWC")


def _row(name: str, parts: Parts, source: tuple[DType, ...] = _UNSIGNED, one_range: bool = False, pads: bool = True):
    """The row of a layer. `one_range`: all channels have the same; `pads`: it has the attr of TensorFlow's for pads."""
    depthwise = "Depthwise" in name
    rank = "0" if one_range else "0-1"
    signature = signature_of(
        parts, _RANGES, f"input: 4, filter: 4, min_input: 0, max_input: 0, min_filter: {rank}, max_filter: {rank}"
    )

    @op(
        name,
        f"input: Tinput, filter: Tfilter, {signature.inputs} -> output: out_type, min_output: float32, "
        "max_output: float32",
        types={"Tinput": source, "Tfilter": (dtypes.qint8,), **signature.types},
        attrs={
            "out_type": dtype(parts.out), "strides": ints, "padding": one_of("SAME", "VALID"),
            "dilations": ints([1, 1, 1, 1]), **({"padding_list": ints([])} if pads else {}),
        },
        ranks=signature.ranks,
        shape=_rule(parts, depthwise),
    )  # fmt: skip
    def row(xp: ModuleType, input: Any, filter: Any, *inputs: Array, out_type: DType, **attrs: Any):
        require_out(out_type, parts, "out_type")
        if attrs.get("padding_list"):
            raise invalid("padding_list must be empty: pads are not part of a quantized convolution")
        given = dict(zip([each.name for each in row.schema.inputs[2:]], inputs, strict=True))
        low, high = ends(given, "min_input", "max_input")
        total = _sums(input, filter, depthwise, attrs)
        other = _filter_range(given, total.shape[-1])
        out = finished(total, step(input.dtype, low, high), step(filter.dtype, *other), parts, given)
        return out, *range_of(parts, given, between(input.dtype, low, high), between(filter.dtype, *other))

    row.gradient(None)
    row.compiled(never=NEVER)
    row.samples(lambda rng: _samples(parts, depthwise, source, one_range))
    return row


def _samples(parts: Parts, depthwise: bool, source: tuple[DType, ...], one_range: bool):
    x, w = np.arange(24).reshape(1, 3, 4, 2), np.array([[1, -2], [3, 0], [-1, 2], [1, 1]])
    w = w.reshape(2, 1, 2, 2)
    patches = np.stack([x[:, :2], x[:, 1:]], -2)  # of 2 by 1 places each
    y = np.einsum("nhwpc,pco->nhwo" if not depthwise else "nhwpc,pco->nhwco", patches, w[:, 0])
    y = y.reshape(1, 2, 4, -1)
    values = [1, -20, 7, -3][: y.shape[-1]]
    more, added = FIXED_SAMPLE * parts.fixed, np.zeros(y.shape, int)
    if parts.summand:
        added = np.arange(y.size).reshape(y.shape) - 3 * (parts.summand == (dtypes.qint8,))
        whole = parts.summand != FLOAT
        more = [*more, quantized(added, parts.summand[0]) if whole else np.float32(added)]
        top = 127 if parts.summand == (dtypes.qint8,) else 255
        more += [np.float32(-top), np.float32(top)] if whole else []
    attrs: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    want = sample_result(parts, y + (values if parts.bias else 0) + added)
    w = quantized(w, dtypes.qint8)
    for kind in source:
        top = 255 if kind == dtypes.quint8 else 127
        limits = [np.float32(v) for v in (0 if top == 255 else -127, top, -127, 127)]
        for bias in bias_samples(parts, values) if parts.bias else ((),):
            given = (quantized(x, kind), w, *((bias,) if parts.bias else ()))
            yield Sample(*given, *limits, *more, **attrs, expect=want)
    if not one_range:
        each = [np.full(y.shape[-1], v, np.float32) for v in (-127, 127)]
        many = want if parts.fixed else (want[0], *[np.full(y.shape[-1], v, np.float32) for v in want[1:]])
        yield Sample(*given, *limits[:2], *each, *more, **attrs, expect=many)
        yield Sample(*given, *limits[:2], each[0][:1], each[1], *more, **attrs, raises=InvalidArgumentError)
    yield Sample(given[0][0], *given[1:], *limits, *more, **attrs, raises=InvalidArgumentError)
    yield Sample(given[0][..., :1], *given[1:], *limits, *more, **attrs, raises=InvalidArgumentError)
    yield Sample(*given, limits, *limits[1:], *more, **attrs, raises=InvalidArgumentError)
    yield Sample(*given, *limits, *more, **attrs, out_type=dtypes.qint16, raises=InvalidArgumentError)


_BYTES, _SIGNED = dtypes.quint8, dtypes.qint8
QuantizedConv2DPerChannel = _row("QuantizedConv2DPerChannel", Parts(), pads=False)
QuantizedConv2DAndRelu = _row("QuantizedConv2DAndRelu", Parts(relu=True), one_range=True)
QuantizedConv2DAndRequantize = _row("QuantizedConv2DAndRequantize", Parts(out=_SIGNED), one_range=True)
QuantizedConv2DAndReluAndRequantize = _row(
    "QuantizedConv2DAndReluAndRequantize", Parts(relu=True, out=_BYTES), one_range=True
)
QuantizedConv2DWithBias = _row("QuantizedConv2DWithBias", Parts(FLOAT), _EITHER)
QuantizedConv2DWithBiasAndRelu = _row("QuantizedConv2DWithBiasAndRelu", Parts(FLOAT, relu=True), _EITHER)
QuantizedConv2DWithBiasAndRequantize = _row(
    "QuantizedConv2DWithBiasAndRequantize", Parts(BIAS, out=_SIGNED), _EITHER
)
QuantizedConv2DWithBiasAndReluAndRequantize = _row(
    "QuantizedConv2DWithBiasAndReluAndRequantize", Parts(BIAS, relu=True, out=_BYTES), _EITHER
)
QuantizedConv2DWithBiasSumAndRelu = _row("QuantizedConv2DWithBiasSumAndRelu", Parts(FLOAT, FLOAT, relu=True))
QuantizedConv2DWithBiasSumAndReluAndRequantize = _row(
    "QuantizedConv2DWithBiasSumAndReluAndRequantize", Parts(BIAS, (_BYTES,), relu=True, out=_BYTES)
)
QuantizedConv2DWithBiasSignedSumAndReluAndRequantize = _row(
    "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize", Parts(BIAS, (_SIGNED,), relu=True, out=_BYTES)
)
QuantizedDepthwiseConv2D = _row("QuantizedDepthwiseConv2D", Parts(), pads=False)
QuantizedDepthwiseConv2DWithBias = _row("QuantizedDepthwiseConv2DWithBias", Parts(FLOAT), pads=False)
QuantizedDepthwiseConv2DWithBiasAndRelu = _row("QuantizedDepthwiseConv2DWithBiasAndRelu", Parts(FLOAT, relu=True))
QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize = _row(
    "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", Parts(BIAS, relu=True, out=_BYTES)
)
