"""`tf.contrib.gan.losses.wargs`: the losses of GANs, of tensors.

All return a scalar (with `reduction` NONE, the losses of the examples), and add it to `loss_collection` unless that is
None. Weights are 1 or tensors that fit the losses; `add_summaries` writes scalar summaries.
"""

from __future__ import annotations

from tapeflow.compat import v1
from tapeflow.contrib.gan.losses.combining import combine_adversarial_loss

__all__ = [
    "acgan_discriminator_loss", "acgan_generator_loss", "combine_adversarial_loss", "cycle_consistency_loss",
    "least_squares_discriminator_loss", "least_squares_generator_loss", "minimax_discriminator_loss",
    "minimax_generator_loss", "modified_discriminator_loss", "modified_generator_loss", "mutual_information_penalty",
    "wasserstein_discriminator_loss", "wasserstein_generator_loss", "wasserstein_gradient_penalty",
]  # fmt: skip

_LOSSES = v1.GraphKeys.LOSSES
_MEAN = v1.losses.Reduction.SUM_BY_NONZERO_WEIGHTS


def _floats(x):
    return v1.cast(x, v1.float32)


def _summarize(wanted, **scalars):
    if wanted:
        for name, value in scalars.items():
            v1.summary.scalar(name, value)


def _collected(loss, collection):
    if collection:
        v1.losses.add_loss(loss, collection)
    return loss


def _outputs(real, generated):
    """Both outputs of a discriminator, as floats. Raises ValueError for shapes that do not fit."""
    real, generated = _floats(real), _floats(generated)
    real.shape.assert_is_compatible_with(generated.shape)
    return real, generated


def wasserstein_generator_loss(
    discriminator_gen_outputs, weights: float = 1.0, scope: str | None = None, loss_collection=_LOSSES, reduction=_MEAN,
    add_summaries: bool = False,
):  # fmt: skip
    """The mean of `-discriminator_gen_outputs`."""
    with v1.name_scope(scope, "generator_wasserstein_loss", (discriminator_gen_outputs, weights)) as scope:
        loss = -_floats(discriminator_gen_outputs)
        loss = v1.losses.compute_weighted_loss(loss, weights, scope, loss_collection, reduction)
        _summarize(add_summaries, generator_wass_loss=loss)
    return loss


def wasserstein_discriminator_loss(
    discriminator_real_outputs, discriminator_gen_outputs, real_weights: float = 1.0, generated_weights: float = 1.0,
    scope: str | None = None,
    loss_collection=_LOSSES, reduction=_MEAN, add_summaries: bool = False,
):  # fmt: skip
    """The mean for generated data less the mean for real data."""
    values = (discriminator_real_outputs, discriminator_gen_outputs, real_weights, generated_weights)
    with v1.name_scope(scope, "discriminator_wasserstein_loss", values) as scope:
        real, generated = _outputs(discriminator_real_outputs, discriminator_gen_outputs)
        fake_loss = v1.losses.compute_weighted_loss(generated, generated_weights, scope, None, reduction)
        real_loss = v1.losses.compute_weighted_loss(real, real_weights, scope, None, reduction)
        loss = _collected(fake_loss - real_loss, loss_collection)
        _summarize(
            add_summaries, discriminator_gen_wass_loss=fake_loss, discriminator_real_wass_loss=real_loss,
            discriminator_wass_loss=loss,
        )  # fmt: skip
    return loss


def wasserstein_gradient_penalty(
    real_data, generated_data, generator_inputs, discriminator_fn, discriminator_scope,
    epsilon: float = 1e-10, target: float = 1.0, one_sided: bool = False, weights: float = 1.0,
    scope: str | None = None,
    loss_collection=_LOSSES, reduction=_MEAN, add_summaries: bool = False,
):  # fmt: skip
    """The mean of `(|gradient| / target - 1) ** 2` at random points between real and generated data.

    Args:
      epsilon: what is added to the squares below the root.
      target: the norm that gradients should have.
      one_sided: whether only larger ones count.

    Raises ValueError for data of unknown rank.
    """
    with v1.name_scope(scope, "wasserstein_gradient_penalty", (real_data, generated_data)) as scope:
        real, generated = v1.convert_to_tensor(real_data), v1.convert_to_tensor(generated_data)
        for name, data in (("real_data", real), ("generated_data", generated)):
            if data.shape.rank is None:
                raise ValueError(f"`{name}` can't have unknown rank.")
        change = generated - real
        count = change.shape[0]
        count = v1.Dimension(count).value or v1.shape(change)[0]
        between = real + v1.random_uniform([count] + [1] * (change.shape.rank - 1)) * change
        with (
            v1.name_scope(None),  # the discriminator's own scope, not one below this
            v1.variable_scope(discriminator_scope, "gpenalty_dscope", reuse=v1.AUTO_REUSE),
        ):
            outputs = discriminator_fn(between, generator_inputs)
        if isinstance(outputs, tuple):  # of a model with more outputs than one
            outputs = outputs[0]
        gradients = v1.gradients(outputs, between)[0]
        squares = v1.reduce_sum(v1.square(gradients), axis=list(range(1, gradients.shape.rank)))
        excess = v1.sqrt(squares + epsilon) / target - 1.0
        if one_sided:
            excess = v1.maximum(0.0, excess)
        penalty = v1.losses.compute_weighted_loss(v1.square(excess), weights, scope, loss_collection, reduction)
        _summarize(add_summaries, gradient_penalty_loss=penalty)
    return penalty


def acgan_discriminator_loss(
    discriminator_real_classification_logits, discriminator_gen_classification_logits, one_hot_labels,
    label_smoothing: float = 0.0, real_weights: float = 1.0, generated_weights: float = 1.0, scope: str | None = None,
    loss_collection=_LOSSES, reduction=_MEAN, add_summaries: bool = False,
):  # fmt: skip
    """The cross entropies of the classes of real data (with smoothed labels) and of generated data, summed."""
    real, fake = discriminator_real_classification_logits, discriminator_gen_classification_logits
    with v1.name_scope(scope, "acgan_discriminator_loss", (real, fake, one_hot_labels)) as scope:
        options = {"scope": scope, "loss_collection": None, "reduction": reduction}
        entropy = v1.losses.softmax_cross_entropy
        fake_loss = entropy(one_hot_labels, fake, weights=generated_weights, **options)
        real_loss = entropy(
            one_hot_labels, real, weights=real_weights, label_smoothing=label_smoothing, **options
        )
        loss = _collected(fake_loss + real_loss, loss_collection)
        _summarize(
            add_summaries, discriminator_gen_ac_loss=fake_loss, discriminator_real_ac_loss=real_loss,
            discriminator_ac_loss=loss,
        )  # fmt: skip
    return loss


def acgan_generator_loss(
    discriminator_gen_classification_logits, one_hot_labels, weights: float = 1.0, scope: str | None = None,
    loss_collection=_LOSSES, reduction=_MEAN, add_summaries: bool = False,
):  # fmt: skip
    """The cross entropy of the classes of generated data."""
    logits = discriminator_gen_classification_logits
    with v1.name_scope(scope, "acgan_generator_loss", (logits, one_hot_labels)) as scope:
        loss = v1.losses.softmax_cross_entropy(
            one_hot_labels, logits, weights=weights, scope=scope, loss_collection=loss_collection,
            reduction=reduction,
        )  # fmt: skip
        _summarize(add_summaries, generator_ac_loss=loss)
    return loss


def minimax_discriminator_loss(
    discriminator_real_outputs, discriminator_gen_outputs, label_smoothing: float = 0.25, real_weights: float = 1.0,
    generated_weights: float = 1.0, scope: str | None = None, loss_collection=_LOSSES, reduction=_MEAN,
    add_summaries: bool = False,
):  # fmt: skip
    """The cross entropy of telling real data (as 1, smoothed) and generated data (as 0) apart."""
    real, fake = discriminator_real_outputs, discriminator_gen_outputs
    values = (real, fake, real_weights, generated_weights, label_smoothing)
    with v1.name_scope(scope, "discriminator_minimax_loss", values) as scope:
        entropy = v1.losses.sigmoid_cross_entropy
        real_loss = entropy(v1.ones_like(real), real, real_weights, label_smoothing, scope, None, reduction)
        fake_loss = entropy(v1.zeros_like(fake), fake, generated_weights, 0, scope, None, reduction)
        loss = _collected(real_loss + fake_loss, loss_collection)
        _summarize(
            add_summaries, discriminator_gen_minimax_loss=fake_loss, discriminator_real_minimax_loss=real_loss,
            discriminator_minimax_loss=loss,
        )  # fmt: skip
    return loss


def minimax_generator_loss(
    discriminator_gen_outputs, label_smoothing: float = 0.0, weights: float = 1.0, scope: str | None = None,
    loss_collection=_LOSSES, reduction=_MEAN, add_summaries: bool = False,
):  # fmt: skip
    """The discriminator's loss on generated data, negative."""
    with v1.name_scope(scope, "generator_minimax_loss") as scope:
        outputs = discriminator_gen_outputs
        loss = -minimax_discriminator_loss(
            v1.ones_like(outputs), outputs, label_smoothing, weights, weights, scope, loss_collection, reduction
        )
    _summarize(add_summaries, generator_minimax_loss=loss)
    return loss


def modified_discriminator_loss(
    discriminator_real_outputs, discriminator_gen_outputs, label_smoothing: float = 0.25,
    real_weights: float = 1.0, generated_weights: float = 1.0, scope: str | None = None, loss_collection=_LOSSES,
    reduction=_MEAN, add_summaries: bool = False,
):  # fmt: skip
    """As `minimax_discriminator_loss`."""
    return minimax_discriminator_loss(
        discriminator_real_outputs, discriminator_gen_outputs, label_smoothing, real_weights, generated_weights,
        scope or "discriminator_modified_loss", loss_collection, reduction, add_summaries,
    )  # fmt: skip


def modified_generator_loss(
    discriminator_gen_outputs, label_smoothing: float = 0.0, weights: float = 1.0, scope: str | None = None,
    loss_collection=_LOSSES, reduction=_MEAN, add_summaries: bool = False,
):  # fmt: skip
    """The cross entropy of generated data, taken as real: its gradient is strong from the first step on."""
    with v1.name_scope(scope, "generator_modified_loss", [discriminator_gen_outputs]) as scope:
        outputs = discriminator_gen_outputs
        loss = v1.losses.sigmoid_cross_entropy(
            v1.ones_like(outputs), outputs, weights, label_smoothing, scope, loss_collection, reduction
        )
        _summarize(add_summaries, generator_modified_loss=loss)
    return loss


def least_squares_generator_loss(
    discriminator_gen_outputs, real_label=1, weights: float = 1.0, scope: str | None = None, loss_collection=_LOSSES,
    reduction=_MEAN, add_summaries: bool = False,
):  # fmt: skip
    """Half the mean square of the distance from `real_label`."""
    with v1.name_scope(scope, "lsq_generator_loss", (discriminator_gen_outputs, real_label)) as scope:
        halves = v1.squared_difference(_floats(discriminator_gen_outputs), real_label) / 2.0
        loss = v1.losses.compute_weighted_loss(halves, weights, scope, loss_collection, reduction)
    _summarize(add_summaries, generator_lsq_loss=loss)
    return loss


def least_squares_discriminator_loss(
    discriminator_real_outputs, discriminator_gen_outputs, real_label=1, fake_label=0, real_weights: float = 1.0,
    generated_weights: float = 1.0, scope: str | None = None, loss_collection=_LOSSES, reduction=_MEAN,
    add_summaries: bool = False,
):  # fmt: skip
    """Half the mean squares of the distances from the two labels, summed."""
    with v1.name_scope(scope, "lsq_discriminator_loss", (discriminator_gen_outputs, real_label)) as scope:
        real, fake = _outputs(discriminator_real_outputs, discriminator_gen_outputs)
        weighted = v1.losses.compute_weighted_loss
        real_loss = weighted(
            v1.squared_difference(real, real_label) / 2.0, real_weights, scope, None, reduction
        )
        fake_loss = weighted(
            v1.squared_difference(fake, fake_label) / 2.0, generated_weights, scope, None, reduction
        )
        loss = _collected(real_loss + fake_loss, loss_collection)
    _summarize(
        add_summaries, discriminator_gen_lsq_loss=fake_loss, discriminator_real_lsq_loss=real_loss,
        discriminator_lsq_loss=loss,
    )  # fmt: skip
    return loss


def mutual_information_penalty(
    structured_generator_inputs, predicted_distributions, weights: float = 1.0, scope: str | None = None,
    loss_collection=_LOSSES, reduction=_MEAN, add_summaries: bool = False,
):  # fmt: skip
    """The negative log likelihood of the structured inputs by the distributions that the discriminator predicts."""
    if not isinstance(predicted_distributions, (list, tuple)):
        raise ValueError(
            f"`distributions` must be a list or tuple. Instead, found {type(predicted_distributions)}."
        )
    for one in predicted_distributions:
        if not callable(getattr(one, "log_prob", None)):
            raise ValueError(f"`distributions` must be a list of `Distributions`. Instead, found {type(one)}.")
    if len(structured_generator_inputs) != len(predicted_distributions):
        raise ValueError(
            f"`structured_generator_inputs` length {len(structured_generator_inputs)} must be the same as "
            f"`predicted_distributions` length {len(predicted_distributions)}."
        )
    with v1.name_scope(scope, "mutual_information_loss") as scope:
        pairs = zip(predicted_distributions, structured_generator_inputs, strict=True)
        likely = v1.stack([v1.reduce_mean(one.log_prob(noise)) for one, noise in pairs])
        loss = -v1.losses.compute_weighted_loss(likely, weights, scope, loss_collection, reduction)
        _summarize(add_summaries, mutual_information_penalty=loss)
    return loss


def cycle_consistency_loss(
    data_x, reconstructed_data_x, data_y, reconstructed_data_y, scope: str | None = None, add_summaries: bool = False
):
    """The mean absolute error of data that went there and back, over both directions."""
    values = [data_x, reconstructed_data_x, data_y, reconstructed_data_y]
    with v1.name_scope(scope, "cycle_consistency_loss", values):
        of_x = v1.losses.absolute_difference(data_x, reconstructed_data_x)
        of_y = v1.losses.absolute_difference(data_y, reconstructed_data_y)
        loss = (of_x + of_y) / 2.0
        _summarize(
            add_summaries, cycle_consistency_loss_x2x=of_x, cycle_consistency_loss_y2y=of_y,
            cycle_consistency_loss=loss,
        )  # fmt: skip
    return loss
