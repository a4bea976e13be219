"""Residual networks, second version, normalized before the convolutions (He et al. 2016)."""

from __future__ import annotations

from functools import partial

from tapeflow.contrib.framework.scoping import add_arg_scope
from tapeflow.contrib.layers import batch_norm, conv2d
from tapeflow.contrib.layers.named_outputs import collect_named_outputs
from tapeflow.contrib.slim.nets import resnet_utils
from tapeflow.contrib.slim.nets.resnet_utils import resnet_arg_scope
from tapeflow.ops.nn.activation import relu
from tapeflow.v1.variable_scoping import variable_scope

__all__ = [
    "bottleneck", "resnet_arg_scope", "resnet_v2", "resnet_v2_101", "resnet_v2_152", "resnet_v2_200",
    "resnet_v2_50", "resnet_v2_block",
]  # fmt: skip


@add_arg_scope
def bottleneck(
    inputs, depth: int, depth_bottleneck: int, stride: int, rate: int = 1, outputs_collections=None, scope=None
):
    """A shortcut plus normalization, ReLU, and convolutions of 1, 3 and 1 elements, the second with stride and rate."""
    plain = {"normalizer_fn": None, "activation_fn": None}
    with variable_scope(scope, "bottleneck_v2", [inputs]) as found:
        before = batch_norm(inputs, activation_fn=relu, scope="preact")
        if depth == inputs.shape.with_rank_at_least(4).as_list()[-1]:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(before, depth, [1, 1], stride=stride, scope="shortcut", **plain)
        net = conv2d(before, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        net = resnet_utils.conv2d_same(net, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        net = conv2d(net, depth, [1, 1], stride=1, scope="conv3", **plain)
        return collect_named_outputs(outputs_collections, found.name, shortcut + net)


resnet_v2_block = partial(resnet_utils.bottleneck_block, bottleneck)


def resnet_v2(
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
        default="resnet_v2", unit=bottleneck, root={"activation_fn": None, "normalizer_fn": None},
        end=lambda net: batch_norm(net, activation_fn=relu, scope="postnorm"),
    )  # fmt: skip


resnet_v2.default_image_size = 224  # type: ignore[attr-defined]


def resnet_v2_50(
    inputs, num_classes: int | None = None, is_training=True, global_pool: bool = True,
    output_stride: int | None = None, reuse=None, scope="resnet_v2_50",
):  # fmt: skip
    """`resnet_v2` of 50 layers, with its arguments and results."""
    blocks = resnet_utils.blocks_of(resnet_v2_block, 50)
    return resnet_v2(inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)


def resnet_v2_101(
    inputs, num_classes: int | None = None, is_training=True, global_pool: bool = True,
    output_stride: int | None = None, reuse=None, scope="resnet_v2_101",
):  # fmt: skip
    """`resnet_v2` of 101 layers, with its arguments and results."""
    blocks = resnet_utils.blocks_of(resnet_v2_block, 101)
    return resnet_v2(inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)


def resnet_v2_152(
    inputs, num_classes: int | None = None, is_training=True, global_pool: bool = True,
    output_stride: int | None = None, reuse=None, scope="resnet_v2_152",
):  # fmt: skip
    """`resnet_v2` of 152 layers, with its arguments and results."""
    blocks = resnet_utils.blocks_of(resnet_v2_block, 152)
    return resnet_v2(inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)


def resnet_v2_200(
    inputs, num_classes: int | None = None, is_training=True, global_pool: bool = True,
    output_stride: int | None = None, reuse=None, scope="resnet_v2_200",
):  # fmt: skip
    """`resnet_v2` of 200 layers, with its arguments and results."""
    blocks = resnet_utils.blocks_of(resnet_v2_block, 200)
    return resnet_v2(inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)
