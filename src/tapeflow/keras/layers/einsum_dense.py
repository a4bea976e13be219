"""`EinsumDense`: a dense layer over any axes, by an einsum equation."""

from __future__ import annotations

import re

from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import activations, constraints, initializers, regularizers
from tapeflow.keras.engine.base_layer import Layer, Unbuilt
from tapeflow.keras.layers.core import refuse_unknown_kinds
from tapeflow.ops.einsum import einsum


class EinsumDense(Layer):
    """activation(einsum(equation, inputs, kernel) + bias).

    Args:
      equation: "ab,bc->ac", or with "..." before or after the axes of inputs and outputs.
      output_shape: sizes of the outputs without the batch; None for what follows from the inputs.
      bias_axes: the output's letters that the bias has; None for no bias.
    """

    kernel = Unbuilt()

    def __init__(
        self,
        equation,
        output_shape,
        activation=None,
        bias_axes=None,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        lora_rank=None,
        lora_alpha=None,
        gptq_unpacked_column_size=None,
        quantization_config=None,
        **kwargs,
    ):
        refuse_unknown_kinds(
            type(self).__name__, lora_rank=lora_rank, lora_alpha=lora_alpha,
            gptq_unpacked_column_size=gptq_unpacked_column_size,
            quantization_config=quantization_config,
        )  # fmt: skip
        activity_regularizer = kwargs.pop("activity_regularizer", None)
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.equation = equation
        self.partial_output_shape = (
            [output_shape] if isinstance(output_shape, int) else list(output_shape)
        )
        self.bias_axes = bias_axes
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.bias = None

    def build(self, input_shape):
        kernel, bias, self.full_output_shape = _analyze(
            self.equation,
            self.bias_axes,
            TensorShape(input_shape).as_list(),
            self.partial_output_shape,
        )
        self.kernel = self.add_weight(
            "kernel",
            kernel,
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        if bias is not None:
            self.bias = self.add_weight(
                "bias",
                bias,
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def call(self, inputs):
        outputs = einsum(self.equation, inputs, self.kernel)
        if self.bias is not None:
            outputs = outputs + self.bias
        return outputs if self.activation is activations.linear else self.activation(outputs)

    def compute_output_shape(self, input_shape):
        return TensorShape(
            _analyze(
                self.equation,
                self.bias_axes,
                TensorShape(input_shape).as_list(),
                self.partial_output_shape,
            )[2]
        )

    def get_config(self):
        return {
            **super().get_config(),
            "output_shape": self.partial_output_shape,
            "equation": self.equation,
            "activation": activations.serialize(self.activation),
            "bias_axes": self.bias_axes,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "kernel_constraint": constraints.serialize(self.kernel_constraint),
            "bias_constraint": constraints.serialize(self.bias_constraint),
        }


def _analyze(equation, bias_axes, sizes, given):
    """(kernel shape, bias shape or None, full output shape). Raises ValueError for what does not fit."""
    found = re.fullmatch(
        r"(\.\.\.)?([a-zA-Z]+)(\.\.\.)?,([a-zA-Z]+)->(\.\.\.)?([a-zA-Z]+)(\.\.\.)?",
        equation.replace(" ", "").replace("0", ""),
    )
    if found is None:
        raise ValueError(
            f"Invalid einsum equation '{equation}'. Equations must be in the form "
            "[X],[Y]->[Z], ...[X],[Y]->...[Z], or [X]...,[Y]->[Z]...."
        )
    before, inputs, after, weights, _, outputs, _ = found.groups()
    elided = len(sizes) - len(inputs)
    given = list(given)
    if before:
        known = dict(zip(inputs, sizes[elided:]))
        full = [*sizes[:elided]]
        named = outputs
        tail = (
            given[-len(outputs) :]
            if len(given) >= len(outputs)
            else [*[None] * (len(outputs) - len(given)), *given]
        )
    else:
        known = dict(zip(inputs, sizes))
        full = []
        named = outputs
        tail = [sizes[0], *given] if len(given) < len(outputs) else given
    result = {}
    for letter, size in zip(named, tail):
        have = known.get(letter)
        if size is not None and have is not None and size != have:
            raise ValueError(
                f"Input shape and output shape do not match at shared dimension '{letter}'. Input "
                f"shape is {have}, and output shape is {size}."
            )
        result[letter] = have if size is None else size
    full += [result[letter] for letter in named]
    if after and elided:
        full += sizes[len(inputs) :]
    kernel = []
    for letter in weights:
        size = known.get(letter, result.get(letter))
        if letter not in known and letter not in result:
            raise ValueError(
                f"Weight dimension '{letter}' did not have a match in either the input spec "
                f"'{inputs}' or the output spec '{outputs}'. For this layer, the weight must be fully "
                "specified."
            )
        kernel.append(size)
    for letter in outputs:
        if letter not in inputs and letter not in weights:
            raise ValueError(
                f"Dimension '{letter}' was specified in the output '{outputs}' but has no "
                f"corresponding dim in the input spec '{inputs}' or weight spec '{outputs}'"
            )
    if bias_axes is None:
        return kernel, None, full
    for letter in bias_axes:
        if letter not in outputs:
            raise ValueError(
                f"Bias dimension '{letter}' was requested, but is not part of the output spec "
                f"'{outputs}'"
            )
    first = min(outputs.index(letter) for letter in bias_axes)
    bias = [result[letter] if letter in bias_axes else 1 for letter in outputs[first:]]
    if after:
        bias += [1] * elided
    return kernel, bias, full
