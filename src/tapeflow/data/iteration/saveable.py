"""Iterators of a graph in name-based checkpoints (1.x)."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data.iteration.iterating import handle_of
from tapeflow.data.iteration.outside_state import policy_of
from tapeflow.data.nodes import nodes
from tapeflow.data.options import ExternalStatePolicy
from tapeflow.ops.io.raw_bytes import parse_tensor, serialize_tensor


def serialized(handle: Tensor, name: str | None = None, policy: ExternalStatePolicy = ExternalStatePolicy.FAIL):
    """A string tensor: where the iterator behind a handle is."""
    state = nodes.add("SerializeIterator", [handle], {"external_state_policy": policy.value}, name)
    return serialize_tensor(state.outputs[0])


def deserialized(handle, state: Tensor, name: str | None = None):
    """The operation that takes the iterator behind a handle where `serialized` was."""
    return nodes.add("DeserializeIterator", [handle, parse_tensor(state, dtypes.variant)], {}, name)


class IteratorSaveable:
    """What a `tf.train.Saver` keeps of an iterator of a graph: its state, as if that were a string variable."""

    _saveable_iterator = True
    dtype = dtypes.string
    shape = TensorShape([])
    device = ""

    def __init__(self, handle: Tensor, policy: ExternalStatePolicy = ExternalStatePolicy.FAIL):
        self.name = handle.op.name
        self._policy = policy
        self.op = self._handle = handle

    def read_value(self):
        """A string tensor: the state."""
        return serialized(self._handle, None, self._policy)

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
      external_state_policy: "warn", "ignore", "fail" or one of `tf.data.experimental.ExternalStatePolicy`: what to do
        about a dataset whose functions have a state outside of it, such as random numbers and variables, when it is
        saved; None: "fail".

    Returns:
      The object.

    Raises:
      ValueError: for another policy, and for an iterator of eager execution, which `tf.train.Checkpoint` keeps.
    """
    policy = policy_of(external_state_policy)
    if not hasattr(iterator, "string_handle"):
        raise ValueError(
            "`make_saveable_from_iterator` is for iterators of a graph. With eager execution use "
            "`tf.train.Checkpoint(iterator=iterator)`."
        )
    return IteratorSaveable(handle_of(iterator), policy)


boundaries(globals())
