"""Hooks that stop a training session, wait, feed, or look at values."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import protos
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import is_symbolic_tensor
from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.public import public_methods
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.operation import Operation
from tapeflow.train.global_step import global_step_read
from tapeflow.train.session_run_hook import SessionRunArgs, SessionRunHook
from tapeflow.train.step_timer import NeverTriggerTimer, SecondOrStepTimer

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session
    from tapeflow.train.coordinator import Coordinator
    from tapeflow.train.session_run_hook import SessionRunContext, SessionRunValues

_logger = logging.getLogger("tensorflow")


def step_tensor(hook: str):
    """The tensor of the global step. Raises RuntimeError, which names the hook, if there is none."""
    found = global_step_read()
    if found is None:
        raise RuntimeError(f"Global step should be created to use {hook}.")
    return found


def _element(obj):
    """The tensor or operation of the default graph that `obj` is, or the tensor that it names."""
    graph = get_default_graph()
    if isinstance(obj, Operation) or is_symbolic_tensor(obj):
        if obj.graph is not graph:
            raise ValueError(f"Passed {obj} should be in the current graph {graph}.")
        return obj
    if not isinstance(obj, str) or ":" in obj:
        return graph.as_graph_element(obj)
    found = graph.as_graph_element(f"{obj}:0")
    if len(found.op.outputs) > 1:
        raise ValueError(
            f"Name {obj} is ambiguous, as this `Operation` has multiple outputs (at least 2)."
        )
    return found


@public_methods
class StopAtStepHook(SessionRunHook):
    """Stops after `num_steps` more steps, or at the global step `last_step`. Raises ValueError unless one is given."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self):
        self._step = step_tensor("StopAtStepHook")

    def after_create_session(self, session: Session, coord: Coordinator):
        if self._last_step is None:
            self._last_step = session.run(self._step) + self._num_steps

    def before_run(self, run_context: SessionRunContext):
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        # The value may be that from before the step: only near the end it is worth another look.
        if run_values.results + 1 >= self._last_step:
            if run_context.session.run(self._step) >= self._last_step:
                run_context.request_stop()


class NanLossDuringTrainingError(RuntimeError):
    """The loss became NaN."""

    def __str__(self):
        return "NaN loss during training."


@public_methods
class NanTensorHook(SessionRunHook):
    """Looks for NaN in the loss: raises NanLossDuringTrainingError, or stops without an error."""

    def __init__(self, loss_tensor: Tensor, fail_on_nan_loss: bool = True):
        self._loss, self._fail = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext):
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        if np.isnan(run_values.results):
            if self._fail:
                _logger.error("Model diverged with loss = NaN.")
                raise NanLossDuringTrainingError
            _logger.warning("Model diverged with loss = NaN.")
            run_context.request_stop()


@public_methods
class LoggingTensorHook(SessionRunHook):
    """Logs values every so many runs or seconds, or at the end.

    Args:
      tensors: tensors or names of tensors; a dict gives the labels.
      every_n_iter, every_n_secs: one of them.
      at_end: whether to log at the end; alone: only then.
      formatter: makes the text of a dict of values.

    Raises ValueError for numbers that do not fit.
    """

    def __init__(
        self, tensors: Any, every_n_iter=None, every_n_secs=None, at_end: bool = False,
        formatter: Callable[..., Any] | None = None,
    ):
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if not isinstance(tensors, dict):
            self._labels = tensors
            tensors = {item: item for item in tensors} if _hashable(tensors) else None
        else:
            self._labels = sorted(tensors.keys())
        self._tensors = tensors
        self._formatter, self._at_end = formatter, at_end
        self._timer = (
            NeverTriggerTimer()
            if only_at_end
            else SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)
        )

    def begin(self):
        self._timer.reset()
        self._count = 0
        self._current = [
            _element(tag if self._tensors is None else self._tensors[tag]) for tag in self._labels
        ]

    def before_run(self, run_context: SessionRunContext):
        self._triggered = self._timer.should_trigger_for_step(self._count)
        return SessionRunArgs(self._current) if self._triggered else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        if self._triggered:
            self._log(run_values.results)
        self._count += 1

    def end(self, session: Session):
        if self._at_end:
            self._log(session.run(self._current))

    def _log(self, values):
        values = dict(zip(map(_key, self._labels), values, strict=True))
        seconds, _ = self._timer.update_last_triggered_step(self._count)
        if self._formatter:
            _logger.info(self._formatter({tag: values[_key(tag)] for tag in self._labels}))
            return
        with np.printoptions(suppress=True):
            text = ", ".join(f"{tag} = {values[_key(tag)]}" for tag in self._labels)
        if seconds is not None:
            _logger.info("%s (%.3f sec)", text, seconds)
        else:
            _logger.info("%s", text)


def _key(tag: str):
    """Tensors are told apart by identity, names by what they are."""
    return tag if isinstance(tag, str) else id(tag)


def _hashable(items: Sequence[str]):
    try:
        return hash(tuple(items)) is not None
    except TypeError:
        return False


@public_methods
class GlobalStepWaiterHook(SessionRunHook):
    """Delays the first run until the global step is `wait_until_step`: workers begin one after the other."""

    def __init__(self, wait_until_step):
        self._wait_until = wait_until_step

    def begin(self):
        self._started = False
        self._step = step_tensor("_GlobalStepWaiterHook")

    def before_run(self, run_context):
        if self._started:
            return
        if self._wait_until <= 0:
            self._started = True
            return
        _logger.info("Waiting for global step %d before starting training.", self._wait_until)
        logged = 0
        while True:
            current = run_context.session.run(self._step)
            if current >= self._wait_until:
                self._started = True
                return
            if current - logged > 1000:
                _logger.info(
                    "Waiting for global step %d before starting training. Current step is %d.",
                    self._wait_until,
                    current,
                )
                logged = current
            time.sleep(0.5)


@public_methods
class FinalOpsHook(SessionRunHook):
    """Evaluates tensors at the end of a session: `final_ops_values`."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: dict[Any, Any] | None = None):
        self._ops, self._feeds = final_ops, final_ops_feed_dict
        self._values = None

    @property
    def final_ops_values(self):
        """The values, after the end."""
        return self._values

    def end(self, session: Session):
        if self._ops is None:
            return
        try:
            self._values = session.run(self._ops, feed_dict=self._feeds)
        except (OutOfRangeError, StopIteration):
            _logger.warning(
                "An OutOfRangeError or StopIteration exception is raised by the code in FinalOpsHook. This typically "
                "means the Ops running by the FinalOpsHook have a dependency back to some input source, which should "
                "not happen."
            )
            raise


@public_methods
class FeedFnHook(SessionRunHook):
    """Feeds what a function returns, a dict, at each run."""

    def __init__(self, feed_fn: Callable[..., Any]):
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext):
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


def run_options(trace: bool):
    """RunOptions with or without a trace."""
    made = protos.RunOptions()
    if trace:
        made.trace_level = protos.RunOptions.FULL_TRACE
    return made
