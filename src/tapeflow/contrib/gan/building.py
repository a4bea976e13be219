"""Models of GANs: generators and discriminators, built in scopes of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.contrib.gan.models import (
    ACGANModel,
    CycleGANModel,
    GANModel,
    InfoGANModel,
    StarGANModel,
)
from tapeflow.core.annotations import Tensor, TensorLike


def tensors(given: TensorLike):
    """A tensor, or a list or dict of tensors."""
    if isinstance(given, (list, tuple)):
        return [v1.convert_to_tensor(x) for x in given]
    if isinstance(given, dict):
        return {name: v1.convert_to_tensor(x) for name, x in given.items()}
    return v1.convert_to_tensor(given)


def _trained(scope):
    return v1.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES, scope.name + "/")


def _check_shapes(generated: Tensor, real: Any):
    if not generated.shape.is_compatible_with(real.shape):
        raise ValueError(
            f"Generator output shape ({generated.shape}) must be the same shape as real data ({real.shape})."
        )


def gan_model(
    generator_fn: Callable[..., Any], discriminator_fn: Callable[..., Any], real_data: TensorLike,
    generator_inputs: TensorLike, generator_scope: str = "Generator", discriminator_scope: str = "Discriminator",
    check_shapes: bool = True,
):  # fmt: skip
    """A GANModel.

    Args:
      generator_fn: a function of the inputs, which returns data.
      discriminator_fn: a function of data and of the inputs, which returns logits.
      real_data: a tensor.
      generator_inputs: a tensor, or a list or dict of them.
      generator_scope, discriminator_scope: names of variable scopes, or scopes.
      check_shapes: whether generated data must have the shape of real data.

    Raises ValueError for other shapes.
    """
    with v1.variable_scope(generator_scope) as gen_scope:
        generator_inputs = tensors(generator_inputs)
        generated = generator_fn(generator_inputs)
    with v1.variable_scope(discriminator_scope) as dis_scope:
        gen_outputs = discriminator_fn(generated, generator_inputs)
    with v1.variable_scope(dis_scope, reuse=True):
        real_data = tensors(real_data)
        real_outputs = discriminator_fn(real_data, generator_inputs)
    if check_shapes:
        _check_shapes(generated, real_data)
    return GANModel(
        generator_inputs, generated, _trained(gen_scope), gen_scope, generator_fn, real_data, real_outputs,
        gen_outputs, _trained(dis_scope), dis_scope, discriminator_fn,
    )  # fmt: skip


def infogan_model(
    generator_fn: Callable[..., Any], discriminator_fn: Callable[..., Any], real_data: TensorLike,
    unstructured_generator_inputs: Sequence[Tensor], structured_generator_inputs: Sequence[Tensor],
    generator_scope: str = "Generator", discriminator_scope: str = "Discriminator",
):  # fmt: skip
    """An InfoGANModel: the discriminator returns logits and a list of distributions of the structured inputs.

    Raises ValueError for generated data of another shape, and for distributions that are not a list as long as the
    structured inputs.
    """
    with v1.variable_scope(generator_scope) as gen_scope:
        unstructured = tensors(unstructured_generator_inputs)
        structured = tensors(structured_generator_inputs)
        inputs = unstructured + structured
        generated = generator_fn(inputs)
    with v1.variable_scope(discriminator_scope) as dis_scope:
        gen_outputs, predicted = discriminator_fn(generated, inputs)
    _check_distributions(predicted, structured)
    with v1.variable_scope(dis_scope, reuse=True):
        real_data = v1.convert_to_tensor(real_data)
        real_outputs, _ = discriminator_fn(real_data, inputs)
    _check_shapes(generated, real_data)
    return InfoGANModel(
        inputs, generated, _trained(gen_scope), gen_scope, generator_fn, real_data, real_outputs, gen_outputs,
        _trained(dis_scope), dis_scope, lambda x, y: discriminator_fn(x, y)[0], structured, predicted,
        discriminator_fn,
    )  # fmt: skip


def _check_distributions(predicted: Sequence[Any], structured: Sequence[Tensor]):
    if not isinstance(predicted, (tuple, list)):
        raise ValueError(f"`predicted_distributions` must be a list. Instead, found {type(predicted)}.")
    if len(predicted) != len(structured):
        raise ValueError(
            f"Length of `predicted_distributions` {len(predicted)} must be the same as the length of structured "
            f"noise {len(structured)}."
        )


def acgan_model(
    generator_fn: Callable[..., Any], discriminator_fn: Callable[..., Any], real_data: TensorLike,
    generator_inputs: TensorLike, one_hot_labels: TensorLike, generator_scope: str = "Generator",
    discriminator_scope: str = "Discriminator", check_shapes: bool = True,
):  # fmt: skip
    """An ACGANModel: the discriminator returns logits of being real, and logits of the classes.

    Raises ValueError for generated data of another shape, and TypeError for another discriminator.
    """
    with v1.variable_scope(generator_scope) as gen_scope:
        generator_inputs = tensors(generator_inputs)
        generated = generator_fn(generator_inputs)
    with v1.variable_scope(discriminator_scope) as dis_scope, v1.name_scope(dis_scope.name + "/generated/"):
        gen_outputs, gen_logits = _two(discriminator_fn(generated, generator_inputs))
    with (
        v1.variable_scope(dis_scope, reuse=True),
        v1.name_scope(dis_scope.name + "/real/"),
    ):
        real_data = v1.convert_to_tensor(real_data)
        real_outputs, real_logits = _two(discriminator_fn(real_data, generator_inputs))
    if check_shapes:
        _check_shapes(generated, real_data)
    return ACGANModel(
        generator_inputs, generated, _trained(gen_scope), gen_scope, generator_fn, real_data, real_outputs,
        gen_outputs, _trained(dis_scope), dis_scope, discriminator_fn, one_hot_labels, real_logits, gen_logits,
    )  # fmt: skip


def _two(outputs: Sequence[Tensor]):
    try:
        first, second = outputs
    except (TypeError, ValueError):
        raise TypeError(
            "A discriminator function for ACGAN must output a tuple consisting of (discrimination logits, "
            "classification logits)."
        ) from None
    return first, second


def cyclegan_model(
    generator_fn: Callable[..., Any], discriminator_fn: Callable[..., Any], data_x: TensorLike, data_y: TensorLike,
    generator_scope: str = "Generator", discriminator_scope: str = "Discriminator", model_x2y_scope: str = "ModelX2Y",
    model_y2x_scope: str = "ModelY2X", check_shapes: bool = True,
):  # fmt: skip
    """A CycleGANModel: two GANModels, each of which generates one set of data from the other."""

    def one_way(source: Any, target: TensorLike):
        return gan_model(
            generator_fn, discriminator_fn, target, source, generator_scope, discriminator_scope, check_shapes
        )

    with v1.variable_scope(model_x2y_scope):
        x2y = one_way(data_x, data_y)
    with v1.variable_scope(model_y2x_scope):
        y2x = one_way(data_y, data_x)
    with v1.variable_scope(y2x.generator_scope, reuse=True):
        reconstructed_x = y2x.generator_fn(x2y.generated_data)
    with v1.variable_scope(x2y.generator_scope, reuse=True):
        reconstructed_y = x2y.generator_fn(y2x.generated_data)
    return CycleGANModel(x2y, y2x, reconstructed_x, reconstructed_y)


def _one(given: Any):
    given = tensors(given)
    return v1.concat(given, 0) if isinstance(given, list) else given


def stargan_model(
    generator_fn: Callable[..., Any], discriminator_fn: Callable[..., Any], input_data: TensorLike,
    input_data_domain_label: TensorLike, generator_scope: str = "Generator",
    discriminator_scope: str = "Discriminator",
):  # fmt: skip
    """A StarGANModel, with random domains as targets.

    Args:
      generator_fn: a function of data and of domains (one-hot), which returns data.
      discriminator_fn: a function of data and of the number of domains, which returns logits of being real, and logits
        of the domains.
      input_data, input_data_domain_label: tensors, or lists of tensors that are concatenated.
    """
    data, labels = _one(input_data), _one(input_data_domain_label)
    labels.shape.assert_has_rank(2)
    labels.shape.assert_is_fully_defined()
    count, domains = labels.shape.as_list()
    with v1.variable_scope(generator_scope) as gen_scope:
        target = v1.one_hot(v1.random_uniform([count], 0, domains, v1.int32), domains)
        generated = generator_fn(data, target)
    with v1.variable_scope(gen_scope, reuse=True):
        back = generator_fn(generated, labels)
    with v1.variable_scope(discriminator_scope) as dis_scope:
        gen_source, gen_domain = discriminator_fn(generated, domains)
    with v1.variable_scope(dis_scope, reuse=True):
        real_source, real_domain = discriminator_fn(data, domains)
    return StarGANModel(
        data, labels, generated, target, back, real_source, gen_source, real_domain, gen_domain, _trained(gen_scope),
        gen_scope, generator_fn, _trained(dis_scope), dis_scope, discriminator_fn,
    )  # fmt: skip
