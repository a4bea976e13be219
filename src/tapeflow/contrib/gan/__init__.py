"""`tf.contrib.gan`: generative adversarial networks: models, losses, training, parts and measures."""

from tapeflow.contrib.gan import estimator, eval, features, losses
from tapeflow.contrib.gan.building import (
    acgan_model,
    cyclegan_model,
    gan_model,
    infogan_model,
    stargan_model,
)
from tapeflow.contrib.gan.models import (
    ACGANModel,
    CycleGANLoss,
    CycleGANModel,
    GANLoss,
    GANModel,
    GANTrainOps,
    GANTrainSteps,
    InfoGANModel,
    StarGANModel,
)
from tapeflow.contrib.gan.total_losses import cyclegan_loss, gan_loss, stargan_loss
from tapeflow.contrib.gan.training import (
    RunTrainOpsHook,
    gan_train,
    gan_train_ops,
    get_joint_train_hooks,
    get_sequential_train_hooks,
    get_sequential_train_steps,
)

__all__ = [
    "ACGANModel", "CycleGANLoss", "CycleGANModel", "GANLoss", "GANModel", "GANTrainOps", "GANTrainSteps",
    "InfoGANModel", "RunTrainOpsHook", "StarGANModel", "acgan_model", "cyclegan_loss", "cyclegan_model", "estimator",
    "eval", "features", "gan_loss", "gan_model", "gan_train", "gan_train_ops", "get_joint_train_hooks",
    "get_sequential_train_hooks", "get_sequential_train_steps", "infogan_model", "losses", "stargan_loss",
    "stargan_model",
]  # fmt: skip
