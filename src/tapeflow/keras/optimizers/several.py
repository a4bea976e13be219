"""`MultiOptimizer`: different optimizers for different variables of one model."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, ClassVar

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries, public_methods
from tapeflow.keras.engine.tracking import Node, listed
from tapeflow.keras.old_names import takes_old_names
from tapeflow.keras.optimizers.loss_scale import LossScaleOptimizer
from tapeflow.keras.optimizers.optimizer import Optimizer
from tapeflow.keras.optimizers.slots import Variables
from tapeflow.keras.optimizers.variables import in_order
from tapeflow.keras.registry import deserialize_in, resolve, to_config
from tapeflow.keras.settings import unique_name

_RATES = ("learning_rate", "lr")
_NO_RATE = "A MultiOptimizer has no learning rate; those in `optimizers` have."


class OptimizerMap(MutableMapping):
    """Optimizers by the paths of variables, or by regular expressions that match whole paths.

    Args:
      default_optimizer: the optimizer of the variables that no key matches.
      optimizer_map: a dict of optimizers; None for an empty one.

    Raises:
      TypeError: for a default that is no optimizer, and for a map that is no dict.

    >>> optimizers = tf.keras.optimizers.OptimizerMap(tf.keras.optimizers.SGD())
    >>> optimizers["encoder/.*"] = tf.keras.optimizers.Adam()
    >>> print([type(optimizers[path]).__name__ for path in ("encoder/kernel", "head/kernel")])
    ['Adam', 'SGD']
    """

    _keras_module = "keras.optimizers"

    def __init__(self, default_optimizer, optimizer_map=None):
        if not isinstance(default_optimizer, Optimizer):
            raise TypeError(f"default_optimizer must be a Keras Optimizer instance. Received: {default_optimizer}")
        if optimizer_map is not None and not isinstance(optimizer_map, dict):
            raise TypeError(f"optimizer_map must be a dictionary. Received: {optimizer_map}")
        self.default_optimizer = default_optimizer
        self._optimizers = {}
        self.update(optimizer_map or {})

    def __getitem__(self, key):
        if key in self._optimizers:
            return self._optimizers[key]
        found = [optimizer for pattern, optimizer in self._optimizers.items() if re.fullmatch(pattern, key)]
        if len(found) > 1:
            raise ValueError(f"Multiple optimizers assigned to variable {key}.")
        return found[0] if found else self.default_optimizer

    def __setitem__(self, key, optimizer):
        if key in self._optimizers:
            raise ValueError(f"The OptimizerMap has {key!r} already; its value is {self._optimizers[key]}")
        if not isinstance(key, str):
            raise ValueError(f"key must be a string. Received: {key}")
        self._optimizers[key] = _checked(optimizer, "optimizer")

    def __delitem__(self, key):
        del self._optimizers[key]

    def __contains__(self, key):
        return key in self._optimizers

    def __len__(self):
        return len(self._optimizers)

    def __iter__(self):
        return iter(self._optimizers)

    def values(self):
        """The optimizers, without the default one."""
        return self._optimizers.values()

    def items(self):
        """(key, optimizer) pairs."""
        return self._optimizers.items()

    def __call__(self, variable):
        return self[variable.path]

    def get_config(self):
        """The constructor's arguments."""
        return {
            "default_optimizer": to_config(self.default_optimizer),
            "optimizer_map": {key: to_config(optimizer) for key, optimizer in self.items()},
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
        """Make a map of what `get_config` gave.

        Args:
          config: the config.
          custom_objects: a dict of the program's own classes and functions by name.

        Returns:
          The map, with new optimizers.
        """
        if not isinstance(config.get("optimizer_map"), dict) or "default_optimizer" not in config:
            raise ValueError(
                f"The config of an {cls.__name__} needs an 'optimizer_map' and a 'default_optimizer': {config}"
            )

        def made(of):
            return deserialize_in("keras.optimizers", of, custom_objects)

        optimizers = {key: made(each) for key, each in config["optimizer_map"].items()}
        return cls(made(config["default_optimizer"]), optimizers)


@public_methods
class MultiOptimizer(Optimizer):
    """Gives each variable to the optimizer that a map or a function names for it.

    It has no learning rate; the optimizers in `optimizers` have their own.

    Args:
      optimizer_map: an `OptimizerMap`, or a function of a variable that gives its optimizer.
      loss_scale_factor: that of all the optimizers, in the place of their own.
      name: the prefix of the names of the variables that the optimizer makes.

    >>> optimizers = tf.keras.optimizers.OptimizerMap(tf.keras.optimizers.SGD(), {".*bias": tf.keras.optimizers.Adam()})
    >>> print([type(each).__name__ for each in tf.keras.optimizers.MultiOptimizer(optimizers).optimizers])
    ['Adam', 'SGD']
    """

    _own_checkpointed: ClassVar[dict[str, str]] = {"_inner_optimizers": "_inner_node"}

    def __init__(self, optimizer_map, loss_scale_factor=None, name: str | None = None):
        super().__init__(name or unique_name("multi_optimizer"), loss_scale_factor=loss_scale_factor)
        state = self.__dict__
        state["_wraps"] = False  # what is inside divides the gradients
        state["_optimizer_map"] = optimizer_map
        state["_inner"] = []
        state["_inner_node"] = Node(lambda: listed(self._inner))
        state["_places"] = {}  # of optimizers in `_inner`, by the ids of variables
        self._set_hyper("learning_rate", 0.0)  # unused, but among the variables of Keras 3
        if hasattr(optimizer_map, "values"):
            for optimizer in (*optimizer_map.values(), optimizer_map.default_optimizer):
                self._place_of(optimizer)

    def _place_of(self, optimizer):
        """The number of an inner optimizer, which may be a new one."""
        for place, other in enumerate(self._inner):
            if other is optimizer:
                return place
        _scale(optimizer, self.loss_scale_factor)
        self._inner.append(optimizer)
        return len(self._inner) - 1

    @property
    def optimizers(self):
        """The inner optimizers, a list; those of a function are known after `build`."""
        return self._inner

    @takes_old_names(var_list="variables")
    def build(self, variables: Sequence[Any]):
        """Choose the optimizers of variables and make their slots.

        Args:
          variables: the variables.

        Raises:
          ValueError: for what is no optimizer, scales losses, or has inner optimizers itself.
        """
        if self._places:
            return
        known = list(variables)
        for variable in known:
            optimizer = _checked(self._optimizer_map(variable), f"Optimizer for variable {variable}")
            self._places[id(variable)] = self._place_of(optimizer)
        for optimizer, own in zip(self._inner, self._shared_out(known)):
            if own:
                optimizer.build(own)
        super().build(known)

    def _shared_out(self, variables, values=None):
        """The variables, or values that belong to them, of each inner optimizer."""
        shares = [[] for _ in self._inner]
        for variable, value in zip(variables, variables if values is None else values):
            if id(variable) not in self._places:
                raise ValueError(f"The optimizer was not built for the variable {variable}")
            shares[self._places[id(variable)]].append(value)
        return shares

    def _update(self, pairs: Sequence[Any]):
        for optimizer, own in zip(self._inner, self._shared_out([variable for _, variable in pairs], pairs)):
            if own:
                optimizer._update(own)
        return self._count()

    def finalize_variable_values(self, var_list: Sequence[Any]):
        """Sets variables to their moving averages, where their optimizers keep those."""
        for optimizer, own in zip(self._inner, self._shared_out(list(var_list))):
            if own:
                optimizer.finalize_variable_values(own)

    @property
    def variables(self):
        """Its own variables, then those of the inner optimizers."""
        return Variables(self._saved_variables())

    @property
    def weights(self):
        """The same as `variables`."""
        return self._saved_variables()

    def _saved_variables(self):
        return [*in_order(self), *(variable for optimizer in self._inner for variable in optimizer._saved_variables())]

    @property
    def learning_rate(self):
        """Not there: the inner optimizers have rates of their own."""
        raise AttributeError(_NO_RATE)

    @learning_rate.setter
    def learning_rate(self, value: TensorLike):
        raise AttributeError(_NO_RATE)

    def __getattr__(self, name: str):
        if name in _RATES:
            raise AttributeError(_NO_RATE)
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any):
        if name in _RATES:
            raise AttributeError(_NO_RATE)
        super().__setattr__(name, value)
        if name == "loss_scale_factor":
            for optimizer in self._inner:
                _scale(optimizer, value)

    def get_config(self):
        """The constructor's arguments."""
        return {
            "optimizer_map": to_config(self._optimizer_map),
            "loss_scale_factor": self.loss_scale_factor,
            "name": self._name,
        }

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
        if "optimizer_map" not in config:
            raise ValueError(f"The config of a {cls.__name__} has no 'optimizer_map': {config}")
        # A map is no optimizer, so that it has no name among those.
        config["optimizer_map"] = resolve(
            config["optimizer_map"], {"OptimizerMap": OptimizerMap}, "optimizer map", custom_objects
        )
        return cls(**config)


def _checked(optimizer, what: str):
    """An inner optimizer. Raises ValueError for what cannot be one."""
    if not isinstance(optimizer, Optimizer):
        raise ValueError(f"{what} must be a Keras Optimizer instance. Received: {optimizer}")
    if isinstance(optimizer, (LossScaleOptimizer, MultiOptimizer)):
        raise ValueError(f"{what} cannot be a {type(optimizer).__name__}.")
    return optimizer


def _scale(optimizer, factor):
    """Lets an inner optimizer divide gradients by the factor of the losses."""
    optimizer.__dict__["loss_scale_factor"] = factor
    optimizer.__dict__["_wraps"] = optimizer._wraps or factor is not None


boundaries(globals())
