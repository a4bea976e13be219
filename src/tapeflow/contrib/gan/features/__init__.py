"""`tf.contrib.gan.features`: parts of generators and discriminators."""

from tapeflow.contrib.gan.features.clipping import clip_discriminator_weights, clip_variables
from tapeflow.contrib.gan.features.conditioning import (
    condition_tensor,
    condition_tensor_from_onehot,
)
from tapeflow.contrib.gan.features.pool import tensor_pool
from tapeflow.contrib.gan.features.spectral import (
    compute_spectral_norm,
    spectral_norm_regularizer,
    spectral_normalization_custom_getter,
    spectral_normalize,
)
from tapeflow.contrib.gan.features.virtual_batchnorm import VBN

__all__ = [
    "VBN", "clip_discriminator_weights", "clip_variables", "compute_spectral_norm", "condition_tensor",
    "condition_tensor_from_onehot", "spectral_norm_regularizer", "spectral_normalization_custom_getter",
    "spectral_normalize", "tensor_pool",
]  # fmt: skip
