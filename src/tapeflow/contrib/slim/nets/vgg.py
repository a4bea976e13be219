"""VGG networks A, D and E (Simonyan & Zisserman 2014)."""

from __future__ import annotations

from tapeflow.contrib.slim.nets.chains import Convolution, Pool, chain, plain_arg_scope

__all__ = ["vgg_16", "vgg_19", "vgg_a", "vgg_arg_scope", "vgg_d", "vgg_e"]

_DEPTHS = (64, 128, 256, 512, 512)


def vgg_arg_scope(weight_decay: float = 0.0005):
    """The scope of arguments: ReLU, L2 of the weights by `weight_decay`, biases from zero."""
    return plain_arg_scope(weight_decay, 0.0)


def _vgg(counts, name, inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope):
    """A network of five groups with so many convolutions each."""
    layers: list[Convolution | Pool] = []
    for i, (depth, count) in enumerate(zip(_DEPTHS, counts, strict=True), 1):
        layers += [Convolution(f"conv{i}", depth, 3, times=count), Pool(f"pool{i}")]
    return chain(
        inputs, layers, Convolution("fc6", 4096, 7, padding="VALID"), 4096, num_classes, is_training,
        dropout_keep_prob, spatial_squeeze, scope, name,
    )  # fmt: skip


def vgg_a(
    inputs, num_classes: int = 1000, is_training=True, dropout_keep_prob: float = 0.5, spatial_squeeze: bool = True,
    scope="vgg_a",
):  # fmt: skip
    """VGG of 11 layers: (logits, outputs by name). Its `default_image_size` is 224.

    Args:
      inputs: images, [batch, height, width, channels].
      num_classes: the number of classes.
      is_training: whether dropout acts.
      dropout_keep_prob: the share that dropout keeps.
      spatial_squeeze: whether the logits lose their two axes of size one.
      scope: the variable scope.
    """
    return _vgg(
        (1, 1, 2, 2, 2), "vgg_a", inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope
    )


def vgg_16(
    inputs, num_classes: int = 1000, is_training=True, dropout_keep_prob: float = 0.5, spatial_squeeze: bool = True,
    scope="vgg_16",
):  # fmt: skip
    """VGG of 16 layers: (logits, outputs by name). Its `default_image_size` is 224.

    Args:
      inputs: images, [batch, height, width, channels].
      num_classes: the number of classes.
      is_training: whether dropout acts.
      dropout_keep_prob: the share that dropout keeps.
      spatial_squeeze: whether the logits lose their two axes of size one.
      scope: the variable scope.
    """
    return _vgg(
        (2, 2, 3, 3, 3), "vgg_16", inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope
    )


def vgg_19(
    inputs, num_classes: int = 1000, is_training=True, dropout_keep_prob: float = 0.5, spatial_squeeze: bool = True,
    scope="vgg_19",
):  # fmt: skip
    """VGG of 19 layers: (logits, outputs by name). Its `default_image_size` is 224.

    Args:
      inputs: images, [batch, height, width, channels].
      num_classes: the number of classes.
      is_training: whether dropout acts.
      dropout_keep_prob: the share that dropout keeps.
      spatial_squeeze: whether the logits lose their two axes of size one.
      scope: the variable scope.
    """
    return _vgg(
        (2, 2, 4, 4, 4), "vgg_19", inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope
    )


for _network in (vgg_a, vgg_16, vgg_19):
    _network.default_image_size = 224  # type: ignore[attr-defined]
vgg_d, vgg_e = vgg_16, vgg_19
