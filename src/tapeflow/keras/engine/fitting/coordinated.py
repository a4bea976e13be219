"""Training whose steps the workers of a `ParameterServerStrategy` run, each at its own pace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tapeflow.data.dataset import Dataset
from tapeflow.distribute.coordinator import ClusterCoordinator
from tapeflow.distribute.inputs import InputContext
from tapeflow.function.function import function
from tapeflow.keras.engine.fitting.batches import Batches
from tapeflow.keras.engine.fitting.class_weights import ClassWeights
from tapeflow.keras.engine.fitting.epochs import Epochs
from tapeflow.keras.utils.dataset_creator import DatasetCreator

if TYPE_CHECKING:
    from tapeflow.keras.engine.model import Model


class PerWorkerBatches(Batches):
    """Data of which each worker has its own pass.

    Args:
      model: the model that is trained.
      x: a dataset, or a `DatasetCreator`.
      steps: how many steps an epoch has.
      class_weight: a dict of the weights of classes, or None.

    Raises:
      NotImplementedError: other data.
      ValueError: `steps` is None.
    """

    def __init__(self, model: Model, x: Any, steps: int | None, class_weight: Mapping[int, float] | None):
        if not isinstance(x, (DatasetCreator, Dataset)):
            raise NotImplementedError(
                "Only `tf.keras.utils.experimental.DatasetCreator` or `tf.data.Dataset` is supported as input with "
                "`ParameterServerStrategy` at this time. Please see the `DatasetCreator` class docstring for more "
                "information."
            )
        if steps is None:
            raise ValueError(
                "When using a `tf.keras.utils.experimental.DatasetCreator` or `ParameterServerStrategy`, "
                "`steps_per_epoch` must be provided in `Model.fit`."
            )
        super().__init__(lambda: iter(()))
        self._model, self._x, self._class_weight = model, x, class_weight

    def epochs(self, steps: int, many: int) -> CoordinatedEpochs:
        """The epochs of a training.

        Args:
          steps: how many steps each has.
          many: how many of these are one function for a worker.
        """
        coordinator = coordinator_of(self._model)
        x = self._x
        make = (lambda: x(InputContext())) if isinstance(x, DatasetCreator) else x
        iterator = iter(coordinator.create_per_worker_dataset(make))
        return CoordinatedEpochs(coordinator, self._function(many), iterator, steps, many)

    def _function(self, many: int) -> Callable[[Any], Any]:
        model = self._model
        weigh = None if self._class_weight is None else ClassWeights(self._class_weight)

        def step(iterator: Any) -> Any:
            for _ in range(many):
                data = next(iterator)
                logs = model.train_step(data if weigh is None else weigh(data))
            return logs

        return function(step)


def coordinator_of(model: Model) -> ClusterCoordinator:
    """The coordinator of a model's strategy, one for all trainings of the model."""
    kept = model.__dict__
    if kept.get("_coordinator") is None:
        kept["_coordinator"] = ClusterCoordinator(model.distribute_strategy)
    made: ClusterCoordinator = kept["_coordinator"]
    return made


class CoordinatedEpochs(Epochs):
    """Epochs of so many steps, which are scheduled at once and waited for at the end of each epoch."""

    def __init__(
        self, coordinator: ClusterCoordinator, step: Callable[[Any], Any], iterator: Any, steps: int, many: int
    ):  # fmt: skip
        self._coordinator, self._step, self._iterator = coordinator, step, iterator
        self._steps, self._many = steps, many
        self.exhausted, self.length, self.last = False, steps, 0
        self._result: Any = None

    def epoch(self) -> Iterator[tuple[int, Any]]:
        """(step, iterator) pairs, for `call`."""
        assert self._steps is not None
        for step in range(0, self._steps, self._many):
            self.last = min(step + self._many, self._steps) - 1
            yield step, self

    def call(self, function: Callable[..., Any], iterator: Any) -> dict[str, Any]:
        """Schedule the next step; its logs are there at the end of the epoch."""
        self._result = self._coordinator.schedule(self._step, args=(self._iterator,))
        return {}

    def logs(self, logs: Any) -> Any:
        """The logs of the last step, once all are done."""
        self._coordinator.join()
        return self._result.get()
