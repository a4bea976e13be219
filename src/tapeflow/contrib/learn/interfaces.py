"""What estimators of `tf.contrib.learn` have to have for an experiment: `Evaluable` and `Trainable`."""

from __future__ import annotations

import abc
from typing import Any


class Evaluable(abc.ABC):
    """What can be evaluated."""

    @property
    @abc.abstractmethod
    def model_dir(self) -> str:
        """The folder of the model."""

    @abc.abstractmethod
    def evaluate(
        self, x: Any = None, y: Any = None, input_fn: Any = None, feed_fn: Any = None, batch_size: int | None = None,
        steps: int | None = None, metrics: Any = None, name: str | None = None, checkpoint_path: str | None = None,
        hooks: Any = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Return metrics; see `Estimator.evaluate`."""


class Trainable(abc.ABC):
    """What can be trained."""

    @abc.abstractmethod
    def fit(
        self, x: Any = None, y: Any = None, input_fn: Any = None, steps: int | None = None,
        batch_size: int | None = None, monitors: Any = None, max_steps: int | None = None,
    ) -> Any:  # fmt: skip
        """Train; see `Estimator.fit`."""
