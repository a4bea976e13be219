"""Where a thread is: its device, its name scope, the graphs it builds; and the modes of the process.

`device` and `name_scope` are the context managers that programs use. What the native core must know on
every call (is the device not the host, is a graph being built) is announced to the callables in
`on_device_change` and `on_graph_change`, in the thread that it concerns.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import device as placement
from tapeflow.core.public import boundary

# Called with the index of the device that operations of this thread now run on, 0 for the host.
on_device_change: list[Callable[[int], Any]] = []
# Called with whether `==` of tensors now compares elements.
on_tensor_equality_change: list[Callable[[bool], None]] = []
# Called with whether functions now run as plain Python.
on_functions_eager_change: list[Callable[[bool], None]] = []
# Makes the context manager under which no tape of this thread records; set by the `autodiff` package.
pause_recording: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext


def _no_graph() -> None:
    return None


def _no_seed() -> int | None:
    return None


# The global seed of eager execution; set by the `ops` package.
eager_seed: Callable[[], int | None] = _no_seed


def register_eager_seed(seed: Callable[[], int | None]) -> None:
    """Say what the global seed of eager execution is."""
    global eager_seed
    eager_seed = seed


# The graph of a process that is not eager, while no other is entered; set by the `graph` package.
default_graph: Callable[[], Any] = _no_graph


def register_default_graph(graph: Callable[[], Any]) -> None:
    """Say what the graph of a process that is not eager is."""
    global default_graph
    default_graph = graph


SYNC = 0
ASYNC = 1

DEVICE_PLACEMENT_EXPLICIT = 0
DEVICE_PLACEMENT_WARN = 1
DEVICE_PLACEMENT_SILENT = 2
DEVICE_PLACEMENT_SILENT_FOR_INT32 = 3

_eager_by_default = True
_tensor_equality = True
_functions_run_eagerly = False
_execution_mode = SYNC
_device_policy = DEVICE_PLACEMENT_SILENT
_enabled_with: tuple[Any, Any, Any] | None = None


class _ThreadState(threading.local):
    """What each thread has of its own. Its first lines are read on every use: keep it flat."""

    def __init__(self) -> None:
        self.graphs: tuple[Any, ...] = ()
        self.entry: Any = None  # of the innermost `graph_scope`
        self.name_scope = ""
        self.device_name = ""
        self.device_index = 0


_state = _ThreadState()


def thread_state() -> _ThreadState:
    """Return what the calling thread has of its own: its graphs, scope of names, and device."""
    return _state


# Eager or graph.


@api("executing_eagerly")
def executing_eagerly() -> bool:
    """Whether operations run at once; False while a graph is built."""
    if _state.graphs:
        return _state.graphs[-1] is None
    return _eager_by_default


def eager_by_default() -> bool:
    """Whether operations run at once where no graph is entered: the mode of the process."""
    return _eager_by_default


@api(v1="enable_eager_execution")
def enable_eager_execution(
    config: Any = None, device_policy: int | None = None, execution_mode: int | None = None
) -> None:
    """Run operations at once, in the whole process, from now on.

    Args:
      config: a `ConfigProto`, or None.
      device_policy: one of the `DEVICE_PLACEMENT_` constants, or None for the default.
      execution_mode: `SYNC` or `ASYNC`; operations finish before they return with either.

    Raises TypeError or ValueError for a wrong argument, and ValueError if a graph is being built or
    eager execution was enabled with other arguments.
    """
    global _eager_by_default, _enabled_with
    if config is not None and not hasattr(config, "gpu_options"):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    if device_policy not in (None, *range(4)):
        raise ValueError(
            "device_policy must be one of None, DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, "
            f"DEVICE_PLACEMENT_SILENT, DEVICE_PLACEMENT_SILENT_FOR_INT32, but got {device_policy!r}"
        )
    if execution_mode not in (None, SYNC, ASYNC):
        raise ValueError(
            f"execution_mode must be one of None, SYNC, ASYNC, but got {execution_mode!r}"
        )
    if _state.graphs:
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    options = (config, device_policy, execution_mode)
    if _eager_by_default and _enabled_with not in (None, options):
        raise ValueError(
            "Trying to change the options of an active eager execution. Enabled with config, "
            f"device_policy, execution_mode = {_enabled_with}, now asked for {options}."
        )
    _enabled_with = options
    if device_policy is not None:
        set_device_policy(device_policy)
    if execution_mode is not None:
        set_execution_mode(execution_mode)
    _eager_by_default = True
    tell_graph()


def disable_eager_execution() -> None:
    """Let operations build graphs, in the whole process, as 1.x does. To be called at the start."""
    global _eager_by_default, _enabled_with
    _eager_by_default = False
    _enabled_with = None
    tell_graph()


def tell_graph() -> None:
    _native.set_graph_scope(not executing_eagerly())


def current_graph() -> Any:
    """The graph that operations of this thread go to; None when they run at once."""
    if _state.graphs:
        return _state.graphs[-1]
    return None if _eager_by_default else default_graph()


def runs_at_once() -> bool:
    """Whether operations run at once, in no block of a graph and no name scope."""
    return not _state.graphs and _eager_by_default and not _state.name_scope


def innermost_graph() -> Any:
    """The graph of the innermost block of one in this thread, also while `eager_mode` is inside of it."""
    return next((graph for graph in reversed(_state.graphs) if graph is not None), None)


def inside_graph() -> bool:
    """Whether this thread is in the block of a graph."""
    return any(graph is not None for graph in _state.graphs)


def eager_outside_functions() -> bool:
    """Whether operations run at once, or the function being traced was called where they do: not in graphs of 1.x."""
    graph = current_graph()
    while graph is not None and graph.building_function:
        graph = graph.enclosing_graph
    return graph is None


def compares_elements() -> bool:
    """Whether `==` of tensors and variables compares elements here; it compares identity in graphs of 1.x."""
    return _tensor_equality and eager_outside_functions()


class graph_scope(_native.GraphScope, contextlib.ContextDecorator):
    """Build `graph` in this thread; with None, run operations at once. Name scopes start anew."""

    def __init__(self, graph: Any):
        super().__init__(_state, graph)


class eager_mode(graph_scope):
    """Run operations at once, even while a graph is built."""

    def __init__(self) -> None:
        super().__init__(None)


@api("init_scope")
@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Leave the functions that are being traced, to create what must outlive them.

    Tapes do not record meanwhile. A graph that is no function's (`building_function` is false) is not
    left. Names keep the scope they have.
    """
    outer = _state.graphs
    while outer and getattr(outer[-1], "building_function", False):
        outer = outer[:-1]
    graph = outer[-1] if outer else None if _eager_by_default else default_graph()
    inner = innermost_graph()
    scope = current_name_scope()
    names = scope if graph is None else _state.name_scope
    with _native.GraphScope(_state, graph, outer, names, graph is not None), pause_recording():
        if graph is None or not hasattr(graph, "init_scope"):
            yield
        else:
            with graph.init_scope(scope, None if inner is graph else inner):
                yield


# Names.


@api(v2="name_scope")
class name_scope:
    """A context manager that prefixes the names of what is created in it: `with tf.name_scope("a")`.

    Eagerly, names are not made unique. A name that ends with "/" starts from the root, and "" is the
    root. Enters as the scope's whole name, such as "a/b/".

    Raises ValueError if `name` is no string.
    """

    __slots__ = ("_name", "_exits")

    def __init__(self, name: str):
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name: str | None = name
        self._exits: list[Callable[..., Any]] = []

    @property
    def name(self) -> str | None:
        return self._name

    def __enter__(self) -> str:
        graph = current_graph()
        if graph is not None:
            scope = graph.name_scope(self._name)
            entered = scope.__enter__()
            self._exits.append(scope.__exit__)
            return entered
        state = _state
        saved = state.name_scope
        if not self._name:
            state.name_scope = ""
        elif self._name.endswith("/"):
            state.name_scope = self._name
        else:
            state.name_scope = f"{saved}{self._name}/"

        def leave(*_exception: Any) -> None:
            state.name_scope = saved

        self._exits.append(leave)
        return state.name_scope

    def __exit__(self, *exception: Any) -> None:
        self._exits.pop()(*exception)


@api(v1="name_scope")
class name_scope_v1(name_scope):
    """`name_scope` of 1.x.

    Args:
      name: the name, or None for `default_name`.
      default_name: what functions that make operations give as their name.
      values: the tensors that such a function was given: the scope is one of their graph.

    Raises ValueError if a name is no string or, in a graph, if both are None but `values` are given; and for values
    of different graphs.
    """

    __slots__ = ("_graph",)

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None):
        chosen = default_name if name is None else name
        if not isinstance(default_name, (str, type(None))):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to pass this "
                "into the `values` kwarg."
            )
        if not isinstance(chosen, (str, type(None))):
            raise ValueError("name for name_scope must be a string.")
        if chosen is None and values is not None and not executing_eagerly():
            raise ValueError(
                "At least one of name (None) and default_name (None) must be provided."
            )
        self._name = chosen
        self._exits = []
        self._graph = graph_of_values(values) if values else None

    def __enter__(self) -> str:
        if self._graph is None or self._graph is current_graph():
            return super().__enter__()
        scope = graph_scope(self._graph)
        scope.__enter__()
        entered = super().__enter__()
        leave_name = self._exits.pop()

        def leave(*exception: Any) -> None:
            leave_name(*exception)
            scope.__exit__(*exception)

        self._exits.append(leave)
        return entered


def graph_of_values(values: Any) -> Any:
    """The graph that values belong to, when operations on them would not go to the current one."""
    current = current_graph()
    if (current is None and _eager_by_default) or (current is not None and current.building_function):
        return None
    found = None
    for value in values:
        graph = getattr(value, "graph", None) if hasattr(type(value), "graph") or hasattr(value, "inputs") else None
        if graph is None or getattr(graph, "building_function", True):
            continue
        if found is not None and graph is not found[0]:
            raise ValueError(f"{value} must be from the same graph as {found[1]}.")
        found = found or (graph, value)
    return None if found is None else found[0]


def current_name_scope() -> str:
    """The prefix of names in this thread: "" or a name that ends with "/"."""
    graph = current_graph()
    if graph is None:
        return _state.name_scope
    scope = graph.get_name_scope()
    return f"{scope}/" if scope else ""


@api(v2="get_current_name_scope")
def get_current_name_scope() -> str:
    """The name scope of this thread, such as "a/b"; "" outside of all."""
    return current_name_scope().removesuffix("/")


# Devices.

# From the name around a scope and the name it gives to their combination, with its index.
_found: dict[tuple[str, str], tuple[str, int]] = {}


def reset_devices() -> None:
    """Forget which name means which device; to be called when the devices change."""
    _found.clear()


def _combine(outer: str, name: str) -> tuple[str, int]:
    spec = placement.DeviceSpec.from_string(name)
    if name:
        spec = placement.DeviceSpec.from_string(outer).make_merged_spec(spec)
    found = (spec.to_string(), placement.find(spec).index)
    if len(_found) < 1000:
        _found[outer, name] = found
    return found


@api(v1="device")
class device_v1:
    """`device` of 1.x.

    Args:
      device_name_or_function: a device name or `DeviceSpec`, of which the parts left open come from
        the scope around it; None for no constraint. A function is for graphs only.

    Entering raises InvalidArgumentError if the device is absent, ValueError if the name is none, and
    RuntimeError for a function where no graph is built.
    """

    __slots__ = ("_name", "_exits")

    def __init__(self, device_name_or_function: Any):
        self._name = device_name_or_function
        self._exits: list[Callable[..., Any]] = []
        if callable(device_name_or_function) and current_graph() is None:
            raise RuntimeError(
                "tf.device does not support functions when eager execution is enabled."
            )

    @boundary
    def __enter__(self) -> None:
        graph = current_graph()
        if graph is not None:
            scope = graph.device(self._name)
            scope.__enter__()
            self._exits.append(scope.__exit__)
            return
        name = self._name
        if name is None or isinstance(name, placement.DeviceSpec):
            name = placement.canonical_name(name)
        elif not isinstance(name, str):
            raise ValueError(f"Expecting a string device name. Got {type(name)}({name})")
        state = _state
        saved = (state.device_name, state.device_index)
        found = _found.get((state.device_name, name))
        set_device(state, *(found or _combine(state.device_name, name)))

        def leave(*_exception: Any) -> None:
            set_device(state, *saved)

        self._exits.append(leave)

    def __exit__(self, *exception: Any) -> None:
        self._exits.pop()(*exception)


@api(v2="device")
class device(device_v1):
    """A context manager that says on which device operations run: `with tf.device("/gpu:0")`.

    Args:
      device_name: a device name or `DeviceSpec`, of which the parts left open come from the scope around
        it; None for no constraint.

    Entering raises InvalidArgumentError if the device is absent, and ValueError if the name is none.
    A function raises RuntimeError.
    """

    __slots__ = ()

    def __init__(self, device_name: Any):
        if callable(device_name):
            raise RuntimeError("tf.device does not support functions.")
        super().__init__(device_name)


def set_device(state: _ThreadState, name: str, index: int) -> None:
    changed = index != state.device_index
    state.device_name = name
    state.device_index = index
    if changed:
        for listener in on_device_change:
            listener(index)


@contextlib.contextmanager
def eager_device(name: str, index: int) -> Iterator[None]:
    """The device that eager operations run on, also while a graph is built, whose nodes this does not concern."""
    before = _state.device_name, _state.device_index
    set_device(_state, name, index)
    try:
        yield
    finally:
        set_device(_state, *before)


def device_index() -> int:
    """The index of the device that operations of this thread run on, 0 for the host."""
    return _state.device_index


def device_name() -> str:
    """The device scope of this thread as it was asked for, "" if there is none."""
    return _state.device_name


# Modes that are kept, and read by those whom they concern.


@api(v1="enable_tensor_equality")
def enable_tensor_equality() -> None:
    """Let `==` of tensors compare elements, as in 2.x."""
    _set_tensor_equality(True)


@api(v1="disable_tensor_equality")
def disable_tensor_equality() -> None:
    """Let `==` of tensors compare identity, as in 1.x."""
    _set_tensor_equality(False)


def _set_tensor_equality(elementwise: bool) -> None:
    global _tensor_equality
    _tensor_equality = elementwise
    for listener in on_tensor_equality_change:
        listener(elementwise)


def tensor_equality() -> bool:
    return _tensor_equality


def get_execution_mode() -> int:
    return _execution_mode


def set_execution_mode(mode: int | None) -> None:
    """`SYNC`, `ASYNC`, or None for `SYNC`. Operations finish before they return with either."""
    global _execution_mode
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"Execution mode must be one of SYNC, ASYNC, but got {mode!r}")
    _execution_mode = SYNC if mode is None else mode


@contextlib.contextmanager
def execution_mode(mode: int | None) -> Iterator[None]:
    """The execution mode of a block; see `set_execution_mode`."""
    saved = _execution_mode
    set_execution_mode(mode)
    try:
        yield
    finally:
        set_execution_mode(saved)


def async_wait() -> None:
    """Wait until operations have finished. They have."""


def async_clear_error() -> None:
    """Forget errors of operations that run asynchronously. There are none."""


@contextlib.contextmanager
def async_scope() -> Iterator[None]:
    """A block whose operations may run asynchronously; they have finished when it ends."""
    with execution_mode(ASYNC):
        yield


@contextlib.contextmanager
def function_executor_type(executor_type: str | None) -> Iterator[None]:
    """Make a block in which functions are run by an executor of TensorFlow's runtime.

    Functions run as plans here, on the threads that the sizes of their operations are worth, so that results and their
    order are those of each executor.

    Args:
      executor_type: "DEFAULT", "SINGLE_THREADED_EXECUTOR", or "" or None for the default.

    Yields:
      Nothing.

    Raises:
      ValueError: for other executors.
    """
    if executor_type not in (None, "", "DEFAULT", "SINGLE_THREADED_EXECUTOR"):
        raise ValueError(f"No executor is named {executor_type!r}: use 'DEFAULT' or 'SINGLE_THREADED_EXECUTOR'.")
    yield


def get_device_policy() -> int:
    return _device_policy


def set_device_policy(policy: int) -> None:
    global _device_policy
    _device_policy = policy


def functions_run_eagerly() -> bool:
    return _functions_run_eagerly


def set_functions_run_eagerly(run_eagerly: bool) -> None:
    global _functions_run_eagerly
    _functions_run_eagerly = run_eagerly
    for listener in on_functions_eager_change:
        listener(run_eagerly)


def building_graph() -> bool:
    """Whether operations build a graph here."""
    return not executing_eagerly()


def name_from_scope_name(name: str) -> str:
    """The name of an operation that a scope, which ends with "/", stands for."""
    return name[:-1] if name.endswith("/") else name
