"""Ops that trade space for batch or depth: blocks of a grid become rows of the batch or channels, and back."""

from __future__ import annotations

import math
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.signature import Preferring
from tapeflow.ops.static import static_value
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


def _blocks(block_shape: Any, amounts: Any, what: str, rank: int) -> tuple[list[int], list[tuple[int, int]]]:
    block_shape, amounts = np.asarray(block_shape), np.asarray(amounts)
    if block_shape.ndim != 1:
        raise invalid(f"block_shape rank should be 1 instead of {block_shape.ndim}")
    count = block_shape.size
    if amounts.shape != (count, 2):
        raise invalid(
            f"{what} should have shape [{count}, 2] instead of {shape_text(amounts.shape)}"
        )
    if rank < 1 + count:
        raise invalid(f"input rank should be >= {1 + count} instead of {rank}")
    for i, b in enumerate(block_shape):
        if b < 1:
            raise invalid(
                f"All values in block_shape must be positive, got value, {int(b)} at index {i}."
            )
    if (amounts < 0).any():
        raise invalid(f"{what.capitalize()} must be non-negative")
    return [int(b) for b in block_shape], [(int(a), int(b)) for a, b in amounts]


def _require_countable(batch: int, blocks: int) -> None:
    if batch * blocks >= 1 << 63:
        raise invalid(
            f"Negative output dimension size caused by overflow when multiplying {batch} and {blocks}"
        )


def space_to_batch_array(xp: ModuleType, input: Array, block_shape: Any, paddings: Array):
    blocks, pads = _blocks(block_shape, paddings, "paddings", input.ndim)
    count = len(blocks)
    _require_countable(input.shape[0], math.prod(blocks))
    for i, (d, (a, b), block) in enumerate(zip(input.shape[1:], pads, blocks, strict=False)):
        if (d + a + b) % block:
            raise invalid(
                f"padded_shape[{i}]={d + a + b} is not divisible by block_shape[{i}]={block}"
            )
    x = xp.pad(input, [(0, 0), *pads] + [(0, 0)] * (input.ndim - 1 - count))
    batch, rest = x.shape[0], x.shape[1 + count :]
    cut = [n for d, b in zip(x.shape[1:], blocks, strict=False) for n in (d // b, b)]
    x = x.reshape([batch, *cut, *rest])
    inner = [2 + 2 * i for i in range(count)]
    outer = [1 + 2 * i for i in range(count)]
    x = xp.transpose(x, [*inner, 0, *outer, *range(1 + 2 * count, x.ndim)])
    return x.reshape([batch * math.prod(blocks), *cut[::2], *rest])


def batch_to_space_array(xp: ModuleType, input: Array, block_shape: Any, crops: Array):
    blocks, cuts = _blocks(block_shape, crops, "crops", input.ndim)
    count, product = len(blocks), math.prod(blocks)
    if input.shape[0] % product:
        raise invalid(
            f"Input batch dimension ({input.shape[0]}) is not divisible by product of block sizes ({product})"
        )
    batch, space, rest = (
        input.shape[0] // product,
        input.shape[1 : 1 + count],
        input.shape[1 + count :],
    )
    for i, (d, b, (a, z)) in enumerate(zip(space, blocks, cuts, strict=True)):
        if d * b - a - z < 0:
            raise invalid(f"cropped_shape[{i}]={d * b - a - z} must be non-negative")
    x = input.reshape([*blocks, batch, *space, *rest])
    order = [count] + [n for i in range(count) for n in (count + 1 + i, i)]
    x = xp.transpose(x, [*order, *range(2 * count + 1, x.ndim)])
    x = x.reshape([batch, *(d * b for d, b in zip(space, blocks, strict=True)), *rest])
    return x[(slice(None), *(slice(a, x.shape[i + 1] - z) for i, (a, z) in enumerate(cuts)))]


def _space_to_batch_rule(call):
    return [blocked_shape(call.shape(0), *_blocks_and_pairs(call), down=True)]


def _batch_to_space_rule(call):
    return [blocked_shape(call.shape(0), *_blocks_and_pairs(call), down=False)]


def _blocks_and_pairs(call):
    """The block and the (before, after) of each spatial dimension, None for each unknown one; None: how many?"""
    count, pair = shapes.with_rank(call.shape(2), 2)
    count = shapes.same_dimension(count, shapes.vector_length(call, 1))
    shapes.exactly(pair, 2)
    if count is None:
        return None, None
    blocks, pairs = shapes.vector_value(call, 1), call.value(2)
    return blocks or [None] * count, [None] * count if pairs is None else pairs.tolist()


def blocked_shape(shape, blocks, pairs, down: bool):
    """The shape that comes out of SpaceToBatch (`down`) or BatchToSpace."""
    if blocks is None:
        return None if shape is None else (None,) * len(shape)
    if shapes.at_least(shape, 1 + len(blocks)) is None:
        return None
    if any(b is not None and b < 1 for b in blocks):
        raise invalid(f"block_shape must be positive, but is {blocks}")
    if any(n < 0 for p in pairs if p is not None for n in p):
        raise invalid(f"paddings and crops must be non-negative, but are {pairs}")
    total = None if None in blocks else math.prod(blocks)
    if down and total is not None and shape[0] is not None:
        _require_countable(shape[0], total)
    if total is None or shape[0] is None:
        batch = None
    else:
        batch = shape[0] * total if down else shapes.divided(shape[0], total)
    space = [
        None if None in (d, block, p) else _space(d, block, sum(p), down)
        for d, block, p in zip(shape[1:], blocks, pairs, strict=False)
    ]
    return (batch, *space, *shape[1 + len(blocks) :])


def _space(size: int, block: int, extra: int, down: bool) -> int | None:
    if down:
        return shapes.divided(size + extra, block)
    if size * block < extra:
        raise invalid(f"crops of {extra} are more than the {size * block} that there are")
    return size * block - extra


@op(
    "SpaceToBatchND",
    "input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T",
    types={"T": ANY, "Tblock_shape": Preferring(INDEX), "Tpaddings": Preferring(INDEX)},
    shape=_space_to_batch_rule,
)
def SpaceToBatchND(xp: ModuleType, input: Array, block_shape: Array, paddings: Array):
    return space_to_batch_array(xp, input, block_shape, paddings)


@SpaceToBatchND.gradient(needs="block_shape, paddings")
def _(call: GradientCall, dy: Tensor):
    return BatchToSpaceND(dy, call.block_shape, call.paddings), None, None


@SpaceToBatchND.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 4, 4, 1), [2, 2], [[0, 0], [0, 0]])
    yield Sample(rng.normal(1, 3, 5), [2], [[1, 0]])
    yield Sample(rng.normal(1, 2, 5, 2), [2, 3], [[1, 1], [1, 0]])
    yield Sample(rng.normal(1, 3, 2, 1), [2, 2], [[0, 0], [0, 0]], raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 2, 2, 1), [2, 0], [[0, 0], [0, 0]], raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 2, 2, 1), [2, 2], [[0, 0]], raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 2, 2, 1), [2, 2], [[0, -1], [0, 0]], raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 2), [2, 2], [[0, 0], [0, 0]], raises=InvalidArgumentError)


@SpaceToBatchND.reference
def _(input: np.ndarray, block_shape: np.ndarray, paddings: np.ndarray):
    rest = np.ndim(input) - 1 - len(block_shape)
    x = np.pad(input, [(0, 0), *[tuple(p) for p in paddings]] + [(0, 0)] * rest)
    return np.concatenate(
        [
            x[(slice(None), *(slice(s, None, b) for s, b in zip(start, block_shape, strict=True)))]
            for start in np.ndindex(*[int(b) for b in block_shape])
        ]
    )


@op(
    "BatchToSpaceND",
    "input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T",
    types={"T": ANY, "Tblock_shape": Preferring(INDEX), "Tcrops": Preferring(INDEX)},
    shape=_batch_to_space_rule,
)
def BatchToSpaceND(xp: ModuleType, input: Array, block_shape: Array, crops: Array):
    return batch_to_space_array(xp, input, block_shape, crops)


@BatchToSpaceND.gradient(needs="block_shape, crops")
def _(call: GradientCall, dy: Tensor):
    return SpaceToBatchND(dy, call.block_shape, call.crops), None, None


@BatchToSpaceND.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(8, 2, 2, 1), [2, 2], [[0, 0], [0, 0]])
    yield Sample(rng.normal(4, 3, 3), [2, 2], [[1, 0], [2, 1]])
    yield Sample(rng.normal(3, 2, 2, 1), [2, 2], [[0, 0], [0, 0]], raises=InvalidArgumentError)
    yield Sample(rng.normal(4, 1, 1, 1), [2, 2], [[0, 0], [3, 0]], raises=InvalidArgumentError)
    yield Sample(rng.normal(4, 1, 1, 1), [2, 2], [[0, 0], [-1, 0]], raises=InvalidArgumentError)


@BatchToSpaceND.reference
def _(input: np.ndarray, block_shape: np.ndarray, crops: np.ndarray):
    blocks = [int(b) for b in block_shape]
    input = np.asarray(input)
    batch = input.shape[0] // math.prod(blocks)
    space = [d * b for d, b in zip(input.shape[1:], blocks, strict=False)]
    out = np.zeros([batch, *space, *input.shape[1 + len(blocks) :]], input.dtype)
    for i, start in enumerate(np.ndindex(*blocks)):
        key = (slice(None), *(slice(s, None, b) for s, b in zip(start, blocks, strict=True)))
        out[key] = input[i * batch : (i + 1) * batch]
    cuts = [slice(int(a), d - int(z)) for (a, z), d in zip(crops, space, strict=True)]
    return out[(slice(None), *cuts)]


@api("space_to_batch_nd", v1="manip.space_to_batch_nd", v2=("nn.space_to_batch", "space_to_batch"))
@tensor_function
def space_to_batch_nd(
    input: TensorLike, block_shape: TensorLike, paddings: TensorLike, name: str | None = None
) -> Tensor:
    """Move blocks of the spatial dimensions into the batch dimension, after padding with zeros.

    Args:
      input: a tensor `[batch, spatial..., rest...]` of any dtype.
      block_shape: the size of a block in each spatial dimension, a vector.
      paddings: how much comes before and after each spatial dimension, `[len(block_shape), 2]`, so that blocks
        divide it.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `input`, `[batch * product of block_shape, padded / block..., rest...]`.

    >>> tf.nn.space_to_batch([[[1], [2], [3], [4]]], [2], [[0, 0]])
    <tf.Tensor: shape=(2, 2, 1), dtype=int32, numpy=
    array([[[1],
            [3]],
    <BLANKLINE>
           [[2],
            [4]]], dtype=int32)>
    """
    return SpaceToBatchND(input, block_shape, paddings)


@api(v1=("manip.batch_to_space_nd", "batch_to_space_nd"), v2="batch_to_space")
@tensor_function
def batch_to_space(
    input: TensorLike, block_shape: TensorLike, crops: TensorLike, name: str | None = None
) -> Tensor:
    """Lay parts of the batch dimension out as blocks, and crop: the inverse of `tf.space_to_batch`.

    Args:
      input: a tensor `[batch, spatial..., rest...]`; the product of `block_shape` divides the batch.
      block_shape: the size of a block in each spatial dimension, a vector.
      crops: how much is cut off at the start and end of each spatial dimension, `[len(block_shape), 2]`.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `input`, `[batch / product, spatial * block - crops..., rest...]`.

    >>> tf.batch_to_space([[[1], [3]], [[2], [4]]], [2], [[0, 0]])
    <tf.Tensor: shape=(1, 4, 1), dtype=int32, numpy=
    array([[[1],
            [2],
            [3],
            [4]]], dtype=int32)>
    """
    return BatchToSpaceND(input, block_shape, crops)


@api("required_space_to_batch_paddings")
@tensor_function
def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """Compute paddings that make dimensions divisible by blocks, and the crops that undo them.

    Args:
      input_shape: the sizes of the spatial dimensions, a vector of int32.
      block_shape: the size of a block in each of them.
      base_paddings: what is padded at least, `[n, 2]`; only the end is padded further (optional).
      name: a name for the operation (optional).

    Returns:
      (paddings, crops), both `[n, 2]`, for `tf.space_to_batch` and `tf.batch_to_space`.
    """
    given = (input_shape, block_shape, *(() if base_paddings is None else (base_paddings,)))
    known = [static_value(convert_to_tensor(x)) for x in given]
    if any(x is None for x in known):
        return _dynamic_paddings(*map(convert_to_tensor, given))
    shape, blocks = (np.asarray(x, np.int64) for x in known[:2])
    if not blocks.size:
        return (convert_to_tensor(np.zeros((0, 2), np.int32)),) * 2
    base = np.zeros((len(blocks), 2), np.int32) if base_paddings is None else known[2]
    with np.errstate(divide="ignore"):  # a block of size 0 asks for nothing
        extra = -(shape + base.sum(1)) % blocks
    paddings = np.stack([base[:, 0], base[:, 1] + extra], 1).astype(np.int32)
    crops = np.stack([np.zeros_like(extra), extra], 1).astype(np.int32)
    return convert_to_tensor(paddings), convert_to_tensor(crops)


def _dynamic_paddings(shape: ShapeLike, blocks, base=None):
    """`required_space_to_batch_paddings` of tensors of a graph."""
    none = blocks * 0
    before, after = (none, none) if base is None else (base[:, 0], base[:, 1])
    extra = -(shape + before + after) % blocks
    return stack([before, after + extra], 1), stack([none, extra], 1)
