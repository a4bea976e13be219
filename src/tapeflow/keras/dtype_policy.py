"""Dtype policies: in which dtype layers compute, and in which they keep their weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.keras import settings
from tapeflow.keras.dtype_names import standardize_dtype
from tapeflow.keras.registry import from_config_dict, to_config
from tapeflow.ops.math.casting import cast

_MIXED = ("mixed_float16", "mixed_bfloat16")


class DTypePolicy:
    """A pair of dtypes: `compute_dtype` and `variable_dtype`.

    Args:
      name: a dtype's name, "mixed_float16", "mixed_bfloat16", or None for floatx.

    Raises TypeError for anything but a name, and ValueError for an unknown one.
    """

    _keras_module = "keras"

    def __init__(self, name: str | None = None):
        if isinstance(name, dtypes.DType):
            raise TypeError(
                f"'name' must be a string, not a DType. Instead, pass DType.name. Got: {name.name}"
            )
        if name is None:
            name = settings.floatx()
        if not isinstance(name, str):
            raise TypeError(
                f"'name' must be a string, such as 'mixed_float16'. Received: name={name}"
            )
        if name == "infer":
            self._compute = self._variable = None
        elif name in _MIXED:
            self._compute, self._variable = name[6:], "float32"
        else:
            try:
                self._compute = self._variable = standardize_dtype(name)
            except ValueError:
                raise ValueError(
                    f"Cannot convert value {name} to a mixed precision Policy. Valid policies include "
                    "'mixed_float16', 'mixed_bfloat16', and the name of any dtype such as 'float32'."
                ) from None
        self._name = name

    @property
    def name(self):
        """The name."""
        return self._name

    @property
    def compute_dtype(self):
        """The dtype of computations, by name."""
        return self._compute

    @property
    def variable_dtype(self):
        """The dtype of weights, by name."""
        return self._variable

    @property
    def quantization_mode(self):
        """None: weights are not quantized."""
        return None

    @property
    def should_cast_variables(self):
        """Whether weights are cast where they are used."""
        return self._compute != self._variable

    @property
    def loss_scale(self):
        """The loss scale of `LossScaleOptimizer`s under the policy: dynamic for mixed_float16."""
        return "dynamic" if self._name == "mixed_float16" else None

    def of_path(self, path: str):
        """The policy of the layer with a path: this one."""
        return self

    def convert_input(self, x: Tensor, autocast, dtype: DTypeLike):
        """x as a tensor; a floating one in `dtype` where `autocast`."""
        x = convert_to_tensor(x)
        return cast(x, dtype) if autocast and x.dtype.is_floating else x

    def get_config(self):
        """The constructor's arguments."""
        return {"name": self._name}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
        """A policy from the constructor's arguments."""
        config = dict(config)
        config.pop("loss_scale", None)
        return cls(**config)

    def __repr__(self):
        return f'<{type(self).__name__} "{self._name}">'

    def __eq__(self, other):
        if isinstance(other, DTypePolicy):
            return self._name == other._name
        return NotImplemented

    def __hash__(self):
        return hash(self._name)


class FloatDTypePolicy(DTypePolicy):
    """A policy of floating dtypes."""


class QuantizedDTypePolicy(DTypePolicy):
    """A policy of layers whose weights are integers with scales.

    Args:
      mode: "int8" or "int4".
      source_name: the policy of what is computed from them, by default the global one.
    """

    _keras_module = "keras.dtype_policies"
    _modes: tuple[str, ...] = ("int8", "int4")

    def __init__(self, mode: str, source_name: str | None = None):
        source = global_policy().name if source_name is None else source_name
        super().__init__(source)
        if mode not in self._modes:
            raise ValueError(f"`mode` must be one of {self._modes}. Received: mode='{mode}'")
        if mode == "int8" and source == "float16":
            raise ValueError("Quantization mode='int8' doesn't work well with compute_dtype='float16'.")
        self._mode, self._source = mode, source
        self._name = f"{mode}_from_{source}"

    @property
    def quantization_mode(self):
        """What weights are: "int8", "int4" or "float8"."""
        return self._mode

    def get_config(self):
        """The constructor's arguments."""
        return {"mode": self._mode, "source_name": self._source}


class Int4DTypePolicy(QuantizedDTypePolicy):
    """A policy of integers of 4 bits in groups.

    Args:
      mode: "int4/" and how many weights one scale holds for; -1 for all that are summed over.
      source_name: the policy of what is computed from them, by default the global one.
    """

    def __init__(self, mode: str, source_name: str | None = None):
        base, _, size = mode.partition("/")
        wrong = f"Invalid mode for Int4DTypePolicy. Expected format 'int4/<block_size>', but got '{mode}'."
        if base != "int4" or not size or "/" in size:
            raise ValueError(wrong)
        try:
            self.block_size = int(size)
        except ValueError:
            raise ValueError(f"{wrong} <block_size> must be an integer.") from None
        if self.block_size < -1 or self.block_size == 0:
            raise ValueError(
                "Invalid block_size in mode. Supported values are -1 (per-channel) or a positive integer "
                f"(sub-channel), but got {self.block_size} from '{mode}'."
            )
        super().__init__(base, source_name)
        self._name = f"{mode}_from_{self._source}"

    def get_config(self):
        """The constructor's arguments."""
        return {**super().get_config(), "mode": f"int4/{self.block_size}"}


class QuantizedFloat8DTypePolicy(QuantizedDTypePolicy):
    """A policy of 8-bit floats.

    Args:
      amax_history_length: of how many steps the greatest values are kept.
    """

    default_amax_history_length = 1024
    _modes = ("float8",)

    def __init__(self, mode: str = "float8", source_name=None, amax_history_length: int = 1024):
        super().__init__(mode, source_name)
        if not isinstance(amax_history_length, int):
            raise TypeError(f"`amax_history_length` must be an integer. Received: {amax_history_length!r}")
        self.amax_history_length = amax_history_length

    def get_config(self):
        """The constructor's arguments."""
        return {**super().get_config(), "amax_history_length": self.amax_history_length}


class Policy(DTypePolicy):
    """The policy of 2.x's `mixed_precision`."""

    def __init__(self, name: str, loss_scale: str = "auto"):
        super().__init__(name)
        self._loss_scale = super().loss_scale if loss_scale == "auto" else loss_scale

    @property
    def loss_scale(self):
        """The loss scale given to the constructor, or what follows from the name."""
        return self._loss_scale


_state: dict[str, DTypePolicy | None] = {"global": None}


def global_policy():
    """The policy of layers that are given no dtype."""
    policy = _state["global"]
    return _plain()(settings.floatx()) if policy is None else policy


def set_global_policy(policy):
    """Sets the policy of layers that are given no dtype: a policy, its name, or None for floatx.

    Raises ValueError for policies of integers and the like.
    """
    if policy is not None:
        policy = get(policy)
        compute = dtypes.as_dtype(policy.compute_dtype) if policy.compute_dtype else None
        if compute is not None and not compute.is_floating:
            raise ValueError(
                "set_global_policy can only be used to set the global policy to floating-point policies, "
                f"such as 'float32' and 'mixed_float16', but got policy: {policy.name}"
            )
    _state["global"] = policy


def get(identifier):
    """A policy from itself, a name, a dtype, a config, or None for the global one."""
    if identifier is None:
        return global_policy()
    if isinstance(identifier, DTypePolicy):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if not isinstance(identifier, str):
        identifier = standardize_dtype(identifier)
    if "_from_" in identifier:
        mode, _, source = identifier.partition("_from_")
        if mode == "float8":
            return QuantizedFloat8DTypePolicy(mode, source)
        return (Int4DTypePolicy if mode.startswith("int4/") else QuantizedDTypePolicy)(mode, source)
    return _plain()(identifier)


def _plain():
    """The class of policies that names stand for."""
    return Policy if keras_2() else DTypePolicy


def serialize(dtype_policy: DTypePolicy):
    """The config of a policy: in Keras 2 a dtype's name where both dtypes are one."""
    if not keras_2():
        return to_config(dtype_policy)
    if dtype_policy.compute_dtype == dtype_policy.variable_dtype:
        return dtype_policy.compute_dtype
    return {"class_name": "Policy", "config": dtype_policy.get_config()}


def deserialize(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
    """Make a dtype policy of its config.

    Args:
      config: what `serialize` gave, or a name.
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The policy.
    """
    if not isinstance(config, dict):
        return get(config)
    if "class_name" not in config:
        return _plain()(config["name"])
    return from_config_dict(config, CLASSES | {"DTypePolicy": _plain()}, "dtype policy", custom_objects)


# What configs may name.
CLASSES: dict[str, type[DTypePolicy]] = {
    "Policy": Policy, "PolicyV1": Policy, "FloatDTypePolicy": FloatDTypePolicy,
    "QuantizedDTypePolicy": QuantizedDTypePolicy, "Int4DTypePolicy": Int4DTypePolicy,
    "QuantizedFloat8DTypePolicy": QuantizedFloat8DTypePolicy,
}  # fmt: skip


boundaries(globals())
