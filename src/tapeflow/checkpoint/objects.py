"""`tf.train.Checkpoint`: objects and all they hold, saved and restored by the names of attributes."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

from tapeflow.checkpoint.first_format import reader_of
from tapeflow.checkpoint.following import AutoTrackable, attached, children, is_trackable
from tapeflow.checkpoint.load_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    NameBasedSaverStatus,
)
from tapeflow.checkpoint.object_graph import OBJECT_GRAPH_KEY
from tapeflow.checkpoint.object_writing import session_of, staged, write_objects
from tapeflow.checkpoint.options import CheckpointOptions
from tapeflow.checkpoint.restoring import Restoration
from tapeflow.checkpoint.state import latest_checkpoint, update_checkpoint_state
from tapeflow.core import context, dtypes
from tapeflow.core.errors import NotFoundError
from tapeflow.core.files.paths import folder_of, local_path
from tapeflow.core.public import boundaries, public_methods
from tapeflow.core.variables import graph_parts
from tapeflow.ops.state.variable import Variable


def restore_objects(root: Any, path: str | None, options: Any = None) -> CheckpointLoadStatus:
    """Restores `root` and all it holds, now and when it comes; a status. Raises NotFoundError for no checkpoint."""
    options = CheckpointOptions.of(options)
    if path is None:
        return InitializationOnlyStatus(root)
    reader = reader_of(path)
    if OBJECT_GRAPH_KEY not in reader:
        return NameBasedSaverStatus(reader, root)
    slots = not options.experimental_skip_slot_variables
    return CheckpointLoadStatus(Restoration(reader, root, slots), root)


_counting = threading.RLock()  # of the save counters
# What a Checkpoint keeps for itself.
_OWN = frozenset({"_held_root", "_save_counter", "_pending_restores", "_restorations", "_pending_write"})


@public_methods
class Checkpoint(AutoTrackable):
    """Saves and restores the objects given by keyword, with the variables they hold.

    `root` is saved with its own attributes as if they were the checkpoint's. Raises ValueError for arguments
    that checkpoints cannot follow.
    """

    # For subclasses that do not call this class's constructor.
    _held_root: Any = None
    _save_counter: Any = None

    def __init__(self, root: Any = None, **kwargs: Any):
        self.__dict__["_held_root"] = root  # may be a weak reference, as of an object that holds this one
        root = self._root
        self.__dict__["_save_counter"] = None
        if root is not None and not is_trackable(root):
            raise ValueError(f"Expected root object {root} to be trackable.")
        for name, value in sorted(kwargs.items()):  # the first of its names is the key of a shared object
            if not is_trackable(value) and not isinstance(value, (list, tuple, dict)):
                raise ValueError(
                    f"`Checkpoint` was expecting {name} to be a trackable object (an object derived "
                    f"from `Trackable`), got {value}. If you believe this object should be trackable "
                    "(i.e. it is part of the TensorFlow Python API and manages state), please open an "
                    "issue."
                )
            if root is not None and children(root).get(name, value) is not value:
                raise ValueError(
                    f"Cannot create a Checkpoint with keyword argument {name} if root.{name} already "
                    "exists."
                )
            setattr(self, name, value)

    @property
    def _root(self) -> Any:
        root = self._held_root
        return root() if isinstance(root, weakref.ref) else root

    def _trackable_children(self, save_type: str = "checkpoint", cache: Any = None, **kwargs: Any) -> dict[str, Any]:
        # TensorFlow writes the checkpoint itself under this name, as the object that has the root's attributes too.
        found = {} if self._root is None else {**children(self._root), "root": self}
        for name, value in vars(self).items():
            if name not in _OWN:
                if is_trackable(value):
                    found[name] = value
        if self._save_counter is not None:
            found["save_counter"] = self._save_counter
        return found

    @property
    def save_counter(self) -> Any:
        """How often `save` was called, an int64 variable."""
        self._make_counter()
        return self._save_counter

    def _make_counter(self) -> None:
        with _counting:
            if self._save_counter is None:
                counter = Variable(0, trainable=False, dtype=dtypes.int64, name="save_counter")
                self.__dict__["_save_counter"] = counter
                attached(self, "save_counter", counter)

    def write(self, file_prefix: Any, session: Any = None, options: Any = None) -> str:
        """Writes a checkpoint under exactly this prefix; returns it. Nothing counts it."""
        session, options = _told(session, options)
        if getattr(context.current_graph(), "building_function", False):
            return staged(self, file_prefix)
        return self._write(os.fspath(file_prefix), session, options)

    def save(self, file_prefix: Any, session: Any = None, options: Any = None) -> str:
        """Writes `<prefix>-<number>`, notes it as the latest of its folder; returns its prefix."""
        session, options = _told(session, options)
        self.sync()
        path = f"{os.fspath(file_prefix)}-{self.next_number(session)}"

        def note() -> None:
            update_checkpoint_state(
                folder_of(path), path, all_model_checkpoint_paths=[path],
                save_relative_paths=True,
            )  # fmt: skip

        return self._write(path, session, options, note)

    def _write(self, path: str, session: Any, options: Any, then: Any = None) -> str:
        """Writes, and calls `then` when all is there. A write before it that still goes on ends first."""
        self.sync()
        self.__dict__["_pending_write"] = write_objects(self, path, session, options, then)
        return path

    def next_number(self, session: Any = None) -> int:
        """Counts one more save, and returns how many there were."""
        with _counting:
            made = self._save_counter is None
            self._make_counter()
            counter = self._save_counter
            if graph_parts(counter) is None:
                return int(counter.assign_add(1).numpy())
            session = session_of(session)
            if made:
                session.run(counter.initializer)
            number = int(session.run(counter)) + 1
            counter.load(number, session)
            return number

    def read(self, save_path: Any, options: Any = None) -> CheckpointLoadStatus:
        """Restores what `write` has written; a status with assertions."""
        return restore_objects(self, os.fspath(save_path), options)

    def restore(self, save_path: Any, options: Any = None) -> CheckpointLoadStatus:
        """Restores what `save` has written; a status with assertions.

        Objects and variables that do not exist yet get their values when they are made. Raises NotFoundError
        for no checkpoint, ValueError for values of another shape.
        """
        self.sync()
        self._make_counter()
        if save_path is None:
            return restore_objects(self, None, options)
        save_path = os.fspath(save_path)
        try:
            return restore_objects(self, _in_folder(save_path), options)
        except NotFoundError as error:
            raise NotFoundError(
                None, None,
                f"Error when restoring from checkpoint or SavedModel at {save_path}: {error.message}\n"
                "Please double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the "
                "'-1' in 'path/to/ckpt-1').",
            ) from None  # fmt: skip

    def sync(self) -> None:
        """Waits for a write that still goes on. Raises what went wrong with it."""
        pending = self.__dict__.get("_pending_write")
        if pending is not None:
            self.__dict__["_pending_write"] = None
            pending.result()


def _in_folder(path: str) -> str:
    """The checkpoint that a folder stands for: the variables of a SavedModel, else its latest."""
    folder = local_path(path)
    if not os.path.isdir(folder):
        return path
    if any(os.path.exists(os.path.join(folder, f"saved_model.{ending}")) for ending in ("pb", "pbtxt")):
        return os.path.join(path, "variables", "variables")
    return latest_checkpoint(path) or path


def _told(session: Any, options: Any) -> tuple[Any, Any]:
    """The session and the options; 2.x has the options where 1.x has the session."""
    return (None, session) if isinstance(session, CheckpointOptions) else (session, options)


boundaries(globals())
