"""`RunConfig`: how an estimator runs, and where it writes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tapeflow.core.annotations import PathLike
from tapeflow.core.public import boundaries

_DEFAULT = object()
_REPLACEABLE = {
    "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
    "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
    "train_distribute", "device_fn", "protocol", "eval_distribute", "experimental_distribute",
    "experimental_max_worker_delay_secs", "session_creation_timeout_secs", "checkpoint_save_graph_def",
}  # fmt: skip


class RunConfig:
    """Settings of an estimator on one machine.

    Args:
      model_dir: where checkpoints and summaries go; by default a new temporary folder.
      tf_random_seed: the seed of the graphs.
      save_summary_steps, save_checkpoints_steps, save_checkpoints_secs: how often each is written; checkpoints every
        600 seconds by default.
      keep_checkpoint_max, keep_checkpoint_every_n_hours: which checkpoints stay.
      log_step_count_steps: how often loss and speed are logged.
      train_distribute, eval_distribute: a strategy of one replica; training is on one device.

    Raises ValueError for both kinds of checkpoint intervals, and for values that are not positive.
    """

    task_type, task_id, master, evaluation_master = "worker", 0, "", ""
    is_chief, num_ps_replicas, num_worker_replicas, global_id_in_cluster = True, 0, 1, 0
    cluster_spec = service = None

    def __init__(
        self, model_dir: PathLike | None = None, tf_random_seed: int | None = None, save_summary_steps: int = 100,
        save_checkpoints_steps=_DEFAULT, save_checkpoints_secs=_DEFAULT, session_config=None,
        keep_checkpoint_max: int = 5, keep_checkpoint_every_n_hours: int = 10000, log_step_count_steps: int = 100,
        train_distribute=None, device_fn: Callable[..., Any] | None = None, protocol=None, eval_distribute=None,
        experimental_distribute=None, experimental_max_worker_delay_secs=None,
        session_creation_timeout_secs: int = 7200, checkpoint_save_graph_def: bool = True,
    ):  # fmt: skip
        steps, seconds = save_checkpoints_steps, save_checkpoints_secs
        if steps is _DEFAULT:
            steps, seconds = None, 600 if seconds is _DEFAULT else seconds
        elif seconds is _DEFAULT:
            seconds = None
        if steps is not None and seconds is not None:
            raise ValueError(
                "Can not provide both save_checkpoints_steps and save_checkpoints_secs."
            )
        for name, value in (
            ("save_checkpoints_steps", steps), ("save_checkpoints_secs", seconds),
            ("save_summary_steps", save_summary_steps), ("log_step_count_steps", log_step_count_steps),
        ):  # fmt: skip
            if value is not None and value < (1 if name == "log_step_count_steps" else 0):
                raise ValueError(f"{name} should be >= 0, given: {value}")
        for strategy in (train_distribute, eval_distribute):
            if strategy is not None and strategy.num_replicas_in_sync != 1:
                raise ValueError(
                    f"Estimators run on one device here; {strategy} has {strategy.num_replicas_in_sync} replicas."
                )
        self.model_dir, self.tf_random_seed = model_dir, tf_random_seed
        self.save_summary_steps = save_summary_steps
        self.save_checkpoints_steps, self.save_checkpoints_secs = steps, seconds
        self.session_config = session_config
        self.keep_checkpoint_max = keep_checkpoint_max
        self.keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self.log_step_count_steps = log_step_count_steps
        self.train_distribute, self.eval_distribute = train_distribute, eval_distribute
        self.device_fn, self.protocol = device_fn, protocol
        self.experimental_distribute = experimental_distribute
        self.experimental_max_worker_delay_secs = experimental_max_worker_delay_secs
        self.session_creation_timeout_secs = session_creation_timeout_secs
        self.checkpoint_save_graph_def = checkpoint_save_graph_def

    def replace(self, **kwargs):
        """A copy with other settings. Raises ValueError for unknown names."""
        for name in kwargs:
            if name not in _REPLACEABLE:
                raise ValueError(f"Replacing {name} is not supported.")
        steps, seconds = kwargs.get("save_checkpoints_steps"), kwargs.get("save_checkpoints_secs")
        if steps is not None and seconds is not None:
            raise ValueError(
                "Can not provide both save_checkpoints_steps and save_checkpoints_secs."
            )
        made = copy.copy(self)
        if steps is not None:
            made.save_checkpoints_secs = None
        if seconds is not None:
            made.save_checkpoints_steps = None
        for name, value in kwargs.items():
            setattr(made, name, value)
        return made


boundaries(globals())
