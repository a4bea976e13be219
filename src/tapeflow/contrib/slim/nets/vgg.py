"""VGG networks A, D and E (Simonyan & Zisserman 2014)."""

from __future__ import annotations

from tapeflow.contrib.slim.nets.chains import Convolution, Pool, network, plain_arg_scope

__all__ = ["vgg_16", "vgg_19", "vgg_a", "vgg_arg_scope", "vgg_d", "vgg_e"]

_DEPTHS = (64, 128, 256, 512, 512)


def vgg_arg_scope(weight_decay: float = 0.0005):
    """The scope of arguments: ReLU, L2 of the weights by `weight_decay`, biases from zero."""
    return plain_arg_scope(weight_decay, 0.0)


def _vgg(name: str, counts):
    """A network of five groups with so many convolutions each."""
    layers: list[Convolution | Pool] = []
    for i, (depth, count) in enumerate(zip(_DEPTHS, counts, strict=True), 1):
        layers += [Convolution(f"conv{i}", depth, 3, times=count), Pool(f"pool{i}")]
    title = f"VGG of {sum(counts) + 3} layers"
    return network(name, title, 224, layers, Convolution("fc6", 4096, 7, padding="VALID"), 4096)


vgg_a = _vgg("vgg_a", (1, 1, 2, 2, 2))
vgg_16 = vgg_d = _vgg("vgg_16", (2, 2, 3, 3, 3))
vgg_19 = vgg_e = _vgg("vgg_19", (2, 2, 4, 4, 4))
