"""Layers whose weights can be integers of 8 bits with scales."""

from __future__ import annotations

from tapeflow.autodiff.custom_gradient import custom_gradient
from tapeflow.autodiff.tape import GradientTape
from tapeflow.core import dtypes
from tapeflow.keras.dtype_policy import QuantizedDTypePolicy
from tapeflow.keras.engine.protocol import quantization_mode
from tapeflow.keras.quantizers import Int8QuantizationConfig, abs_max_quantize
from tapeflow.ops.casting import cast
from tapeflow.ops.layout import reshape

_MODES = ("int8", "float8", "int4", "gptq", "awq")


class Quantizable:
    """What layers share that `quantize("int8")` changes: one weight becomes integers, and gets a scale.

    A layer names the weight, says along which axes one scale holds and which shape the scales have, and computes
    products of it; once quantized, its `call` asks `_integer_product` for them.
    """

    _quantized_name = "kernel"
    _scales = None  # the variable of the scales, of a quantized layer

    @property
    def quantization_mode(self):
        """ "int8" for a layer whose weight was quantized, else None."""
        return self._policy.quantization_mode

    def quantize(self, mode=None, type_check=True, config=None):
        """Make the weight integers of 8 bits with a scale for each row or column.

        Args:
          mode: "int8"; None for that of the config.
          type_check: whether to refuse a subclass, which may compute in another way.
          config: an `Int8QuantizationConfig`, or None for the default one.

        Raises:
          ValueError: for a layer that is not built, or is quantized.
          NotImplementedError: for another mode, and for subclasses.
        """
        mode = quantization_mode(mode, config)
        if mode not in _MODES:
            raise ValueError(f"Invalid quantization mode. Expected one of {_MODES}. Received: mode={mode}")
        if type_check and not type(self).__module__.startswith("tapeflow."):
            raise NotImplementedError(f"Layer {type(self).__name__} does not have a `quantize` method implemented.")
        if not self.built:
            raise ValueError(
                f"Cannot quantize a layer that isn't yet built. Layer '{self.name}' (of type '{type(self).__name__}') "
                "is not built yet."
            )
        if self._scales is not None:
            raise ValueError(
                f"Layer '{self.name}' is already quantized with dtype_policy='{self.dtype_policy.name}'. "
                f"Received: mode={mode}"
            )
        self._set_dtype(QuantizedDTypePolicy(mode, self._policy.name))
        self._become_quantized(config)

    def _become_quantized(self, config=None):
        """Put integers and their scales in the place of the weight of a layer that was just built, or is quantized."""
        if self.quantization_mode != "int8":
            raise NotImplementedError(
                f"Weights of the kind {self.quantization_mode!r} are not supported, only those of 'int8'."
            )
        config = Int8QuantizationConfig() if config is None else config
        if config.mode != "int8":
            raise ValueError(f"Expected an Int8QuantizationConfig, got {config!r}")
        quantizer, name = config.weight_quantizer or abs_max_quantize, self._quantized_name
        old = self._named_weights[name]
        integers, scales = quantizer(old.read_value(), axis=self._scaled_axes())
        scales = reshape(scales, self._scales_shape())
        if getattr(self, f"{name}_regularizer") is not None:
            self._loss_functions.pop(0)  # that of the weight, which is the first that layers make
        place = next(i for i, weight in enumerate(self._own_weights) if weight is old)
        new = self.add_weight(name, old.shape, "int8", "zeros", trainable=False)
        self._own_weights[place] = self._own_weights.pop()
        new.assign(integers)
        setattr(self, name, new)
        self._scales = self.add_weight(f"{name}_scale", scales.shape, initializer="ones", trainable=False)
        self._scales.assign(cast(scales, self._scales.dtype))
        self.inputs_quantizer = config.activation_quantizer
        if self.inputs_quantizer == "default":
            self.inputs_quantizer = abs_max_quantize

    def _own_variables(self):
        return super()._own_variables() if self._scales is None else list(self._own_weights)

    def _float_weight(self):
        """The weight as floats."""
        dtype = self._compute_dtype_object
        weight = cast(getattr(self, self._quantized_name), dtype)
        return weight / reshape(cast(self._scales, dtype), self._broadcast_scales())

    def _integer_product(self, inputs, axis, product, scale_of):
        """A product with the weight, of integers with integers; its gradient is that of floats.

        Args:
          inputs: floats.
          axis: the axes of the inputs that the product sums over.
          product: a function of inputs and weight.
          scale_of: a function of the scales of the inputs and those of the weight, which gives those of the product.
        """
        dtype = self._compute_dtype_object

        @custom_gradient
        def compute(x):
            def gradient(upstream):
                with GradientTape() as tape:
                    tape.watch(x)
                    y = product(x, self._float_weight())
                return tape.gradient(y, x, upstream)

            scales = cast(self._scales, dtype)
            weight = getattr(self, self._quantized_name)
            if self.inputs_quantizer is None:
                return product(x, cast(weight, dtype)) / scale_of(None, scales), gradient
            integers, of_inputs = self.inputs_quantizer(x, axis=axis)
            sums = product(cast(integers, dtypes.int32), cast(weight, dtypes.int32))
            return cast(sums, dtype) / scale_of(of_inputs, scales), gradient

        return compute(inputs)
