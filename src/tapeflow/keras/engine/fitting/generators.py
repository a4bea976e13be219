"""The older names of `fit`, `evaluate` and `predict`, for generators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.public import public_methods


@public_methods
class GeneratorTraining:
    """The part of Model that trains on generators, as before Keras 2.1."""

    # Of the other parts:
    fit: Any
    evaluate: Any
    predict: Any

    def fit_generator(self, generator, steps_per_epoch=None, epochs: int = 1, **kwargs):
        """Train on a generator; the old name of `fit`.

        Args:
          generator: what gives the batches.
          steps_per_epoch: after how many batches an epoch ends.
          epochs: the number of epochs.
          **kwargs: further arguments of `fit`.

        Returns:
          A `History`.
        """
        return self.fit(generator, steps_per_epoch=steps_per_epoch, epochs=epochs, **kwargs)

    def evaluate_generator(
        self, generator, steps: int | None = None, callbacks: Sequence[Any] | None = None, verbose: int = 0, **kwargs
    ):
        """Evaluate on a generator; the old name of `evaluate`.

        Args:
          generator: what gives the batches.
          steps: the number of batches.
          callbacks: a list of `keras.callbacks.Callback`s.
          verbose: as that of `evaluate`.
          **kwargs: accepted as in Keras 2.

        Returns:
          What `evaluate` returns.
        """
        return self.evaluate(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    def predict_generator(
        self, generator, steps: int | None = None, callbacks: Sequence[Any] | None = None, verbose: int = 0, **kwargs
    ):
        """Predict on a generator; the old name of `predict`.

        Args:
          generator: what gives the batches.
          steps: the number of batches.
          callbacks: a list of `keras.callbacks.Callback`s.
          verbose: as that of `predict`.
          **kwargs: accepted as in Keras 2.

        Returns:
          What `predict` returns.
        """
        return self.predict(generator, steps=steps, callbacks=callbacks, verbose=verbose)
