"""The small functions of TensorFlow's internals that programs use: decorators, contexts, checks."""

from __future__ import annotations

import contextlib
import functools
import itertools
from types import SimpleNamespace
from typing import Any

from tapeflow._native import Variable
from tapeflow.autodiff.custom_gradient import custom_gradient
from tapeflow.core import config
from tapeflow.core import context as _context
from tapeflow.core.dtypes import int32
from tapeflow.core.files.file_system import GFile
from tapeflow.graph.build.collections import get_collection
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape_v1
from tapeflow.ops.control.grouping import control_dependencies, group
from tapeflow.testing import case as test_case

contextmanager = contextlib.contextmanager
_uids = itertools.count(1)


def uid() -> int:
    """A number that no earlier call gave."""
    return next(_uids)


def decorated(*args: Any, **kwargs: Any) -> Any:
    """A decorator, plain or with arguments, that leaves what it decorates as it is."""
    if len(args) == 1 and not kwargs and callable(args[0]):
        return args[0]
    return lambda each: each


def renamed(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> Any:
    """The function under its old name."""
    return func_or_class


def deprecated_argument_lookup(
    new_name: str, new_value: Any, old_name: str, old_value: Any
) -> Any:
    """The one of both values that was given. Raises ValueError for both."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
        return old_value
    return new_value


class HiddenAttribute(property):
    """An attribute that a class does not take over from its base: reading it raises AttributeError."""

    def __init__(self, deprecation_message: str):
        def absent(owner: Any) -> Any:
            raise AttributeError(deprecation_message)

        super().__init__(absent)


def with_gradient_of_its_own(f: Any, args: Any, kwargs: Any) -> Any:
    """The result of a function that returns it with its gradient function."""
    return custom_gradient(f)(*args, **kwargs)


def nothing_to_check(*args: Any, **kwargs: Any) -> None:
    """Accepts anything."""


@contextlib.contextmanager
def nothing(*args: Any, **kwargs: Any) -> Any:
    """A context that changes nothing."""
    yield


@contextlib.contextmanager
def graph_mode() -> Any:
    """A context in which operations build a graph."""

    with _context.graph_scope(get_default_graph()):
        yield


def in_graph_mode(func: Any = None) -> Any:
    """The decorator of a test that runs in a graph of its own."""
    if func is None:
        return in_graph_mode

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        with Graph().as_default():
            return func(*args, **kwargs)

    return run


def eager_main(argv: Any = None) -> None:
    """Runs the tests of a program eagerly."""

    _context.enable_eager_execution()
    test_case.main(argv)


def list_local_devices(session_config: Any = None) -> list[Any]:
    """The devices, each with name, device_type and memory_limit."""
    return [
        SimpleNamespace(
            name=device.name.replace("/job:localhost/replica:0/task:0", ""),
            device_type=device.device_type,
            memory_limit=0,
            physical_device_desc="",
        )
        for device in config.list_logical_devices()
    ]


def never(*args: Any, **kwargs: Any) -> bool:
    """False."""
    return False


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """The tensor, once other operations have run."""
    scope = _context.name_scope_v1(name, "control_dependency", [*dependencies, output_tensor])
    with scope, control_dependencies(dependencies):
        return identity(output_tensor)


def shape_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = None) -> Any:
    """The shape of a tensor."""
    return shape_v1(input, name=name, out_type=out_type or int32)


def graph_of(op_input_list: Any, graph: Any = None) -> Any:
    """The graph of tensors, or the default one."""

    found = (getattr(each, "graph", None) for each in op_input_list)
    return graph or next((each for each in found if each is not None), None) or get_default_graph()


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """The public names of a module."""
    import sys

    return [name for name in dir(sys.modules[module_name]) if not name.startswith("_")]


def read_file_to_string(filename: str, binary_mode: bool = False) -> Any:
    """What a file holds."""
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: str, file_content: Any) -> None:
    """Writes a file."""
    with GFile(filename, "w") as file:
        file.write(file_content)


def is_variable(value: Any) -> bool:
    """Whether it is a variable."""
    return isinstance(value, Variable)


def convert_data_format(data_format: str, ndim: int) -> str:
    """channels_last or channels_first as the letters of a convolution: NHWC. Raises ValueError for another."""
    letters = {3: "W", 4: "HW", 5: "DHW"}.get(ndim)
    if letters is None or data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Invalid data_format: {data_format}, for {ndim} dimensions")
    return f"N{letters}C" if data_format == "channels_last" else f"NC{letters}"


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """A number, or n of them, as a tuple of n. Raises ValueError for another length."""
    if isinstance(value, int):
        return (value,) * n
    found = tuple(value)
    if len(found) != n:
        raise ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value}")
    return found


def no_devices() -> list[Any]:
    """The devices of plug-ins: none."""
    return []


def shared_resources() -> list[Any]:
    """The tables and the like of the graph that are shared between sessions."""

    return get_collection("resources")


def initialize_resources(resource_list: Any, name: str = "init") -> Any:
    """An operation that makes tables and the like."""
    return group(*[each.create for each in resource_list], name=name)
