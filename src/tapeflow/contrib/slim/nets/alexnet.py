"""AlexNet in its second version (Krizhevsky 2014)."""

from __future__ import annotations

from tapeflow.contrib.slim.nets.chains import Convolution, Pool, chain, plain_arg_scope
from tapeflow.v1 import initializers

__all__ = ["alexnet_v2", "alexnet_v2_arg_scope"]

_LAYERS: tuple[Convolution | Pool, ...] = (
    Convolution("conv1", 64, 11, 4, "VALID"), Pool("pool1", 3), Convolution("conv2", 192, 5), Pool("pool2", 3),
    Convolution("conv3", 384, 3), Convolution("conv4", 384, 3), Convolution("conv5", 256, 3), Pool("pool5", 3),
)  # fmt: skip
_HEAD = {
    "weights_initializer": initializers.truncated_normal_initializer(0.0, 0.005),
    "biases_initializer": initializers.constant_initializer(0.1),
}


def alexnet_v2_arg_scope(weight_decay: float = 0.0005):
    """The scope of arguments: ReLU, L2 of the weights by `weight_decay`, biases from 0.1."""
    return plain_arg_scope(weight_decay, 0.1, "VALID")


def alexnet_v2(
    inputs, num_classes: int = 1000, is_training=True, dropout_keep_prob: float = 0.5, spatial_squeeze: bool = True,
    scope="alexnet_v2",
):  # fmt: skip
    """AlexNet: (logits, outputs by name). Its `default_image_size` is 224.

    Args:
      inputs: images, [batch, height, width, channels].
      num_classes: the number of classes.
      is_training: whether dropout acts.
      dropout_keep_prob: the share that dropout keeps.
      spatial_squeeze: whether the logits lose their two axes of size one.
      scope: the variable scope.
    """
    return chain(
        inputs, _LAYERS, Convolution("fc6", 4096, 5, padding="VALID"), 4096, num_classes, is_training,
        dropout_keep_prob, spatial_squeeze, scope, "alexnet_v2", _HEAD,
        {"biases_initializer": initializers.zeros_initializer()},
    )  # fmt: skip


alexnet_v2.default_image_size = 224  # type: ignore[attr-defined]
