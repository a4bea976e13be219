"""`tf.contrib.cudnn_rnn`: stacks of recurrent layers on [time, batch, features], run by the layers of Keras."""

from __future__ import annotations

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.layers import GRU, LSTM, Dropout
from tapeflow.ops.array.joining import stack
from tapeflow.ops.array.layout import transpose

__all__ = ["CudnnGRU", "CudnnLSTM"]


class _Stack(Layer):
    """Layers one upon the other, from bottom to top.

    Args:
      num_layers, num_units: how many layers, and how wide each is.
      dropout: the share of a layer's outputs that the next does not see in training.
    """

    def __init__(
        self, num_layers, num_units, input_mode="linear_input", direction="unidirectional", dropout=0.0,
        seed=None, dtype="float32", kernel_initializer=None, bias_initializer=None, name=None,
    ):  # fmt: skip
        super().__init__(name=name, dtype=dtype)
        if direction != "unidirectional":
            raise ValueError(f"direction must be 'unidirectional', got {direction!r}")
        if input_mode not in ("linear_input", "auto_select"):
            raise ValueError(
                f"input_mode must be 'linear_input' or 'auto_select', got {input_mode!r}"
            )
        self.num_layers, self.num_units, self.dropout = num_layers, num_units, dropout
        options = {"return_sequences": True, "return_state": True}
        if kernel_initializer is not None:
            options["kernel_initializer"] = kernel_initializer
        if bias_initializer is not None:
            options["bias_initializer"] = bias_initializer
        self.cells = [self._kind(num_units, **options) for _ in range(num_layers)]
        self.drops = [Dropout(dropout, seed=seed) for _ in range(num_layers - 1)]

    def call(self, inputs: TensorLike, initial_state=None, training: bool | Tensor = True):
        """(outputs, states): [time, batch, units], and for each kind of state [layers, batch, units]."""
        x = transpose(inputs, [1, 0, 2])
        states = []
        for i, cell in enumerate(self.cells):
            start = None if initial_state is None else [state[i] for state in initial_state]
            x, *last = cell(x, initial_state=start)
            states.append(last)
            if i < len(self.drops) and self.dropout:
                x = self.drops[i](x, training=training)
        return transpose(x, [1, 0, 2]), tuple(
            stack(list(parts)) for parts in zip(*states, strict=True)
        )


class CudnnLSTM(_Stack):
    """A stack of LSTM layers; its states are h and c."""

    _kind = LSTM


class CudnnGRU(_Stack):
    """A stack of GRU layers; its state is h."""

    _kind = GRU
