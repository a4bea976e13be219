"""`tf.__internal__`: what libraries that are built on TensorFlow take from it.

The names are TensorFlow's; what they mean is defined in the layers of the package. Not for programs.
"""

import importlib
from typing import Any

_NAMESPACES = {
    "autograph", "decorator", "dispatch", "distribute", "eager_context", "feature_column", "function", "graph_util",
    "mixed_precision", "monitoring", "nest", "ops", "saved_model", "smart_cond", "test", "tf2", "tracking", "train",
    "types",
}  # fmt: skip
_NAMES = {
    "CompositeTensor": "tapeflow.core.specs.composite_tensor",
    "EagerTensor": "tapeflow._native",
    "FuncGraph": "tapeflow.graph.func_graph",
    "SymbolicTensor": "tapeflow.graph.tensor",
    "create_c_op": "tapeflow.graph.op_defs.library_nodes",
    "execute_fn_for_device": "tapeflow.ops.control.smart_cond",
    "get_enclosing_xla_context": "tapeflow.graph.control_flow.flow",
    "get_name_scope": "tapeflow.core.context:get_current_name_scope",
    "is_tfrt_enabled": "tapeflow.core.config",
    "lift_to_graph": "tapeflow.graph.interchange.lifting",
    "load_context": "tapeflow.saved_model.load_context",
    "record_gradient": "tapeflow.autodiff.recorded",
    "register_call_context_function": "tapeflow.core.tracking.library_hooks",
    "register_clear_session_function": "tapeflow.core.tracking.library_hooks",
    "register_get_session_function": "tapeflow.core.tracking.library_hooks",
    "register_load_model_function": "tapeflow.core.tracking.library_hooks",
}


def __getattr__(name: str) -> Any:
    if name in _NAMESPACES:
        return importlib.import_module(f"tapeflow.__internal__.{name}")
    if name not in _NAMES:
        raise AttributeError(f"module 'tapeflow.__internal__' has no attribute {name!r}")
    module, _, attribute = _NAMES[name].partition(":")
    value = globals()[name] = getattr(importlib.import_module(module), attribute or name)
    return value


def __dir__() -> list[str]:
    return sorted({*_NAMESPACES, *_NAMES})


__all__ = sorted({*_NAMESPACES, *_NAMES})
