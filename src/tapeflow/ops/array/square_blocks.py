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
from tapeflow.ops.array.spatial import (
    BatchToSpaceND,
    SpaceToBatch,
    SpaceToBatchND,
    batch_to_space_array,
    require_block,
    require_rank_4,
    two_blocks,
)
from tapeflow.ops.signature import Preferring, integer
from tapeflow.ops.table import ANY, INDEX, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


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
