"""What the config of a model may name computes tensors and does nothing else."""

from __future__ import annotations

import builtins
import dis
import importlib
import importlib.util
import inspect
import itertools
import pathlib
import sys
import types

import pytest

import tapeflow as tf
from tapeflow import _native
from tapeflow.core.deserialization import safe_mode_scope
from tapeflow.core.public import is_tensor_function
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.keras.engine.functional import op_layer


def _table(name):
    """A module of tests/graph."""
    path = pathlib.Path(__file__).parents[1] / "graph" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CALLS = _table("function_calls").CALLS
_table("image_calls")


def _names():
    for path, module in op_layer._namespaces():
        for name in sorted({*dir(module), *getattr(module, "_NAMES", ())}):
            yield f"{path}.{name}" if path else name


def _reachable():
    """Every name that a config may give to an op layer, with its function."""
    found = {}
    with safe_mode_scope(True):
        for name in itertools.chain(_names(), op_layer._OPERATOR_NAMES):
            try:
                found[name] = op_layer._function_of(name)
            except ValueError:
                continue
    return found


REACHABLE = _reachable()
_FILES = ("tapeflow.core.files.file_system", "tapeflow.core.files.paths", "tapeflow.core.files.whole_files")


class _Walk:
    """All that functions may use through all of their calls: rows, builtins, modules of others, names of attributes.

    Each with the path of the calls that led there first. The core of the package, which converts values and keeps the
    context, is taken for granted, but for what it does to files.
    """

    def __init__(self, functions):
        self.rows, self.builtins, self.modules, self.attributes = {}, {}, {}, {}
        self._seen, self._waiting = set(), []
        for function in functions:
            self._value(function, ())
        while self._waiting:
            self._function(*self._waiting.pop())

    def _value(self, value, path):
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        while hasattr(value, "__wrapped__") and not isinstance(value, type):
            value = value.__wrapped__
        if isinstance(value, _native.Op):
            self.rows.setdefault(value, path)
        elif isinstance(value, types.ModuleType):
            if value.__name__.partition(".")[0] != "tapeflow":
                self.modules.setdefault(value.__name__, path)
        elif isinstance(value, types.BuiltinFunctionType):
            if value.__module__ == "builtins":
                self.builtins.setdefault(value.__name__, path)
            elif value.__module__ is not None:
                self.modules.setdefault(value.__module__, path)
        elif isinstance(value, types.FunctionType):
            module = value.__module__ or ""
            if not module.startswith("tapeflow."):
                self.modules.setdefault(module, path)
            elif (not module.startswith("tapeflow.core.") or module.startswith(_FILES)) and value not in self._seen:
                self._seen.add(value)
                self._waiting.append((value, (*path, f"{module}.{value.__qualname__}")))
        elif isinstance(value, type) and value.__module__.startswith("tapeflow.ops"):
            for method in vars(value).values():
                if isinstance(method, types.FunctionType):
                    self._value(method, path)

    def _function(self, function, path):
        for default in function.__defaults__ or ():
            self._value(default, path)
        for cell in function.__closure__ or ():
            self._value(cell.cell_contents, path)
        self._code(function.__code__, function.__globals__, path)

    def _code(self, code, scope, path):
        at = module = (
            None  # what is being read, while it is a global or an attribute of one; what is being imported
        )
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                at = scope.get(step.argval)
                if step.argval not in scope and hasattr(builtins, step.argval):
                    self.builtins.setdefault(step.argval, path)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                self.attributes.setdefault(step.argval, path)
                at = getattr(at, step.argval, None)
            elif step.opname == "IMPORT_NAME":
                self.modules.setdefault(step.argval.partition(".")[0], path)
                at = module = importlib.import_module(step.argval)
            elif step.opname == "IMPORT_FROM":
                at = getattr(module, step.argval, None)
            else:
                at = None
            self._value(at, path)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant, scope, path)


_HARMLESS_MODULES = {
    "tapeflow", "numpy", "math", "_operator", "contextlib", "itertools", "enum", "sys", "string", "functools",
    "builtins",
}  # fmt: skip
_HARMFUL_BUILTINS = {
    "open",
    "exec",
    "eval",
    "compile",
    "__import__",
    "print",
    "input",
    "breakpoint",
    "globals",
    "vars",
}
_HARMFUL_ATTRIBUTES = {
    "open", "save", "savez", "savetxt", "load", "loads", "loadtxt", "genfromtxt", "fromfile", "tofile", "memmap",
    "dump", "dumps", "stdout", "stderr", "environ", "system", "popen", "exit", "effect",
    "assign", "assign_add", "assign_sub", "py_function", "numpy_function",
}  # fmt: skip


def _harm(*functions):
    """What functions may do besides to compute tensors, with the calls that lead there."""
    walk = _Walk(functions)
    rows = {
        row.name: path
        for row, path in walk.rows.items()
        if row.touches
        or (not row.reads_only and "resource" in row.signature)
        or (not row.reads_only and row.stateful and not row.draws)
    }
    modules = {
        m: path for m, path in walk.modules.items() if m.partition(".")[0] not in _HARMLESS_MODULES
    }
    others = {**walk.builtins, **walk.attributes}
    return (
        rows
        | modules
        | {n: path for n, path in others.items() if n in _HARMFUL_BUILTINS | _HARMFUL_ATTRIBUTES}
    )


def test_reachable_functions_use_nothing_with_effects():
    assert len(REACHABLE) > 1000
    assert _harm(*REACHABLE.values()) == {}


def test_the_walk_finds_rows():
    rows = {row.name for row in _Walk([tf.nn.softmax_cross_entropy_with_logits]).rows}
    assert {"SoftmaxCrossEntropyWithLogits", "Reshape"} <= rows


@pytest.mark.parametrize(
    "function",
    [
        tf.io.read_file, tf.io.write_file, tf.io.matching_files, tf.print, tf.compat.v1.Print, tf.timestamp,
        tf.compat.v1.assign, tf.compat.v1.scatter_add, tf.nn.fixed_unigram_candidate_sampler, tf.io.decode_proto,
        tf.numpy_function, tf.py_function, tf.train.load_variable, tf.keras.utils.get_file, tf.saved_model.save,
    ],
    ids=lambda f: f.__qualname__,
)  # fmt: skip
def test_the_walk_finds_effects(function):
    assert _harm(function)


_OF_TENSORS = [c for c in CALLS if is_tensor_function(c[1]) or c[1] in REACHABLE.values()]


def test_reachable_functions_have_no_effects_when_they_run(effects):
    assert len({id(c[1]) for c in _OF_TENSORS}) > 300
    for name, function, args, kwargs in _OF_TENSORS:
        with effects() as found:
            function(*args, **kwargs)
        assert not found, name


def test_reachable_functions_add_nodes_without_effects_to_graphs():
    for name, function, args, kwargs in _OF_TENSORS:
        with tf.Graph().as_default() as graph:
            function(*args, **kwargs)
        touching = [op.type for op in graph.get_operations() if op_defs.touches(op.type)]
        assert not touching, name


def test_functions_of_tensors_are_reachable():
    """All that the tables call, but for what reports on values, and what has no name in a config."""
    reachable = {id(function) for function in REACHABLE.values()}
    called = [f for _, f, _, _ in CALLS if isinstance(f, (_native.PublicFunction, types.FunctionType))]
    names = {op_layer._name_of(f) for f in called if id(f) not in reachable}
    assert names == {None, "compat.v1.check_numerics", "compat.v1.verify_tensor_all_finite", "strings.format"}


def test_tensor_functions_take_no_functions():
    taking = {
        name
        for name, function in REACHABLE.items()
        if set(inspect.signature(function).parameters)
        & {"fn", "func", "function", "body", "cond", "true_fn", "op"}
    }
    assert taking == set()


@pytest.mark.parametrize(
    "name",
    [
        "print", "Print", "compat.v1.Print", "compat.v1.print", "compat.v1.write_file", "compat.v1.read_file",
        "compat.v1.matching_files", "import_graph_def", "compat.v1.import_graph_def", "py_function",
        "numpy_function", "compat.v1.py_func", "map_fn", "vectorized_map", "foldl", "scan", "while_loop",
        "cond", "case", "function", "Assert", "assert_equal", "compat.v1.assert_equal",
        "compat.v1.check_numerics", "timestamp", "compat.v1.assign", "compat.v1.set_random_seed",
        "compat.v1.get_variable", "compat.v1.placeholder", "compat.v1.gradients",
        "compat.v1.get_session_tensor", "nn.fixed_unigram_candidate_sampler", "keras.backend.eval",
        "keras.backend.function", "keras.backend.set_value", "keras.backend.update", "keras.backend.map_fn",
        "keras.backend.print_tensor", "keras.backend.clear_session", "keras.backend.set_floatx",
        "keras.backend.rnn", "keras.activations.deserialize", "keras.activations.get", "keras.activations.find",
        "keras.losses.deserialize", "keras.losses.resolve", "io.write_file", "io.read_file",
        "debugging.enable_dump_debug_info", "summary.scalar", "saved_model.load", "saved_model.save",
        "keras.models.load_model", "keras.utils.get_file", "train.load_variable", "sysconfig.get_lib",
        "load_library", "load_op_library", "os.system", "__import__", "__loader__", "__builtins__",
        "keras.backend.np", "keras.backend.sys", "math.__loader__", "nn.importlib", "nn._importlib", "", ".",
        "..", "Module", "Variable", "TensorArray", "data", "raw_ops", "raw_ops.WriteFile", "compat.v1.train",
        "__class__", "__dict__",
    ],
)  # fmt: skip
def test_a_config_cannot_name(name):
    with (
        safe_mode_scope(True),
        pytest.raises(ValueError, match=r"Unknown function|safe_mode=False"),
    ):
        op_layer._function_of(name)


def test_trusted_configs_may_name_public_functions():
    with safe_mode_scope(False):
        assert op_layer._function_of("print") is tf.print
        for name in ("os.system", "__import__", "Variable", "keras.backend.sys"):
            with pytest.raises(ValueError, match="Unknown function"):
                op_layer._function_of(name)
