"""`tf.keras.utils.SidecarEvaluator`: evaluation beside a training, of the checkpoints that the training writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.checkpoint.reading import list_variables
from tapeflow.checkpoint.state import checkpoints_iterator
from tapeflow.core.errors import OpError, UnavailableError
from tapeflow.core.log import get_logger
from tapeflow.core.public import public_methods
from tapeflow.train import Checkpoint

if TYPE_CHECKING:
    from tapeflow.keras.engine.model import Model

# After so many seconds without a new checkpoint the log says so.
_PATIENCE = 30


@public_methods
class SidecarEvaluator:
    """Evaluates a model again and again, each time with the values of the newest checkpoint.

    It runs in a process of its own, beside those that train. Checkpoints hold `model` and `optimizer`
    (`tf.train.CheckpointManager`), or the weights of the model alone, in files named "ckpt-<epoch>".

    Args:
      model: the compiled model, the same as that of the training.
      data: what `model.evaluate` takes.
      checkpoint_dir: the folder of the checkpoints.
      steps: how many batches an evaluation takes; None: all.
      max_evaluations: the number of the checkpoint after which it ends; None: it goes on until it is stopped.
      callbacks: `keras.callbacks.Callback`s for `evaluate`.
    """

    def __init__(
        self, model: Model, data: Any, checkpoint_dir: str, steps: int | None = None,
        max_evaluations: int | None = None, callbacks: Sequence[Any] | None = None,
    ):  # fmt: skip
        self.model: Any = model
        self.data, self.checkpoint_dir = data, checkpoint_dir
        self.steps, self.max_evaluations, self.callbacks = steps, max_evaluations, list(callbacks or [])

    def start(self) -> None:
        """Evaluate each new checkpoint, until the last one.

        Raises:
          UnavailableError: a process that the model's variables are in is gone.
        """
        log = get_logger()
        for path in checkpoints_iterator(self.checkpoint_dir, timeout=_PATIENCE, timeout_fn=self._still_none):
            try:
                self._restore(path)
            except UnavailableError:
                raise
            except OpError as error:  # the training may just be writing it, or have removed it
                log.info(f"SidecarEvaluator could not read the checkpoint {path} and tries again: {error}")
                continue
            log.info(f"Evaluation of the checkpoint {path}")
            found = self.model.evaluate(
                self.data, steps=self.steps, callbacks=self.callbacks, verbose=2, return_dict=True
            )
            log.info("End of evaluation. Metrics: " + " ".join(f"{name}={value}" for name, value in found.items()))
            if self.max_evaluations and self.max_evaluations <= int(path.rpartition("-")[2]):
                return

    def _restore(self, path: str) -> None:
        parts = {name.partition("/")[0] for name, _ in list_variables(path)}
        if "model" not in parts:
            self.model.load_weights(path)
        elif self.model.optimizer is None:
            Checkpoint(model=self.model).restore(path).expect_partial()
        else:
            Checkpoint(model=self.model, optimizer=self.model.optimizer).restore(path).expect_partial()

    def _still_none(self) -> bool:
        get_logger().info(
            f"There was no new checkpoint in {self.checkpoint_dir} for {_PATIENCE} seconds. Trainings write them by "
            "tf.train.CheckpointManager, or keras.callbacks.ModelCheckpoint with save_weights_only."
        )
        return False
