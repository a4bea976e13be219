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
from tapeflow.ops.math.reductions import reduce_mean
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


def family(
    name: str, unit: Callable[..., Tensor], root: dict[str, Any], end: Callable[[Tensor], Tensor]
) -> tuple[Callable[..., Any], ...]:
    """The functions that build networks of one kind of units: of any blocks, and of 50, 101, 152 and 200 layers.

    `root` has arguments of the first convolution; `end` is what is done after the last block.
    """

    def build(
        inputs: Tensor, blocks: Sequence[Block], num_classes: int | None = None, is_training: bool | Tensor = True,
        global_pool: bool = True, output_stride: int | None = None, include_root_block: bool = True,
        reuse: Any = None, scope: Any = None,
    ) -> tuple[Tensor, dict[str, Tensor]]:  # fmt: skip
        with variable_scope(scope, name, [inputs], reuse=reuse) as found:
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

    build.__name__ = build.__qualname__ = name
    build.__doc__ = _DOCUMENTATION
    build.default_image_size = 224  # type: ignore[attr-defined]
    return build, *(_of_layers(build, unit, name, layers) for layers in UNITS)


_DOCUMENTATION = """A residual network of `blocks`: (logits [batch, 1, 1, classes], outputs by name).

    Args:
      inputs: images, [batch, height, width, channels].
      num_classes: the number of classes, or None for the features before the logits.
      is_training: whether batch normalization uses the batch's own moments.
      global_pool: whether height and width are averaged.
      output_stride: the ratio of the sizes of images and features, or None for 32; see `stack_blocks_dense`.
      include_root_block: whether a convolution and a pool, of stride 2 each, come first.
      reuse, scope: of the variable scope.
    Raises ValueError for an `output_stride` that is not a multiple of 4, or that the blocks do not reach.
    """


def _of_layers(build: Callable[..., Any], unit: Callable[..., Tensor], family_name: str, layers: int) -> Any:
    """The function that builds the network of so many layers."""
    name = f"{family_name}_{layers}"

    def of_layers(
        inputs: Tensor, num_classes: int | None = None, is_training: bool | Tensor = True, global_pool: bool = True,
        output_stride: int | None = None, reuse: Any = None, scope: Any = name,
    ) -> tuple[Tensor, dict[str, Tensor]]:  # fmt: skip
        blocks = [
            bottleneck_block(unit, f"block{i}", 64 * 2 ** (i - 1), units, 1 if i == 4 else 2)
            for i, units in enumerate(UNITS[layers], 1)
        ]
        return build(inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)

    of_layers.__name__ = of_layers.__qualname__ = name
    of_layers.__doc__ = f"`{family_name}` of {layers} layers, with its arguments and results."
    of_layers.default_image_size = 224  # type: ignore[attr-defined]
    return of_layers
