"""tf.types.experimental.distributed: values of which each replica has one."""

import abc

from tapeflow.distribute.mirrored import MirroredVariable
from tapeflow.distribute.values import PerReplica


class Mirrored(abc.ABC):  # noqa: B024 (it only says what is one)
    """What is the same for every replica: variables that are made in the scope of a strategy."""


Mirrored.register(MirroredVariable)

__all__ = ["Mirrored", "PerReplica"]
