"""Objects written as checkpoints: their values gathered, and written now or while the program goes on."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.checkpoint.bundle_writing import write_bundle
from tapeflow.checkpoint.object_graph import OBJECT_GRAPH_KEY, Saved, Walk
from tapeflow.checkpoint.options import CheckpointOptions
from tapeflow.checkpoint.saving_nodes import save_node
from tapeflow.checkpoint.sharding import shards_of
from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.files.paths import local_path
from tapeflow.core.threads.workers import Workers
from tapeflow.core.tracking import library_hooks
from tapeflow.graph.run.session import get_default_session
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.state.variable import Variable

# The session of Keras, where that is loaded.
fallback_session: Any = None


def register_fallback_session(session: Callable[[], Any]) -> None:
    """Say where values come from without a session."""
    global fallback_session
    fallback_session = session


def write_objects(
    root: Any, path: str, session: Any = None, options: Any = None, then: Callable[[], None] | None = None
) -> Any:
    """Writes all values that `root` holds, those of a graph's variables in a session.

    Args:
      then: is called when the checkpoint is there.

    Returns the future of a write that goes on, else None.
    """
    options = CheckpointOptions.of(options)
    tensors = gathered(root, session, options)
    folder = os.path.dirname(local_path(path))
    if folder:
        os.makedirs(folder, exist_ok=True)

    def write() -> None:
        callback = options.experimental_sharding_callback
        write_bundle(path, tensors if callback is None else shards_of(callback, tensors))
        if then is not None:
            then()
        options.written(path)

    if options.enable_async:
        return _writer.submit(write)
    write()
    return None


def gathered(root: Any, session: Any, options: CheckpointOptions) -> dict[str, Any]:
    """All values by key, and the graph of the objects."""
    walk = Walk(root, with_slots=not options.experimental_skip_slot_variables)
    saved = Saved(root, walk)
    tensors = {key: read() for key, read in saved.values.items()}
    of_graph = {key: v for key, v in tensors.items() if isinstance(v, Variable)}
    if of_graph:
        tensors |= session_of(session).run(of_graph)
    tensors = {
        key: np.asarray(value, object) if isinstance(value, (str, bytes)) else value
        for key, value in tensors.items()
    }
    if options.enable_async:  # what the program changes meanwhile is not written
        tensors = {key: _kept(value) for key, value in tensors.items()}
    return {**tensors, OBJECT_GRAPH_KEY: np.asarray(saved.graph, object)}


def _kept(value: Any) -> np.ndarray:
    """An array that nothing changes: what variables give is such a one."""
    array = np.asarray(value)
    return np.array(array) if array.flags.writeable else array


def staged(root: Any, path: Any) -> Any:
    """The operations of a function that write what `root` holds whenever it runs; the path, a string tensor."""
    saved = Saved(root)
    numbers = dict(saved.keys_of_objects)
    tensors: dict[str, Any] = {}
    for key, read in saved.values.items():
        variable = saved.objects[numbers[key]] if key in numbers else None
        value = variable.read_value() if isinstance(variable, Variable) else read()
        tensors[key] = convert_to_tensor(value)
    tensors[OBJECT_GRAPH_KEY] = convert_to_tensor(saved.graph)
    path = convert_to_tensor(path)
    with control_dependencies([save_node(path, list(tensors), list(tensors.values()))]):
        return identity(path)


_providers: list[Any] = []


def register_session_provider(session_provider: Any) -> None:
    """Lets a function without arguments give the session in which checkpoints of graphs are saved and restored.

    It counts where no session is the default one; the one that was registered first is asked first.
    """
    if not _providers:
        _providers.append(session_provider)


def session_of(session: Any) -> Any:
    """The session to use. Raises RuntimeError where there is none."""
    found = get_default_session() if session is None else session
    if found is None and not context.executing_eagerly():
        for give in (*_providers, library_hooks.get_get_session_function(), fallback_session):
            found = give() if found is None and give is not None else found
    if found is None:
        raise RuntimeError(
            "Variables of a graph are saved and restored in a session: give one, or make one the default."
        )
    return found


# One thread, so that checkpoints are complete in the order in which they were saved; all of them before the interpreter
# ends.
_writer = Workers(1, "checkpoint")
atexit.register(_writer.finish)
