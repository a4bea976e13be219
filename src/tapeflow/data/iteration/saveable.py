"""Iterators of a graph in name-based checkpoints (1.x)."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data import leaves
from tapeflow.data.iteration import state_coding
from tapeflow.graph.nodes import python_ops


def serialized(handle: Tensor, name: str | None = None):
    """A string tensor: where the iterator behind a handle is."""

    def run(held: Tensor):
        return [convert_to_tensor(state_coding.encode(leaves.unboxed(held).save()))]

    return python_ops.node("PyFunc", run, [handle], [(dtypes.string, ())], name).outputs[0]


def deserialized(handle, state: Tensor, name: str | None = None):
    """The operation that takes the iterator behind a handle where `serialized` was."""

    def run(held: Tensor, data: Tensor):
        leaves.unboxed(held).restore(state_coding.decode(data.numpy()))
        return []

    return python_ops.node("PyFunc", run, [handle, state], (), name)


class IteratorSaveable:
    """What a `tf.train.Saver` keeps of an iterator of a graph: its state, as if that were a string variable."""

    _saveable_iterator = True
    dtype = dtypes.string
    shape = TensorShape([])
    device = ""

    def __init__(self, handle: Tensor):
        self.name = handle.op.name
        self.op = self._handle = handle

    def read_value(self):
        """A string tensor: the state."""
        return serialized(self._handle)

    def assign(self, value: Tensor, read_value: bool = True):
        """The operation that sets the state."""
        return deserialized(self._handle, value)

    def restore(self, restored_tensors, restored_shapes=None):
        """The operation that restores the state, the only one of `restored_tensors`."""
        return deserialized(self._handle, restored_tensors[0])


def make_saveable_from_iterator(iterator: Any, external_state_policy: str | None = None):
    """Make an object that lets a `tf.train.Saver` keep where an iterator of a graph is.

    Args:
      iterator: an iterator of a graph.
      external_state_policy: "warn", "ignore", "fail" or None; all of the state is kept in any case.

    Returns:
      The object.

    Raises:
      ValueError: for another policy, and for an iterator of eager execution, which `tf.train.Checkpoint` keeps.
    """
    if external_state_policy not in (None, "warn", "ignore", "fail"):
        raise ValueError(
            "Invalid `ExternalStatePolicy.` Supported values include 'warn', 'ignore', and 'fail.' Received "
            f"{external_state_policy!r}."
        )
    if not hasattr(iterator, "string_handle"):
        raise ValueError(
            "`make_saveable_from_iterator` is for iterators of a graph. With eager execution use "
            "`tf.train.Checkpoint(iterator=iterator)`."
        )
    return IteratorSaveable(iterator._handle)


boundaries(globals())
