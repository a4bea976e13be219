"""OverFeat, fast (Sermanet et al. 2014)."""

from __future__ import annotations

from tapeflow.contrib.slim.nets.chains import Convolution, Pool, network, plain_arg_scope
from tapeflow.v1 import initializers

__all__ = ["overfeat", "overfeat_arg_scope"]

_LAYERS: tuple[Convolution | Pool, ...] = (
    Convolution("conv1", 64, 11, 4, "VALID"), Pool("pool1"), Convolution("conv2", 256, 5, padding="VALID"),
    Pool("pool2"), Convolution("conv3", 512, 3), Convolution("conv4", 1024, 3), Convolution("conv5", 1024, 3),
    Pool("pool5"),
)  # fmt: skip
_HEAD = {
    "weights_initializer": initializers.truncated_normal_initializer(0.0, 0.005),
    "biases_initializer": initializers.constant_initializer(0.1),
}


def overfeat_arg_scope(weight_decay: float = 0.0005):
    """The scope of arguments: ReLU, L2 of the weights by `weight_decay`, biases from zero."""
    return plain_arg_scope(weight_decay, 0.0, "VALID")


overfeat = network(
    "overfeat", "OverFeat", 231, _LAYERS, Convolution("fc6", 3072, 6, padding="VALID"), 4096, _HEAD,
    {"biases_initializer": initializers.zeros_initializer()},
)  # fmt: skip
