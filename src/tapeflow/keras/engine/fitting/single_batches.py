"""Training, evaluation and prediction of one batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.keras.engine import calling
from tapeflow.keras.engine.fitting.arrays import array_of, inputs_of, numbers_of
from tapeflow.keras.engine.fitting.batches import as_batches, as_tensor
from tapeflow.keras.engine.fitting.packing import pack_x_y_sample_weight
from tapeflow.keras.utils.progress import in_order_of_release


@public_methods
class SingleBatches:
    """The part of Model that takes one batch at a time."""

    # Of the other parts:
    compiled_metrics: Any
    reset_metrics: Any
    _each_metric: Any
    _require_compiled: Any
    _step: Any

    def train_on_batch(
        self, x: TensorLike, y: np.ndarray | None = None, sample_weight: TensorLike | None = None,
        class_weight: Mapping[Any, Any] | None = None, return_dict: bool = False, reset_metrics: bool = True,
    ):
        """Make one update from one batch.

        Args:
          x: the inputs: arrays or tensors.
          y: the labels.
          sample_weight: the weights of the examples.
          class_weight: a dict of the weights of classes, by number.
          return_dict: whether a dict by name is returned.
          reset_metrics: whether metrics begin anew with this batch.

        Returns:
          The loss; with metrics the list of it and them; or a dict.
        """
        calling.one_positional(self, "train_on_batch")
        return self._on_batch(
            "train", x, y, sample_weight, class_weight, reset_metrics, return_dict
        )

    def test_on_batch(
        self, x: np.ndarray, y: np.ndarray | None = None, sample_weight: TensorLike | None = None,
        return_dict: bool = False, reset_metrics: bool = True,
    ):
        """Compute loss and metrics of one batch.

        Args:
          x: the inputs: arrays or tensors.
          y: the labels.
          sample_weight: the weights of the examples.
          return_dict: whether a dict by name is returned.
          reset_metrics: whether metrics begin anew with this batch.

        Returns:
          The loss; with metrics the list of it and them; or a dict.
        """
        return self._on_batch("test", x, y, sample_weight, None, reset_metrics, return_dict)

    def _on_batch(
        self, kind: str, x: TensorLike, y: np.ndarray | None, sample_weight, class_weight: Mapping[Any, Any] | None,
        reset: bool, return_dict: bool,
    ):
        self._require_compiled()
        if reset:
            self.reset_metrics()
        data = nest.map_structure(as_tensor, pack_x_y_sample_weight(inputs_of(x), inputs_of(y), sample_weight))
        if class_weight is not None:
            data = next(iter(as_batches(iter([data]), class_weight=class_weight)))
        numbers = numbers_of(self._step(kind)(data))
        return in_order_of_release(numbers) if return_dict else self._one_or_all(numbers)

    def _one_or_all(self, numbers: dict[str, Any]):
        """Results without their names: in the order of the metrics, and those of no metric by name."""
        names = list(numbers)
        if not keras_2() and self.compiled_metrics is not None:
            # Keras 3 knows the metrics of an output by their names alone, which results do not have.
            known = [m.name for m in self._each_metric() if m.name not in self.compiled_metrics.prefixed]
            names = [n for n in known if n in numbers] + sorted(n for n in numbers if n not in known)
        values = [numbers[name] for name in names]
        return values[0] if len(values) == 1 else values

    def predict_on_batch(self, x: Tensor):
        """The outputs for one batch as NumPy arrays."""
        calling.one_positional(self, "predict_on_batch")
        outputs = self._step("predict")((nest.map_structure(as_tensor, inputs_of(x)),))
        return nest.map_structure(array_of, outputs)
