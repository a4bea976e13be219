"""Blocks of images as channels, and back."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, IntLike, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.square_blocks import require_block, require_rank_4
from tapeflow.ops.signature import integer, one_of
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


_LAYOUTS = one_of("NHWC", "NCHW")("NHWC")


def _channels_last(xp: ModuleType, x: Array, data_format: str):
    return xp.transpose(x, [0, 2, 3, 1]) if data_format == "NCHW" else x


def _channels_back(xp: ModuleType, x: Array, data_format: str):
    return xp.transpose(x, [0, 3, 1, 2]) if data_format == "NCHW" else x


def _depth_rule(down: bool):
    def rule(call: ShapeCall):
        shape, block = call.shape(0), call.attr("block_size")
        if block < 2:
            raise invalid(f"block_size must be at least 2, but is {block}")
        shape = shapes.with_rank(shape, 4)
        first = call.attr("data_format") == "NCHW"
        n, h, w, c = (shape[0], shape[2], shape[3], shape[1]) if first else shape
        if down:
            h, w = (shapes.divided(d, block) for d in (h, w))
            c = None if c is None else c * block * block
        else:
            h, w = (None if d is None else d * block for d in (h, w))
            c = shapes.divided(c, block * block)
        return [(n, c, h, w) if first else (n, h, w, c)]

    return rule


@op(
    "SpaceToDepth",
    "input: T -> output: T",
    types={"T": ANY},
    attrs={"block_size": integer, "data_format": _LAYOUTS},
    shape=_depth_rule(True),
)
def SpaceToDepth(xp: ModuleType, input: Array, block_size: int, data_format: str):
    require_block(block_size)
    require_rank_4(input)
    x = _channels_last(xp, input, data_format)
    n, h, w, c = x.shape
    if h % block_size or w % block_size:
        raise invalid(
            f"Image width {w} and height {h} should be divisible by block_size: {block_size}"
        )
    x = x.reshape(n, h // block_size, block_size, w // block_size, block_size, c)
    x = xp.transpose(x, [0, 1, 3, 2, 4, 5])
    x = x.reshape(n, h // block_size, w // block_size, block_size * block_size * c)
    return _channels_back(xp, x, data_format)


SpaceToDepth.batching(batching.folded())


@SpaceToDepth.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return DepthToSpace(dy, call.block_size, call.data_format)


@SpaceToDepth.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(1, 4, 6, 2), block_size=2)
    yield Sample(rng.normal(1, 2, 4, 4), block_size=2, data_format="NCHW")
    yield Sample(rng.normal(1, 3, 2, 1), block_size=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 2, 2, 1), block_size=1, raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 2, 2), block_size=2, raises=InvalidArgumentError)


@SpaceToDepth.reference
def _(input: np.ndarray, block_size: int, data_format: str):
    axis = 1 if data_format == "NCHW" else 3
    x = np.moveaxis(input, axis, 3)
    parts = [x[:, i::block_size, j::block_size] for i, j in np.ndindex(block_size, block_size)]
    return np.moveaxis(np.concatenate(parts, 3), 3, axis)


@op(
    "DepthToSpace",
    "input: T -> output: T",
    types={"T": ANY},
    attrs={"block_size": integer, "data_format": _LAYOUTS},
    shape=_depth_rule(False),
)
def DepthToSpace(xp: ModuleType, input: Array, block_size: int, data_format: str):
    require_block(block_size)
    require_rank_4(input)
    x = _channels_last(xp, input, data_format)
    n, h, w, c = x.shape
    if c % (block_size * block_size):
        raise invalid(
            f"Input depth dimension {c} should be divisible by: {block_size * block_size}"
        )
    c //= block_size * block_size
    x = xp.transpose(x.reshape(n, h, w, block_size, block_size, c), [0, 1, 3, 2, 4, 5])
    return _channels_back(xp, x.reshape(n, h * block_size, w * block_size, c), data_format)


DepthToSpace.batching(batching.folded())


@DepthToSpace.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return SpaceToDepth(dy, call.block_size, call.data_format)


@DepthToSpace.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(1, 2, 3, 8), block_size=2)
    yield Sample(rng.normal(1, 4, 2, 3), block_size=2, data_format="NCHW")
    yield Sample(rng.normal(1, 3, 2, 3), block_size=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 3, 2, 3), block_size=0, raises=InvalidArgumentError)


@DepthToSpace.reference
def _(input: np.ndarray, block_size: int, data_format: str):
    axis = 1 if data_format == "NCHW" else 3
    x = np.moveaxis(input, axis, 3)
    n, h, w, c = x.shape
    depth = c // block_size**2
    out = np.zeros((n, h * block_size, w * block_size, depth), x.dtype)
    for k, (i, j) in enumerate(np.ndindex(block_size, block_size)):
        out[:, i::block_size, j::block_size] = x[..., k * depth : (k + 1) * depth]
    return np.moveaxis(out, 3, axis)


@api(v2="nn.space_to_depth")
@tensor_function
def space_to_depth(
    input: TensorLike, block_size: IntLike, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Stack the pixels of blocks of an image into its channels.

    Args:
      input: a batch of images `[batch, height, width, channels]` of any dtype.
      block_size: the size of a block, an int of 2 at least that divides height and width.
      data_format: "NHWC", or "NCHW" for `[batch, channels, height, width]`.
      name: a name for the operation (optional).

    Returns:
      A tensor `[batch, height / block_size, width / block_size, channels * block_size**2]`.

    >>> tf.nn.space_to_depth([[[[1], [2]], [[3], [4]]]], 2)
    <tf.Tensor: shape=(1, 1, 1, 4), dtype=int32, numpy=array([[[[1, 2, 3, 4]]]], dtype=int32)>
    """
    return SpaceToDepth(input, block_size, data_format)


@api(v2="nn.depth_to_space")
@tensor_function
def depth_to_space(
    input: TensorLike, block_size: IntLike, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Lay channels out as blocks of pixels: the inverse of `tf.nn.space_to_depth`.

    Args:
      input: a batch of images `[batch, height, width, channels]` of any dtype.
      block_size: the size of a block, an int of 2 at least, whose square divides the channels.
      data_format: "NHWC", or "NCHW" for `[batch, channels, height, width]`.
      name: a name for the operation (optional).

    Returns:
      A tensor `[batch, height * block_size, width * block_size, channels / block_size**2]`.

    >>> tf.nn.depth_to_space([[[[1, 2, 3, 4]]]], 2)
    <tf.Tensor: shape=(1, 2, 2, 1), dtype=int32, numpy=
    array([[[[1],
             [2]],
    <BLANKLINE>
            [[3],
             [4]]]], dtype=int32)>
    """
    return DepthToSpace(input, block_size, data_format)


@api(v1=("nn.space_to_depth", "space_to_depth"))
@tensor_function
def space_to_depth_v1(input: TensorLike, block_size: IntLike, name: str | None = None, data_format: str = "NHWC"):
    """`space_to_depth` with the 1.x order of arguments."""
    return SpaceToDepth(input, block_size, data_format)


@api(v1=("nn.depth_to_space", "depth_to_space"))
@tensor_function
def depth_to_space_v1(input: TensorLike, block_size: IntLike, name: str | None = None, data_format: str = "NHWC"):
    """`depth_to_space` with the 1.x order of arguments."""
    return DepthToSpace(input, block_size, data_format)
