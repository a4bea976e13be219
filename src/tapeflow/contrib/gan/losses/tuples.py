"""The losses of GANs, of models: what a loss takes comes from the fields of the tuple, by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.contrib.gan.losses import wargs
from tapeflow.contrib.gan.models import CycleGANModel
from tapeflow.core.structures.structure import fields_of

if TYPE_CHECKING:
    from tapeflow.contrib.gan.models import GANModel, StarGANModel


def _of_model(loss_fn: Callable[..., Any]):
    """The loss as a function of a model, and of what the model's fields do not have."""
    parameters = inspect.signature(loss_fn).parameters
    needed = {name for name, parameter in parameters.items() if parameter.default is parameter.empty}

    @functools.wraps(loss_fn)
    def of_model(gan_model: GANModel, **kwargs):
        fields = set(fields_of(gan_model))
        for name in needed - fields:
            if name not in kwargs:
                raise ValueError(f"`{name}` must be supplied to {loss_fn.__name__} loss function.")
        twice = fields & set(kwargs)
        if twice:
            raise ValueError(
                "The following args are present in both the tuple and keyword args for "
                f"{loss_fn.__name__}: {twice}"
            )
        found = {name: getattr(gan_model, name) for name in parameters if name in fields}
        found = {name: value for name, value in found.items() if name in needed or value is not None}
        given = {name: value for name, value in kwargs.items() if name in needed or value is not None}
        return loss_fn(**found, **given)

    del of_model.__wrapped__  # its signature is another
    return of_model


acgan_discriminator_loss = _of_model(wargs.acgan_discriminator_loss)
acgan_generator_loss = _of_model(wargs.acgan_generator_loss)
least_squares_discriminator_loss = _of_model(wargs.least_squares_discriminator_loss)
least_squares_generator_loss = _of_model(wargs.least_squares_generator_loss)
minimax_discriminator_loss = _of_model(wargs.minimax_discriminator_loss)
minimax_generator_loss = _of_model(wargs.minimax_generator_loss)
modified_discriminator_loss = _of_model(wargs.modified_discriminator_loss)
modified_generator_loss = _of_model(wargs.modified_generator_loss)
mutual_information_penalty = _of_model(wargs.mutual_information_penalty)
wasserstein_discriminator_loss = _of_model(wargs.wasserstein_discriminator_loss)
wasserstein_generator_loss = _of_model(wargs.wasserstein_generator_loss)
wasserstein_gradient_penalty = _of_model(wargs.wasserstein_gradient_penalty)


def combine_adversarial_loss(
    gan_loss, gan_model, non_adversarial_loss, weight_factor=None, gradient_ratio=None,
    gradient_ratio_epsilon: float = 1e-6, scalar_summaries: bool = True, gradient_summaries: bool = True,
):  # fmt: skip
    """The GANLoss with another loss in the generator's; see `wargs.combine_adversarial_loss`."""
    combined = wargs.combine_adversarial_loss(
        non_adversarial_loss, gan_loss.generator_loss, weight_factor, gradient_ratio, gradient_ratio_epsilon,
        gan_model.generator_variables, scalar_summaries, gradient_summaries,
    )  # fmt: skip
    return gan_loss._replace(generator_loss=combined)


def cycle_consistency_loss(cyclegan_model: CycleGANModel, scope: str | None = None, add_summaries: bool = False):
    """The error of the data that a CycleGANModel has brought there and back."""
    if not isinstance(cyclegan_model, CycleGANModel):
        raise ValueError(
            f"`cyclegan_model` must be a `CycleGANModel`. Instead, was {type(cyclegan_model)}."
        )
    model = cyclegan_model
    return wargs.cycle_consistency_loss(
        model.model_x2y.generator_inputs, model.reconstructed_x, model.model_y2x.generator_inputs,
        model.reconstructed_y, scope, add_summaries,
    )  # fmt: skip


def stargan_generator_loss_wrapper(loss_fn: Callable[..., Any]):
    """A loss of a generator's outputs, as a function of a StarGANModel."""

    def of_model(stargan_model: StarGANModel, **kwargs):
        return loss_fn(stargan_model.discriminator_generated_data_source_predication, **kwargs)

    return of_model


def stargan_discriminator_loss_wrapper(loss_fn: Callable[..., Any]):
    """A loss of the outputs for real and generated data, as a function of a StarGANModel."""

    def of_model(stargan_model: StarGANModel, **kwargs):
        model = stargan_model
        return loss_fn(
            model.discriminator_input_data_source_predication,
            model.discriminator_generated_data_source_predication,
            **kwargs,
        )

    return of_model


def stargan_gradient_penalty_wrapper(loss_fn: Callable[..., Any]):
    """A penalty on gradients, as a function of a StarGANModel."""

    def of_model(stargan_model: StarGANModel, **kwargs):
        model = stargan_model
        return loss_fn(
            real_data=model.input_data, generated_data=model.generated_data,
            generator_inputs=model.input_data_domain_label.shape.as_list()[-1],
            discriminator_fn=model.discriminator_fn, discriminator_scope=model.discriminator_scope, **kwargs,
        )  # fmt: skip

    return of_model
