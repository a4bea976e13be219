"""Initial values that a checkpoint gives."""

from __future__ import annotations

from typing import Any


class CheckpointPosition:
    """The place of an object in a checkpoint that is being restored."""

    def __init__(self, restoration: Any, number: int):
        self.restoration, self.number = restoration, number

    @property
    def restore_uid(self) -> int:
        """The number of the restoration: later ones have greater ones."""
        return self.restoration.order

    def is_simple_variable(self) -> bool:
        """Whether the object is a variable and nothing else."""
        return self.restoration.is_plain_variable(self.number)

    def value_shape(self) -> Any:
        """The shape of the value that the checkpoint keeps for a variable."""
        return self.restoration.shape_of(self.number)

    def restore(self, trackable: Any, reader: Any = None) -> None:
        """Gives an object that has been made for the place the values that the checkpoint keeps."""
        self.restoration.set_late(self.number, trackable)

    def value(self) -> Any:
        """The value that the checkpoint keeps for a variable."""
        return self.restoration.value_of(self.number)


class CheckpointInitialValueCallable:
    """Gives the value of a variable in a checkpoint; takes the place of an initial value."""

    def __init__(self, checkpoint_position: Any):
        self._position = checkpoint_position

    @property
    def checkpoint_position(self) -> Any:
        """Where the checkpoint has the value."""
        return self._position

    def __call__(self, shape: Any = None, dtype: Any = None, shard_info: Any = None) -> Any:
        return CheckpointInitialValue(self._position, shape, shard_info)

    @property
    def restore_uid(self) -> int:
        """The number of the restoration."""
        return self._position.restore_uid


class CheckpointInitialValue:
    """The value of a variable in a checkpoint; converts to a tensor."""

    def __init__(self, checkpoint_position: Any, shape: Any = None, shard_info: Any = None):
        self._position = checkpoint_position
        self._shape = shape

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return self._position.value()

    @property
    def checkpoint_position(self) -> Any:
        """Where the checkpoint has the value."""
        return self._position
