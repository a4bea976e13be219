"""The losses of whole models, with penalties and regularization."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib.gan import losses
from tapeflow.contrib.gan.models import (
    ACGANModel,
    CycleGANLoss,
    CycleGANModel,
    GANLoss,
    GANModel,
    InfoGANModel,
)
from tapeflow.core.annotations import Tensor

if TYPE_CHECKING:
    from tapeflow.contrib.gan.models import StarGANModel

_STAR_GENERATOR = losses.stargan_generator_loss_wrapper(losses.wargs.wasserstein_generator_loss)
_STAR_DISCRIMINATOR = losses.stargan_discriminator_loss_wrapper(losses.wargs.wasserstein_discriminator_loss)


def _checked(weight, name: str):
    """A weight that is not negative; a tensor is checked when it is used. Raises ValueError for others."""
    if v1.is_tensor(weight):
        weight.shape.assert_is_compatible_with([])
        with v1.control_dependencies([v1.assert_greater_equal(weight, 0.0)]):
            return v1.identity(weight)
    if weight is not None and weight < 0:
        raise ValueError(f"`{name}` must be greater than 0. Instead, was {weight}")
    return weight


def _used(weight):
    return weight is not None and (v1.is_tensor(weight) or weight > 0)


def _pooled(model, pool):
    """The model with generated data from a pool of old ones, before the discriminator."""
    if isinstance(model, InfoGANModel):
        inputs, data, structured = pool(
            (model.generator_inputs, model.generated_data, model.structured_generator_inputs)
        )
        with v1.variable_scope(model.discriminator_scope, reuse=True):
            outputs, predicted = model.discriminator_and_aux_fn(data, inputs)
        more = {"structured_generator_inputs": structured, "predicted_distributions": predicted}
    elif isinstance(model, (GANModel, ACGANModel)):
        inputs, data = pool((model.generator_inputs, model.generated_data))
        with v1.variable_scope(model.discriminator_scope, reuse=True):
            outputs = model.discriminator_fn(data, inputs)
        more = {}
        if isinstance(model, ACGANModel):
            outputs, more["discriminator_gen_classification_logits"] = outputs
    else:
        raise ValueError(f"Tensor pool does not support `model`: {type(model)}.")
    return model._replace(
        generator_inputs=inputs, generated_data=data, discriminator_gen_outputs=outputs, **more
    )


def gan_loss(
    model: ACGANModel | GANModel | InfoGANModel,
    generator_loss_fn: Callable[..., Any] = losses.wasserstein_generator_loss,
    discriminator_loss_fn: Callable[..., Any] = losses.wasserstein_discriminator_loss,
    gradient_penalty_weight: float | None = None, gradient_penalty_epsilon: float = 1e-10,
    gradient_penalty_target: float = 1.0, gradient_penalty_one_sided: bool = False,
    mutual_information_penalty_weight: float | None = None, aux_cond_generator_weight: float | None = None,
    aux_cond_discriminator_weight: float | None = None, tensor_pool_fn=None, add_summaries: bool = True,
):  # fmt: skip
    """The GANLoss of a model.

    Args:
      generator_loss_fn, discriminator_loss_fn: functions of a model.
      gradient_penalty_weight: of the discriminator's gradient penalty; see `wasserstein_gradient_penalty`.
      mutual_information_penalty_weight: of both parts of an InfoGANModel.
      aux_cond_generator_weight, aux_cond_discriminator_weight: of the classes of an ACGANModel.
      tensor_pool_fn: what mixes generated data with older ones for the discriminator; see `features.tensor_pool`.

    Raises ValueError for negative weights, and for weights that the model has no use for.
    """
    penalty = _checked(gradient_penalty_weight, "gradient_penalty_weight")
    information = _checked(mutual_information_penalty_weight, "infogan_weight")
    of_generator = _checked(aux_cond_generator_weight, "aux_cond_generator_weight")
    of_discriminator = _checked(aux_cond_discriminator_weight, "aux_cond_discriminator_weight")
    if _used(information) and not isinstance(model, InfoGANModel):
        raise ValueError(
            "When `mutual_information_penalty_weight` is provided, `model` must be an `InfoGANModel`. Instead, was "
            f"{type(model)}."
        )
    if (_used(of_generator) or _used(of_discriminator)) and not isinstance(model, ACGANModel):
        raise ValueError(
            "When `aux_cond_generator_weight` or `aux_cond_discriminator_weight` is provided, `model` must be an "
            f"`ACGANModel`. Instead, was {type(model)}."
        )
    pooled = _pooled(model, tensor_pool_fn) if tensor_pool_fn else model
    told = {"add_summaries": add_summaries}
    generator = generator_loss_fn(model, **told)
    discriminator = discriminator_loss_fn(pooled, **told)
    if _used(penalty):
        discriminator += penalty * losses.wasserstein_gradient_penalty(
            pooled, epsilon=gradient_penalty_epsilon, target=gradient_penalty_target,
            one_sided=gradient_penalty_one_sided, **told,
        )  # fmt: skip
    if _used(information):
        found = losses.mutual_information_penalty(model, **told)
        generator += information * found
        if tensor_pool_fn is not None:
            found = losses.mutual_information_penalty(pooled, **told)
        discriminator += information * found
    if _used(of_generator):
        generator += of_generator * losses.acgan_generator_loss(model, **told)
    if _used(of_discriminator):
        discriminator += of_discriminator * losses.acgan_discriminator_loss(pooled, **told)
    return GANLoss(
        generator + _regularization(model.generator_scope),
        discriminator + _regularization(model.discriminator_scope),
    )


def _regularization(scope):
    return v1.losses.get_regularization_loss(scope.name) if scope else 0


def cyclegan_loss(
    model: CycleGANModel, generator_loss_fn: Callable[..., Any] = losses.least_squares_generator_loss,
    discriminator_loss_fn: Callable[..., Any] = losses.least_squares_discriminator_loss,
    cycle_consistency_loss_fn: Callable[..., Any] = losses.cycle_consistency_loss,
    cycle_consistency_loss_weight: float = 10.0, **kwargs,
):  # fmt: skip
    """The CycleGANLoss of a CycleGANModel; other arguments are those of `gan_loss`. Raises ValueError for others."""
    if not isinstance(model, CycleGANModel):
        raise ValueError(f"`model` must be a `CycleGANModel`. Instead, was {type(model)}.")
    cycle = cycle_consistency_loss_fn(model, add_summaries=kwargs.get("add_summaries", True))
    cycle = _checked(cycle_consistency_loss_weight, "cycle_consistency_loss_weight") * cycle

    def one_way(part: GANModel):
        loss = gan_loss(part, generator_loss_fn, discriminator_loss_fn, **kwargs)
        return loss._replace(generator_loss=loss.generator_loss + cycle)

    with v1.name_scope("cyclegan_loss_x2y"):
        x2y = one_way(model.model_x2y)
    with v1.name_scope("cyclegan_loss_y2x"):
        y2x = one_way(model.model_y2x)
    return CycleGANLoss(x2y, y2x)


def stargan_loss(
    model: StarGANModel, generator_loss_fn: Callable[..., Any] = _STAR_GENERATOR,
    discriminator_loss_fn: Callable[..., Any] = _STAR_DISCRIMINATOR, gradient_penalty_weight: float = 10.0,
    gradient_penalty_epsilon: float = 1e-10, gradient_penalty_target: float = 1.0,
    gradient_penalty_one_sided: bool = False,
    reconstruction_loss_fn: Callable[..., Any] = v1.losses.absolute_difference,
    reconstruction_loss_weight: float = 10.0,
    classification_loss_fn: Callable[..., Any] = v1.losses.softmax_cross_entropy,
    classification_loss_weight: float = 1.0, classification_one_hot: bool = True, add_summaries: bool = True,
):  # fmt: skip
    """The GANLoss of a StarGANModel: with the errors of reconstructed data and of domains."""
    model.input_data_domain_label.shape.assert_has_rank(2)
    model.input_data_domain_label.shape[1:].assert_is_fully_defined()

    def of_domains(labels: Tensor, logits: Tensor, name: str):
        with v1.name_scope(name, values=(labels, logits)):
            loss = classification_loss_fn(onehot_labels=labels, logits=logits)
            if not classification_one_hot:
                loss = v1.reduce_sum(loss, axis=1)
            loss = v1.reduce_mean(loss)
            if add_summaries:
                v1.summary.scalar(name, loss)
            return loss * classification_loss_weight

    generator = generator_loss_fn(model, add_summaries=add_summaries)
    discriminator = discriminator_loss_fn(model, add_summaries=add_summaries)
    if _used(gradient_penalty_weight):
        penalty = losses.stargan_gradient_penalty_wrapper(losses.wargs.wasserstein_gradient_penalty)
        discriminator += gradient_penalty_weight * penalty(
            model, epsilon=gradient_penalty_epsilon, target=gradient_penalty_target,
            one_sided=gradient_penalty_one_sided, add_summaries=add_summaries,
        )  # fmt: skip
    reconstruction = reconstruction_loss_fn(model.input_data, model.reconstructed_data)
    generator += reconstruction * reconstruction_loss_weight
    if add_summaries:
        v1.summary.scalar("reconstruction_loss", reconstruction)
    generator += of_domains(
        model.generated_data_domain_target, model.discriminator_generated_data_domain_predication,
        "generator_classification_loss",
    )  # fmt: skip
    discriminator += of_domains(
        model.input_data_domain_label, model.discriminator_input_data_domain_predication,
        "discriminator_classification_loss",
    )  # fmt: skip
    return GANLoss(generator, discriminator)
