"""Inception v2, with batch normalization (Ioffe & Szegedy 2015)."""

from __future__ import annotations

from tapeflow.contrib.framework.scoping import arg_scope
from tapeflow.contrib.layers import (
    avg_pool2d,
    batch_norm,
    conv2d,
    dropout,
    max_pool2d,
    separable_conv2d,
    softmax,
)
from tapeflow.contrib.slim.nets import branches
from tapeflow.contrib.slim.nets.branches import Conv, Pool
from tapeflow.core.annotations import TensorLike
from tapeflow.v1.variable_scoping import VariableScope, variable_scope

__all__ = ["inception_v2", "inception_v2_arg_scope", "inception_v2_base"]


def _reducing(depth):
    return Conv("Conv2d_0a_1x1", depth, stddev=0.09)


def _block(name: str, one, three, twice, pooled, pool="AvgPool_0a_3x3"):
    """A block of four branches: 1, 3, twice 3 elements, and a pool."""
    return name, (
        (Conv("Conv2d_0a_1x1", one),),
        (_reducing(three[0]), Conv("Conv2d_0b_3x3", three[1])),
        (_reducing(twice[0]), Conv("Conv2d_0b_3x3", twice[1]), Conv("Conv2d_0c_3x3", twice[1])),
        (Pool(pool), Conv("Conv2d_0b_1x1", pooled, stddev=0.1)),
    )


def _shrinking(name: str, three, twice):
    """A block of three branches that halves height and width."""
    return name, (
        (_reducing(three[0]), Conv("Conv2d_1a_3x3", three[1], 2)),
        (_reducing(twice[0]), Conv("Conv2d_0b_3x3", twice[1]), Conv("Conv2d_1a_3x3", twice[1], 2)),
        (Pool("MaxPool_1a_3x3", 2),),
    )


_FIRST = "Conv2d_1a_7x7"
_STEPS = (
    Pool("MaxPool_2a_3x3", 2), Conv("Conv2d_2b_1x1", 64, stddev=0.1), Conv("Conv2d_2c_3x3", 192),
    Pool("MaxPool_3a_3x3", 2),
    _block("Mixed_3b", 64, (64, 64), (64, 96), 32),
    _block("Mixed_3c", 64, (64, 96), (64, 96), 64),
    _shrinking("Mixed_4a", (128, 160), (64, 96)),
    _block("Mixed_4b", 224, (64, 96), (96, 128), 128),
    _block("Mixed_4c", 192, (96, 128), (96, 128), 128),
    _block("Mixed_4d", 160, (128, 160), (128, 160), 96),
    _block("Mixed_4e", 96, (128, 192), (160, 192), 96),
    _shrinking("Mixed_5a", (128, 192), (192, 256)),
    _block("Mixed_5b", 352, (192, 320), (160, 224), 128),
    _block("Mixed_5c", 352, (192, 320), (192, 224), 128, "MaxPool_0a_3x3"),
)  # fmt: skip


def inception_v2_base(
    inputs: TensorLike, final_endpoint: str = "Mixed_5c", min_depth: int = 16, depth_multiplier: float = 1.0,
    scope: str | VariableScope | None = None
):
    """The network before the logits, as far as the layer or block `final_endpoint`: (features, outputs by name).

    Numbers of channels are multiplied by `depth_multiplier`, and at least `min_depth`.
    Raises ValueError for a name that the network does not have, and a multiplier that is not above zero.
    """
    depth = branches.depths(depth_multiplier, min_depth)
    outputs: dict = {}
    with (
        variable_scope(scope, "InceptionV2", [inputs]),
        arg_scope([conv2d, max_pool2d, avg_pool2d, separable_conv2d], stride=1, padding="SAME"),
    ):
        net = outputs[_FIRST] = separable_conv2d(
            inputs, depth(64), [7, 7], depth_multiplier=min(int(depth(64) / 3), 8), stride=2,
            weights_initializer=branches.truncated_normal(1.0), scope=_FIRST,
        )  # fmt: skip
        net = branches.run(net, _STEPS, outputs, final_endpoint, depth)
        return net, branches.checked(outputs, final_endpoint)


def inception_v2(
    inputs: TensorLike, num_classes: int = 1000, is_training: bool = True, dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0, prediction_fn=softmax, spatial_squeeze: bool = True, reuse: bool | None = None,
    scope="InceptionV2",
):  # fmt: skip
    """Inception v2: (logits [batch, classes], outputs by name). Its `default_image_size` is 224.

    Args are those of `inception_v1`, and `min_depth` and `depth_multiplier` of `inception_v2_base`.
    Raises ValueError for a multiplier that is not above zero.
    """
    with (
        variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as scope,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, outputs = inception_v2_base(
            inputs, scope=scope, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        logits = branches.logits(
            net, outputs, [7, 7], num_classes, dropout_keep_prob, spatial_squeeze, prediction_fn
        )
    return logits, outputs


inception_v2.default_image_size = 224  # type: ignore[attr-defined]


def inception_v2_arg_scope(weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars"):
    """The scope of arguments: ReLU, L2 of the weights, batch normalization."""
    return branches.inception_arg_scope(weight_decay, collection=batch_norm_var_collection)
