"""`EinsumDense`: a dense layer over any axes, by an einsum equation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from tapeflow.core.annotations import Tensor
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import activations, constraints, initializers, regularizers
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.layers.core.dense import refuse_unknown_kinds
from tapeflow.keras.layers.low_rank import AdaptableWeight, LowRank
from tapeflow.keras.layers.output_activation import activate
from tapeflow.keras.layers.quantized import Quantizable
from tapeflow.ops.array.layout import reshape, squeeze
from tapeflow.ops.linalg.einsum import einsum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.static import sizes_of


class EinsumDense(LowRank, Quantizable, Layer):
    """A dense layer over any axes: activation(einsum(equation, inputs, kernel) + bias).

    Input shape: as the equation says, the batch first.
    Output shape: `(batch, *output_shape)`.

    Args:
      equation: "ab,bc->ac", or with "..." before or after the axes of inputs and outputs.
      output_shape: sizes of the outputs without the batch, or one for one axis; None for what follows from the
        inputs.
      activation: a function of the outputs, its name, or None for none.
      bias_axes: the output's letters that the bias has; None for no bias.
      kernel_initializer, bias_initializer: first values of the weights; initializers or their names.
      kernel_regularizer, bias_regularizer: penalties on the weights, added to the model's `losses`; regularizers,
        names or None.
      kernel_constraint, bias_constraint: functions that each training step applies to the weights after their update;
        constraints, names or None.
      lora_rank: the number of columns of the factors that are trained instead of the whole weight, as by
        `enable_lora`; None trains the weight.
      lora_alpha: the factors' product counts `lora_alpha / lora_rank` times; None for once.
      gptq_unpacked_column_size, quantization_config: must be None; use `quantize` on the built layer.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for an equation that does not fit the shapes.

    >>> layer = tf.keras.layers.EinsumDense("abc,cd->abd", output_shape=(None, 4), bias_axes="d")
    >>> print(layer(tf.zeros([2, 3, 5])).shape)
    (2, 3, 4)
    """

    _checkpoint_names: ClassVar[dict[str, str]] = {"kernel": "_kernel"}

    kernel = AdaptableWeight()

    # Set once the weights are made.
    bias: Any = None

    def __init__(
        self, equation: str, output_shape, activation=None, bias_axes: str | None = None,
        kernel_initializer="glorot_uniform", bias_initializer="zeros", kernel_regularizer=None,
        bias_regularizer=None, kernel_constraint=None, bias_constraint=None, lora_rank=None, lora_alpha=None,
        gptq_unpacked_column_size=None, quantization_config=None, **kwargs,
    ):
        refuse_unknown_kinds(type(self).__name__, gptq_unpacked_column_size=gptq_unpacked_column_size)
        activity_regularizer = kwargs.pop("activity_regularizer", None)
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set_low_rank(lora_rank, lora_alpha)
        self._set_quantization_config(quantization_config)
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

    def build(self, input_shape: Sequence[Any]):
        kernel, bias, _ = _analyze(
            self.equation,
            self.bias_axes,
            TensorShape(input_shape).as_list(),
            self.partial_output_shape,
        )
        self._begin_quantized()
        self.kernel = self.add_weight(
            "kernel",
            kernel,
            initializer=self._start_of_kernel(),
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
        if self.quantization_mode is not None and not self._is_float8:
            self._become_quantized()
        self._build_low_rank()

    def _start_of_kernel(self):
        """The initializer, with the axes of the kernel that count its inputs and outputs."""
        start = self.kernel_initializer
        named = not isinstance(start, initializers.VarianceScaling) or None not in (start.input_axes, start.output_axes)
        if keras_2() or named:
            return start
        _, kernel, outputs = self._letters()
        axes = {"input_axes": [], "output_axes": []}
        for i, letter in enumerate(kernel):
            axes["output_axes" if letter in outputs else "input_axes"].append(i)
        config = start.get_config() | axes | {"seed": start.seed}
        return type(start).from_config(config)

    def _letters(self):
        """The letters of the inputs, the kernel and the outputs; an ellipsis is the letter "."."""
        sides = self.equation.replace(" ", "").replace("...", ".").partition("->")
        inputs, _, kernel = sides[0].partition(",")
        return inputs, kernel, sides[2]

    _has_float8 = True

    def _scaled_axes(self):
        _, kernel, outputs = self._letters()
        return tuple(i for i, letter in enumerate(kernel) if letter not in outputs)

    def _scales_shape(self):
        _, kernel, outputs = self._letters()
        sizes = dict(zip(kernel, self._named_weights["kernel"].shape.as_list()))
        return [sizes.get(letter, 1) for letter in outputs if letter != "."]

    def _broadcast_scales(self):
        _, kernel, outputs = self._letters()
        kept = [letter for letter in outputs if letter in kernel]
        if [letter for letter in kernel if letter in outputs] != kept:
            raise NotImplementedError(f"The scales of {self.equation!r} have their axes in another order.")
        sizes = self._named_weights["kernel"].shape.as_list()
        return [size if letter in outputs else 1 for letter, size in zip(kernel, sizes)]

    def _quantized_call(self, inputs):
        letters, _, outputs = self._letters()
        rank = inputs.shape.rank
        before = letters.partition(".")[0]
        axes = tuple(i if letter in before else i - len(letters) + rank
                     for i, letter in enumerate(letters) if letter not in outputs)  # fmt: skip
        kept = "".join(letter for letter in letters if letter in outputs)
        spread = "".join(letter for letter in outputs if letter in kept)

        def scale_of(of_inputs, of_kernel):
            if outputs[-1:] == ".":
                of_kernel = reshape(of_kernel, [*of_kernel.shape.as_list(), *[1] * (rank - len(letters) + 1)])
            if of_inputs is None:
                return of_kernel
            of_inputs = squeeze(of_inputs, list(axes))
            moved = einsum(f"{kept}->{spread}".replace(".", "..."), of_inputs)
            sizes = iter(sizes_of(moved))
            shape = []
            for letter in outputs:
                if letter == ".":
                    shape += [next(sizes) for _ in range(rank - len(letters) + 1)]
                else:
                    shape.append(next(sizes) if letter in spread else 1)
            return reshape(moved, shape) * of_kernel

        return self._integer_product(inputs, axes, lambda x, weight: einsum(self.equation, x, weight), scale_of)

    def call(self, inputs: Tensor):
        if not inputs.dtype.is_floating and self.compute_dtype != inputs.dtype.name and not keras_2():
            inputs = cast(inputs, self.compute_dtype)
        if self._is_float8:
            return self._float8_call(inputs, lambda x, weight: einsum(self.equation, x, weight))
        if self._scales is not None:
            outputs = self._quantized_call(inputs)
        else:
            outputs = einsum(self.equation, inputs, self.kernel)
        if self.bias is not None:
            outputs = outputs + self.bias
        return activate(self.activation, outputs)

    def _says_output_shape(self):
        return True

    def compute_output_shape(self, input_shape: Sequence[Any]):
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
            **self._low_rank_config(),
            **self._quantization_config_entry(),
        }


def _analyze(equation: str, bias_axes: str | None, sizes: Sequence[int | None], given: Sequence[int | None]):
    """(kernel shape, bias shape or None, output shape with None where none was given).

    Raises ValueError for what does not fit.
    """
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
    full += tail[: len(named)]
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
