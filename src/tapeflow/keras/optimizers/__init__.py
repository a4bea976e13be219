"""`tf.keras.optimizers`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core.public import boundaries
from tapeflow.keras.old_names import leaves_out
from tapeflow.keras.optimizers import experimental, schedules
from tapeflow.keras.optimizers.adaptive import Adadelta, Adagrad, Ftrl, RMSprop
from tapeflow.keras.optimizers.loss_scale import LossScaleOptimizer, with_loss_scale
from tapeflow.keras.optimizers.optimizer import Optimizer
from tapeflow.keras.optimizers.recent import Adafactor, AdamW, Lamb, Lion, Muon, ScheduleFreeAdamW
from tapeflow.keras.optimizers.rules import SGD, Adam, Adamax, Nadam
from tapeflow.keras.optimizers.several import MultiOptimizer, OptimizerMap
from tapeflow.keras.registry import resolve, to_config
from tapeflow.train.optimizer import Optimizer as TrainOptimizer

__all__ = [
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Ftrl",
    "Lamb",
    "Lion",
    "LossScaleOptimizer",
    "MultiOptimizer",
    "Muon",
    "Nadam",
    "Optimizer",
    "OptimizerMap",
    "RMSprop",
    "ScheduleFreeAdamW",
    "deserialize",
    "get",
    "experimental",
    "legacy",
    "schedules",
    "serialize",
    "with_loss_scale",
]

_CLASSES = (
    SGD, Adadelta, Adafactor, Adagrad, Adam, AdamW, Adamax, Ftrl, Lamb, Lion, LossScaleOptimizer, MultiOptimizer, Muon,
    Nadam, RMSprop, ScheduleFreeAdamW,
)  # fmt: skip
_NAMES = {cls.__name__: cls for cls in _CLASSES} | {cls.__name__.lower(): cls for cls in _CLASSES}


@leaves_out("use_legacy_optimizer")
def get(identifier: str | Adam | SGD):
    """Find an optimizer.

    Args:
      identifier: the name of an optimizer, its config, a class, or an optimizer (also of tf.train).

    Returns:
      The optimizer.

    Raises:
      ValueError: for an unknown name.
    """
    if isinstance(identifier, (Optimizer, TrainOptimizer)):
        return identifier
    if isinstance(identifier, str) and identifier.lower() in _NAMES:
        identifier = identifier.lower()
    return resolve(identifier, _NAMES, "optimizer")


@leaves_out("use_legacy_format")
def serialize(optimizer):
    """The config of an optimizer."""
    return to_config(optimizer)


@leaves_out("use_legacy_format", "use_legacy_optimizer")
def deserialize(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
    """Make an optimizer of its config.

    Args:
      config: what `serialize` gave.
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The optimizer.

    Raises:
      ValueError: for an unknown class.
    """
    return resolve(config, _NAMES, "optimizer", custom_objects)


from tapeflow.keras.optimizers import legacy  # noqa: E402

boundaries(globals())
