"""Adding a bias to every channel."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import Array, Tensor, TensorLike, Variable
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching, flops, shapes
from tapeflow.ops.array.broadcasting import BroadcastTo
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.linalg import matmul
from tapeflow.ops.math import arithmetic, reduction
from tapeflow.ops.signature import one_of
from tapeflow.ops.static import joined, rank_in
from tapeflow.ops.table import NUMERIC, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator, ShapeCall

FORMAT = {"data_format": one_of("NHWC", "NCHW")("NHWC")}


def _require_channels(value: Any) -> None:
    if value.ndim < 2:
        raise invalid(f"Input tensor must be at least 2D: {shape_text(value.shape)}")


def _bias_rule(call: ShapeCall):
    shape, (size,) = shapes.at_least(call.shape(0), 2), shapes.with_rank(call.shape(1), 1)
    if shape is None:
        return [None]
    axis = 1 if call.attr("data_format") == "NCHW" else len(shape) - 1
    channels = shapes.same_dimension(shape[axis], size)
    return [(*shape[:axis], channels, *shape[axis + 1 :])]


@op(
    "BiasAdd",
    "value: T, bias: T -> output: T",
    types={"T": NUMERIC},
    attrs=FORMAT,
    shape=_bias_rule,
)
def BiasAdd(xp: ModuleType, value: Array, bias: Array, data_format: str):
    _require_channels(value)
    if bias.ndim != 1:
        raise invalid(f"Biases must be 1D: {shape_text(bias.shape)}")
    axis = 1 if data_format == "NCHW" else value.ndim - 1
    if bias.size != value.shape[axis]:
        raise invalid(
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{shape_text(bias.shape)} vs. {shape_text(value.shape)}"
        )
    return value + bias.reshape([-1] + [1] * (value.ndim - axis - 1))


BiasAdd.flops(flops.each_input())


@BiasAdd.batching
def _(call: BatchedCall):
    rank = call.ranks[0]
    if rank is None:
        return None
    if call.attrs["data_format"] != "NHWC":
        return batching.folded(0)(call)
    return [arithmetic.AddV2(call.aligned(0, rank), call.aligned(1, rank))]


@BiasAdd.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return dy, BiasAddGrad(dy, call.data_format)


@BiasAdd.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), rng.normal(3))
    yield Sample(rng.normal(2, 2, 2, 3), rng.normal(3))
    yield Sample(rng.normal(2, 3, 2, 2), rng.normal(3), data_format="NCHW")
    yield Sample(rng.normal(0, 3), rng.normal(3))
    yield Sample(rng.normal(1, 2), rng.normal(1), raises=InvalidArgumentError)
    yield Sample(rng.normal(2), rng.normal(2), raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 2), rng.normal(1, 2), raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 2), rng.normal(2), data_format="XX", raises=InvalidArgumentError)


@BiasAdd.reference
def _(value: np.ndarray, bias: np.ndarray, data_format: str):
    axis = 1 if data_format == "NCHW" else -1
    return np.moveaxis(np.moveaxis(value, axis, -1) + bias, -1, axis)


def _first_bias_rule(call: ShapeCall):
    value, (size,) = shapes.at_least(call.shape(0), 2), shapes.with_rank(call.shape(1), 1)
    return [None if value is None else (*value[:-1], shapes.same_dimension(value[-1], size))]


@op("BiasAddV1", "value: T, bias: T -> output: T", types={"T": NUMERIC}, shape=_first_bias_rule)
def BiasAddV1(xp: ModuleType, value: Array, bias: Array):
    return BiasAdd.kernel(xp, value, bias, "NHWC")


@BiasAddV1.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return dy, BiasAddGrad(dy)


@BiasAddV1.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), rng.normal(3))
    yield Sample(rng.normal(2, 2, 2, 3), rng.normal(3))
    yield Sample(rng.normal(2), rng.normal(2), raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 2), rng.normal(3), raises=InvalidArgumentError)


BiasAddV1.reference(lambda value, bias: value + bias)


def _bias_gradient_rule(call: ShapeCall):
    shape = shapes.at_least(call.shape(0), 2)
    if shape is None:
        return [(None,)]
    return [(shape[1 if call.attr("data_format") == "NCHW" else -1],)]


@op(
    "BiasAddGrad",
    "out_backprop: T -> output: T",
    types={"T": NUMERIC},
    attrs=FORMAT,
    shape=_bias_gradient_rule,
)
def BiasAddGrad(xp: ModuleType, out_backprop: np.ndarray, data_format: str):
    _require_channels(out_backprop)
    axis = 1 if data_format == "NCHW" else out_backprop.ndim - 1
    others = tuple(i for i in range(out_backprop.ndim) if i != axis)
    return out_backprop.sum(others, dtype=out_backprop.dtype)


BiasAddGrad.flops(flops.reduction)


@BiasAddGrad.batching
def _(call: BatchedCall):
    rank = call.ranks[0]
    if rank is None:
        return None
    channels = rank if call.attrs["data_format"] == "NHWC" else 2
    return [reduction.Sum(call.inputs[0], [axis for axis in range(1, rank + 1) if axis != channels])]


@BiasAddGrad.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    shape = call.shape("out_backprop")
    if call.data_format != "NCHW":
        return BroadcastTo(dy, shape)
    line = Reshape(dy, joined([-1], rank_in(call, "out_backprop") - 2))
    return BroadcastTo(line, shape)


@BiasAddGrad.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3))
    yield Sample(rng.normal(2, 3, 4, 5))
    yield Sample(rng.normal(2, 3, 4, 5), data_format="NCHW")
    yield Sample(rng.normal(0, 2))
    yield Sample(rng.normal(2), raises=InvalidArgumentError)
    yield Sample(rng.normal(), raises=InvalidArgumentError)


@BiasAddGrad.reference
def _(out_backprop: np.ndarray, data_format: str):
    axis = 1 if data_format == "NCHW" else -1
    rows = np.moveaxis(out_backprop, axis, 0)
    return rows.reshape(len(rows), -1).sum(1).astype(out_backprop.dtype)


@api("nn.bias_add")
@tensor_function
def bias_add(value: TensorLike, bias: Variable, data_format: str | None = None, name: str | None = None):
    """Add a vector to the channels of a tensor.

    Args:
      value: a numeric tensor of rank 2 at least.
      bias: a vector of that dtype, with one element for each channel.
      data_format: where the channels are: "N...C", the last dimension (the default), or "NC...", the second.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `value`.

    Raises:
      ValueError: for another format.
      InvalidArgumentError: where the sizes differ.

    >>> tf.nn.bias_add([[1, 2], [3, 4]], [10, 20])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[11, 22],
           [13, 24]], dtype=int32)>
    """
    kind = "NHWC"
    if data_format is not None:
        if data_format.startswith("NC"):
            kind = "NCHW"
        elif not (data_format.startswith("N") and data_format.endswith("C")):
            raise ValueError(
                "`data_format` must be of the form `N...C` or `NC...`. "
                f"Received: data_format={data_format}"
            )
    return BiasAdd(value, bias, kind)


@api(v1="nn.xw_plus_b")
@tensor_function
@graph_scope("xw_plus_b")
def xw_plus_b(x: TensorLike, weights, biases, name: str | None = None):
    """x @ weights + biases."""
    return BiasAdd(matmul.matmul(x, weights), biases)
