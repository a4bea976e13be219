"""`tf.__internal__.mixed_precision`: optimizers with scaled losses that libraries bring."""

from tapeflow.train.mixed_precision import register_loss_scale_wrapper

__all__ = ["register_loss_scale_wrapper"]
