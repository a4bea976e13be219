"""Residual networks, second version, normalized before the convolutions (He et al. 2016)."""

from __future__ import annotations

from functools import partial

from tapeflow.contrib.framework.scoping import add_arg_scope
from tapeflow.contrib.layers import batch_norm, conv2d
from tapeflow.contrib.layers.named_outputs import collect_named_outputs
from tapeflow.contrib.slim.nets import resnet_utils
from tapeflow.contrib.slim.nets.resnet_utils import resnet_arg_scope
from tapeflow.core.annotations import Collections
from tapeflow.ops.nn.activation import relu
from tapeflow.v1.variable_scoping import VariableScope, variable_scope

__all__ = [
    "bottleneck", "resnet_arg_scope", "resnet_v2", "resnet_v2_101", "resnet_v2_152", "resnet_v2_200",
    "resnet_v2_50", "resnet_v2_block",
]  # fmt: skip


@add_arg_scope
def bottleneck(
    inputs, depth: int, depth_bottleneck: int, stride: int, rate: int = 1,
    outputs_collections: Collections | None = None, scope: str | VariableScope | None = None
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
resnet_v2, resnet_v2_50, resnet_v2_101, resnet_v2_152, resnet_v2_200 = resnet_utils.family(
    "resnet_v2", bottleneck, {"activation_fn": None, "normalizer_fn": None},
    lambda net: batch_norm(net, activation_fn=relu, scope="postnorm"),
)  # fmt: skip
