"""The statuses that `restore` returns: how much of a checkpoint and of the program has met."""

from __future__ import annotations

from typing import Any

from tapeflow.checkpoint.first_format import Reader
from tapeflow.checkpoint.object_graph import (
    Saved,
    parts_of,
)
from tapeflow.checkpoint.object_writing import session_of
from tapeflow.checkpoint.restoring import Restoration, assign
from tapeflow.core.context import executing_eagerly
from tapeflow.core.public import boundaries
from tapeflow.core.variables import graph_parts, shared_name_of
from tapeflow.graph.run.session import get_default_session
from tapeflow.ops.state.variable import Variable


class CheckpointLoadStatus:
    """What `restore` returns: says how much of the checkpoint and of the program has met."""

    def __init__(self, restoration: Restoration, root: Any):
        self._restoration, self._root = restoration, root

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raises AssertionError unless all values of the checkpoint and all objects of the program have met."""
        restoration = self._restoration
        restoration.match_again()
        self.assert_existing_objects_matched()
        names = restoration.names()
        for number, node in enumerate(restoration.nodes):
            if node["attributes"] and number not in restoration.objects:
                raise AssertionError(
                    f"Unresolved object in checkpoint {names.get(number)}: attributes {{\n"
                    + "".join(
                        f'  name: "{a["name"]}"\n  full_name: "{a["full_name"]}"\n'
                        f'  checkpoint_key: "{a["checkpoint_key"]}"\n'
                        for a in node["attributes"]
                    )
                    + "}\n"
                )
        slots = restoration.unresolved_slots()
        if slots:
            raise AssertionError(f"Unresolved slot restorations: {', '.join(slots)}")
        if restoration.unused:
            unused = "\n".join(f"{names[n]}: {what}" for n, what in restoration.unused.items())
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the checkpoint but were "
                f"not restored):\n{unused}"
            )
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raises AssertionError for a variable or object of the program that the checkpoint has not."""
        restoration = self._restoration
        restoration.match_again()
        matched = {id(value) for value in restoration.objects.values()}
        saved = Saved(self._root)
        missing = [
            value
            for value in saved.objects
            if id(value) not in matched and parts_of(value)
        ]
        if missing:
            shown = [_described(value) for value in missing[:10]]
            raise AssertionError(
                f"Found {len(missing)} Python objects that were not bound to checkpointed values, "
                "likely due to changes in the Python program. Showing "
                f"{len(shown)} of {len(missing)} unmatched objects: [{', '.join(shown)}]"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raises AssertionError where nothing but the root object was found in the checkpoint."""
        restoration = self._restoration
        restoration.match_again()
        values = [
            value
            for number, value in restoration.objects.items()
            if restoration.nodes[number]["attributes"] and _counts(self._root, value)
        ]
        unmatched = [value for value in Saved(self._root).objects if parts_of(value) and _counts(self._root, value)]
        if not values and unmatched:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means "
                "that the checkpoint does not match the Python program. The following objects have no "
                f"matching checkpointed value: [{_described(self._root)}]"
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Says that it is well that not all of the checkpoint is used."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Sets the variables of a graph in a session; eagerly, values are restored already."""
        if executing_eagerly():
            return
        self._restoration.match_again()
        session = session_of(session)
        for variable, value in self._restoration.to_load:
            variable.load(value, session)

    def initialize_or_restore(self, session: Any = None) -> None:
        """As run_restore_ops; variables that the checkpoint does not have are initialized."""
        if executing_eagerly():
            return
        self._restoration.match_again()
        _initialize(self._root, session, self._restoration.to_load)
        self.run_restore_ops(session)


def _counts(root: Any, value: Any) -> bool:
    return value is not getattr(root, "_save_counter", None)


def _described(value: Any) -> str:
    return repr(value)


def _initialize(root: Any, session: Any, restored: list[tuple[Any, Any]]) -> None:
    """Initializes the variables of a graph that have no value of a checkpoint."""
    known = {id(variable) for variable, _ in restored}
    initializers = [
        value.initializer
        for value in Saved(root).objects
        if isinstance(value, Variable) and graph_parts(value) is not None and id(value) not in known
    ]
    if initializers:
        (session or get_default_session()).run(initializers)


class InitializationOnlyStatus(CheckpointLoadStatus):
    """The status of a restoration from nothing."""

    def __init__(self, root: Any):
        self._root = root

    def _none(self) -> Any:
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raises AssertionError: there is no checkpoint."""
        return self._none()

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session: Any = None) -> None:
        """Raises AssertionError: there is no checkpoint."""
        self._none()

    def initialize_or_restore(self, session: Any = None) -> None:
        """Initializes the variables of a graph."""
        if not executing_eagerly():
            _initialize(self._root, session, [])


class NameBasedSaverStatus(CheckpointLoadStatus):
    """The status of a restoration from a checkpoint of `tf.train.Saver`, by the names of variables."""

    def __init__(self, reader: Reader, root: Any):
        self._reader, self._root = reader, root
        self._to_load: list[tuple[Any, Any]] = []  # variables of a graph, which a session sets
        self._restore()

    def _variables(self) -> list[Any]:
        return [value for value in Saved(self._root).objects if isinstance(value, Variable)]

    def _restore(self) -> None:
        for variable in self._variables():
            if shared_name_of(variable) in self._reader:
                assign(variable, self._reader, shared_name_of(variable), self._to_load)

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raises AssertionError where names of the checkpoint, or variables, have not met."""
        names = {shared_name_of(variable) for variable in self._variables()}
        unused = [name for name in self._reader.keys() if name not in names]  # noqa: SIM118
        if unused:
            raise AssertionError(f"Some values in the checkpoint were not restored: {unused}")
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raises AssertionError for variables whose names the checkpoint does not have."""
        missing = [v for v in self._variables() if shared_name_of(v) not in self._reader]
        if missing:
            raise AssertionError(f"Some objects had no value in the checkpoint: {missing}")
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raises AssertionError where no name was found."""
        if not any(shared_name_of(v) in self._reader for v in self._variables()):
            raise AssertionError("No variable of the program is in the checkpoint.")
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Restores, once more, what has come since; the variables of a graph in a session."""
        self._to_load.clear()
        self._restore()
        session = session or get_default_session()
        for variable, value in self._to_load:
            variable.load(value, session)

    def initialize_or_restore(self, session: Any = None) -> None:
        """As run_restore_ops; variables of a graph that the checkpoint does not have are initialized."""
        if not executing_eagerly():
            _initialize(self._root, session, self._to_load)
        self.run_restore_ops(session)


def streaming_restore(status: Any, session: Any = None) -> None:
    """Restores the variables of a graph now, and those that come later when they come; eagerly that is so anyway.

    Raises NotImplementedError for checkpoints that were saved by name.
    """
    if executing_eagerly() or isinstance(status, InitializationOnlyStatus):
        return
    if isinstance(status, NameBasedSaverStatus):
        raise NotImplementedError(
            "Streaming restore not supported from name-based checkpoints when graph building. File a feature "
            "request if this limitation bothers you. As a workaround, consider either using tf.train.Checkpoint to "
            "load name-based checkpoints or enabling eager execution."
        )
    status.run_restore_ops(session=session)
    status._restoration.stream_to(session or session_of(None))


boundaries(globals())
