"""Encodings of categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.layers.preprocessing.base import (
    OUTPUT_MODES,
    PreprocessingLayer,
    as_tensor,
    encode,
    encoded_shape,
)
from tapeflow.keras.old_names import takes_old_names


def compress(summary: np.ndarray, epsilon: float):
    """Values and weights, at most 1 / epsilon of them, by interpolation of the cumulative weights."""
    if summary.shape[1] * epsilon < 1:
        return summary
    shares = epsilon + np.arange(0.0, 1.0, epsilon)
    total = summary[1].cumsum()
    values = np.interp(shares, total / total[-1], summary[0])
    weights = np.diff(np.interp(shares, total / total[-1], total), prepend=0.0)
    return np.stack([values, weights]).astype("float32")


def check_output_mode(name: str, mode: str, sparse: bool, modes: Sequence[str] = OUTPUT_MODES):
    """Raises ValueError for an output mode that there is not, and for sparse integers."""
    if mode not in modes:
        raise ValueError(
            f"Unknown value for `output_mode` argument of layer {name}. Expected one of {modes}. "
            f"Received: output_mode={mode}"
        )
    if sparse and mode == "int":
        raise ValueError(
            "`sparse` may only be true if `output_mode` is `'one_hot'`, `'multi_hot'`, or `'count'`. "
            f"Received: sparse={sparse} and output_mode={mode}"
        )


class CategoryEncoding(PreprocessingLayer):
    """Encodes integers in [0, num_tokens) as vectors of `num_tokens` numbers.

    Input shape: `(batch, n)` or `(n,)`; a last axis of 1 goes for "one_hot".
    Output shape: `(batch, num_tokens)`; for "one_hot" with n > 1 `(batch, n, num_tokens)`.

    Args:
      num_tokens: the number of categories.
      output_mode: "one_hot" for one vector per integer, "multi_hot" for one per example with ones for all that are
        there, "count" for one per example with their frequencies.
      sparse: whether vectors are given as a `SparseTensor`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for an unknown mode, and `num_tokens` that is None or below 1.

    >>> layer = tf.keras.layers.CategoryEncoding(4, output_mode="count")
    >>> print(layer(tf.constant([[0, 1, 1], [3, 3, 3]])).numpy())
    [[1. 2. 0. 0.]
     [0. 0. 0. 3.]]
    """

    @takes_old_names(max_tokens="num_tokens")
    def __init__(self, num_tokens=None, output_mode: str = "multi_hot", sparse: bool = False, **kwargs):
        super().__init__(**kwargs)
        if output_mode == "binary":
            output_mode = "multi_hot"
        if output_mode not in OUTPUT_MODES[1:]:
            raise ValueError(
                f"Unknown argument for output_mode: {output_mode}. Expected one of "
                f"{OUTPUT_MODES[1:]}"
            )
        if num_tokens is None:
            raise ValueError(
                "num_tokens must be set to use this layer. If the number of tokens is not known "
                "beforehand, use the IntegerLookup layer instead."
            )
        if num_tokens < 1:
            raise ValueError(f"`num_tokens` must be >= 1. Received: num_tokens={num_tokens}.")
        self.num_tokens, self.output_mode, self.sparse = num_tokens, output_mode, sparse

    def call(self, inputs, count_weights=None):
        if count_weights is not None:
            if self.output_mode != "count":
                raise ValueError(
                    "`count_weights` is not used when `output_mode` is not `'count'`. Received "
                    f"`count_weights={count_weights}`."
                )
            count_weights = as_tensor(count_weights, self._compute_dtype_object)
        inputs = as_tensor(inputs)
        return encode(
            inputs, self.output_mode, self.num_tokens, self._compute_dtype_object, self.sparse,
            count_weights,
        )  # fmt: skip

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        return TensorShape(encoded_shape(sizes, self.output_mode, self.num_tokens))

    def get_config(self):
        return {
            **super().get_config(),
            "num_tokens": self.num_tokens,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
        }
