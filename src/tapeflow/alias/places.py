"""Where the modules are that programs import from below TensorFlow's public names: `tensorflow.python.framework.ops`
and the like. Their public names are found by internals.txt, and the rest in the rooms that have them here.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

# Names that are in no public namespace, as `module:attribute` of tapeflow.
_OWN = {
    "python.tf2": {"enabled": "compat.v1.modes:resource_variables_enabled"},
    "python.framework.func_graph": {"FuncGraph": "graph.func_graph:FuncGraph"},
    "python.lib.io.file_io": {
        "": "gfile",
        "FileIO": "core.file_system:GFile",
        "copy": "core.file_system:copy",
        "create_dir": "core.file_system:mkdir",
        "delete_file": "core.file_system:remove",
        "delete_recursively": "core.file_system:rmtree",
        "file_exists": "core.file_system:exists",
        "get_matching_files": "core.file_system:glob",
        "is_directory": "core.file_system:isdir",
        "list_directory": "core.file_system:listdir",
        "read_file_to_string": "alias.stand_ins:read_file_to_string",
        "recursive_create_dir": "core.file_system:makedirs",
        "rename": "core.file_system:rename",
        "stat": "core.file_system:stat",
        "walk": "core.file_system:walk",
        "write_string_to_file": "alias.stand_ins:write_string_to_file",
    },
    "python.ops.array_ops": {"shape_internal": "alias.stand_ins:shape_internal"},
    "python.ops.metrics": {"": "compat.v1.metrics"},
    "python.ops.metrics_impl": {
        "_remove_squeezable_dimensions": "compat.v1.metrics.weighting:fitted",
        "metric_variable": "compat.v1.metrics.streaming:metric_variable",
    },
    "python.ops.confusion_matrix": {
        "remove_squeezable_dimensions": "compat.v1.metrics.weighting:squeezed"
    },
    "python.ops.control_flow_ops": {"with_dependencies": "alias.stand_ins:with_dependencies"},
    "python.ops.variables": {"PartitionedVariable": "compat.v1.partitioned:PartitionedVariable"},
    "python.ops.lookup_ops": {
        "index_table_from_file": "contrib.lookup:index_table_from_file",
        "index_table_from_tensor": "contrib.lookup:index_table_from_tensor",
        "index_to_string_table_from_file": "contrib.lookup:index_to_string_table_from_file",
        "index_to_string_table_from_tensor": "contrib.lookup:index_to_string_table_from_tensor",
    },
    "python.ops.weights_broadcast_ops": {
        "assert_broadcastable": "compat.v1.metrics.weighting:assert_broadcastable",
        "broadcast_weights": "compat.v1.metrics.weighting:broadcast_weights",
    },
    "python.training.moving_averages": {
        "assign_moving_average": "train.moving_averages:assign_moving_average",
        "weighted_moving_average": "train.moving_averages:weighted_moving_average",
    },
    "python.client.device_lib": {"list_local_devices": "alias.stand_ins:list_local_devices"},
    "python.client.timeline": {"Timeline": "graph.timeline:Timeline"},
    "python.data.util.nest": {"flatten": "core.nest:flatten", "map_structure": "core.nest:map_structure"},
    "python.eager.backprop": {
        "gradients_function": "autodiff.functions:gradients_function",
        "implicit_grad": "autodiff.functions:implicit_gradients",
        "implicit_val_and_grad": "autodiff.functions:implicit_value_and_gradients",
        "make_vjp": "autodiff.functions:make_vjp",
        "val_and_grad_function": "autodiff.functions:value_and_gradients_function",
    },
    "python.eager.context": {
        "ASYNC": "core.context:ASYNC",
        "SYNC": "core.context:SYNC",
        "async_wait": "core.context:async_wait",
        "context": "alias.stand_ins:context",
        "device": "core.context:device_v1",
        "eager_mode": "core.context:eager_mode",
        "execution_mode": "core.context:execution_mode",
        "graph_mode": "alias.stand_ins:graph_mode",
        "in_eager_mode": "core.context:executing_eagerly",
        "num_gpus": "core.device:num_gpus",
    },
    "python.eager.def_function": {"function": "function.function:function"},
    "python.eager.function": {"defun": "function.defun:defun"},
    "python.eager.tape": {"stop_recording": "core.context:init_scope"},
    "python.eager.test": {"TestCase": "test_case:TestCase", "main": "alias.stand_ins:eager_main"},
    "python.framework.errors_impl": {},
    "python.framework.ops": {
        "EagerTensor": "_native:Tensor",
        "enable_eager_execution": "core.context:enable_eager_execution",
        "executing_eagerly_outside_functions": "compat.v1.modes:executing_eagerly_outside_functions",
        "get_name_scope": "core.context:current_name_scope",
        "internal_convert_to_tensor": "core.convert:convert_to_tensor_v1",
        "_get_graph_from_inputs": "alias.stand_ins:graph_of",
        "reset_default_graph": "graph.graph:reset_default_graph",
        "uid": "alias.stand_ins:uid",
    },
    "python.framework.random_seed": {"DEFAULT_GRAPH_SEED": "alias.stand_ins:DEFAULT_GRAPH_SEED"},
    "python.framework.smart_cond": {
        "smart_cond": "alias.stand_ins:smart_cond",
        "smart_constant_value": "ops.static:get_static_value",
    },
    "python.framework.tensor_util": {
        "MakeNdarray": "core.tensor_proto:make_ndarray",
        "constant_value": "ops.static:get_static_value",
        "is_tensor": "core.convert:is_tensor",
        "is_tf_type": "core.convert:is_tensor",
    },
    "python.framework.test_util": {
        "TensorFlowTestCase": "test_case:TestCase",
        "deprecated_graph_mode_only": "alias.stand_ins:in_graph_mode",
        "is_gpu_available": "core.device:is_gpu_available",
        "run_all_in_graph_and_eager_modes": "contrib.eager.testing:run_all_tests_in_graph_and_eager_modes",
        "run_deprecated_v1": "alias.stand_ins:in_graph_mode",
        "run_in_graph_and_eager_modes": "contrib.eager.testing:run_test_in_graph_and_eager_modes",
        "run_v1_only": "alias.stand_ins:decorated",
        "use_gpu": "alias.stand_ins:nothing",
        "force_gpu": "alias.stand_ins:nothing",
    },
    "python.layers.convolutional": {
        "Convolution1D": "layers:Conv1D",
        "Convolution2D": "layers:Conv2D",
        "Convolution2DTranspose": "layers:Conv2DTranspose",
        "Convolution3D": "layers:Conv3D",
        "Convolution3DTranspose": "layers:Conv3DTranspose",
        "SeparableConvolution2D": "layers:SeparableConv2D",
    },
    "python.layers.base": {"Layer": "layers.classes:Layer", "InputSpec": "keras.engine.input_spec:InputSpec"},
    "python.layers.utils": {
        "constant_value": "ops.static:get_static_value",
        "convert_data_format": "alias.stand_ins:convert_data_format",
        "normalize_tuple": "alias.stand_ins:normalize_tuple",
        "smart_cond": "alias.stand_ins:smart_cond",
    },
    "python.ops.control_flow_util": {
        "GraphOrParentsInXlaContext": "alias.stand_ins:never",
        "smart_cond": "alias.stand_ins:smart_cond",
    },
    "python.ops.resource_variable_ops": {
        "BaseResourceVariable": "_native:Variable",
        "ResourceVariable": "ops.variable:Variable",
        "is_resource_variable": "alias.stand_ins:is_variable",
    },
    "python.ops.rnn_cell_impl": {"assert_like_rnncell": "alias.stand_ins:nothing_to_check"},
    "python.ops.summary_ops_v2": {"": "contrib.summary"},
    "python.ops.variable_scope": {
        "_VariableStore": "compat.v1.variable_getting:EagerVariableStore",
        "variable": "ops.variable:VariableV1",
    },
    "python.platform.googletest": {"": "test"},
    "python.platform.test": {"": "test"},
    "python.platform.tf_logging": {"": "compat.v1.logging"},
    "python.platform.flags": {"": "compat.v1.flags"},
    "python.platform.gfile": {"": "compat.v1.gfile"},
    "python.platform.resource_loader": {"": "compat.v1.resource_loader"},
    "python.platform.sysconfig": {"": "sysconfig"},
    "python.pywrap_tensorflow": {"NewCheckpointReader": "train:NewCheckpointReader"},
    "python.summary.summary_iterator": {"summary_iterator": "train:summary_iterator"},
    "python.training.evaluation": {
        "_StopAfterNEvalsHook": "contrib.training:StopAfterNEvalsHook",
        "_evaluate_once": "contrib.training:evaluate_once",
        "_get_or_create_eval_step": "contrib.training:get_or_create_eval_step",
    },
    "python.training.training_util": {"get_global_step": "train.global_step:get_global_step"},
    "python.training.tracking.base": {"Trackable": "train.trackable:AutoTrackable"},
    "python.training.tracking.data_structures": {
        "List": "contrib.checkpoint:List",
        "Mapping": "contrib.checkpoint:Mapping",
        "NoDependency": "contrib.checkpoint:NoDependency",
    },
    "python.training.tracking.tracking": {"AutoTrackable": "train.trackable:AutoTrackable"},
    "python.util.compat": {"": "compat"},
    "python.util.deprecation": {
        "deprecated": "alias.stand_ins:decorated",
        "deprecated_alias": "alias.stand_ins:renamed",
        "deprecated_arg_values": "alias.stand_ins:decorated",
        "deprecated_args": "alias.stand_ins:decorated",
        "deprecated_argument_lookup": "alias.stand_ins:deprecated_argument_lookup",
    },
    "python.util.nest": {"": "nest", "flatten_dict_items": "core.nest:flatten_dict_items"},
    "python.util.object_identity": {
        "ObjectIdentityDictionary": "alias.stand_ins:ObjectIdentityDictionary",
        "ObjectIdentitySet": "alias.stand_ins:ObjectIdentitySet",
    },
    "python.util.tf_contextlib": {"contextmanager": "alias.stand_ins:contextmanager"},
    "python.util.tf_decorator": {
        "make_decorator": "alias.stand_ins:make_decorator",
        "unwrap": "alias.stand_ins:unwrap",
    },
    "python.util.tf_export": {
        "estimator_export": "alias.stand_ins:decorated",
        "get_canonical_name_for_symbol": "alias.stand_ins:name_of",
        "keras_export": "alias.stand_ins:decorated",
        "tf_export": "alias.stand_ins:decorated",
    },
    "python.util.tf_inspect": {"": "alias.stand_ins"},
    "python.util.all_util": {
        "make_all": "alias.stand_ins:make_all",
        "remove_undocumented": "alias.stand_ins:nothing_to_check",
    },
}  # fmt: skip
# Modules of names that are spread over others.
_ROOMS = {
    "python.data": ("compat.v1.data", "data", "data.experimental"),
    "python.framework": ("compat.v1", "compat.v1.errors", "dtypes", "protos"),
    "python.keras": ("keras",),
    "python.ops.distributions": ("compat.v1.distributions", "compat.v1.distributions.softplus"),
    "python.ops.linalg": ("linalg", "compat.v1.linalg"),
    "python.ops.losses": ("compat.v1.losses",),
    "python.ops": (
        "compat.v1", "compat.v1.math", "compat.v1.nn", "nn", "compat.v1.linalg", "compat.v1.random",
        "compat.v1.initializers", "compat.v1.image", "compat.v1.io", "compat.v1.strings", "compat.v1.rnn_cell",
        "lookup", "math",
    ),
    "python.saved_model": ("compat.v1.saved_model", "saved_model"),
    "python.summary": ("compat.v1.summary",),
    "python.training": ("train", "compat.v1.train"),
    "python.layers": ("layers",),
    "python": ("compat.v1",),
}  # fmt: skip
# Modules that came after 2.0 or went before it.
_NAMED = (
    "python.ops.gradients",
    "python.ops.standard_ops",
    "python.platform.googletest",
    "python.framework.smart_cond",
    "python.trackable.base",
    "python.trackable.data_structures",
    "python.trackable.autotrackable",
    "python.checkpoint.checkpoint",
    "python.keras.utils.tf_utils",
    "python.keras.utils.generic_utils",
    "python.keras.engine.training",
    "python.keras.engine.sequential",
    "python.pywrap_tensorflow",
    "python.pywrap_tfe",
)
_PROTOS = ("core.framework", "core.protobuf", "core.example", "core.util")


class Behind:
    """The names of one module of tapeflow."""

    def __init__(self, real: ModuleType):
        self.real = real
        self.doc = real.__doc__
        self.file = getattr(real, "__file__", None)

    def get(self, name: str) -> Any:
        if name == "v2" and self.real.__name__ == "tapeflow.compat":
            return importlib.import_module("tapeflow")
        return getattr(self.real, name)

    def public_names(self) -> list[str]:
        names = getattr(self.real, "__all__", ())
        return sorted({*names, *(name for name in dir(self.real) if not name.startswith("_"))})


class Internal:
    """A module of TensorFlow's internals: its names come from several places of tapeflow."""

    file = None

    def __init__(self, path: str):
        self.path, self.doc = path, f"The names of tensorflow.{path} that tapeflow has."

    def get(self, name: str) -> Any:
        own = _OWN.get(self.path, {})
        if name in own:
            return _attribute(own[name])
        table = _internals()
        public = table.get(self.path, {}).get(name) or table.get(f"{self.path}_impl", {}).get(name)
        if public is not None:
            candidates = [public]
            if public.startswith("v2:") and public.rpartition(".")[2].removeprefix("v2:") == name:
                candidates.insert(0, public[3:])  # what the module had in 1.x takes more arguments
            for candidate in candidates:
                with contextlib.suppress(AttributeError):
                    return _public(candidate)
            # It may have another public name still.
        below = f"{self.path}.{name}"
        if _is_internal(below):
            return importlib.import_module(f"tensorflow.{below}")
        rooms = [own[""]] if "" in own else []
        for prefix, more in _ROOMS.items():
            if self.path == prefix or self.path.startswith(prefix + "."):
                rooms += more
        if self.path.startswith("python.keras"):
            rooms.insert(0, self.path.removeprefix("python."))
        for room in rooms:
            try:
                return getattr(importlib.import_module(f"tapeflow.{room}"), name)
            except (ImportError, AttributeError):
                continue
        raise AttributeError(name)

    def public_names(self) -> list[str]:
        return sorted({*_OWN.get(self.path, ()), *_internals().get(self.path, ())} - {""})


class Messages:
    """A module of protocol buffers: `tensorflow.core.framework.graph_pb2` and the like."""

    file = None
    doc = "TensorFlow's messages."

    def get(self, name: str) -> Any:
        return getattr(importlib.import_module("tapeflow.protos"), name)

    def public_names(self) -> list[str]:
        return dir(importlib.import_module("tapeflow.protos"))


class Folder:
    """A package that only holds others."""

    file = None
    doc = None

    def get(self, name: str) -> Any:
        raise AttributeError(name)

    def public_names(self) -> list[str]:
        return []


def find(path: str) -> Any:
    """What is behind `tensorflow.<path>`, where that is no public name of the module above; else None."""
    if path == "compat.v2":
        return Behind(importlib.import_module("tapeflow"))
    if path == "contrib":
        return Behind(importlib.import_module("tapeflow.contrib"))
    if path.startswith("contrib.") and ".python" in path:
        return _contrib(path)
    if path.endswith("_pb2") and path.startswith(_PROTOS):
        return Messages()
    if path in ("core", "core.framework", "core.protobuf", "core.example", "core.util") or path in (
        "examples", "examples.tutorials", "examples.tutorials.mnist",
    ):  # fmt: skip
        return Folder()
    if path == "examples.tutorials.mnist.input_data":
        return Behind(importlib.import_module("tapeflow.alias.mnist_input"))
    if _is_internal(path):
        return Internal(path)
    if path.startswith("python.keras."):
        try:
            return Behind(importlib.import_module(f"tapeflow.{path.removeprefix('python.')}"))
        except ImportError:
            return None
    return None


def _contrib(path: str) -> Any:
    """The modules inside one of contrib's: their names are those of the public one."""
    public = path.partition(".python")[0]
    try:
        return Behind(importlib.import_module(f"tapeflow.{public}"))
    except ImportError:
        return None


def _attribute(place: str) -> Any:
    module, _, name = place.partition(":")
    if module == "alias.stand_ins" and not hasattr(importlib.import_module("tapeflow.alias.stand_ins"), name):
        return getattr(inspect, name)
    return getattr(importlib.import_module(f"tapeflow.{module}"), name)


def _public(name: str) -> Any:
    """A public name: of 2.x after `v2:`, else of 1.x."""
    root = "tapeflow.compat.v1"
    if name.startswith("v2:"):
        root, name = "tapeflow", name[3:]
    found: Any = importlib.import_module(root)
    for part in name.split("."):
        found = getattr(found, part)
    return found


@functools.cache
def _text() -> list[str]:
    return (Path(__file__).parent / "internals.txt").read_text().splitlines()


@functools.cache
def _internals() -> dict[str, dict[str, str]]:
    """internals.txt: {module: {name: public name}}."""
    found = {}
    for line in _text():
        if not line.startswith(("#", "+")):
            module, *words = line.split()
            pairs = (word.partition("=") for word in words)
            module = "python" if module == "python" else f"python.{module}"
            found[module] = {name: public or name for name, _, public in pairs}
    return found


@functools.cache
def _modules() -> set[str]:
    """All modules of internals, and the packages that hold them."""
    found = {"python"}
    for line in _text():
        if line.startswith("+"):
            package, *modules = line[1:].split()
            prefix = "python" if package == "." else f"python.{package}"
            found.update(f"{prefix}.{module}" for module in modules)
            parts = prefix.split(".")
            found.update(".".join(parts[:n]) for n in range(1, len(parts) + 1))
    for path in [*_internals(), *_NAMED, *_OWN]:
        parts = path.split(".")
        found.update(".".join(parts[:n]) for n in range(1, len(parts) + 1))
    return found


def _is_internal(path: str) -> bool:
    return path.startswith("python") and path in _modules()
