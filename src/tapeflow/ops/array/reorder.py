"""Ops that move elements along their own dimension: reverse, reverse_sequence, roll."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.signature import Preferring, integer
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import invalid, known, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _normal_axes(axis: Any, rank: int) -> list[int]:
    """The axes counted from the front, all different."""
    axes: list[int] = []
    for i, a in enumerate(int(a) for a in axis):
        if not -rank <= a < rank:
            raise invalid(f"'axis'[{i}] = {a} is out of valid range [0, {rank - 1}")
        if a % rank in axes:
            raise invalid(f"axis {a % rank} specified more than once.")
        axes.append(a % rank)
    return axes


def _reversed_rule(call: ShapeCall):
    shape, axes = call.shape(0), shapes.vector_value(call, 1)
    if shape is not None and axes is not None:
        _normal_axes(axes, len(shape))
    return [shape]


@op(
    "ReverseV2",
    "tensor: T, axis: Tidx -> output: T",
    types={"T": ANY, "Tidx": Preferring(INDEX)},
    shape=_reversed_rule,
    foldable=True,
)
def ReverseV2(xp: ModuleType, tensor: Array, axis: Array):
    if np.ndim(axis) != 1:
        raise invalid(f"'dims' must be 1-dimension, not {np.ndim(axis)}")
    return xp.flip(tensor, _normal_axes(axis, tensor.ndim))


ReverseV2.batching(batching.along(1, 0))


@ReverseV2.gradient(needs="axis")
def _(call: GradientCall, dy: Tensor):
    return ReverseV2(dy, call.axis), None


@ReverseV2.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), [1])
    yield Sample(rng.normal(2, 3), [-1, 0])
    yield Sample(rng.normal(2, 3), np.zeros(0, np.int32))
    yield Sample(rng.normal(0, 3), [0])
    yield Sample(rng.normal(2, 3), [2], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [-3], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [0, 0], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), 0, raises=InvalidArgumentError)


@ReverseV2.reference
def _(tensor: np.ndarray, axis: np.ndarray):
    key = [slice(None)] * np.ndim(tensor)
    for a in axis:
        key[int(a)] = slice(None, None, -1)
    return np.asarray(tensor)[tuple(key)]


@api("reverse", v1=("manip.reverse", "reverse_v2"))
@tensor_function
def reverse(tensor: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    """Reverse a tensor along axes.

    Args:
      tensor: a tensor of any dtype.
      axis: the axes, a vector of int32 or int64 in [-rank, rank), each at most once.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `tensor`.

    Raises:
      InvalidArgumentError: for an axis out of range, and one named twice.

    >>> tf.reverse([[1, 2], [3, 4]], axis=[1])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[2, 1],
           [4, 3]], dtype=int32)>
    """
    return ReverseV2(tensor, axis)


def _flags_rule(call: ShapeCall):
    count = shapes.vector_length(call, 1)
    return [call.shape(0) if count is None else shapes.with_rank(call.shape(0), count)]


@op(
    "Reverse",
    "tensor: T, dims: bool -> output: T",
    types={"T": ANY},
    shape=_flags_rule,
)
def Reverse(xp: ModuleType, tensor: Array, dims: Array):
    if np.ndim(dims) != 1 or len(dims) != tensor.ndim:
        raise invalid(
            "'dims' must have the same number of values as 'input' has dimensions. "
            f"'input' has {tensor.ndim}'dims' has {np.size(dims)} values"
        )
    return xp.flip(tensor, [i for i, turned in enumerate(dims) if turned])


@Reverse.gradient(needs="dims")
def _(call: GradientCall, dy: Tensor):
    return Reverse(dy, call.dims), None


Reverse.compiled(static="dims")


@Reverse.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), [True, False])
    yield Sample(rng.normal(2, 3), [True], raises=InvalidArgumentError)


@Reverse.reference
def _(tensor: np.ndarray, dims: np.ndarray):
    return np.asarray(tensor)[tuple(slice(None, None, -1 if d else 1) for d in dims)]


def _sequences_rule(call: ShapeCall):
    shape, count = call.shape(0), shapes.vector_length(call, 1)
    if shape is None:
        return [None]
    batch, sequence = call.attr("batch_dim"), call.attr("seq_dim")
    for name, axis in (("batch_dim", batch), ("seq_dim", sequence)):
        if axis >= len(shape):
            raise invalid(f"{name} must be < input rank ({axis} vs. {len(shape)})")
    size = shapes.same_dimension(shape[batch], count)
    return [(*shape[:batch], size, *shape[batch + 1 :])]


@op(
    "ReverseSequence",
    "input: T, seq_lengths: Tlen -> output: T",
    types={"T": ANY, "Tlen": Preferring(INDEX[::-1])},
    attrs={"seq_dim": integer, "batch_dim": 0},
    shape=_sequences_rule,
)
def ReverseSequence(xp: ModuleType, input: Array, seq_lengths: Array, seq_dim: int, batch_dim: int):
    if np.ndim(seq_lengths) != 1:
        raise invalid(f"seq_lengths must be 1-dim, not {np.ndim(seq_lengths)}")
    if seq_dim == batch_dim:
        raise invalid(f"batch_dim == seq_dim == {seq_dim}")
    for label, axis in (("seq_dim", seq_dim), ("batch_dim", batch_dim)):
        if not 0 <= axis < input.ndim:
            raise invalid(f"{label} must be < input rank ( {axis} vs. {input.ndim})")
    batch, length = input.shape[batch_dim], input.shape[seq_dim]
    if len(seq_lengths) != batch:
        raise invalid(
            f"Length of seq_lengths != input.dims({batch_dim}), ({len(seq_lengths)} vs. {batch})"
        )
    for i, n in enumerate(seq_lengths if known(seq_lengths) else ()):
        if n < 0:
            raise invalid(f"seq_lens({i}) < 0")
        if n > length:
            raise invalid(f"seq_lens({i}) > input.dims({seq_dim})")
    step = np.arange(length)
    lengths = xp.asarray(seq_lengths)[:, None]
    source = xp.where(step < lengths, lengths - 1 - step, step)
    if seq_dim < batch_dim:
        source = source.T
    shape = [1] * input.ndim
    shape[batch_dim], shape[seq_dim] = batch, length
    return xp.take_along_axis(input, source.reshape(shape), seq_dim)


@ReverseSequence.gradient(needs="seq_lengths")
def _(call: GradientCall, dy: Tensor):
    return ReverseSequence(dy, call.seq_lengths, call.seq_dim, call.batch_dim), None


@ReverseSequence.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 4), [3, 1], seq_dim=1)
    yield Sample(rng.normal(4, 3, 2), [0, 2, 4], seq_dim=0, batch_dim=1)
    yield Sample(rng.normal(2, 3), [1, 4], seq_dim=1, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [1, -1], seq_dim=1, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [1, 2, 3], seq_dim=1, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [1, 2], seq_dim=0, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [1, 2], seq_dim=5, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [1, 2], seq_dim=1, batch_dim=5, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [[1, 2]], seq_dim=1, raises=InvalidArgumentError)


@ReverseSequence.reference
def _(input: np.ndarray, seq_lengths: np.ndarray, seq_dim: int, batch_dim: int):
    out = np.moveaxis(np.array(input), (batch_dim, seq_dim), (0, 1))
    for row, n in zip(out, seq_lengths, strict=True):
        row[: int(n)] = row[: int(n)][::-1].copy()
    return np.moveaxis(out, (0, 1), (batch_dim, seq_dim))


@api(v2="reverse_sequence")
@tensor_function
def reverse_sequence(
    input: TensorLike, seq_lengths: TensorLike, seq_axis: TensorLike | None = None,
    batch_axis: TensorLike | None = None, name: str | None = None,
):
    """Reverse the first elements of each sequence of a batch.

    Args:
      input: a tensor of any dtype.
      seq_lengths: how many elements to reverse in each sequence, a vector of int32 or int64.
      seq_axis: the axis along which the sequences run; it must be given.
      batch_axis: the axis that counts the sequences; None: 0.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `input`.

    Raises:
      ValueError: where `seq_axis` is not given.
      InvalidArgumentError: for a length that is negative or greater than the axis.

    >>> tf.reverse_sequence([[1, 2, 3, 0], [4, 5, 6, 7]], [3, 2], seq_axis=1)
    <tf.Tensor: shape=(2, 4), dtype=int32, numpy=
    array([[3, 2, 1, 0],
           [5, 4, 6, 7]], dtype=int32)>
    """
    if seq_axis is None:
        raise ValueError("Argument `seq_axis` must be given to reverse_sequence.")
    return ReverseSequence(input, seq_lengths, seq_axis, batch_axis or 0)


@api(v1="reverse_sequence")
@tensor_function
def reverse_sequence_v1(
    input: TensorLike, seq_lengths, seq_axis=None, batch_axis=None, name: str | None = None, seq_dim=None,
    batch_dim=None,
):
    """`reverse_sequence` with the 1.x spellings `seq_dim` and `batch_dim`."""
    seq_axis = seq_dim if seq_axis is None else seq_axis
    batch_axis = batch_dim if batch_axis is None else batch_axis
    return reverse_sequence(input, seq_lengths, seq_axis, batch_axis)


def _rolled_rule(call):
    for i in (1, 2):
        if call.shape(i) is not None and len(call.shape(i)) > 1:
            raise invalid(f"Shape must be at most rank 1 but is rank {len(call.shape(i))}")
    shapes.merge(call.shape(1), call.shape(2))
    return [shapes.at_least(call.shape(0), 1)]


@op(
    "Roll",
    "input: T, shift: Tshift, axis: Taxis -> output: T",
    types={"T": ANY, "Tshift": INDEX, "Taxis": INDEX},
    shape=_rolled_rule,
)
def Roll(xp: ModuleType, input: Array, shift: Array, axis: Array):
    if input.ndim == 0:
        raise invalid("input must be 1-D or higher")
    for label, value in (("shift", shift), ("axis", axis)):
        if np.ndim(value) > 1:
            raise invalid(
                f"{label} must be a scalar or a 1-D vector. Found: {shape_text(np.shape(value))}"
            )
    if np.shape(shift) != np.shape(axis):
        raise invalid("shift and axis must have the same size")
    axes = [int(a) for a in np.ravel(axis)]
    for a in axes:
        if not -input.ndim <= a < input.ndim:
            raise invalid(f"axis {a} is out of range")
    return xp.roll(input, [int(s) for s in np.ravel(shift)], axes)


Roll.batching(batching.along(2, 0))


@Roll.gradient(needs="shift, axis")
def _(call: GradientCall, dy: Tensor):
    return Roll(dy, -call.shift, call.axis), None, None


Roll.compiled(static="shift, axis")


@Roll.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(4), 1, 0)
    yield Sample(rng.normal(3, 4), [1, -2], [0, 1])
    yield Sample(rng.normal(3, 4), [1, 2], [1, 1])
    yield Sample(rng.normal(0, 4), 3, -1)
    yield Sample(rng.normal(2, 3), 1, 2, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [1, 2], [0], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [[1]], [0], raises=InvalidArgumentError)
    yield Sample(rng.normal(), 1, 0, raises=InvalidArgumentError)


@Roll.reference
def _(input: np.ndarray, shift: np.ndarray, axis: np.ndarray):
    out = np.asarray(input)
    for s, a in zip(np.ravel(shift), np.ravel(axis), strict=True):
        n = out.shape[int(a)]
        out = np.take(out, (np.arange(n) - int(s)) % max(n, 1), int(a))
    return out


@api("roll", v1="manip.roll")
@tensor_function
def roll(input: TensorLike, shift: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    """Shift the elements of a tensor along axes, what leaves at one end coming in at the other.

    Args:
      input: a tensor of any dtype, of rank 1 at least.
      shift: by how many places towards higher indices, a scalar or a vector with a number for each axis.
      axis: the axis or axes, a scalar or vector; one named several times is shifted by the sum.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `input`.

    >>> tf.roll([1, 2, 3, 4, 5], shift=2, axis=0)
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([4, 5, 1, 2, 3], dtype=int32)>
    """
    return Roll(input, shift, axis)
