"""Ops that grow a tensor at its edges: with zeros, with a value, or with its own mirror image."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import batching, partial_values, shapes
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.folding import fold_at
from tapeflow.ops.indexing.slicing import Slice
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reduction import Sum
from tapeflow.ops.math.reductions import all_axes
from tapeflow.ops.signature import Preferring, one_of
from tapeflow.ops.static import static_value
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _amounts(paddings: np.ndarray, shape: Sequence[Any]) -> list[tuple[int, int]]:
    paddings = np.asarray(paddings)
    if paddings.ndim != 2 or paddings.shape[1] != 2:
        raise invalid(f"paddings must be a matrix with 2 columns: {shape_text(paddings.shape)}")
    if len(paddings) != len(shape):
        raise invalid(
            "The first dimension of paddings must be the rank of inputs"
            f"{shape_text(paddings.shape)} {shape_text(shape)}"
        )
    amounts = [(int(a), int(b)) for a, b in paddings]
    for a, b in amounts:
        if a < 0 or b < 0:
            raise invalid(f"Paddings must be non-negative: {a} {b}")
    dimensions([d + a + b for d, (a, b) in zip(shape, amounts, strict=True)])
    return amounts


def _pad_rule(call: ShapeCall):
    return [_padded_shape(call, 1)]


def _padded_shape(call, sign: int):
    """The shape of input 0 with the paddings that are input 1 added or taken away."""
    rank, pair = shapes.with_rank(call.shape(1), 2)
    shapes.exactly(pair, 2)
    paddings = call.value(1)
    if rank is None:
        return None if call.shape(0) is None else (None,) * len(call.shape(0))
    shape = shapes.with_rank(call.shape(0), rank)
    if paddings is None:
        return (None,) * rank
    if (paddings < 0).any():
        raise invalid(f"Paddings must be non-negative: {paddings.tolist()}")
    return tuple(
        None if d is None else d + sign * (int(a) + int(b))
        for d, (a, b) in zip(shape, paddings, strict=True)
    )


_PAD_TYPES = {"T": ANY, "Tpaddings": Preferring(INDEX)}


@op("Pad", "input: T, paddings: Tpaddings -> output: T", types=_PAD_TYPES, shape=_pad_rule)
def Pad(xp: ModuleType, input: Array, paddings: Array):
    return _padded(xp, input, paddings, b"" if input.dtype == object else 0)


Pad.batching(batching.per_axis(paddings=0))


def _padded(xp: ModuleType, input: Array, paddings, value: Any):
    amounts = _amounts(paddings, input.shape)
    if not amounts:
        return xp.array(input)
    return xp.pad(input, amounts, constant_values=value)


def _unpad(call: GradientCall, dy: Tensor):
    """The part of `dy` that the input was."""
    before = static_value(call.paddings)
    begin = Slice(call.paddings, [0, 0], [-1, 1]) if before is None else before[:, 0]
    if before is None:
        begin = Reshape(begin, [-1])
    size = call.static_shape("input")
    if size.is_fully_defined() and before is not None:
        return Slice(dy, begin, np.array(size.as_list(), begin.dtype))
    shape = call.shape("input")
    if begin.dtype != shape.dtype:
        shape = cast(shape, begin.dtype)
    return Slice(dy, begin, shape)


@Pad.gradient(needs="paddings")
def _(call: GradientCall, dy: Tensor):
    return _unpad(call, dy), None


@Pad.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), [[1, 0], [0, 2]])
    yield Sample(rng.normal(2), np.array([[1, 1]]))
    yield Sample(rng.normal(0, 2), [[1, 1], [0, 0]])
    yield Sample(rng.normal(), np.zeros((0, 2), np.int32))
    yield Sample(rng.normal(2, 3), [[1, 1]], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [[1, 1], [1, -1]], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [1, 1], raises=InvalidArgumentError)
    yield Sample(rng.normal(2), np.array([[2**62, 2**62]]), raises=InvalidArgumentError)


def _reference_pad(input, paddings, value):
    input = np.asarray(input)
    out = np.full(
        [d + a + b for d, (a, b) in zip(input.shape, paddings, strict=True)], value, input.dtype
    )
    out[tuple(slice(a, a + d) for d, (a, _) in zip(input.shape, paddings, strict=True))] = input
    return out


@Pad.reference
def _(input: np.ndarray, paddings: np.ndarray):
    return _reference_pad(input, paddings, 0)


@op(
    "PadV2",
    "input: T, paddings: Tpaddings, constant_values: T -> output: T",
    types=_PAD_TYPES,
    shape=_pad_rule,
)
def PadV2(xp: ModuleType, input: Array, paddings: Array, constant_values: Array):
    if constant_values.ndim:
        raise invalid(
            f"constant_values must be a scalar. Found: {shape_text(constant_values.shape)}"
        )
    return _padded(xp, input, paddings, constant_values)


PadV2.batching(batching.per_axis(paddings=0))


@PadV2.gradient(needs="paddings")
def _(call: GradientCall, dy: Tensor):
    x = _unpad(call, dy)
    # What is not the input is copies of the constant.
    return x, None, Sum(dy, all_axes(dy, None)) - Sum(x, all_axes(x, None))


@PadV2.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), [[1, 0], [0, 2]], rng.normal())
    yield Sample(rng.normal(2, 3), [[1, 1], [1, 1]], rng.normal(2), raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [[1, 1]], rng.normal(), raises=InvalidArgumentError)


@PadV2.reference
def _(input: np.ndarray, paddings: np.ndarray, constant_values: np.ndarray):
    return _reference_pad(input, paddings, constant_values)


def _mirror_amounts(paddings: Any, shape: Sequence[Any], mode: str) -> list[tuple[int, int]]:
    amounts = _amounts(paddings, shape)
    for size, (a, b) in zip(shape, amounts, strict=True):
        if mode == "REFLECT" and max(a, b) >= max(size, 1):
            raise invalid(
                f"paddings must be less than the dimension size: {a}, {b} not less than {size}"
            )
        if mode == "SYMMETRIC" and max(a, b) > size:
            raise invalid(
                f"paddings must be no greater than the dimension size: {a}, {b} greater than {size}"
            )
    return amounts


@op(
    "MirrorPad",
    "input: T, paddings: Tpaddings -> output: T",
    types=_PAD_TYPES,
    attrs={"mode": one_of("REFLECT", "SYMMETRIC")},
    shape=_pad_rule,
)
def MirrorPad(xp: ModuleType, input: Array, paddings: Array, mode: str):
    for axis, (a, b) in enumerate(_mirror_amounts(paddings, input.shape, mode)):
        if a or b:
            input = xp.take(input, _mirror(input.shape[axis], a, b, mode), axis=axis)
    return input


MirrorPad.batching(batching.per_axis(paddings=0))


def _mirror(size: int, before: int, after: int, mode: str) -> np.ndarray:
    """Which row of `size` stands at each place of the padded dimension."""
    edge = 1 if mode == "REFLECT" else 0
    middle = np.arange(size)
    return np.concatenate(
        [middle[edge : edge + before][::-1], middle, middle[::-1][edge : edge + after]]
    )


@MirrorPad.gradient(needs="paddings")
def _(call: GradientCall, dy: Tensor):
    return MirrorPadGrad(dy, call.paddings, call.mode), None


@MirrorPad.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), [[1, 0], [2, 1]], mode="REFLECT")
    yield Sample(rng.normal(2, 3), [[1, 2], [0, 3]], mode="SYMMETRIC")
    yield Sample(rng.normal(1), [[0, 1]], mode="REFLECT", raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [[3, 1], [1, 1]], mode="SYMMETRIC", raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [[1, 1]], mode="SYMMETRIC", raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [[1, 1], [1, -1]], mode="SYMMETRIC", raises=InvalidArgumentError)
    yield Sample(rng.normal(2), [[1, 1]], mode="WRONG", raises=InvalidArgumentError)


@MirrorPad.reference
def _(input: np.ndarray, paddings: np.ndarray, mode):
    return np.pad(input, paddings, mode.lower())


@op(
    "MirrorPadGrad",
    "input: T, paddings: Tpaddings -> output: T",
    types=_PAD_TYPES,
    attrs={"mode": one_of("REFLECT", "SYMMETRIC")},
    shape=lambda call: [_padded_shape(call, -1)],
)
def MirrorPadGrad(xp: ModuleType, input: Array, paddings: Array, mode: str):
    raw = np.asarray(paddings)
    if raw.ndim != 2 or raw.shape != (input.ndim, 2):
        raise invalid(
            f"paddings must be Nx2 matrix of the rank of the input, got {shape_text(raw.shape)}"
        )
    inner = [d - int(a) - int(b) for d, (a, b) in zip(input.shape, raw, strict=True)]
    if any(d < 0 for d in inner):
        raise invalid(
            f"Paddings {raw.tolist()} are larger than the input {shape_text(input.shape)}"
        )
    for axis, (a, b) in enumerate(_mirror_amounts(raw, inner, mode)):
        if a or b:
            shape = [*input.shape]
            shape[axis] = inner[axis]
            rows = xp.moveaxis(input, axis, 0)
            out = xp.zeros([inner[axis], *rows.shape[1:]], input.dtype)
            places = _mirror(inner[axis], a, b, mode)
            if xp is np:
                fold_at(np.add, out, places, rows)
            else:
                out = out.at[places].add(rows)
            input = xp.moveaxis(out, 0, axis)
    return input


MirrorPadGrad.batching(batching.per_axis(paddings=0))


@MirrorPadGrad.gradient(needs="paddings")
def _(call: GradientCall, dy: Tensor):
    return MirrorPad(dy, call.paddings, call.mode), None


@MirrorPadGrad.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(4, 5), [[1, 1], [0, 1]], mode="REFLECT")
    yield Sample(rng.normal(4, 5), [[1, 1], [0, 1]], mode="SYMMETRIC")
    yield Sample(rng.normal(4), [[3, 3]], mode="SYMMETRIC", raises=InvalidArgumentError)
    yield Sample(rng.normal(4), [[1, 1], [1, 1]], mode="SYMMETRIC", raises=InvalidArgumentError)


@MirrorPadGrad.reference
def _(input: np.ndarray, paddings: np.ndarray, mode):
    input = np.asarray(input)
    inner = [d - int(a) - int(b) for d, (a, b) in zip(input.shape, paddings, strict=True)]
    places = np.pad(np.arange(int(np.prod(inner))).reshape(inner), paddings, mode.lower())
    out = np.zeros(int(np.prod(inner)), input.dtype)
    np.add.at(out, places.ravel(), input.ravel())
    return out.reshape(inner)


@api(v2="pad")
@tensor_function
def pad(
    tensor: TensorLike, paddings: Sequence[Any], mode: str = "CONSTANT", constant_values: TensorLike = 0,
    name: str | None = None,
):
    """Add elements at the edges of a tensor.

    Args:
      tensor: a tensor of any dtype.
      paddings: how many elements come before and after, `[rank, 2]` of int32 or int64.
      mode: "CONSTANT" adds `constant_values`; "REFLECT" mirrors without, "SYMMETRIC" with the element at the edge.
        Upper or lower case.
      constant_values: a scalar of the dtype of `tensor`.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `tensor`; dimension i grows by the sum of `paddings[i]`.

    Raises:
      ValueError: for another mode.
      InvalidArgumentError: for paddings that are negative, more than there is to mirror, or of a wrong shape.

    >>> tf.pad([[1, 2], [3, 4]], [[0, 1], [1, 0]])
    <tf.Tensor: shape=(3, 3), dtype=int32, numpy=
    array([[0, 1, 2],
           [0, 3, 4],
           [0, 0, 0]], dtype=int32)>
    >>> tf.pad([1, 2, 3], [[2, 1]], mode="REFLECT")
    <tf.Tensor: shape=(6,), dtype=int32, numpy=array([3, 2, 1, 2, 3, 2], dtype=int32)>
    """
    kind = mode.upper()
    if kind == "CONSTANT":
        tensor = convert_to_tensor(tensor)
        # A tensor is never looked at, so that its gradient flows.
        if not hasattr(constant_values, "dtype") and constant_values == 0:
            padded = Pad(tensor, paddings)
        else:
            padded = PadV2(tensor, paddings, constant_values)
    elif kind in ("REFLECT", "SYMMETRIC"):
        tensor = convert_to_tensor(tensor)
        padded = MirrorPad(tensor, paddings, kind)
    else:
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f"Received `mode` = {kind}"
        )
    if not padded.shape.is_fully_defined():
        padded.set_shape(_shape_with(tensor.shape, paddings))
    return padded


def _shape_with(shape: TensorShape, paddings: Any) -> list[int | None] | None:
    """What is known of the shape from paddings of which some may be known, and others tensors without a value."""
    packed = getattr(paddings, "op", None)
    if packed is not None and packed.type == "Pack" and not packed.get_attr("axis"):
        paddings = list(packed.inputs)
    if not isinstance(paddings, (list, tuple)) or shape.rank != len(paddings):
        return None
    sizes: list[int | None] = []
    for size, pair in zip(shape.as_list(), paddings, strict=True):
        counts = partial_values.elements(pair) if isinstance(pair, Tensor) else pair
        if size is None or counts is None or any(isinstance(n, Tensor) or n is None for n in counts):
            sizes.append(None)
        else:
            sizes.append(size + int(sum(counts)))
    return sizes


@api(v1="pad")
@tensor_function
def pad_v1(
    tensor: TensorLike, paddings: Sequence[Any], mode: str = "CONSTANT", name: str | None = None,
    constant_values: TensorLike = 0,
):
    """`pad` with the 1.x order of arguments."""
    return pad(tensor, paddings, mode, constant_values)
