"""Monitors, which a hook calls before and after each step: `BaseMonitor`, `EveryN` and those made of them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.train import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session
    from tapeflow.train.session_run_hook import SessionRunContext, SessionRunValues

__all__ = [
    "BaseMonitor", "CaptureVariable", "EveryN", "LoggingTrainable", "RunHookAdapterForMonitors", "SummarySaver",
    "get_default_monitors",
]  # fmt: skip

_logger = logging.getLogger("tensorflow")


class BaseMonitor:
    """Methods called at the begin and the end of a training, and around each step; subclasses override some."""

    def __init__(self):
        self._begun = False
        self._current_step = self._current_epoch = self._max_steps = self._estimator = None

    @property
    def run_on_all_workers(self):
        """Whether each worker has it, not the chief alone."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """Set whose training it is. Raises ValueError for None."""
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Begin a training of at most some steps. Raises ValueError for a second one."""
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps, self._begun = max_steps, True

    def end(self, session: Session | None = None) -> None:
        """End the training. Raises ValueError if none has begun."""
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps, self._begun = None, False

    def epoch_begin(self, epoch: int) -> None:
        """Begin a pass over the data. Raises ValueError within another, and for a negative number."""
        if self._current_epoch is not None:
            raise ValueError("epoch_begin called twice without epoch_end.")
        if epoch < 0:
            raise ValueError(f"Invalid epoch {epoch}.")
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        """End a pass over the data. Raises ValueError for another than has begun."""
        if self._current_epoch != epoch:
            raise ValueError(f"epoch_end expected {self._current_epoch} but got {epoch}.")
        self._current_epoch = None

    def step_begin(self, step: int) -> list[Any]:
        """Begin a step; return the tensors, or their names, whose values `step_end` is to get."""
        if step < 0 or (self._max_steps is not None and step > self._max_steps):
            raise ValueError(f"Invalid step {step}.")
        self._current_step = step
        return []

    def step_end(self, step: int, output: Mapping[str, Any]) -> bool:
        """End a step; return whether the training is to stop.

        Args:
          step: the step that has begun.
          output: the values that were asked for, by the names of tensors.

        Raises:
          ValueError: for another step.
        """
        if self._current_step != step:
            raise ValueError(f"step_end expected {self._current_step} but got {step}.")
        self._current_step = None
        return False

    def post_step(self, step: int, session: Session | None) -> None:
        """Do something with the session after a step."""


def value_of(outputs: Mapping[Any, Any], request: Any) -> Any:
    """The value of a tensor or of its name among those of a step."""
    return outputs[request] if request in outputs else outputs[request.name]


class EveryN(BaseMonitor):
    """A monitor with methods for the first steps, each n-th one, and the last.

    Args:
      every_n_steps: n.
      first_n_steps: how many of the first steps.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1):
        super().__init__()
        self._every_n_steps, self._first_n_steps = every_n_steps, first_n_steps
        self._last_successful_step: int | None = None
        self._last_active_step, self._active = 0, False

    def every_n_step_begin(self, step: int) -> list[Any]:
        """See `step_begin`; subclasses override this."""
        return []

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool | None:
        """See `step_end`; subclasses override this."""
        return False

    def every_n_post_step(self, step: int, session: Session | None) -> None:
        """See `post_step`; subclasses override this."""

    def step_begin(self, step):
        super().step_begin(step)
        self._active = (
            step <= self._first_n_steps
            or step >= self._every_n_steps + self._last_active_step
            or step == self._max_steps
        )
        return self.every_n_step_begin(step) if self._active else []

    def step_end(self, step, output):
        super().step_end(step, output)
        return bool(self.every_n_step_end(step, output)) if self._active else False

    def post_step(self, step, session):
        super().post_step(step, session)
        if self._active:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session=None):
        super().end(session)
        if self._last_successful_step not in (None, self._last_active_step):
            self.every_n_post_step(self._last_successful_step, session)


class CaptureVariable(EveryN):
    """Keeps the values of a tensor, in `values` by step.

    Args:
      var_name: the name of the tensor.
      every_n, first_n: see `EveryN`.
    """

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._values: dict[int, Any] = {}

    @property
    def values(self):
        """The values by step."""
        return self._values

    def every_n_step_begin(self, step):
        return [self._var_name]

    def every_n_step_end(self, step, outputs):
        self._values[step] = value_of(outputs, self._var_name)


class LoggingTrainable(EveryN):
    """Logs the values of the variables that are trained.

    Args:
      scope: of which variables; None: all.
      every_n, first_n: see `EveryN`.
    """

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._scope = scope

    def every_n_step_begin(self, step):
        variables = v1.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES, self._scope)
        self._read = {var.name: v1.convert_to_tensor(var) for var in variables}
        return list(self._read.values())

    def every_n_step_end(self, step, outputs):
        said = ", ".join(f"{name} = {value_of(outputs, tensor)}" for name, tensor in self._read.items())
        _logger.info("Logging Trainable: Step %d: %s", step, said)


class SummarySaver(EveryN):
    """Writes summaries.

    Args:
      summary_op: a tensor of serialized summaries; None: that of `scaffold`.
      save_steps: the number of steps from one to the next.
      output_dir: the folder of event files; None: that of the estimator.
      summary_writer: what writes, instead of a folder.
      scaffold: a Scaffold.
    """

    def __init__(
        self, summary_op: Any, save_steps: int = 100, output_dir: str | None = None, summary_writer: Any = None,
        scaffold: Any = None,
    ):  # fmt: skip
        super().__init__(save_steps)
        self._summary_op, self._scaffold, self._writer = summary_op, scaffold, summary_writer
        if summary_writer is None and output_dir:
            self._writer = v1.summary.FileWriter(output_dir)

    def set_estimator(self, estimator):
        super().set_estimator(estimator)
        if self._writer is None:
            self._writer = v1.summary.FileWriter(estimator.model_dir)

    def every_n_step_begin(self, step):
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step, outputs):
        if self._summary_op is not None and self._writer is not None:
            self._writer.add_summary(value_of(outputs, self._summary_op), step)
        return False

    def end(self, session=None):
        super().end(session)
        if self._writer is not None:
            self._writer.flush()


def get_default_monitors(
    loss_op: Any = None, summary_op: Any = None, save_summary_steps: int = 100, output_dir: str | None = None,
    summary_writer: Any = None,
) -> list[Any]:  # fmt: skip
    """Return what logs a loss and what writes summaries.

    Args:
      loss_op, summary_op: tensors, or None.
      save_summary_steps, output_dir, summary_writer: see `SummarySaver`.
    """
    found: list[Any] = []
    if loss_op is not None:
        found.append(v1.train.LoggingTensorHook({"loss": loss_op.name}, every_n_iter=100))
    if summary_op is not None:
        found.append(SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer))
    return found


class RunHookAdapterForMonitors(SessionRunHook):
    """The hook that calls the methods of monitors.

    Args:
      monitors: BaseMonitors.
    """

    def __init__(self, monitors: Sequence[BaseMonitor]):
        self._monitors = list(monitors)

    def begin(self):
        self._last_step: int | None = None
        self._global_step = v1.train.get_global_step()
        for monitor in self._monitors:
            monitor.begin(None)

    def before_run(self, run_context: SessionRunContext):
        if self._last_step is None:
            self._last_step = int(run_context.session.run(self._global_step))
        step, graph = self._last_step + 1, run_context.session.graph
        asked = (request for monitor in self._monitors for request in monitor.step_begin(step))
        fetches = {name: _fetch(graph, name) for name in _names(asked)}
        return SessionRunArgs({"": self._global_step, **fetches})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        outputs, step = dict(run_values.results), (self._last_step or 0) + 1
        counted = int(outputs.pop(""))
        stops = [monitor.step_end(step, outputs) for monitor in self._monitors]
        if any(stops):
            run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(step, run_context.session)
        self._last_step = max(counted, step)

    def end(self, session: Session):
        for monitor in self._monitors:
            monitor.end(session)


def _names(requests: Iterable[Any]) -> list[str]:
    return [request if isinstance(request, str) else request.name for request in requests]


def _fetch(graph: Any, name: str) -> Any:
    return graph.as_graph_element(name)
