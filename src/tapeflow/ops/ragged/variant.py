"""Ragged tensors in variant tensors: one as a whole, or each row as an element."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, IntLike, ShapeLike, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.lists.payload import dtype_of, element
from tapeflow.ops.ragged.tensor import RaggedTensor
from tapeflow.ops.signature import Preferring, boolean, dtype, integer
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


@dataclasses.dataclass(eq=False)
class RaggedVariant:
    """The payload of a variant: the splits of each ragged dimension, the outermost first, and the values."""

    splits: list[np.ndarray]
    values: np.ndarray

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RaggedVariant)
            and np.array_equal(self.values, other.values)
            and len(self.splits) == len(other.splits)
            and all(map(np.array_equal, self.splits, other.splits))
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def nrows(self) -> int:
        return len(self.splits[0]) - 1 if self.splits else len(self.values)

    def rows(self) -> list[RaggedVariant]:
        """Each row as a payload of one ragged dimension less."""
        if not self.splits:
            return [RaggedVariant([], self.values[i, ...]) for i in range(len(self.values))]
        return [self._part(start, stop) for start, stop in zip(self.splits[0][:-1], self.splits[0][1:], strict=True)]

    def _part(self, start: IntLike, stop: IntLike) -> RaggedVariant:
        splits = []
        for inner in self.splits[1:]:
            inner = inner[start : stop + 1]
            start, stop = int(inner[0]), int(inner[-1])
            splits.append(inner - inner[0])
        return RaggedVariant(splits, self.values[start:stop])


def _to_variant_rule(call: ShapeCall):
    if not call.attr("batched_input"):
        return [()]
    if call.count == 1:
        shape = call.shape(0)
        return [None if shape is None else shape[:1]]
    splits = call.shape(0)
    return [(None if splits is None or splits[0] is None else splits[0] - 1,)]


@op("RaggedTensorToVariant",
    "rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: Tvalues -> encoded_ragged: variant",
    types={"Tsplits": Preferring(INDEX[::-1]), "Tvalues": ANY}, attrs={"batched_input": boolean},
    shape=_to_variant_rule)  # fmt: skip
def RaggedTensorToVariant(
    xp: ModuleType, rt_nested_splits: Sequence[np.ndarray], rt_dense_values: np.ndarray, batched_input: bool
):
    whole = RaggedVariant(list(rt_nested_splits), rt_dense_values)
    if not batched_input:
        return _boxed([whole], ())
    if not whole.splits and not rt_dense_values.ndim:
        raise invalid("Expected dense values of rank at least 1 for a batched input without splits")
    rows = whole.rows()
    return _boxed(rows, (len(rows),))


RaggedTensorToVariant.compiled(never="it gives a value of Python")


def _boxed(payloads: Sequence[Any], shape: ShapeLike):
    out = np.empty(len(payloads), object)
    out[:] = payloads
    return out.reshape(shape)


@op("RaggedTensorFromVariant",
    "encoded_ragged: variant -> output_nested_splits: output_ragged_rank*Tsplits, output_dense_values: Tvalues",
    attrs={"input_ragged_rank": integer, "output_ragged_rank": integer, "Tvalues": dtype,
           "Tsplits": dtype(dtypes.int64)},
    shape=lambda call: [*[(None,)] * call.attr("output_ragged_rank"), None])  # fmt: skip
def RaggedTensorFromVariant(
    xp: ModuleType, encoded_ragged: Array, input_ragged_rank: int, output_ragged_rank: int, Tvalues: DType,
    Tsplits: DType,
):
    rank = encoded_ragged.ndim
    inner = output_ragged_rank - rank if input_ragged_rank == -1 else input_ragged_rank
    if inner < -1 or (inner + rank != output_ragged_rank and encoded_ragged.ndim):
        raise invalid(
            "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(), but is "
            f"{output_ragged_rank} for {input_ragged_rank} and {rank}"
        )
    payloads = [_checked(payload, max(inner, 0), Tvalues) for payload in encoded_ragged.flat]
    if not rank:
        return [splits.astype(Tsplits.as_numpy_dtype) for splits in payloads[0].splits], payloads[0].values
    splits = _splits_of_dims(encoded_ragged.shape)
    if inner >= 0:
        splits.append(_summed(payload.nrows for payload in payloads))
    for depth in range(max(inner, 0)):
        splits.append(_joined([payload.splits[depth] for payload in payloads]))
    values = [payload.values if inner >= 0 else payload.values[None] for payload in payloads]
    kind = object if Tvalues == dtypes.string else Tvalues.as_numpy_dtype
    whole = np.concatenate(values) if values else np.zeros(0, kind)
    return [each.astype(Tsplits.as_numpy_dtype) for each in splits], whole


def _checked(payload, ragged_rank, kind):
    if not isinstance(payload, RaggedVariant):
        raise invalid("Input Variant element at index 0 doesn't hold a RaggedTensorVariant")
    if len(payload.splits) != ragged_rank:
        found = len(payload.splits)
        raise invalid(f"Encoded input RaggedTensorVariant has ragged_rank={found}. Expected {ragged_rank}")
    if payload.values.size and dtype_of(payload.values) != kind:
        raise invalid(f"Expected values Tensor dtype: {kind.name}, found: {dtype_of(payload.values).name}")
    return payload


def _splits_of_dims(shape: Sequence[Any]):
    """The splits of dimensions that are all of one length each, except for the last, whose elements are payloads."""
    return [
        np.arange(math.prod(shape[: i + 1]) + 1, dtype=np.int64) * shape[i + 1] for i in range(len(shape) - 1)
    ]


def _summed(lengths):
    return np.concatenate([[0], np.cumsum(list(lengths))]).astype(np.int64)


def _joined(parts: Sequence[Any]):
    """The splits of several ragged tensors one below the other."""
    return _summed(length for part in parts for length in np.diff(part))


@op("RaggedTensorToVariantGradient",
    "encoded_ragged_grad: variant, row_splits: Tsplits, dense_values_shape: int32 -> dense_values_grad: Tvalues",
    types={"Tsplits": Preferring(INDEX[::-1])}, attrs={"Tvalues": dtype},
    shape=lambda call: [shapes.from_value(call, 2)])  # fmt: skip
def RaggedTensorToVariantGradient(
    xp: ModuleType, encoded_ragged_grad: Array, row_splits: Array, dense_values_shape: Array, Tvalues: DType
):
    shape = tuple(int(n) for n in dense_values_shape)
    if any(n < 0 for n in shape):
        raise invalid(f"dense_values_shape must not be negative, got {list(shape)}")
    payloads = list(encoded_ragged_grad.flat)
    ends = row_splits if row_splits.ndim else np.arange(len(payloads) + 1)  # of a dense tensor, each row is one
    if not encoded_ragged_grad.ndim:
        ends = np.array([0, shape[0] if shape else 1])
    if len(ends) != len(payloads) + 1 or (shape and ends[-1] != shape[0]) or np.any(np.diff(ends, prepend=0) < 0):
        raise invalid(f"row_splits {list(ends)} do not fit {len(payloads)} gradients of values of shape {list(shape)}")
    out = np.zeros(shape, Tvalues.as_numpy_dtype)
    for begin, end, payload in zip(ends, ends[1:], payloads):
        if not isinstance(payload, RaggedVariant):
            continue
        part = out[begin:end] if shape else out.reshape(1)
        if payload.values.size != part.size:
            raise invalid(f"a gradient of shape {payload.values.shape} is not that of values of shape {part.shape}")
        part[...] = payload.values.reshape(part.shape)
    return out


RaggedTensorToVariantGradient.gradient(None)


@RaggedTensorToVariant.gradient(needs="rt_nested_splits, rt_dense_values")
def _(call: GradientCall, dencoded: Tensor):
    splits = call.rt_nested_splits
    rows = splits[0] if splits else 0
    values = call.rt_dense_values
    grad = RaggedTensorToVariantGradient(dencoded, rows, Shape(values), call.dtype("rt_dense_values"))
    return [None] * len(splits), grad


@RaggedTensorFromVariant.gradient(needs="output_nested_splits, encoded_ragged")
def _(call: GradientCall, dsplits: Sequence[Tensor], dvalues: Tensor):
    rank = call.encoded_ragged.shape.rank
    if rank not in (0, 1):
        raise ValueError(
            f"Gradient of RaggedTensorFromVariant is implemented for variants of rank 0 and 1, not of rank {rank}"
        )
    return RaggedTensorToVariant(call.output_nested_splits, dvalues, rank == 1)


_SPLITS = np.array([0, 2, 2, 3])


@RaggedTensorToVariant.samples
def _(rng: SampleGenerator):
    values = np.array([1.0, 2.0, 3.0])
    rows = [RaggedVariant([], values[:2]), RaggedVariant([], values[2:2]), RaggedVariant([], values[2:])]
    yield Sample([_SPLITS], values, True, expect=_boxed(rows, (3,)), differentiable=False)
    yield Sample([_SPLITS], values, False, expect=_boxed([RaggedVariant([_SPLITS], values)], ()), differentiable=False)
    yield Sample([], 1.0, True, raises=InvalidArgumentError)


@RaggedTensorFromVariant.samples
def _(rng):
    values = np.array([1.0, 2.0, 3.0])
    rows = element(_boxed(RaggedVariant([_SPLITS], values).rows(), (3,)), dtypes.variant)
    kinds = {"Tvalues": dtypes.float64}
    yield Sample(rows, -1, 1, **kinds, expect=([_SPLITS], values), differentiable=False)
    yield Sample(rows, 1, 1, **kinds, raises=InvalidArgumentError)
    yield Sample(rows, 0, 1, Tvalues=dtypes.int32, raises=InvalidArgumentError)


@RaggedTensorToVariantGradient.samples
def _(rng):
    values = np.array([1.0, 2.0, 3.0])
    rows = element(_boxed(RaggedVariant([_SPLITS], values).rows(), (3,)), dtypes.variant)
    kinds = {"Tvalues": dtypes.float64}
    yield Sample(rows, _SPLITS, np.array([3], np.int32), **kinds, expect=values, differentiable=False)
    yield Sample(rows, _SPLITS[:2], np.array([3], np.int32), **kinds, raises=InvalidArgumentError)
    yield Sample(rows, _SPLITS, np.array([4], np.int32), **kinds, raises=InvalidArgumentError)
    yield Sample(rows, np.array([0, 1, 2, 3]), np.array([3], np.int32), **kinds, raises=InvalidArgumentError)
    yield Sample(rows, _SPLITS, np.array([-1], np.int32), **kinds, raises=InvalidArgumentError)


@tensor_function
def to_variant(ragged, batched_input: bool = False, name: str | None = None):
    """A ragged tensor as a scalar variant, or its rows as a vector of variants."""
    return RaggedTensorToVariant(list(ragged.nested_row_splits), ragged.flat_values, batched_input)


@tensor_function
def from_variant(
    variant, dtype: DTypeLike, output_ragged_rank, input_ragged_rank=None, row_splits_dtype=dtypes.int64,
    name: str | None = None,
):
    """The ragged tensor of a tensor of variants.

    Raises:
        ValueError: ragged ranks that do not fit each other and the rank of `variant`.
    """
    variant = convert_to_tensor(variant, dtypes.variant)
    rank = variant.shape.rank
    if rank is not None and input_ragged_rank is not None and output_ragged_rank != input_ragged_rank + rank:
        raise ValueError(
            f"Argument `output_ragged_rank` ({output_ragged_rank}) must be equal to `input_ragged_rank` + "
            f"`variant.shape.ndims` ({input_ragged_rank} + {rank})."
        )
    splits, values = RaggedTensorFromVariant(
        variant,
        -1 if input_ragged_rank is None else input_ragged_rank,
        max(output_ragged_rank, 0),
        dtypes.as_dtype(dtype),
        dtypes.as_dtype(row_splits_dtype),
    )
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False)
