"""LSTM cells whose kernels are masked."""

from __future__ import annotations

from typing import Any

from tapeflow.compat import v1
from tapeflow.contrib.model_pruning.core_layers import masked_kernel

__all__ = ["MaskedBasicLSTMCell", "MaskedLSTMCell"]


class _Masked:
    """What lets a cell compute with a masked kernel."""

    def build(self: Any, inputs_shape: Any):
        """Makes the variables, those of the mask too."""
        super().build(inputs_shape)  # type: ignore[misc]
        self._masked_kernel = masked_kernel(self, self._kernel)

    def call(self: Any, inputs: Any, state: Any):
        """The output and the new state."""
        kernel = self._kernel
        self.__dict__["_kernel"] = self._masked_kernel
        try:
            return super().call(inputs, state)  # type: ignore[misc]
        finally:
            self.__dict__["_kernel"] = kernel


class MaskedBasicLSTMCell(_Masked, v1.nn.rnn_cell.BasicLSTMCell):
    """A `tf.nn.rnn_cell.BasicLSTMCell` whose kernel is masked."""


class MaskedLSTMCell(_Masked, v1.nn.rnn_cell.LSTMCell):
    """A `tf.nn.rnn_cell.LSTMCell` whose kernel is masked."""
