"""tf.types.experimental.distributed: values of which each replica has one."""

from tapeflow.distribute.strategy import MirroredVariable as Mirrored
from tapeflow.distribute.values import PerReplica

__all__ = ["Mirrored", "PerReplica"]
