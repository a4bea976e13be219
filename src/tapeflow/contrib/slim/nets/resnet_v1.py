"""Residual networks, first version (He et al. 2015)."""

from __future__ import annotations

from functools import partial

from tapeflow.contrib.framework.scoping import add_arg_scope
from tapeflow.contrib.layers import conv2d
from tapeflow.contrib.layers.named_outputs import collect_named_outputs
from tapeflow.contrib.slim.nets import resnet_utils
from tapeflow.contrib.slim.nets.resnet_utils import resnet_arg_scope
from tapeflow.ops.nn.activation import relu
from tapeflow.v1.variable_scoping import variable_scope

__all__ = [
    "bottleneck", "resnet_arg_scope", "resnet_v1", "resnet_v1_101", "resnet_v1_152", "resnet_v1_200",
    "resnet_v1_50", "resnet_v1_block",
]  # fmt: skip


@add_arg_scope
def bottleneck(
    inputs, depth: int, depth_bottleneck: int, stride: int, rate: int = 1, outputs_collections=None, scope=None
):
    """A shortcut plus convolutions of 1, 3 and 1 elements, then ReLU; the second one has the stride and the rate."""
    with variable_scope(scope, "bottleneck_v1", [inputs]) as found:
        if depth == inputs.shape.with_rank_at_least(4).as_list()[-1]:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(inputs, depth, [1, 1], stride=stride, activation_fn=None, scope="shortcut")
        net = conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        net = resnet_utils.conv2d_same(net, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        net = conv2d(net, depth, [1, 1], stride=1, activation_fn=None, scope="conv3")
        return collect_named_outputs(outputs_collections, found.name, relu(shortcut + net))


resnet_v1_block = partial(resnet_utils.bottleneck_block, bottleneck)


def resnet_v1(
    inputs, blocks, num_classes: int | None = None, is_training=True, global_pool: bool = True,
    output_stride: int | None = None, include_root_block: bool = True, reuse=None, scope=None,
):  # fmt: skip
    """A residual network of `blocks`: (logits [batch, 1, 1, classes], outputs by name).

    Args:
      inputs: images, [batch, height, width, channels].
      num_classes: the number of classes, or None for the features before the logits.
      is_training: whether batch normalization uses the batch's own moments.
      global_pool: whether height and width are averaged.
      output_stride: the ratio of the sizes of images and features, or None for 32; see `stack_blocks_dense`.
      reuse, scope: of the variable scope.
      include_root_block: whether a convolution and a pool, of stride 2 each, come first.
    Raises ValueError for an `output_stride` that is not a multiple of 4, or that the blocks do not reach.
    """
    return resnet_utils.network(
        inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block, reuse, scope,
        default="resnet_v1", unit=bottleneck, root={}, end=lambda net: net,
    )  # fmt: skip


resnet_v1.default_image_size = 224  # type: ignore[attr-defined]


def resnet_v1_50(
    inputs, num_classes: int | None = None, is_training=True, global_pool: bool = True,
    output_stride: int | None = None, reuse=None, scope="resnet_v1_50",
):  # fmt: skip
    """`resnet_v1` of 50 layers, with its arguments and results."""
    blocks = resnet_utils.blocks_of(resnet_v1_block, 50)
    return resnet_v1(inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)


def resnet_v1_101(
    inputs, num_classes: int | None = None, is_training=True, global_pool: bool = True,
    output_stride: int | None = None, reuse=None, scope="resnet_v1_101",
):  # fmt: skip
    """`resnet_v1` of 101 layers, with its arguments and results."""
    blocks = resnet_utils.blocks_of(resnet_v1_block, 101)
    return resnet_v1(inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)


def resnet_v1_152(
    inputs, num_classes: int | None = None, is_training=True, global_pool: bool = True,
    output_stride: int | None = None, reuse=None, scope="resnet_v1_152",
):  # fmt: skip
    """`resnet_v1` of 152 layers, with its arguments and results."""
    blocks = resnet_utils.blocks_of(resnet_v1_block, 152)
    return resnet_v1(inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)


def resnet_v1_200(
    inputs, num_classes: int | None = None, is_training=True, global_pool: bool = True,
    output_stride: int | None = None, reuse=None, scope="resnet_v1_200",
):  # fmt: skip
    """`resnet_v1` of 200 layers, with its arguments and results."""
    blocks = resnet_utils.blocks_of(resnet_v1_block, 200)
    return resnet_v1(inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)
