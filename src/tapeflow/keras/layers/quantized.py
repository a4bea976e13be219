"""Layers whose weights can be integers of 8 or 4 bits with scales."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tapeflow.autodiff.custom_gradient import custom_gradient
from tapeflow.autodiff.tape import GradientTape
from tapeflow.core import dtypes
from tapeflow.core.context import init_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.keras import quantizers
from tapeflow.keras.dtype_policy import (
    Int4DTypePolicy,
    QuantizedDTypePolicy,
    QuantizedFloat8DTypePolicy,
)
from tapeflow.keras.engine import calling
from tapeflow.keras.engine.protocol import quantization_mode
from tapeflow.keras.layers import float8
from tapeflow.keras.layers.output_activation import activate
from tapeflow.keras.quantizers import Int8QuantizationConfig, abs_max_quantize
from tapeflow.ops.array.construction import ones as ones_of
from tapeflow.ops.array.layout import expand_dims, reshape, squeeze
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast

_MODES = ("int8", "float8", "int4", "gptq", "awq")


def _refuse_others(mode: str):
    if mode not in ("int8", "int4"):
        raise NotImplementedError(f"Weights of the kind {mode!r} are not supported, only those of 'int8' and 'int4'.")


def _listed(axes: Sequence[int] | int):
    return [axes] if isinstance(axes, int) else list(axes)


class Quantizable:
    """What layers share that `quantize` changes: one weight becomes integers, and gets a scale.

    A layer names the weight, says along which axes one scale holds and which shape the scales have, and computes
    products of it; once quantized, its `call` asks `_integer_product` for them.
    """

    _quantized_name = "kernel"
    _scales = None  # the variable of the scales, of a layer of integers
    _has_float8 = False  # whether the class can compute with floats of 8 bits
    _is_float8 = False

    @property
    def quantization_mode(self):
        """ "int8", "int4" or "float8" for a layer that was quantized, else None."""
        return self._policy.quantization_mode

    def quantize(self, mode=None, type_check=True, config=None):
        """Make the weight integers with a scale for each row or column, or for groups of these.

        Args:
          mode: "int8" or "int4"; None for that of the config. Without a config, "int4" has no groups. "float8": the
            weight stays as it is, and products are computed as if their factors, and gradients, were floats of 8 bits.
          type_check: whether to refuse a subclass, which may compute in another way.
          config: an `Int8QuantizationConfig` or `Int4QuantizationConfig`, or None for the default one.

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
        if self._scales is not None or self._is_float8:
            raise ValueError(
                f"Layer '{self.name}' is already quantized with dtype_policy='{self.dtype_policy.name}'. "
                f"Received: mode={mode}"
            )
        if mode == "float8" and self._has_float8:
            self._set_dtype(QuantizedFloat8DTypePolicy(mode, self._policy.name))
            self._set_quantization_config(config)
            self._become_quantized()
            return
        _refuse_others(mode)
        if mode == "int4":
            block = -1 if config is None or not config.blocks else config.blocks
            self._set_dtype(Int4DTypePolicy(f"int4/{block}", self._policy.name))
        else:
            self._set_dtype(QuantizedDTypePolicy(mode, self._policy.name))
        self._become_quantized(config)

    quantization_config = None

    def _begin_quantized(self):
        """Called before the weights of a layer are made: of floats of 8 bits, the scales come first."""
        if self.quantization_mode == "float8":
            self._become_quantized()

    def _set_quantization_config(self, config):
        """Keeps the config of floats of 8 bits that a saved layer has. Raises ValueError for others."""
        if isinstance(config, dict):
            config = quantizers.deserialize(config)
        if config is not None and not (getattr(config, "mode", None) == self.quantization_mode == "float8"):
            raise ValueError(
                f"{type(self).__name__} of dtype {self.dtype_policy.name!r} has no quantized weights: "
                f"quantization_config must be None, got {config!r}."
            )
        self.quantization_config = config

    def _quantization_config_entry(self):
        """The part of a layer's config that says how it is quantized."""
        config = self.quantization_config
        return {} if config is None else {"quantization_config": quantizers.serialize(config)}

    def _become_quantized(self, config=None):
        """Put integers and their scales in the place of the weight of a layer that was just built, or is quantized."""
        if self.quantization_mode == "float8" and self._has_float8:
            self._is_float8 = True
            with init_scope():
                float8.add_scales(self, float8.history_length(self._policy))
            return
        if self.quantization_mode == "int4":
            with init_scope():  # a layer may be built while a graph is, and has its numbers at once
                self._become_packed(config)
            return
        _refuse_others(self.quantization_mode)
        config = Int8QuantizationConfig() if config is None else config
        if config.mode != "int8":
            raise ValueError(f"Expected an Int8QuantizationConfig, got {config!r}")
        quantizer, name = config.weight_quantizer or abs_max_quantize, self._quantized_name
        old = self._named_weights[name]
        integers, scales = quantizer(old.read_value(), axis=self._scaled_axes())
        scales = reshape(scales, self._scales_shape())
        self._exchange(integers, scales)
        self.inputs_quantizer = config.activation_quantizer
        if self.inputs_quantizer == "default":
            self.inputs_quantizer = abs_max_quantize

    def _float8_call(self, inputs, compute):
        """What a layer of floats of 8 bits returns; `compute` is its product of inputs and kernel."""
        outputs = float8.product(self, inputs, calling.state.training, compute)
        if self.bias is not None:
            outputs = outputs + float8.rounded_bias(self)
        return activate(self.activation, outputs)

    def _exchange(self, integers, scales):
        """Put integers in the place of the weight, and add a weight of the scales."""
        name = self._quantized_name
        old = self._named_weights[name]
        if getattr(self, f"{name}_regularizer") is not None:
            self._loss_functions.pop(0)  # that of the weight, which is the first that layers make
        place = next(i for i, weight in enumerate(self._own_weights) if weight is old)
        new = self.add_weight(name, integers.shape, "int8", "zeros", trainable=False)
        self._own_weights[place] = self._own_weights.pop()
        new.assign(integers)
        setattr(self, name, new)
        self._scales = self.add_weight(f"{name}_scale", scales.shape, initializer="ones", trainable=False)
        self._scales.assign(cast(scales, self._scales.dtype))

    _group_axis = 0  # of the weight as a matrix: along this one, groups have scales

    def _become_packed(self, config):
        """Put integers of 4 bits in the place of the weight: a matrix, two numbers in a byte."""
        block = max(getattr(self._policy, "block_size", -1), 0)
        if config is not None and config.mode != "int4":
            raise ValueError(f"Expected an Int4QuantizationConfig, got {config!r}")
        name, axis = self._quantized_name, self._group_axis
        old = self._named_weights[name]
        summed = [old.shape.as_list()[i] for i in _listed(self._scaled_axes())]
        rows = int(np.prod(summed)) if axis == 0 else old.shape.as_list()[0]
        matrix = old.numpy().reshape(rows, -1)
        self._packed_shapes, self._scales_spread = (old.shape.as_list(), matrix.shape), self._scales_shape()
        if block:
            found = quantizers.abs_max_quantize_grouped_with_zero_point(matrix if axis == 0 else matrix.T, block)
            integers, scales, zeros = (each if axis == 0 else transpose(each) for each in found)
        else:
            quantizer = None if config is None else config.weight_quantizer
            quantizer = quantizer or quantizers.AbsMaxQuantizer(value_range=(-8, 7))
            integers, scales = quantizer(convert_to_tensor(matrix), axis=axis)
            scales = squeeze(scales, axis)
        packed, _, _ = quantizers.pack_int4(integers, axis=-1)
        self._exchange(packed, scales)
        self._zeros = self._groups = None
        if block:
            self._zeros = self.add_weight(f"{name}_zero", zeros.shape, "int8", "zeros", trainable=False)
            self._zeros.assign(zeros)
            self._groups = self.add_weight("g_idx", [matrix.shape[axis]], "float32", "zeros", trainable=False)
            self._groups.assign(np.arange(matrix.shape[axis]) // block)
        self.inputs_quantizer = None if config is None else config.activation_quantizer

    def _unpacked(self, packed, scales, zeros):
        """The floats that integers of 4 bits stand for.

        Args:
          packed: the bytes, rows of the weight as a matrix.
          scales: of these rows.
          zeros: of these rows, or None.
        """
        dtype = self._compute_dtype_object
        values = cast(quantizers.unpack_int4(packed, self._packed_shapes[1][1], axis=-1), dtype)
        scales = cast(scales, dtype)
        if zeros is None:
            return values / (expand_dims(scales, -1) if self._group_axis else scales)
        groups, axis = cast(self._groups, dtypes.int32), -1 if self._group_axis else 0
        return (values - cast(gather(zeros, groups, axis=axis), dtype)) * gather(scales, groups, axis=axis)

    def _own_variables(self):
        if self._is_float8:  # in files, the weight and the bias come first
            own = super()._own_variables()
            return sorted(own, key=lambda weight: getattr(weight, "overwrite_with_gradient", False))
        return super()._own_variables() if self._scales is None else list(self._own_weights)

    def _float_weight(self):
        """The weight as floats."""
        dtype = self._compute_dtype_object
        if self.quantization_mode == "int4":
            weight = self._unpacked(getattr(self, self._quantized_name), self._scales, self._zeros)
            return reshape(weight, self._packed_shapes[0])
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

            if self.quantization_mode == "int4":
                if self.inputs_quantizer is None:
                    return product(x, self._float_weight()), gradient
                integers, of_inputs = self.inputs_quantizer(x, axis=axis)
                ones = ones_of(self._scales_spread, dtype)
                return product(cast(integers, dtype), self._float_weight()) / scale_of(of_inputs, ones), gradient
            scales = cast(self._scales, dtype)
            weight = getattr(self, self._quantized_name)
            if self.inputs_quantizer is None:
                return product(x, cast(weight, dtype)) / scale_of(None, scales), gradient
            integers, of_inputs = self.inputs_quantizer(x, axis=axis)
            sums = product(cast(integers, dtypes.int32), cast(weight, dtypes.int32))
            return cast(sums, dtype) / scale_of(of_inputs, scales), gradient

        return compute(inputs)
