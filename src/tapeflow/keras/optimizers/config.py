"""The configs of optimizers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.keras.optimizers import schedules
from tapeflow.keras.session import values_of

CLIPPING = ("clipnorm", "clipvalue", "global_clipnorm")
AVERAGING = {"use_ema": False, "ema_momentum": 0.99, "ema_overwrite_frequency": None}
MORE = {"weight_decay": None, **AVERAGING, "loss_scale_factor": None,
         "gradient_accumulation_steps": None}  # fmt: skip
SHARED_OF_KERAS_3 = (
    "weight_decay", "clipnorm", "global_clipnorm", "clipvalue", "use_ema", "ema_momentum", "ema_overwrite_frequency",
    "loss_scale_factor", "gradient_accumulation_steps",
)  # fmt: skip


@public_methods
class OptimizerConfig:
    """The part of Optimizer that describes itself."""

    @property
    def name(self):
        """The name given to the constructor."""
        return self._name

    def _config_value(self, name):
        value = self._hyper[name]
        if name in self._hyper_variables:
            return values_of([self._hyper_variables[name]])[0].item()
        if isinstance(value, schedules.LearningRateSchedule):
            return schedules.serialize(value)
        return value() if callable(value) else value

    def _config_of(self, *names):
        own = {n: self._config_value(n) for n in ("learning_rate", *names) if n in self._hyper}
        if (keras_2() and self._in_first_keras_2) or self._decay:
            own["decay"] = self._decay
        shared = {n: self.__dict__[n] for n in (*CLIPPING, *MORE)}
        if keras_2():
            return {"name": self._name, **own, **{n: v for n, v in shared.items() if v != MORE.get(n)}}
        # As Keras 3 writes it: what all optimizers have comes first.
        first = {n: own[n] for n in ("learning_rate",) if n in own}
        return {"name": self._name, **first, **{n: shared[n] for n in SHARED_OF_KERAS_3}, **own}

    def get_config(self):
        """The constructor's arguments."""
        if not self._by_resources:
            return self._config_of()
        clipping = {n: self.__dict__[n] for n in CLIPPING if self.__dict__[n] is not None}
        return {"name": self._name, **clipping}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
        """Make an optimizer from the constructor's arguments.

        Args:
          config: what `get_config` gave.
          custom_objects: a dict of the program's own classes and functions by name.

        Returns:
          An optimizer without slots.
        """
        config = dict(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = schedules.deserialize(config["learning_rate"], custom_objects)
        return cls(**config)
