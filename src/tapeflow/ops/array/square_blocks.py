"""Space for batch in square blocks of images, the older ops."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, IntLike, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.spatial import (
    BatchToSpaceND,
    SpaceToBatchND,
    batch_to_space_array,
    blocked_shape,
    space_to_batch_array,
)
from tapeflow.ops.signature import Preferring, integer
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


def require_block(block_size: int) -> None:
    if block_size < 2:
        raise invalid(f"Value for attr 'block_size' of {block_size} must be at least minimum 2")


def require_rank_4(input: Any) -> None:
    if input.ndim != 4:
        raise invalid(f"Input rank should be 4 instead of {input.ndim}")


def two_blocks(call, down: bool):
    """The rule of the rows that have one size of blocks for two dimensions."""
    block, pairs = call.attr("block_size"), call.value(1)
    if block < 2:
        raise invalid(f"block_size must be at least 2, but is {block}")
    rows, pair = shapes.with_rank(call.shape(1), 2)
    shapes.exactly(rows, 2)
    shapes.exactly(pair, 2)
    shape = shapes.with_rank(call.shape(0), 4)
    pairs = [None, None] if pairs is None else pairs.tolist()
    return [blocked_shape(shape, [block] * 2, pairs, down)]


@op(
    "SpaceToBatch",
    "input: T, paddings: Tpaddings -> output: T",
    types={"T": ANY, "Tpaddings": Preferring(INDEX)},
    attrs={"block_size": integer},
    shape=lambda call: two_blocks(call, down=True),
)
def SpaceToBatch(xp: ModuleType, input: Array, paddings: Array, block_size: int):
    require_block(block_size)
    require_rank_4(input)
    return space_to_batch_array(xp, input, [block_size] * 2, paddings)


@SpaceToBatch.gradient(needs="paddings")
def _(call: GradientCall, dy: Tensor):
    return BatchToSpace(dy, call.paddings, call.block_size), None


@SpaceToBatch.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(1, 4, 4, 1), [[0, 0], [0, 0]], block_size=2)
    yield Sample(rng.normal(1, 4, 4), [[0, 0], [0, 0]], block_size=2, raises=InvalidArgumentError)
    yield Sample(
        rng.normal(1, 4, 4, 1), [[0, 0], [0, 0]], block_size=0, raises=InvalidArgumentError
    )


@SpaceToBatch.reference
def _(input: np.ndarray, paddings: np.ndarray, block_size: int):
    x = np.pad(input, [(0, 0), *[tuple(p) for p in paddings], (0, 0)])
    steps = range(block_size)
    return np.concatenate([x[:, i::block_size, j::block_size] for i in steps for j in steps])


@op(
    "BatchToSpace",
    "input: T, crops: Tidx -> output: T",
    types={"T": ANY, "Tidx": Preferring(INDEX)},
    attrs={"block_size": integer},
    shape=lambda call: two_blocks(call, down=False),
)
def BatchToSpace(xp: ModuleType, input: Array, crops: Array, block_size: int):
    require_block(block_size)
    require_rank_4(input)
    return batch_to_space_array(xp, input, [block_size] * 2, crops)


@BatchToSpace.gradient(needs="crops")
def _(call: GradientCall, dy: Tensor):
    return SpaceToBatch(dy, call.crops, call.block_size), None


@BatchToSpace.samples
def _(rng: SampleGenerator):
    yield Sample(
        np.arange(4.0).reshape(4, 1, 1, 1),
        [[0, 0], [0, 0]],
        block_size=2,
        expect=np.arange(4.0).reshape(1, 2, 2, 1),
    )
    yield Sample(
        rng.normal(3, 1, 1, 1), [[0, 0], [0, 0]], block_size=2, raises=InvalidArgumentError
    )


@api(v1=("nn.space_to_batch", "space_to_batch"))
@tensor_function
def space_to_batch_v1(
    input: TensorLike, paddings: TensorLike, block_size: IntLike | None = None, name: str | None = None,
    block_shape: TensorLike | None = None,
):
    """`space_to_batch_nd` for images with square blocks of `block_size`."""
    if block_shape is not None:
        return SpaceToBatchND(input, block_shape, paddings)
    return SpaceToBatch(input, paddings, block_size)


@api(v1="batch_to_space")
@tensor_function
def batch_to_space_v1(
    input: TensorLike, crops: Sequence[Any], block_size: int, name: str | None = None,
    block_shape: TensorLike | None = None,
):
    """`batch_to_space` for images with square blocks of `block_size`."""
    if block_shape is not None:
        return BatchToSpaceND(input, block_shape, crops)
    return BatchToSpace(input, crops, block_size)
