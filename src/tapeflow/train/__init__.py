"""`tf.train`: optimizers, the global step, learning rates that change."""

import importlib
from typing import Any

from tapeflow import protos
from tapeflow.checkpoint.manager import CheckpointManager
from tapeflow.checkpoint.objects import Checkpoint
from tapeflow.checkpoint.reading import (
    CheckpointReader,
    list_variables,
    load_checkpoint,
    load_variable,
)
from tapeflow.checkpoint.reading import new_reader as NewCheckpointReader
from tapeflow.checkpoint.saver import Saver
from tapeflow.checkpoint.state import (
    CheckpointState,
    checkpoint_exists,
    checkpoints_iterator,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)
from tapeflow.train import experimental
from tapeflow.train.adaptive import (
    AdadeltaOptimizer,
    AdagradDAOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    FtrlOptimizer,
    ProximalAdagradOptimizer,
    RMSPropOptimizer,
)
from tapeflow.train.decay import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from tapeflow.train.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from tapeflow.train.gradient_descent import (
    GradientDescentOptimizer,
    MomentumOptimizer,
    ProximalGradientDescentOptimizer,
)
from tapeflow.train.moving_averages import ExponentialMovingAverage
from tapeflow.train.optimizer import Optimizer

# What is loaded when it is first used, and the modules that hold it.
_LAZY_NAMES = {
    "CheckpointOptions": "tapeflow.checkpoint.options",
    "CheckpointView": "tapeflow.checkpoint.views",
    "TrackableView": "tapeflow.checkpoint.views",
    "summary_iterator": "tapeflow.summary.events",
    "Server": "tapeflow.cluster.server",
    "do_quantize_training_on_graphdef": "tapeflow.train.quantize_training",
    "export_meta_graph": "tapeflow.train.meta_graph",
    "import_meta_graph": "tapeflow.train.meta_graph",
    "write_graph": "tapeflow.graph.interchange.writing",
    "SyncReplicasOptimizer": "tapeflow.train.sync_replicas",
    "ClusterSpec": "tapeflow.cluster.spec",
    "replica_device_setter": "tapeflow.train.replica_device",
    "init_from_checkpoint": "tapeflow.checkpoint.warm_starting",
    "warm_start": "tapeflow.checkpoint.warm_starting",
    "VocabInfo": "tapeflow.checkpoint.warm_starting",
    "batch": "tapeflow.train.input",
    "batch_join": "tapeflow.train.input",
    "input_producer": "tapeflow.train.queues.producers",
    "limit_epochs": "tapeflow.train.queues.producers",
    "match_filenames_once": "tapeflow.train.queues.producers",
    "maybe_batch": "tapeflow.train.input",
    "maybe_batch_join": "tapeflow.train.input",
    "maybe_shuffle_batch": "tapeflow.train.input",
    "maybe_shuffle_batch_join": "tapeflow.train.input",
    "range_input_producer": "tapeflow.train.queues.producers",
    "shuffle_batch": "tapeflow.train.input",
    "shuffle_batch_join": "tapeflow.train.input",
    "slice_input_producer": "tapeflow.train.queues.producers",
    "string_input_producer": "tapeflow.train.queues.producers",
    "Supervisor": "tapeflow.train.supervisor",
    "basic_train_loop": "tapeflow.train.supervisor",
    "Coordinator": "tapeflow.train.coordinator",
    "LooperThread": "tapeflow.train.coordinator",
    "QueueRunner": "tapeflow.train.queue_runner",
    "add_queue_runner": "tapeflow.train.queue_runner",
    "start_queue_runners": "tapeflow.train.queue_runner",
    "SessionRunArgs": "tapeflow.train.session_run_hook",
    "SessionRunContext": "tapeflow.train.session_run_hook",
    "SessionRunHook": "tapeflow.train.session_run_hook",
    "SessionRunValues": "tapeflow.train.session_run_hook",
    "SecondOrStepTimer": "tapeflow.train.step_timer",
    "FeedFnHook": "tapeflow.train.hooks",
    "FinalOpsHook": "tapeflow.train.hooks",
    "GlobalStepWaiterHook": "tapeflow.train.hooks",
    "LoggingTensorHook": "tapeflow.train.hooks",
    "NanLossDuringTrainingError": "tapeflow.train.hooks",
    "NanTensorHook": "tapeflow.train.hooks",
    "StopAtStepHook": "tapeflow.train.hooks",
    "CheckpointSaverHook": "tapeflow.train.saving_hooks",
    "CheckpointSaverListener": "tapeflow.train.saving_hooks",
    "ProfilerHook": "tapeflow.train.saving_hooks",
    "StepCounterHook": "tapeflow.train.saving_hooks",
    "SummarySaverHook": "tapeflow.train.saving_hooks",
    "Scaffold": "tapeflow.train.scaffold",
    "SessionManager": "tapeflow.train.session_manager",
    "ChiefSessionCreator": "tapeflow.train.sessions.creators",
    "MonitoredSession": "tapeflow.train.monitored_session",
    "MonitoredTrainingSession": "tapeflow.train.monitored_session",
    "SessionCreator": "tapeflow.train.sessions.creators",
    "SingularMonitoredSession": "tapeflow.train.monitored_session",
    "WorkerSessionCreator": "tapeflow.train.sessions.creators",
}
# Messages that are built when they are first used.
_MESSAGES = {
    "BytesList", "ClusterDef", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList",
    "Int64List", "JobDef", "SaverDef", "SequenceExample", "ServerDef",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LAZY_NAMES:
        value = getattr(importlib.import_module(_LAZY_NAMES[name]), name)
    elif name in _MESSAGES:
        value = getattr(protos, name)
    else:
        raise AttributeError(f"module 'tapeflow.train' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY_NAMES, *_MESSAGES})


__all__ = [
    "AdadeltaOptimizer",
    "AdagradDAOptimizer",
    "AdagradOptimizer",
    "AdamOptimizer",
    "Checkpoint",
    "CheckpointManager",
    "CheckpointReader",
    "CheckpointState",
    "ExponentialMovingAverage",
    "FtrlOptimizer",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "NewCheckpointReader",
    "Optimizer",
    "ProximalAdagradOptimizer",
    "ProximalGradientDescentOptimizer",
    "RMSPropOptimizer",
    "Saver",
    "assert_global_step",
    "checkpoint_exists",
    "checkpoints_iterator",
    "cosine_decay",
    "cosine_decay_restarts",
    "create_global_step",
    "experimental",
    "exponential_decay",
    "generate_checkpoint_state_proto",
    "get_checkpoint_mtimes",
    "get_checkpoint_state",
    "get_global_step",
    "get_or_create_global_step",
    "global_step",
    "inverse_time_decay",
    "latest_checkpoint",
    "linear_cosine_decay",
    "list_variables",
    "load_checkpoint",
    "load_variable",
    "natural_exp_decay",
    "noisy_linear_cosine_decay",
    "piecewise_constant",
    "piecewise_constant_decay",
    "polynomial_decay",
    "remove_checkpoint",
    "update_checkpoint_state",
]
