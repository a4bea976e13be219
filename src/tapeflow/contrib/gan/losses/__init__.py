"""`tf.contrib.gan.losses`: losses that take a model; those of `wargs` take its tensors."""

from tapeflow.contrib.gan.losses import wargs
from tapeflow.contrib.gan.losses.tuples import (
    acgan_discriminator_loss,
    acgan_generator_loss,
    combine_adversarial_loss,
    cycle_consistency_loss,
    least_squares_discriminator_loss,
    least_squares_generator_loss,
    minimax_discriminator_loss,
    minimax_generator_loss,
    modified_discriminator_loss,
    modified_generator_loss,
    mutual_information_penalty,
    stargan_discriminator_loss_wrapper,
    stargan_generator_loss_wrapper,
    stargan_gradient_penalty_wrapper,
    wasserstein_discriminator_loss,
    wasserstein_generator_loss,
    wasserstein_gradient_penalty,
)

__all__ = [
    "acgan_discriminator_loss", "acgan_generator_loss", "combine_adversarial_loss", "cycle_consistency_loss",
    "least_squares_discriminator_loss", "least_squares_generator_loss", "minimax_discriminator_loss",
    "minimax_generator_loss", "modified_discriminator_loss", "modified_generator_loss", "mutual_information_penalty",
    "stargan_discriminator_loss_wrapper", "stargan_generator_loss_wrapper", "stargan_gradient_penalty_wrapper",
    "wargs", "wasserstein_discriminator_loss", "wasserstein_generator_loss", "wasserstein_gradient_penalty",
]  # fmt: skip
