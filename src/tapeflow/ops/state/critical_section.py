"""`tf.CriticalSection`: what only one thread at a time runs, eagerly and in graphs."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.public import public_methods
from tapeflow.core.structures import nest
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control import grouping
from tapeflow.ops.queue.waiting_lines import Lines
from tapeflow.ops.state.resource_op import expect, resource_op

_EXECUTIONS = "critical_section_executions"
_numbers = itertools.count()


class Mutex(Lines):
    """A lock whose waits end with the session, in time, or by Ctrl-C."""

    def __init__(self, name: str):
        super().__init__(1)
        self.name = name
        self.held = False

    def acquire(self) -> Held:
        """Waits for the lock; it is held until what is returned is released, or dropped."""

        def step() -> tuple[bool, bool]:
            if self.held:
                return False, False
            self.held = True
            return True, True

        self._attempt(self._lines[0], step, self._free, "Lock acquisition cancelled.")
        return Held(self)

    def _free(self) -> None:
        """Nothing was taken by a call that waits."""

    def release(self) -> None:
        with self._lock:
            self.held = False
            self._serve()


class Held:
    """A lock that is held."""

    def __init__(self, mutex: Mutex):
        self._mutex: Mutex | None = mutex

    def release(self) -> None:
        mutex, self._mutex = self._mutex, None
        if mutex is not None:
            mutex.release()

    def __del__(self) -> None:
        if not sys.is_finalizing():  # then a thread that is gone may hold what guards the mutex
            self.release()


_NAMED = {"container": "", "shared_name": ""}


@resource_op("MutexV2", "-> resource: resource", _NAMED, lambda attrs, inputs: [()], makes=True)
def MutexV2(name: str):
    return Mutex(name)


@resource_op("MutexLock", "mutex: resource -> mutex_lock: variant", shapes=lambda attrs, inputs: [()], patience=1)
def MutexLock(mutex: Mutex):
    box = np.empty((), object)
    box[()] = expect(mutex, Mutex, "mutex").acquire()
    return _native.tensor_of(box, dtypes.variant)


@resource_op("ConsumeMutexLock", "mutex_lock: variant ->")
def ConsumeMutexLock(mutex_lock: Tensor):
    found = mutex_lock.numpy()
    found = found.item() if hasattr(found, "item") else found
    found.release()


@api("CriticalSection")
@public_methods
class CriticalSection:
    """Runs functions one at a time.

    Args:
      shared_name: sections of graphs with the same one are one section in a session.

    Raises ValueError for a `critical_section_def`, which is not supported.
    """

    def __init__(
        self, name: str | None = None, shared_name: str | None = None, critical_section_def=None,
        import_scope: str | None = None,
    ):
        if critical_section_def is not None:
            raise ValueError("Argument `critical_section_def` is not supported.")
        self._name = name or "critical_section"
        self._local = threading.local()
        self._handle = MutexV2(
            shared_name=shared_name or ("" if context.executing_eagerly() else f"{self._name}_{next(_numbers)}"),
            name=self._name,
        )  # fmt: skip

    @property
    def name(self):
        """The name of the section."""
        return self._name

    def execute(self, fn: Callable[..., Any], exclusive_resource_access: bool = True, name: str | None = None):
        """What `fn()` returns; no other function of this section runs meanwhile.

        Args:
          exclusive_resource_access: in a graph, whether no other section may use the variables and other resources
            that `fn` uses.

        Raises ValueError for a call of `execute` of the same section in `fn`, and for resources that another section
        uses too, where one of both wants them for itself.
        """
        if getattr(self._local, "inside", False):
            raise ValueError(
                f"Attempting to lock a CriticalSection (signature={fn}) in which we are executing: this would "
                "deadlock. Calls of `execute` of one CriticalSection cannot be nested."
            )
        self._local.inside = True
        try:
            if context.executing_eagerly():
                lock = MutexLock(self._handle)
                try:
                    return fn()
                finally:
                    ConsumeMutexLock(lock)
            return self._staged(fn, exclusive_resource_access, name)
        finally:
            self._local.inside = False

    def _staged(self, fn: Callable[..., Any], exclusive: bool, name: Any) -> Any:
        graph = context.current_graph()
        with context.name_scope(name or "critical_section_execute"):
            before = graph.get_collection_ref(_EXECUTIONS)
            lock = MutexLock(self._handle)
            first = len(graph.operations)
            with graph.control_dependencies([lock.op]):
                result = fn()
            inside = graph.operations[first:]
            execution = _Execution(self, _resources(inside), exclusive)
            for other in before:
                _check_shared(execution, other)
            for op in inside:
                if not op.control_inputs and not op.inputs and op.type != "Placeholder":
                    op.add_control_inputs([lock.op])
            with graph.control_dependencies(inside):
                done = ConsumeMutexLock(lock)
            before.append(execution)
            with graph.control_dependencies([done]):
                return nest.map_structure(_after, result)


class _Execution(NamedTuple):
    section: CriticalSection
    resources: dict[int, Any]
    exclusive: bool


def _resources(inside: Any) -> dict[int, Any]:
    """The resources that operations use and that come from outside of them."""
    made = {id(op) for op in inside if op.type != "Placeholder"}
    return {
        id(x): x for op in inside for x in op.inputs if x.dtype == dtypes.resource and id(x.op) not in made
    }


def _check_shared(execution: _Execution, other: Any) -> None:
    if not isinstance(other, _Execution) or other.section is execution.section:
        return
    if not (execution.exclusive or other.exclusive):
        return
    shared = [x for key, x in execution.resources.items() if key in other.resources]
    if shared:
        raise ValueError(
            f"This execution would access resources: {shared}. Either this lock (CriticalSection: "
            f"{execution.section.name}) or lock '{other.section.name}' requested exclusive resource access of this "
            "resource. Did you mean to call execute with keyword argument exclusive_resource_access=False?"
        )


def _after(x: Any) -> Any:
    if isinstance(x, _native.Tensor):
        return identity(x)
    return grouping.group() if hasattr(x, "control_inputs") else x


