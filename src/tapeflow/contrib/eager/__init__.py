"""`tf.contrib.eager`, by custom imported as `tfe`."""

from tapeflow.autodiff.custom_gradient import custom_gradient
from tapeflow.autodiff.functions import (
    gradients_function,
    implicit_gradients,
    implicit_value_and_gradients,
    value_and_gradients_function,
)
from tapeflow.autodiff.tape import GradientTape
from tapeflow.checkpoint.following import AutoTrackable as Checkpointable
from tapeflow.checkpoint.objects import Checkpoint
from tapeflow.contrib.eager import metrics
from tapeflow.contrib.eager.callbacks import (
    ExecutionCallback,
    InfOrNanError,
    add_execution_callback,
    clear_execution_callbacks,
    errstate,
    inf_callback,
    inf_nan_callback,
    nan_callback,
    seterr,
)
from tapeflow.contrib.eager.devices import list_devices, num_gpus
from tapeflow.contrib.eager.evaluator import Evaluator, SparseSoftmaxEvaluator
from tapeflow.contrib.eager.mode import (
    connect_to_remote_host,
    enable_eager_execution,
    enable_remote_eager_execution,
    in_graph_mode,
    run,
    set_server_def,
)
from tapeflow.contrib.eager.network import Network, Sequential
from tapeflow.contrib.eager.network_saving import (
    restore_network_checkpoint,
    save_network_checkpoint,
)
from tapeflow.contrib.eager.saving import (
    Saver,
    get_optimizer_variables,
    restore_variables_on_create,
)
from tapeflow.contrib.eager.testing import (
    run_all_tests_in_graph_and_eager_modes,
    run_test_in_graph_and_eager_modes,
)
from tapeflow.core.context import (
    ASYNC,
    DEVICE_PLACEMENT_EXPLICIT,
    DEVICE_PLACEMENT_SILENT,
    DEVICE_PLACEMENT_SILENT_FOR_INT32,
    DEVICE_PLACEMENT_WARN,
    SYNC,
    async_clear_error,
    async_wait,
    executing_eagerly,
    execution_mode,
    set_execution_mode,
)
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data.iteration.iterating import Iterator
from tapeflow.function.defun import defun
from tapeflow.function.function import function
from tapeflow.ops.control.py_functions import py_function as py_func
from tapeflow.ops.state.variable import Variable
from tapeflow.train.global_step import get_or_create_global_step
from tapeflow.v1.graph_callable import graph_callable
from tapeflow.v1.variable_getting import EagerVariableStore, make_template

enable = enable_eager_execution
in_eager_mode = executing_eagerly
EagerVariable = ResourceVariable = Variable
__all__ = [
    "ExecutionCallback",
    "InfOrNanError",
    "TensorSpec",
    "add_execution_callback",
    "clear_execution_callbacks",
    "connect_to_remote_host",
    "errstate",
    "get_optimizer_variables",
    "inf_callback",
    "inf_nan_callback",
    "nan_callback",
    "restore_network_checkpoint",
    "restore_variables_on_create",
    "run_all_tests_in_graph_and_eager_modes",
    "run_test_in_graph_and_eager_modes",
    "save_network_checkpoint",
    "set_server_def",
    "seterr",
    "ASYNC",
    "Checkpoint",
    "Checkpointable",
    "Saver",
    "DEVICE_PLACEMENT_EXPLICIT",
    "DEVICE_PLACEMENT_SILENT",
    "DEVICE_PLACEMENT_SILENT_FOR_INT32",
    "DEVICE_PLACEMENT_WARN",
    "EagerVariable",
    "EagerVariableStore",
    "Evaluator",
    "GradientTape",
    "Iterator",
    "Network",
    "ResourceVariable",
    "SYNC",
    "Sequential",
    "SparseSoftmaxEvaluator",
    "Variable",
    "async_clear_error",
    "async_wait",
    "custom_gradient",
    "defun",
    "function",
    "graph_callable",
    "make_template",
    "py_func",
    "enable",
    "enable_eager_execution",
    "enable_remote_eager_execution",
    "executing_eagerly",
    "execution_mode",
    "get_or_create_global_step",
    "gradients_function",
    "implicit_gradients",
    "implicit_value_and_gradients",
    "in_eager_mode",
    "in_graph_mode",
    "list_devices",
    "metrics",
    "num_gpus",
    "run",
    "set_execution_mode",
    "value_and_gradients_function",
]
