"""What residual networks share: blocks, strides that become rates, and the scope of arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow.contrib.framework.scoping import add_arg_scope, arg_scope
from tapeflow.contrib.layers import (
    batch_norm,
    conv2d,
    l2_regularizer,
    max_pool2d,
    softmax,
    variance_scaling_initializer,
)
from tapeflow.contrib.layers.named_outputs import collect_named_outputs, convert_collection_to_dict
from tapeflow.core.annotations import Tensor
from tapeflow.ops.array.padding import pad
from tapeflow.ops.math.reduction import reduce_mean
from tapeflow.ops.nn.activation import relu
from tapeflow.v1.variable_scoping import variable_scope

__all__ = ["Block", "conv2d_same", "resnet_arg_scope", "stack_blocks_dense", "subsample"]

# How many units the four blocks of a network of so many layers have.
UNITS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}
_UNREACHABLE = "The target output_stride cannot be reached."


class Block(NamedTuple):
    """A named group of units: `unit_fn(net, rate=..., **args[i])` for each of `args`."""

    scope: str
    unit_fn: Callable[..., Tensor]
    args: Sequence[dict[str, Any]]


def subsample(inputs: Tensor, factor: int, scope: str | None = None) -> Tensor:
    """Every `factor`-th element along height and width of [batch, height, width, channels]."""
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: Tensor, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: str | None = None
) -> Tensor:
    """A convolution whose padding does not depend on the size of the images.

    With a stride it gives each `stride`-th element of the convolution without one, where padding "SAME" of an
    image of even size does not.
    """
    if stride == 1:
        return conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
    total = (kernel_size - 1) * rate
    before = total // 2
    edges = [before, total - before]
    inputs = pad(inputs, [[0, 0], edges, edges, [0, 0]])
    return conv2d(inputs, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)


@add_arg_scope
def stack_blocks_dense(
    net: Tensor, blocks: Sequence[Block], output_stride: int | None = None, outputs_collections: Any = None
) -> Tensor:
    """The blocks one upon another; from `output_stride` on, strides become rates of the convolutions after them.

    Args:
      net: [batch, height, width, channels].
      blocks: the blocks.
      output_stride: the largest ratio of the sizes of `net` and of the result, or None for no limit.
      outputs_collections: where the result of each block is put.
    Raises ValueError where the strides of the units do not come to `output_stride`.
    """
    current, rate = 1, 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as scope:
            for i, unit in enumerate(block.args, 1):
                if output_stride is not None and current > output_stride:
                    raise ValueError(_UNREACHABLE)
                stride = unit.get("stride", 1)
                with variable_scope(f"unit_{i}", values=[net]):
                    if output_stride is not None and current == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= stride
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        current *= stride
            net = collect_named_outputs(outputs_collections, scope.name, net)
    if output_stride is not None and current != output_stride:
        raise ValueError(_UNREACHABLE)
    return net


def resnet_arg_scope(
    weight_decay: float = 0.0001, batch_norm_decay: float = 0.997, batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> dict[Any, Any]:  # fmt: skip
    """The scope of arguments: batch normalization and ReLU after each convolution, L2 of the weights."""
    normal = {
        "decay": batch_norm_decay, "epsilon": batch_norm_epsilon, "scale": batch_norm_scale,
        "updates_collections": "update_ops",
    }  # fmt: skip
    with arg_scope(
        [conv2d], weights_regularizer=l2_regularizer(weight_decay),
        weights_initializer=variance_scaling_initializer(), activation_fn=relu, normalizer_fn=batch_norm,
        normalizer_params=normal,
    ), arg_scope([batch_norm], **normal), arg_scope([max_pool2d], padding="SAME") as found:  # fmt: skip
        return found


def bottleneck_block(unit: Callable[..., Tensor], scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """A block of bottlenecks, the last of which has the stride."""
    depths = {"depth": base_depth * 4, "depth_bottleneck": base_depth}
    strides = [1] * (num_units - 1) + [stride]
    return Block(scope, unit, [{**depths, "stride": each} for each in strides])


def blocks_of(block: Callable[..., Block], layers: int) -> list[Block]:
    """The four blocks of a network of so many layers."""
    return [
        block(f"block{i}", base_depth=64 * 2 ** (i - 1), num_units=units, stride=1 if i == 4 else 2)
        for i, units in enumerate(UNITS[layers], 1)
    ]


def network(
    inputs: Tensor, blocks: Sequence[Block], num_classes: int | None, is_training: bool | Tensor, global_pool: bool,
    output_stride: int | None, include_root_block: bool, reuse: Any, scope: Any, *, default: str, unit: Any,
    root: dict[str, Any], end: Callable[[Tensor], Tensor],
) -> tuple[Tensor, dict[str, Tensor]]:  # fmt: skip
    """A residual network: (the result, outputs by name).

    `root` has arguments of the first convolution; `end` is what is done after the last block.
    """
    with variable_scope(scope, default, [inputs], reuse=reuse) as found:
        collection = found.original_name_scope + "_end_points"
        with (
            arg_scope([conv2d, unit, stack_blocks_dense], outputs_collections=collection),
            arg_scope([batch_norm], is_training=is_training),
        ):
            net = inputs
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4:
                        raise ValueError("The output_stride needs to be a multiple of 4.")
                    output_stride //= 4
                with arg_scope([conv2d], **root):
                    net = conv2d_same(net, 64, 7, stride=2, scope="conv1")
                net = max_pool2d(net, [3, 3], stride=2, scope="pool1")
            net = end(stack_blocks_dense(net, blocks, output_stride))
            if global_pool:
                net = reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
            outputs = convert_collection_to_dict(collection)
            if num_classes is not None:
                outputs["predictions"] = softmax(net, scope="predictions")
            return net, outputs
