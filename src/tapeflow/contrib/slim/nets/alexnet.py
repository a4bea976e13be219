"""AlexNet in its second version (Krizhevsky 2014)."""

from __future__ import annotations

from tapeflow.contrib.slim.nets.chains import Convolution, Pool, network, plain_arg_scope
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


alexnet_v2 = network(
    "alexnet_v2", "AlexNet", 224, _LAYERS, Convolution("fc6", 4096, 5, padding="VALID"), 4096, _HEAD,
    {"biases_initializer": initializers.zeros_initializer()},
)  # fmt: skip
