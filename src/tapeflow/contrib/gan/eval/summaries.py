"""Summaries of GANs: their images, variables and regularization."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow.compat import v1
from tapeflow.contrib.gan.eval.images import image_grid, image_reshaper
from tapeflow.contrib.gan.models import CycleGANModel
from tapeflow.core.annotations import Tensor

if TYPE_CHECKING:
    from tapeflow.contrib.gan.models import GANModel


def _check_images(*batches):
    for data in batches:
        data.shape.assert_has_rank(4)
        data.shape[1:].assert_is_fully_defined()


def add_gan_model_image_summaries(gan_model: GANModel, grid_size: int = 4, model_summaries: bool = True):
    """`grid_size` ** 2 real and generated images, and the variables. Raises ValueError for a CycleGANModel."""
    if isinstance(gan_model, CycleGANModel):
        raise ValueError(
            "`add_gan_model_image_summaries` does not take CycleGANModels. Please use "
            "`add_cyclegan_image_summaries` instead."
        )
    _check_images(gan_model.real_data, gan_model.generated_data)
    for name in ("real_data", "generated_data"):
        data = getattr(gan_model, name)
        *size, channels = data.shape.as_list()[1:]
        grid = image_grid(data[: grid_size**2], (grid_size, grid_size), size, channels)
        v1.summary.image(name, grid, max_outputs=1)
    if model_summaries:
        add_gan_model_summaries(gan_model)


def add_cyclegan_image_summaries(cyclegan_model):
    """The first image of both directions: before, after, and reconstructed. Raises ValueError for other models."""
    model = cyclegan_model
    if not isinstance(model, CycleGANModel):
        raise ValueError(f"`cyclegan_model` was not a CycleGANModel. Instead, was {type(model)}")
    for name, part, back in (
        ("x2y", model.model_x2y, model.reconstructed_x),
        ("y2x", model.model_y2x, model.reconstructed_y),
    ):
        batches = (part.generator_inputs, part.generated_data, back)
        _check_images(*batches)
        with v1.name_scope(f"{name}_image_comparison_summaries"):
            images = [batch[0] for batch in batches]
            v1.summary.image("image_comparison", image_reshaper(images, num_cols=3), max_outputs=1)


def add_image_comparison_summaries(gan_model, num_comparisons: int = 2, display_diffs: bool = False):
    """Some inputs, generated and real images (and differences of these) below each other."""
    batches = [gan_model.generator_inputs, gan_model.generated_data, gan_model.real_data]
    _check_images(*batches)
    for batch in batches[1:]:
        batch.shape.assert_is_compatible_with(batches[0].shape)
    images = [image for batch in batches for image in v1.unstack(batch[:num_comparisons])]
    if display_diffs:
        generated, real = (v1.cast(x[:num_comparisons], v1.float32) for x in batches[1:])
        images += v1.unstack(v1.abs(generated - real))
    grid = image_reshaper(images, num_cols=num_comparisons)
    v1.summary.image("image_comparison", grid, max_outputs=1)


def add_stargan_image_summaries(stargan_model, num_images: int = 2, display_diffs: bool = False):
    """Images and what the generator makes of them for each domain, with the differences where wanted."""
    model = stargan_model
    _check_images(model.input_data)
    model.input_data_domain_label.shape.assert_has_rank(2)
    domains = model.input_data_domain_label.shape.as_list()[-1]

    def build(image: Tensor):
        copies = v1.tile(v1.expand_dims(image, 0), [domains, 1, 1, 1])
        with v1.variable_scope(model.generator_scope, reuse=True):
            made = model.generator_fn(copies, v1.one_hot(list(range(domains)), domains))
        made.set_shape(copies.shape)
        images = [image, *v1.unstack(made)]
        if display_diffs:
            images += [v1.zeros_like(image), *v1.unstack(made - copies)]
        return v1.squeeze(image_reshaper(images, num_cols=domains + 1), 0)

    grids = v1.map_fn(
        build, model.input_data[:num_images], parallel_iterations=num_images, back_prop=False, swap_memory=True
    )  # fmt: skip
    v1.summary.image("stargan_image_generation", grids, max_outputs=num_images)


def _both(add, gan_model, name: str):
    for way in ("x2y", "y2x"):
        with v1.name_scope(f"cyclegan_{way}_{name}"):
            add(getattr(gan_model, f"model_{way}"))


def add_gan_model_summaries(gan_model: GANModel):
    """Histograms of all variables of a model."""
    if isinstance(gan_model, CycleGANModel):
        _both(add_gan_model_summaries, gan_model, "summaries")
        return
    for name in ("generator_variables", "discriminator_variables"):
        with v1.name_scope(name):
            for variable in getattr(gan_model, name):
                v1.summary.histogram(variable.name, variable)


def add_regularization_loss_summaries(gan_model: GANModel):
    """The regularization losses of both parts of a model."""
    if isinstance(gan_model, CycleGANModel):
        _both(add_regularization_loss_summaries, gan_model, "regularization_loss_summaries")
        return
    for name in ("generator", "discriminator"):
        scope = getattr(gan_model, f"{name}_scope")
        if scope:
            loss = v1.losses.get_regularization_loss(scope.name)
            v1.summary.scalar(f"{name}_regularization_loss", loss)
