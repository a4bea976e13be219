"""`keras.quantizers`: floats as small integers with a scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.core.annotations import AxisLike, Tensor, TensorLike
from tapeflow.core.public import boundaries
from tapeflow.core.spelling import snake_case
from tapeflow.keras.quantizers.functions import (
    abs_max_quantize,
    abs_max_quantize_grouped_with_zero_point,
    compute_float8_amax_history,
    compute_float8_scale,
    fake_quant_with_min_max_vars,
    pack_int4,
    quantize_and_dequantize,
    unpack_int4,
)
from tapeflow.keras.registry import from_config_dict, to_config

__all__ = [
    "AbsMaxQuantizer",
    "Float8QuantizationConfig",
    "Int4QuantizationConfig",
    "Int8QuantizationConfig",
    "QuantizationConfig",
    "Quantizer",
    "abs_max_quantize",
    "abs_max_quantize_grouped_with_zero_point",
    "compute_float8_amax_history",
    "compute_float8_scale",
    "deserialize",
    "fake_quant_with_min_max_vars",
    "get",
    "pack_int4",
    "quantize_and_dequantize",
    "serialize",
    "unpack_int4",
]


class Quantizer:
    """Base of what makes small integers of floats; subclasses define `__call__`.

    Args:
      output_dtype: the dtype of the integers.
    """

    _keras_module = "keras.quantizers"
    _keras_module_itself = "keras"

    def __init__(self, output_dtype: str = "int8"):
        self.output_dtype = output_dtype

    def __call__(self, x: Tensor):
        """Return x in another dtype."""
        return x

    def get_config(self):
        """The constructor's arguments."""
        raise NotImplementedError(f"{self} does not implement get_config()")

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A quantizer from the constructor's arguments."""
        return cls(**config)


class AbsMaxQuantizer(Quantizer):
    """Scales such that the greatest absolute value along axes becomes the greatest integer.

    Args:
      axis: the axes, one or several.
      value_range: the least and the greatest integer.
      epsilon: what is added to the greatest absolute value.
      output_dtype: the dtype of the integers.
    """

    def __init__(
        self, axis: Sequence[int] | int | None = None, value_range: Sequence[int] = (-127, 127),
        epsilon: float = 1e-7, output_dtype: str = "int8",
    ):
        super().__init__(output_dtype)
        self.axis = (axis,) if isinstance(axis, int) else axis if axis is None else tuple(axis)
        self.value_range, self.epsilon = value_range, epsilon

    def __call__(self, x: TensorLike, axis: AxisLike | None = None, to_numpy: bool = False):
        """Return integers, and what the floats were multiplied by."""
        axis = self.axis if axis is None else axis
        if axis is None:
            raise ValueError("`axis` must be given, to the constructor or here.")
        return abs_max_quantize(x, axis, self.value_range, self.output_dtype, self.epsilon, to_numpy)

    def get_config(self):
        config = {"value_range": self.value_range, "epsilon": self.epsilon, "output_dtype": self.output_dtype}
        return config if self.axis is None else {**config, "axis": self.axis}


class QuantizationConfig:
    """Which quantizers a layer uses for its weights and its inputs.

    Args:
      weight_quantizer: for the weights.
      activation_quantizer: for the inputs.
    """

    _keras_module = "keras.quantizers"
    mode: str | None = None

    def __init__(self, weight_quantizer=None, activation_quantizer: str | None = None):
        self.weight_quantizer, self.activation_quantizer = weight_quantizer, activation_quantizer

    def get_config(self):
        """The constructor's arguments."""
        return {
            "weight_quantizer": to_config(self.weight_quantizer),
            "activation_quantizer": to_config(self.activation_quantizer),
        }

    @staticmethod
    def weight_quantizer_or_default(config: QuantizationConfig | None, default: str):
        """Return the quantizer that a configuration has for weights, else the default."""
        found = None if config is None else config.weight_quantizer
        return default if found is None else found

    @staticmethod
    def activation_quantizer_or_default(config: QuantizationConfig | None, default: str):
        """Return the quantizer that a configuration has for inputs, None included; without one, the default."""
        return default if config is None else config.activation_quantizer

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A configuration from the constructor's arguments."""
        return cls(**{name: deserialize(value) if isinstance(value, dict) else value for name, value in config.items()})


class Int8QuantizationConfig(QuantizationConfig):
    """Integers of 8 bits.

    Args:
      weight_quantizer: for the weights, None for an `AbsMaxQuantizer` along the axes that are summed over.
      activation_quantizer: for the inputs; "default" for an `AbsMaxQuantizer` for each row, None to keep floats.
    """

    mode = "int8"

    def __init__(self, weight_quantizer=None, activation_quantizer: str = "default"):
        super().__init__(weight_quantizer, activation_quantizer)


class Float8QuantizationConfig(QuantizationConfig):
    """Floats of 8 bits, which have no quantizers to choose."""

    mode = "float8"

    def __init__(self):
        super().__init__(None, None)

    def get_config(self):
        """The constructor's arguments: none."""
        return {}


class Int4QuantizationConfig(QuantizationConfig):
    """Integers of 4 bits, two in a byte.

    Args:
      weight_quantizer: for the weights, None for an `AbsMaxQuantizer` along the axes that are summed over.
      activation_quantizer: for the inputs; "default" and None keep floats.
      block_size: how many weights that are summed over have one scale and one zero; None or -1 for all of them, whose
        zero is 0.
    """

    mode = "int4"

    def __init__(
        self, weight_quantizer: AbsMaxQuantizer | None = None, activation_quantizer: str | None = "default",
        block_size: int | None = 128,
    ):
        super().__init__(weight_quantizer, None if activation_quantizer == "default" else activation_quantizer)
        if block_size is not None and block_size != -1 and block_size <= 0:
            raise ValueError(f"block_size must be None, -1, or a positive integer. Received: block_size={block_size}")
        self.block_size = block_size
        if self.blocks and (self.weight_quantizer is not None or self.activation_quantizer is not None):
            raise ValueError(f"Int4 sub-channel quantization does not support custom quantizers: {block_size=}")
        for name, wanted in (("value_range", (-8, 7)), ("output_dtype", "int8")):
            found = getattr(self.weight_quantizer, name, wanted)
            if (tuple(found) if name == "value_range" else found) != wanted:
                raise ValueError(
                    f"Int4QuantizationConfig requires a weight_quantizer with {name}={wanted!r}. "
                    f"Received: {name}={found!r}"
                )

    @property
    def blocks(self):
        """How many weights a group has; 0 for one group."""
        return self.block_size if self.block_size is not None and self.block_size > 0 else 0

    def get_config(self):
        return {**super().get_config(), "block_size": self.block_size}

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        return super().from_config({"block_size": None, **config})


_CLASSES = (
    Quantizer, AbsMaxQuantizer, QuantizationConfig, Int8QuantizationConfig, Int4QuantizationConfig,
    Float8QuantizationConfig,
)  # fmt: skip
_NAMES = {cls.__name__: cls for cls in _CLASSES}
_NAMES |= {snake_case(name): cls for name, cls in _NAMES.items()}


def serialize(initializer: AbsMaxQuantizer):
    """The config of a quantizer."""
    return to_config(initializer)


def deserialize(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
    """A quantizer from its config."""
    return from_config_dict(config, _NAMES, "quantizer", custom_objects)


def get(identifier, **kwargs):
    """A quantizer from a name, a config, a class or a quantizer; None for None.

    Args:
      kwargs: arguments of its constructor, where that is called.
    """
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        if identifier not in _NAMES:
            raise ValueError(f"Could not interpret quantizer identifier: {identifier!r}")
        identifier = _NAMES[identifier]
    if isinstance(identifier, type):
        identifier = identifier(**kwargs)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret quantizer identifier: {identifier!r}")


boundaries(globals())
