"""`train_and_evaluate`: training, with an evaluation after checkpoints and at the end."""

from __future__ import annotations

import collections
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public
from tapeflow.estimator.estimator import Estimator
from tapeflow.estimator.exporters import Exporter
from tapeflow.train.saving_hooks import CheckpointSaverListener

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session


class TrainSpec(collections.namedtuple("TrainSpec", "input_fn max_steps hooks saving_listeners")):
    """What to train on, and up to which step. Raises ValueError or TypeError for what cannot be that."""

    def __new__(
        cls, input_fn: Callable[..., Any], max_steps: int | None = None, hooks: Sequence[Any] | None = None,
        saving_listeners: Sequence[Any] | None = None,
    ):
        _check_function(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(
            cls, input_fn, max_steps, tuple(hooks or ()), tuple(saving_listeners or ())
        )


class EvalSpec(
    collections.namedtuple(
        "EvalSpec", "input_fn steps name hooks exporters start_delay_secs throttle_secs"
    )
):
    """What to evaluate on, and how often.

    Args:
      steps: batches of an evaluation; None: all.
      name: of the evaluation, for its folder.
      exporters: an Exporter or several, of different names.
      start_delay_secs, throttle_secs: how long before the first evaluation, and between two at least.
    """

    def __new__(
        cls, input_fn: Callable[..., Any], steps: int | None = 100, name: str | None = None,
        hooks: Sequence[Any] | None = None, exporters: Sequence[Any] | None = None, start_delay_secs: int = 120,
        throttle_secs: int = 600,
    ):  # fmt: skip
        _check_function(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        if start_delay_secs < 0:
            raise ValueError(f"Must specify start_delay_secs >= 0, given: {start_delay_secs}")
        if throttle_secs < 0:
            raise ValueError(f"Must specify throttle_secs >= 0, given: {throttle_secs}")
        exporters = () if exporters is None else exporters
        exporters = (exporters,) if isinstance(exporters, Exporter) else tuple(exporters)
        for exporter in exporters:
            if not isinstance(exporter, Exporter):
                raise TypeError(
                    f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, given {exporter}."
                )
        names = [exporter.name for exporter in exporters]
        if len(set(names)) != len(names):
            raise ValueError(
                f"`exporters` must have unique names. Such a name cannot be `None`. All exporter names: {names}"
            )
        return super().__new__(
            cls,
            input_fn,
            steps,
            name,
            tuple(hooks or ()),
            exporters,
            start_delay_secs,
            throttle_secs,
        )


def _check_function(input_fn: Callable[..., Any]):
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


@public
def train_and_evaluate(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec):
    """Trains, evaluates after checkpoints that come `throttle_secs` apart and at the end, and exports each time.

    Returns the last (metrics, list of exports). Raises TypeError for arguments of other kinds, and ValueError if the
    estimator writes no checkpoints.

    Args:
      estimator: a `tf.estimator.Estimator`.
      train_spec: a `TrainSpec`: input and number of steps.
      eval_spec: an `EvalSpec`: input, steps and exporters.
    """
    for value, kind, name in (
        (estimator, Estimator, "estimator"), (train_spec, TrainSpec, "train_spec"), (eval_spec, EvalSpec, "eval_spec"),
    ):  # fmt: skip
        if not isinstance(value, kind):
            raise TypeError(f"`{name}` must have type `{kind.__name__}`, given {type(value)}")
    config = estimator.config
    if not (config.save_checkpoints_secs or config.save_checkpoints_steps):
        raise ValueError("train_and_evaluate evaluates checkpoints; RunConfig says to write none.")
    evaluator = _Evaluator(estimator, train_spec.max_steps, eval_spec)
    estimator.train(
        train_spec.input_fn, hooks=train_spec.hooks, max_steps=train_spec.max_steps,
        saving_listeners=[*train_spec.saving_listeners, evaluator],
    )  # fmt: skip
    if evaluator.results is None and estimator.latest_checkpoint():
        evaluator.evaluate(final=True)
    return evaluator.results or (None, [])


class _Evaluator(CheckpointSaverListener):
    """Evaluates when a checkpoint is there, unless the last evaluation was only just."""

    def __init__(self, estimator: Estimator, max_steps: int, spec: EvalSpec):
        self._estimator, self._max_steps, self._spec = estimator, max_steps, spec
        self._last_time, self._first = None, True
        self._ended_with = None  # the step after whose training all was evaluated and exported
        self.results = None

    def after_save(self, session, global_step_value):
        """Evaluates, but for the checkpoint that training begins with."""
        now = time.monotonic()
        if self._first:
            self._first, self._last_time = False, now
            return
        if now - self._last_time >= self._spec.throttle_secs:
            self._last_time = now
            final = self._max_steps is not None and global_step_value >= self._max_steps
            self._ended_with = global_step_value if final else None
            self.evaluate(final)

    def end(self, session: Session, global_step_value: TensorLike):
        """Evaluates what training came to."""
        if self._ended_with != global_step_value:
            self.evaluate(final=True)

    def evaluate(self, final):
        """Evaluates and exports."""
        spec, path = self._spec, self._estimator.latest_checkpoint()
        found = self._estimator.evaluate(
            spec.input_fn, spec.steps, spec.hooks, checkpoint_path=path, name=spec.name
        )
        exports = [
            exporter.export(
                estimator=self._estimator, checkpoint_path=path, eval_result=found, is_the_final_export=final,
                export_path=os.path.join(self._estimator.model_dir, "export", exporter.name),
            )
            for exporter in spec.exporters
        ]  # fmt: skip
        self.results = found, exports
