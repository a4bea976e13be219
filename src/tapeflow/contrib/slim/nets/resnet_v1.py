"""Residual networks, first version (He et al. 2015)."""

from __future__ import annotations

from functools import partial

from tapeflow.contrib.framework.scoping import add_arg_scope
from tapeflow.contrib.layers import conv2d
from tapeflow.contrib.layers.named_outputs import collect_named_outputs
from tapeflow.contrib.slim.nets import resnet_utils
from tapeflow.contrib.slim.nets.resnet_utils import resnet_arg_scope
from tapeflow.core.annotations import Collections
from tapeflow.ops.nn.activation import relu
from tapeflow.v1.variable_scoping import VariableScope, variable_scope

__all__ = [
    "bottleneck", "resnet_arg_scope", "resnet_v1", "resnet_v1_101", "resnet_v1_152", "resnet_v1_200",
    "resnet_v1_50", "resnet_v1_block",
]  # fmt: skip


@add_arg_scope
def bottleneck(
    inputs, depth: int, depth_bottleneck: int, stride: int, rate: int = 1,
    outputs_collections: Collections | None = None, scope: str | VariableScope | None = None
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
resnet_v1, resnet_v1_50, resnet_v1_101, resnet_v1_152, resnet_v1_200 = resnet_utils.family(
    "resnet_v1", bottleneck, {}, lambda net: net
)
