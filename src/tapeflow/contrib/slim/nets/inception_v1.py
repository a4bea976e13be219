"""Inception v1, GoogLeNet (Szegedy et al. 2014)."""

from __future__ import annotations

from tapeflow.contrib.framework.scoping import arg_scope
from tapeflow.contrib.layers import (
    avg_pool2d,
    batch_norm,
    conv2d,
    dropout,
    fully_connected,
    max_pool2d,
    softmax,
)
from tapeflow.contrib.slim.nets import branches
from tapeflow.contrib.slim.nets.branches import Conv, Pool
from tapeflow.core.annotations import TensorLike
from tapeflow.ops.array.layout import squeeze
from tapeflow.v1.variable_scoping import variable_scope

__all__ = ["inception_v1", "inception_v1_arg_scope", "inception_v1_base"]


def _block(name: str, one, three, five, pooled, last="Conv2d_0b_3x3"):
    """A block of four branches; in one network the last filters have another name."""
    return name, (
        (Conv("Conv2d_0a_1x1", one),),
        (Conv("Conv2d_0a_1x1", three[0]), Conv("Conv2d_0b_3x3", three[1])),
        (Conv("Conv2d_0a_1x1", five[0]), Conv(last, five[1])),
        (Pool("MaxPool_0a_3x3"), Conv("Conv2d_0b_1x1", pooled)),
    )


_STEPS = (
    Conv("Conv2d_1a_7x7", 64, 2), Pool("MaxPool_2a_3x3", 2), Conv("Conv2d_2b_1x1", 64), Conv("Conv2d_2c_3x3", 192),
    Pool("MaxPool_3a_3x3", 2),
    _block("Mixed_3b", 64, (96, 128), (16, 32), 32),
    _block("Mixed_3c", 128, (128, 192), (32, 96), 64),
    Pool("MaxPool_4a_3x3", 2),
    _block("Mixed_4b", 192, (96, 208), (16, 48), 64),
    _block("Mixed_4c", 160, (112, 224), (24, 64), 64),
    _block("Mixed_4d", 128, (128, 256), (24, 64), 64),
    _block("Mixed_4e", 112, (144, 288), (32, 64), 64),
    _block("Mixed_4f", 256, (160, 320), (32, 128), 128),
    Pool("MaxPool_5a_2x2", 2),
    _block("Mixed_5b", 256, (160, 320), (32, 128), 128, "Conv2d_0a_3x3"),
    _block("Mixed_5c", 384, (192, 384), (48, 128), 128),
)  # fmt: skip


def inception_v1_base(inputs, final_endpoint: str = "Mixed_5c", scope="InceptionV1"):
    """The network before the logits, as far as the layer or block `final_endpoint`: (features, outputs by name).

    Raises ValueError for a name that the network does not have.
    """
    outputs: dict = {}
    with (
        variable_scope(scope, "InceptionV1", [inputs]),
        arg_scope([conv2d, fully_connected], weights_initializer=branches.truncated_normal(0.01)),
        arg_scope([conv2d, max_pool2d], stride=1, padding="SAME"),
    ):
        net = branches.run(inputs, _STEPS, outputs, final_endpoint, lambda depth: depth)
        return net, branches.checked(outputs, final_endpoint)


def inception_v1(
    inputs: TensorLike, num_classes: int = 1000, is_training: bool = True, dropout_keep_prob: float = 0.8,
    prediction_fn=softmax,
    spatial_squeeze: bool = True, reuse: bool | None = None, scope="InceptionV1",
):  # fmt: skip
    """Inception v1: (logits [batch, classes], outputs by name). Its `default_image_size` is 224.

    Args:
      inputs: images, [batch, height, width, channels].
      num_classes: the number of classes.
      is_training: whether dropout and the batch's own moments are used.
      dropout_keep_prob: the share that dropout keeps.
      prediction_fn: makes predictions of logits.
      spatial_squeeze: whether the logits lose their two axes of size one.
      reuse, scope: of the variable scope.
    """
    with (
        variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as scope,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, outputs = inception_v1_base(inputs, scope=scope)
        with variable_scope("Logits"):
            net = avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            net = dropout(net, dropout_keep_prob, scope="Dropout_0b")
            logits = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="Conv2d_0c_1x1")
            if spatial_squeeze:
                logits = squeeze(logits, [1, 2], name="SpatialSqueeze")
            outputs["Logits"] = logits
            outputs["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, outputs


inception_v1.default_image_size = 224  # type: ignore[attr-defined]


def inception_v1_arg_scope(
    weight_decay: float = 0.00004, use_batch_norm: bool = True, batch_norm_var_collection: str = "moving_vars"
):
    """The scope of arguments: ReLU, L2 of the weights, batch normalization unless `use_batch_norm` is false."""
    return branches.inception_arg_scope(weight_decay, use_batch_norm, batch_norm_var_collection)
