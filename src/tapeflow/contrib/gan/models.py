"""The tuples that the steps of GAN training hand on: models, losses, operations, and numbers of steps."""

import collections

__all__ = [
    "ACGANModel", "CycleGANLoss", "CycleGANModel", "GANLoss", "GANModel", "GANTrainOps", "GANTrainSteps",
    "InfoGANModel", "StarGANModel",
]  # fmt: skip


class GANModel(
    collections.namedtuple(
        "GANModel",
        "generator_inputs generated_data generator_variables generator_scope generator_fn real_data "
        "discriminator_real_outputs discriminator_gen_outputs discriminator_variables discriminator_scope "
        "discriminator_fn",
    )
):
    """A generator and a discriminator: their inputs, outputs, variables, scopes and functions."""


class InfoGANModel(
    collections.namedtuple(
        "InfoGANModel",
        "generator_inputs generated_data generator_variables generator_scope generator_fn real_data "
        "discriminator_real_outputs discriminator_gen_outputs discriminator_variables discriminator_scope "
        "discriminator_fn structured_generator_inputs predicted_distributions discriminator_and_aux_fn",
    )
):
    """A GANModel whose discriminator also estimates a part of the generator's inputs, as distributions."""


class ACGANModel(
    collections.namedtuple(
        "ACGANModel",
        "generator_inputs generated_data generator_variables generator_scope generator_fn real_data "
        "discriminator_real_outputs discriminator_gen_outputs discriminator_variables discriminator_scope "
        "discriminator_fn one_hot_labels discriminator_real_classification_logits "
        "discriminator_gen_classification_logits",
    )
):
    """A GANModel whose discriminator also tells classes apart."""


class CycleGANModel(
    collections.namedtuple("CycleGANModel", "model_x2y model_y2x reconstructed_x reconstructed_y")
):
    """Two GANModels, from one set of data to the other and back, and the data after both."""


class StarGANModel(
    collections.namedtuple(
        "StarGANModel",
        "input_data input_data_domain_label generated_data generated_data_domain_target reconstructed_data "
        "discriminator_input_data_source_predication discriminator_generated_data_source_predication "
        "discriminator_input_data_domain_predication discriminator_generated_data_domain_predication "
        "generator_variables generator_scope generator_fn discriminator_variables discriminator_scope "
        "discriminator_fn",
    )
):
    """One generator between several domains, and a discriminator that also names the domain."""


class GANLoss(collections.namedtuple("GANLoss", "generator_loss discriminator_loss")):
    """The losses of a model, as scalars."""


class CycleGANLoss(collections.namedtuple("CycleGANLoss", "loss_x2y loss_y2x")):
    """The GANLosses of both directions."""


class GANTrainOps(
    collections.namedtuple(
        "GANTrainOps",
        "generator_train_op discriminator_train_op global_step_inc_op train_hooks",
        defaults=((),),
    )
):
    """The operations of a step of each part, the one that counts steps, and the hooks that they need."""


class GANTrainSteps(collections.namedtuple("GANTrainSteps", "generator_train_steps discriminator_train_steps")):
    """How many steps of each part make one step of both."""
