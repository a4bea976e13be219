"""Inception v3 (Szegedy et al. 2015)."""

from __future__ import annotations

from tapeflow.contrib.framework.scoping import arg_scope
from tapeflow.contrib.layers import avg_pool2d, batch_norm, conv2d, dropout, max_pool2d, softmax
from tapeflow.contrib.slim.nets import branches
from tapeflow.contrib.slim.nets.branches import Conv, Fork, Pool
from tapeflow.core.annotations import TensorLike
from tapeflow.ops.array.layout import squeeze
from tapeflow.v1.variable_scoping import VariableScope, variable_scope

__all__ = ["inception_v3", "inception_v3_arg_scope", "inception_v3_base"]

_ROOT = (
    Conv("Conv2d_1a_3x3", 32, 2), Conv("Conv2d_2a_3x3", 32), Conv("Conv2d_2b_3x3", 64, padding="SAME"),
    Pool("MaxPool_3a_3x3", 2), Conv("Conv2d_3b_1x1", 80), Conv("Conv2d_4a_3x3", 192), Pool("MaxPool_5a_3x3", 2),
)  # fmt: skip


def _fives(name: str, pooled, first="Conv2d_0a_1x1", second="Conv2d_0b_5x5"):
    """A block with a branch of 5 elements; in one block that has other names."""
    return name, (
        (Conv("Conv2d_0a_1x1", 64),),
        (Conv(first, 48), Conv(second, 64)),
        (Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_0b_3x3", 96), Conv("Conv2d_0c_3x3", 96)),
        (Pool("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", pooled)),
    )


def _sevens(name: str, depth):
    """A block whose filters of 7 by 7 elements are made of rows and columns."""
    return name, (
        (Conv("Conv2d_0a_1x1", 192),),
        (Conv("Conv2d_0a_1x1", depth), Conv("Conv2d_0b_1x7", depth), Conv("Conv2d_0c_7x1", 192)),
        (
            Conv("Conv2d_0a_1x1", depth), Conv("Conv2d_0b_7x1", depth), Conv("Conv2d_0c_1x7", depth),
            Conv("Conv2d_0d_7x1", depth), Conv("Conv2d_0e_1x7", 192),
        ),
        (Pool("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", 192)),
    )  # fmt: skip


def _forked(name: str, column):
    """A block whose filters of 3 by 3 elements are a row beside a column."""
    return name, (
        (Conv("Conv2d_0a_1x1", 320),),
        (Conv("Conv2d_0a_1x1", 384), Fork((Conv("Conv2d_0b_1x3", 384), Conv(column, 384)))),
        (
            Conv("Conv2d_0a_1x1", 448), Conv("Conv2d_0b_3x3", 384),
            Fork((Conv("Conv2d_0c_1x3", 384), Conv("Conv2d_0d_3x1", 384))),
        ),
        (Pool("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", 192)),
    )  # fmt: skip


_BLOCKS = (
    _fives("Mixed_5b", 32),
    _fives("Mixed_5c", 64, "Conv2d_0b_1x1", "Conv_1_0c_5x5"),
    _fives("Mixed_5d", 64),
    ("Mixed_6a", (
        (Conv("Conv2d_1a_1x1", 384, 2, "VALID", size=(3, 3)),),
        (
            Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_0b_3x3", 96),
            Conv("Conv2d_1a_1x1", 96, 2, "VALID", size=(3, 3)),
        ),
        (Pool("MaxPool_1a_3x3", 2, "VALID"),),
    )),
    _sevens("Mixed_6b", 128), _sevens("Mixed_6c", 160), _sevens("Mixed_6d", 160), _sevens("Mixed_6e", 192),
    ("Mixed_7a", (
        (Conv("Conv2d_0a_1x1", 192), Conv("Conv2d_1a_3x3", 320, 2, "VALID")),
        (
            Conv("Conv2d_0a_1x1", 192), Conv("Conv2d_0b_1x7", 192), Conv("Conv2d_0c_7x1", 192),
            Conv("Conv2d_1a_3x3", 192, 2, "VALID"),
        ),
        (Pool("MaxPool_1a_3x3", 2, "VALID"),),
    )),
    _forked("Mixed_7b", "Conv2d_0b_3x1"), _forked("Mixed_7c", "Conv2d_0c_3x1"),
)  # fmt: skip


def inception_v3_base(
    inputs, final_endpoint: str = "Mixed_7c", min_depth: int = 16, depth_multiplier: float = 1.0,
    scope: str | VariableScope | None = None
):
    """The network before the logits, as far as the layer or block `final_endpoint`: (features, outputs by name).

    Numbers of channels are multiplied by `depth_multiplier`, and at least `min_depth`.
    Raises ValueError for a name that the network does not have, and a multiplier that is not above zero.
    """
    depth = branches.depths(depth_multiplier, min_depth)
    outputs: dict = {}
    with variable_scope(scope, "InceptionV3", [inputs]):
        with arg_scope([conv2d, max_pool2d, avg_pool2d], stride=1, padding="VALID"):
            net = branches.run(inputs, _ROOT, outputs, final_endpoint, depth)
        with arg_scope([conv2d, max_pool2d, avg_pool2d], stride=1, padding="SAME"):
            net = branches.run(net, _BLOCKS, outputs, final_endpoint, depth)
        return net, branches.checked(outputs, final_endpoint)


def _auxiliary(net, depth, num_classes, spatial_squeeze):
    """Logits from the middle of the network, whose loss helps in training."""
    with variable_scope("AuxLogits"):
        net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        net = conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        size = branches.fitting(net, [5, 5])
        net = conv2d(
            net, depth(768), size, weights_initializer=branches.truncated_normal(0.01), padding="VALID",
            scope="Conv2d_2a_{}x{}".format(*size),
        )  # fmt: skip
        net = conv2d(
            net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
            weights_initializer=branches.truncated_normal(0.001), scope="Conv2d_2b_1x1",
        )  # fmt: skip
        return squeeze(net, [1, 2], name="SpatialSqueeze") if spatial_squeeze else net


def inception_v3(
    inputs: TensorLike, num_classes: int = 1000, is_training: bool = True, dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0, prediction_fn=softmax, spatial_squeeze: bool = True, reuse: bool | None = None,
    scope="InceptionV3",
):  # fmt: skip
    """Inception v3: (logits [batch, classes], outputs by name). Its `default_image_size` is 299.

    Args are those of `inception_v1`, and `min_depth` and `depth_multiplier` of `inception_v3_base`; the outputs
    have `AuxLogits`, logits from the middle of the network. Raises ValueError for a multiplier not above zero.
    """
    depth = branches.depths(depth_multiplier, min_depth)
    with (
        variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as scope,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, outputs = inception_v3_base(
            inputs, scope=scope, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        with arg_scope([conv2d, max_pool2d, avg_pool2d], stride=1, padding="SAME"):
            outputs["AuxLogits"] = _auxiliary(outputs["Mixed_6e"], depth, num_classes, spatial_squeeze)
        logits = branches.logits(
            net, outputs, [8, 8], num_classes, dropout_keep_prob, spatial_squeeze, prediction_fn
        )
    return logits, outputs


inception_v3.default_image_size = 299  # type: ignore[attr-defined]


def inception_v3_arg_scope(
    weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars", batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001, updates_collections="update_ops", use_fused_batchnorm: bool = True,
):  # fmt: skip
    """The scope of arguments: ReLU, L2 of the weights, batch normalization with the given constants."""
    return branches.inception_arg_scope(
        weight_decay, collection=batch_norm_var_collection, decay=batch_norm_decay, epsilon=batch_norm_epsilon,
        updates_collections=updates_collections, fused=use_fused_batchnorm,
    )  # fmt: skip
